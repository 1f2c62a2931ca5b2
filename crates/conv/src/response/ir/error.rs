//! Reasons why an impulse response is refused: which one, where, why, and what to do.

use media::MediaError;
use units::SampleRate;

/// Reason why an impulse response is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IrError {
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] MediaError),
    /// The response cannot be used.
    #[error("{name} {reason}")]
    Refused {
        /// Name of the response.
        name: String,
        /// Reason.
        reason: IrReason,
    },
    /// A SOFA file that cannot be used, and why.
    #[error("{name}: {why}")]
    Sofa {
        /// Name of the response.
        name: String,
        /// Reason.
        why: String,
    },
}

/// Reason why an impulse response cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IrReason {
    /// It has no frame at all. Give another file, or trim less.
    #[error("is empty: there is nothing to convolve with")]
    Empty,
    /// Its channels are of different lengths. Fill the shorter ones with silence.
    #[error("has channels of different lengths")]
    Uneven,
    /// A sample is NaN or infinite, and would spread to all output. Export the file again.
    #[error("has no number ({value}) in channel {} at frame {frame}", .channel + 1)]
    NotFinite {
        /// From 0.
        channel: usize,
        /// From 0.
        frame: u64,
        /// Its value.
        value: f32,
    },
    /// It is longer than the stated limit. Use a part of it, or raise the limit.
    #[error("has {frames} frames, and {max} are the most")]
    TooLong {
        /// Its frames, at the rate at which it would be used.
        frames: u64,
        /// Largest number of frames allowed.
        max: u64,
    },
    /// Its channels together have more samples than the stated limit. Use fewer channels or a part of it.
    #[error("has {samples} samples in all, and {max} are the most")]
    TooLarge {
        /// Its samples, at the rate at which it would be used.
        samples: u64,
        /// Largest number of samples allowed.
        max: u64,
    },
    /// It needs more memory than the machine has free.
    #[error("takes {} MiB, and {} MiB are free", .bytes >> 20, .free >> 20)]
    Memory {
        /// Bytes needed.
        bytes: u64,
        /// Bytes free.
        free: u64,
    },
    /// The file has fewer frames than it says: it was cut off.
    #[error("is cut off: it states {stated} frames, and has {found}")]
    Short {
        /// Frames that the file states.
        stated: u64,
        /// Frames that the file has.
        found: u64,
    },
    /// Its rate is too far from the rate at which it would be used.
    #[error("is at {from}, too far from {to}")]
    FarRates {
        /// Its rate.
        from: SampleRate,
        /// Rate at which it would be used.
        to: SampleRate,
    },
    /// All of it is silent, and silence cannot be trimmed or normalised.
    #[error("is silent: it cannot be {0}")]
    Silent(&'static str),
    /// The requested range of frames is not within it.
    #[error("has {frames} frames: there is no part from {from} to {to}")]
    Outside {
        /// First frame of the range.
        from: u64,
        /// Frame behind the range.
        to: u64,
        /// Frames of the response.
        frames: u64,
    },
}

impl IrReason {
    /// The error of the response `name`.
    pub fn of(self, name: &str) -> IrError {
        IrError::Refused {
            name: name.to_owned(),
            reason: self,
        }
    }
}

impl IrError {
    /// The reason, unless the file itself cannot be used.
    pub fn reason(&self) -> Option<IrReason> {
        match self {
            Self::Refused { reason, .. } => Some(*reason),
            _ => None,
        }
    }
}
