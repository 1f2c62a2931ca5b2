//! Reasons why a convolver cannot be made.

use fft::SizeError;

/// Reason why a convolver, or an exchange for one, cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvolverError {
    /// There are no paths.
    #[error("there are no paths")]
    NoPaths,
    /// A path names an input or an output that does not exist.
    #[error("path {path} names {} {channel}; there are {channels}, counted from 0", if *.is_input { "input" } else { "output" })]
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
    #[error("the impulse response of path {path} is empty")]
    Empty {
        /// Number of the path, from 0.
        path: usize,
    },
    /// A sample or the gain of a path is not finite, or the gain makes the response too loud for a float.
    #[error(
        "the {} of path {path} is not finite{}",
        if .frame.is_some() { "impulse response" } else { "gain" },
        .frame.map(|frame| format!(" at frame {frame}")).unwrap_or_default()
    )]
    NotFinite {
        /// Number of the path, from 0.
        path: usize,
        /// Frame of the sample; `None` if it is the gain.
        frame: Option<usize>,
    },
    /// A path's impulse response is longer than the partition covers: take a longer partition.
    #[error(
        "the impulse response of path {path} has {frames} frames; the partition covers {max_frames}"
    )]
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
    #[error("the convolver needs {} MiB, and {} MiB are free", .bytes >> 20, .free >> 20)]
    Memory {
        /// Bytes needed.
        bytes: u64,
        /// Bytes free.
        free: u64,
    },
    /// An exchange has another number of paths than the convolver.
    #[error("{given} impulse responses for {paths} paths")]
    PathCount {
        /// Number of paths in the exchange.
        given: usize,
        /// Number of paths of the convolver.
        paths: usize,
    },
    /// A level's size has no transform.
    #[error("there is no transform of a level's size")]
    Size(#[from] SizeError),
}
