//! Reasons why a convolver cannot be made.

use fft::SizeError;
use std::fmt;

/// Reason why a convolver, or an exchange for one, cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvolverError {
    /// There are no paths.
    NoPaths,
    /// A path names an input or an output that does not exist.
    NoChannel {
        /// Number of the path, from 0.
        path: usize,
        /// Channel that it names.
        channel: usize,
        /// Number of channels.
        channels: usize,
        /// True for an input, false for an output.
        is_input: bool,
    },
    /// A path's impulse response is empty.
    Empty {
        /// Number of the path, from 0.
        path: usize,
    },
    /// A sample or the gain of a path is not finite, or the gain makes the response too loud for a float.
    NotFinite {
        /// Number of the path, from 0.
        path: usize,
        /// Frame of the sample; `None` if it is the gain.
        frame: Option<usize>,
    },
    /// A path's impulse response is longer than the partition covers: take a longer partition.
    TooLong {
        /// Number of the path, from 0.
        path: usize,
        /// Frames of the response.
        frames: usize,
        /// Frames that the partition covers.
        max_frames: usize,
    },
    /// The machine has too little free memory: take shorter responses, fewer channels, or a partition no longer than they
    /// need.
    Memory {
        /// Bytes needed.
        bytes: u64,
        /// Bytes free.
        free: u64,
    },
    /// An exchange has another number of paths than the convolver.
    PathCount {
        /// Number of paths in the exchange.
        given: usize,
        /// Number of paths of the convolver.
        paths: usize,
    },
    /// A level's size has no transform.
    Size(SizeError),
}

impl fmt::Display for ConvolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPaths => write!(f, "there are no paths"),
            Self::NoChannel {
                path,
                channel,
                channels,
                is_input,
            } => {
                let end = if *is_input { "input" } else { "output" };
                write!(
                    f,
                    "path {path} names {end} {channel}; there are {channels}, counted from 0"
                )
            }
            Self::Empty { path } => write!(f, "the impulse response of path {path} is empty"),
            Self::NotFinite {
                path,
                frame: Some(frame),
            } => write!(
                f,
                "the impulse response of path {path} is not finite at frame {frame}"
            ),
            Self::NotFinite { path, frame: None } => {
                write!(f, "the gain of path {path} is not finite")
            }
            Self::TooLong {
                path,
                frames,
                max_frames,
            } => write!(
                f,
                "the impulse response of path {path} has {frames} frames; the partition covers {max_frames}"
            ),
            Self::Memory { bytes, free } => {
                let (bytes, free) = (bytes >> 20, free >> 20);
                write!(
                    f,
                    "the convolver needs {bytes} MiB, and {free} MiB are free"
                )
            }
            Self::PathCount { given, paths } => {
                write!(f, "{given} impulse responses for {paths} paths")
            }
            Self::Size(_) => write!(f, "there is no transform of a level's size"),
        }
    }
}

impl std::error::Error for ConvolverError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Size(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SizeError> for ConvolverError {
    fn from(error: SizeError) -> Self {
        Self::Size(error)
    }
}
