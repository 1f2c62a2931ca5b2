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

/// Reason why an actor cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KindError {
    /// This number is 0 and must be at least 1.
    #[error("it needs at least one of `{0}`")]
    Zero(&'static str),
    /// A transform's size is a power of two from 32 to 2^25; this is not.
    #[error("a transform has a power of two from 32 to 2^25 samples, and not {0}")]
    Transform(usize),
    /// The filter has more taps than the transform has samples: choose a larger transform.
    #[error("{taps} taps do not fit into a transform of {size} samples")]
    Taps {
        /// Number of taps.
        taps: usize,
        /// Size of the transform.
        size: usize,
    },
    /// The hop is larger than half the transform, or does not divide it.
    #[error("a hop of {hop} is not at most half of {size} and a divisor of it")]
    Hop {
        /// The hop.
        hop: usize,
        /// Size of the transform.
        size: usize,
    },
    /// `coefs` is not a list of numbers, or has too many.
    #[error("`coefs` is a list of 1 to {max} numbers")]
    Coefs {
        /// Largest number of taps.
        max: usize,
    },
}

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
