//! Actors. Each works in place: it reads windows of the queue before it, and writes windows of the queue behind it.
//!
//! | file | holds |
//! |---|---|
//! | `endpoints.rs` | sources and sinks: samples in memory, or a caller's |
//! | `elementwise.rs` | gain, sum, split |
//! | `fir.rs` | FIR filters, decimation, interpolation |
//! | `overlap_save.rs` | long FIR filters by transforms |
//! | `stft.rs` | short-time Fourier transform and its inverse |

mod elementwise;
mod endpoints;
mod fir;
mod overlap_save;
mod stft;

pub use elementwise::{Add, Gain, Split};
pub use endpoints::{CallbackSink, CallbackSource, MemorySink, MemorySource, Recording};
pub use fir::{Decimate, Interpolate, low_pass};
pub use overlap_save::OverlapSave;
pub use stft::{InverseStft, Stft};

use std::fmt;

/// Reason why an actor cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KindError {
    /// This number is 0 and must be at least 1.
    Zero(&'static str),
    /// A transform's size is a power of two from 32 to 2^25; this is not.
    Transform(usize),
    /// The filter has more taps than the transform has samples: choose a larger transform.
    Taps {
        /// Number of taps.
        taps: usize,
        /// Size of the transform.
        size: usize,
    },
    /// The hop is larger than half the transform, or does not divide it.
    Hop {
        /// The hop.
        hop: usize,
        /// Size of the transform.
        size: usize,
    },
    /// `coefs` is not a list of numbers, or has too many.
    Coefs {
        /// Largest number of taps.
        max: usize,
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
            Self::Coefs { max } => write!(f, "`coefs` is a list of 1 to {max} numbers"),
        }
    }
}

impl std::error::Error for KindError {}

/// `value`, if it is at least 1.
fn nonzero(value: usize, what: &'static str) -> Result<usize, KindError> {
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
pub(crate) mod fixtures;
