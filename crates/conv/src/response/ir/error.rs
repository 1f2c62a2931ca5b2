//! Reasons why an impulse response is refused: which one, where, why, and what to do.

use media::MediaError;
use std::fmt;
use units::SampleRate;

/// Reason why an impulse response is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum IrError {
    /// Its file cannot be read.
    File(MediaError),
    /// It has no frame at all. Give another file, or trim less.
    Empty {
        /// Name of the response.
        name: String,
    },
    /// Its channels are of different lengths. Fill the shorter ones with silence.
    Uneven {
        /// Name of the response.
        name: String,
    },
    /// A sample is NaN or infinite, and would spread to all output. Export the file again.
    NotFinite {
        /// Name of the response.
        name: String,
        /// From 0.
        channel: usize,
        /// From 0.
        frame: u64,
        /// Its value.
        value: f32,
    },
    /// It is longer than the stated limit. Use a part of it, or raise the limit.
    TooLong {
        /// Name of the response.
        name: String,
        /// Its frames, at the rate at which it would be used.
        frames: u64,
        /// Most frames allowed.
        most: u64,
    },
    /// Its channels together have more samples than the stated limit. Use fewer channels or a part of it.
    TooLarge {
        /// Name of the response.
        name: String,
        /// Its samples, at the rate at which it would be used.
        samples: u64,
        /// Most samples allowed.
        most: u64,
    },
    /// It needs more memory than the machine has free.
    Memory {
        /// Name of the response.
        name: String,
        /// Bytes needed.
        bytes: u64,
        /// Bytes free.
        free: u64,
    },
    /// The file has fewer frames than it says: it was cut off.
    Short {
        /// Name of the response.
        name: String,
        /// Frames that the file states.
        says: u64,
        /// Frames that the file has.
        has: u64,
    },
    /// Its rate is too far from the rate at which it would be used.
    FarRates {
        /// Name of the response.
        name: String,
        /// Its rate.
        from: SampleRate,
        /// Rate at which it would be used.
        to: SampleRate,
    },
    /// All of it is silent, and silence cannot be trimmed or normalised.
    Silent {
        /// Name of the response.
        name: String,
        /// Operation that failed.
        what: &'static str,
    },
    /// The requested range of frames is not within it.
    Outside {
        /// Name of the response.
        name: String,
        /// First frame of the range.
        from: u64,
        /// Frame behind the range.
        to: u64,
        /// Frames of the response.
        frames: u64,
    },
    /// A SOFA file that cannot be used, and why.
    Sofa {
        /// Name of the response.
        name: String,
        /// Reason.
        why: String,
    },
}

impl fmt::Display for IrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => write!(f, "{error}"),
            Self::Empty { name } => write!(f, "{name} is empty: there is nothing to convolve with"),
            Self::Uneven { name } => write!(f, "{name} has channels of different lengths"),
            Self::NotFinite {
                name,
                channel,
                frame,
                value,
            } => {
                let channel = channel + 1;
                write!(
                    f,
                    "{name} has no number ({value}) in channel {channel} at frame {frame}"
                )
            }
            Self::TooLong { name, frames, most } => {
                write!(f, "{name} has {frames} frames, and {most} are the most")
            }
            Self::TooLarge {
                name,
                samples,
                most,
            } => write!(
                f,
                "{name} has {samples} samples in all, and {most} are the most"
            ),
            Self::Memory { name, bytes, free } => {
                let (bytes, free) = (bytes >> 20, free >> 20);
                write!(f, "{name} takes {bytes} MiB, and {free} MiB are free")
            }
            Self::Short { name, says, has } => {
                write!(f, "{name} says that it has {says} frames, and has {has}")
            }
            Self::FarRates { name, from, to } => {
                write!(f, "{name} is at {from}, too far from {to}")
            }
            Self::Silent { name, what } => write!(f, "{name} is silent: it cannot be {what}"),
            Self::Outside {
                name,
                from,
                to,
                frames,
            } => write!(
                f,
                "{name} has {frames} frames: there is no part from {from} to {to}"
            ),
            Self::Sofa { name, why } => write!(f, "{name}: {why}"),
        }
    }
}

impl std::error::Error for IrError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message of the error itself is already in this one; its source is not.
            Self::File(error) => error.source(),
            _ => None,
        }
    }
}

impl From<MediaError> for IrError {
    fn from(error: MediaError) -> Self {
        Self::File(error)
    }
}
