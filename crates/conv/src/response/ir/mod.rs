//! Impulse responses: from sound files or from memory, checked, processed, and assigned to inputs and outputs.
//!
//! Takes files and samples, gives an [`Ir`], whose samples are all finite and at one rate, and [`Paths`], which say what goes from
//! which input to which output. A response that cannot be used as it was meant is refused with place and reason.
//! May: open files, allocate, take its time. May not: run on an audio thread, or allocate by a number from a file before that
//! number is checked against an [`IrLimit`].
//!
//! | file | holds |
//! |---|---|
//! | `load.rs` `resample.rs` | sound files, at any rate |
//! | `sofa.rs` `no_sofa.rs` | SOFA files, in builds with and without them |
//! | `processing.rs` | trim, reverse, fade, normalise |
//! | `paths.rs` | which response between which channels |
//! | `limit.rs` `memory.rs` `error.rs` | what is refused, and why |

mod error;
mod limit;
mod load;
pub(crate) mod memory;
mod paths;
mod processing;
mod resample;

#[cfg(feature = "sofa")]
mod sofa;
#[cfg(not(feature = "sofa"))]
#[path = "no_sofa.rs"]
mod sofa;

pub use error::{IrError, IrReason};
pub use limit::IrLimit;
pub use load::{LoadNote, LoadedIr, SourceDirection};
pub use paths::{DelayedPath, Paths, PathsError};
pub use processing::{IrProcessing, Normalise, Trim};

use std::sync::Arc;
use units::SampleRate;

/// An impulse response of one or more channels of the same length: at least one frame, all samples finite.
#[derive(Clone, Debug)]
pub struct Ir {
    rate: SampleRate,
    channels: Vec<Arc<[f32]>>,
}

/// Name in errors of an impulse response that came from no file.
const NAMELESS: &str = "the impulse response";

impl Ir {
    /// Makes an impulse response from samples, one list a channel.
    ///
    /// # Errors
    ///
    /// It is empty, its channels differ in length, or a sample is NaN or infinite; the first such sample is named.
    ///
    /// Real-time: setup.
    pub fn new(
        channels: impl IntoIterator<Item = impl Into<Arc<[f32]>>>,
        rate: SampleRate,
    ) -> Result<Self, IrError> {
        let channels = channels.into_iter().map(Into::into).collect();
        Self::named(NAMELESS, channels, rate)
    }

    /// As [`new`](Self::new), with a name for errors.
    fn named(name: &str, channels: Vec<Arc<[f32]>>, rate: SampleRate) -> Result<Self, IrError> {
        check(&channels).map_err(|reason| reason.of(name))?;
        Ok(Self { rate, channels })
    }

    /// Sample rate.
    pub fn rate(&self) -> SampleRate {
        self.rate
    }

    /// Samples of each channel; a clone shares their memory.
    pub fn channels(&self) -> &[Arc<[f32]>] {
        &self.channels
    }

    /// Frames of each channel: at least one.
    pub fn frames(&self) -> usize {
        self.channels[0].len()
    }

    /// Returns true if all samples are zero.
    pub fn is_silent(&self) -> bool {
        let mut samples = self.channels.iter().flat_map(|channel| channel.iter());
        samples.all(|sample| *sample == 0.0)
    }
}

fn check(channels: &[Arc<[f32]>]) -> Result<(), IrReason> {
    let frames = channels.first().map_or(0, |channel| channel.len());
    if frames == 0 {
        return Err(IrReason::Empty);
    }
    if channels.iter().any(|channel| channel.len() != frames) {
        return Err(IrReason::Uneven);
    }
    for (channel, samples) in channels.iter().enumerate() {
        if let Some(at) = not_finite(samples) {
            let (frame, value) = (at as u64, samples[at]);
            return Err(IrReason::NotFinite {
                channel,
                frame,
                value,
            });
        }
    }
    Ok(())
}

/// Place of the first sample that is not finite.
fn not_finite(samples: &[f32]) -> Option<usize> {
    samples.iter().position(|sample| !sample.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> SampleRate {
        SampleRate::new(48_000).unwrap()
    }

    #[test]
    fn nothing_nan_and_infinity_are_refused_where_they_are() {
        let none: [Vec<f32>; 0] = [];
        let refused = |channels: Vec<Vec<f32>>| Ir::new(channels, rate()).unwrap_err();
        let none = Ir::new(none, rate()).unwrap_err();
        assert_eq!(none.reason(), Some(IrReason::Empty));
        assert_eq!(refused(vec![vec![]]).reason(), Some(IrReason::Empty));
        let uneven = refused(vec![vec![1.0], vec![1.0, 2.0]]);
        assert_eq!(uneven.reason(), Some(IrReason::Uneven));
        let nan = refused(vec![vec![1.0, 0.0], vec![0.5, f32::NAN]]);
        assert_eq!(
            nan.to_string(),
            "the impulse response has no number (NaN) in channel 2 at frame 1"
        );
        let infinite = refused(vec![vec![f32::NEG_INFINITY]]);
        assert!(
            infinite
                .to_string()
                .contains("(-inf) in channel 1 at frame 0")
        );
    }

    #[test]
    fn clones_share_the_memory_of_channels() {
        let ir = Ir::new([vec![0.0, 0.0]], rate()).unwrap();
        let again = ir.clone();
        assert!(Arc::ptr_eq(&ir.channels()[0], &again.channels()[0]));
        assert_eq!((ir.frames(), ir.is_silent()), (2, true));
    }
}
