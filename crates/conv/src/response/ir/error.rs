//! What can be wrong with an impulse response: which one, where, why, and what to do.

use media::MediaError;
use std::fmt;
use units::SampleRate;

/// Why an impulse response is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum IrError {
    /// Its file cannot be read.
    File(MediaError),
    /// It has no frame at all. Give another file, or trim less.
    Empty {
        /// Which one.
        name: String,
    },
    /// Its channels are of different lengths. Fill the shorter ones with silence.
    Uneven {
        /// Which one.
        name: String,
    },
    /// A sample is NaN or infinite, and would be in everything that is heard. Export the file again.
    NotFinite {
        /// Which one.
        name: String,
        /// From 0.
        channel: usize,
        /// From 0.
        frame: u64,
        /// What is there.
        value: f32,
    },
    /// It is longer than the stated limit. Use a part of it, or raise the limit.
    TooLong {
        /// Which one.
        name: String,
        /// How long it is, at the rate it would be used at.
        frames: u64,
        /// How long it may be.
        most: u64,
    },
    /// Its channels together have more samples than the stated limit. Use fewer channels or a part of it.
    TooLarge {
        /// Which one.
        name: String,
        /// How many it has, at the rate it would be used at.
        samples: u64,
        /// How many it may have.
        most: u64,
    },
    /// To use it takes more memory than the machine has left.
    Memory {
        /// Which one.
        name: String,
        /// What it takes.
        bytes: u64,
        /// What is left.
        free: u64,
    },
    /// The file has fewer frames than it says: it was cut off.
    Short {
        /// Which one.
        name: String,
        /// How many it says.
        says: u64,
        /// How many there are.
        has: u64,
    },
    /// Its rate is too far from the one it would be used at.
    FarRates {
        /// Which one.
        name: String,
        /// Its rate.
        from: SampleRate,
        /// The one it would be used at.
        to: SampleRate,
    },
    /// All of it is silent where something must be heard: nothing is left to trim, or to make louder.
    Silent {
        /// Which one.
        name: String,
        /// What cannot be done.
        what: &'static str,
    },
    /// The range that is asked for does not lie within it.
    Outside {
        /// Which one.
        name: String,
        /// The first frame that is asked for.
        from: u64,
        /// The first that is not.
        to: u64,
        /// How many there are.
        frames: u64,
    },
    /// A SOFA file that cannot be used, and why.
    Sofa {
        /// Which one.
        name: String,
        /// What is wrong with it.
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
            // Its own words have been said; what caused them has not.
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
