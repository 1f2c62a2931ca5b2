//! Kinds of nodes. Each works where the samples lie: it reads windows of the queue before it and writes rooms of the one
//! behind.

mod border;
mod fir;
mod overlap_save;
mod simple;
mod stft;

pub use border::{CallbackSink, CallbackSource, MemorySink, MemorySource, Recording};
pub use fir::{Decimate, Interpolate, low_pass};
pub use overlap_save::OverlapSave;
pub use simple::{Add, Gain, Split};
pub use stft::{InverseStft, Stft};

use std::fmt;

/// Why a node cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KindError {
    /// It needs at least one of these.
    Zero(&'static str),
    /// A transform has a power of two from 32 to 2^25 samples.
    Transform(usize),
    /// A filter of so many taps does not fit into a transform of so many samples: take a larger one.
    Taps {
        /// The taps.
        taps: usize,
        /// The samples.
        size: usize,
    },
    /// A hop is at most half of the transform, and divides it.
    Hop {
        /// The hop.
        hop: usize,
        /// The transform.
        size: usize,
    },
}

impl fmt::Display for KindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(what) => write!(f, "it needs at least one of `{what}`"),
            Self::Transform(size) => {
                write!(
                    f,
                    "a transform has a power of two from 32 to 2^25 samples, and not {size}"
                )
            }
            Self::Taps { taps, size } => {
                write!(
                    f,
                    "{taps} taps do not fit into a transform of {size} samples"
                )
            }
            Self::Hop { hop, size } => write!(
                f,
                "a hop of {hop} is not at most half of {size} and a divisor of it"
            ),
        }
    }
}

impl std::error::Error for KindError {}

/// At least one.
fn some(value: usize, what: &'static str) -> Result<usize, KindError> {
    match value {
        0 => Err(KindError::Zero(what)),
        _ => Ok(value),
    }
}

/// A transform of `size` samples.
fn transform(size: usize) -> Result<fft::RealFft, KindError> {
    use fft::{Kernels, Packing, RealFft};
    let wrong = KindError::Transform(size);
    if !size.is_multiple_of(2) {
        return Err(wrong);
    }
    RealFft::new(size / 2, Packing::Mono, Kernels::best()).map_err(|_| wrong)
}

#[cfg(all(test, not(loom)))]
pub(crate) mod testing;
