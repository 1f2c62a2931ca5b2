//! Why there is no convolver.

use fft::SizeError;
use std::fmt;

/// Why there is no such convolver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvolverError {
    /// There are no paths.
    NoPaths,
    /// A path comes from an input, or goes to an output, that is not there.
    NoChannel {
        /// The path, counted from 0.
        path: usize,
        /// The channel it names.
        channel: usize,
        /// How many there are.
        channels: usize,
        /// Whether it is an input.
        is_input: bool,
    },
    /// A path's impulse response is empty.
    Empty {
        /// The path, counted from 0.
        path: usize,
    },
    /// A path's impulse response is not finite everywhere, or its gain is not, or with its gain it is louder than any
    /// number.
    NotFinite {
        /// The path, counted from 0.
        path: usize,
        /// The frame; nothing where it is the gain.
        frame: Option<usize>,
    },
    /// A path's impulse response is longer than the partition: take one that reaches further.
    TooLong {
        /// The path, counted from 0.
        path: usize,
        /// Its frames.
        frames: usize,
        /// What the partition covers.
        reach: usize,
    },
    /// It takes more memory than the machine has left: shorter responses, fewer channels or a partition that reaches no
    /// further than it must.
    Memory {
        /// Bytes that it takes.
        bytes: u64,
        /// Bytes that are left.
        free: u64,
    },
    /// An exchange has other paths than the convolver.
    PathCount {
        /// How many were given.
        given: usize,
        /// How many there are.
        paths: usize,
    },
    /// There is no transform of a level's size.
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
                reach,
            } => write!(
                f,
                "the impulse response of path {path} has {frames} frames; the partition covers {reach}"
            ),
            Self::Memory { bytes, free } => {
                let (bytes, free) = (bytes >> 20, free >> 20);
                write!(
                    f,
                    "the convolver takes {bytes} MiB, and {free} MiB are free"
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
