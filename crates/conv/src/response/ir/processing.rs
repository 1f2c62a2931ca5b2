//! [`IrProcessing`]: trim, reverse, fade and normalise a response before it is used.
//!
//! All channels are processed alike: their relative times and levels do not change.

use super::{Ir, IrError, IrReason, NAMELESS};
use std::f64::consts::PI;
use std::ops::Range;
use std::sync::Arc;

/// Processing of a response, in the order of the fields. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IrProcessing {
    /// Part that is kept.
    pub trim: Trim,
    /// True to reverse it in time.
    pub reverse: bool,
    /// Frames of the fade-in, half a cosine.
    pub fade_in: usize,
    /// Frames of the fade-out.
    pub fade_out: usize,
    /// Normalisation of its level.
    pub normalise: Normalise,
}

/// Part of a response that is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Trim {
    /// All of it.
    #[default]
    Whole,
    /// These frames.
    Frames(Range<usize>),
    /// All from the first to the last sample that is above a threshold relative to the loudest one.
    Silence {
        /// Threshold in dB; at most 0.
        below_db: f64,
    },
}

/// Normalisation of a response's level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalise {
    /// None.
    #[default]
    Off,
    /// The loudest sample becomes 1.
    Peak,
    /// White noise has the same level before and behind the loudest channel.
    Energy,
}

impl IrProcessing {
    /// Processes a response. If nothing changes, it keeps its memory.
    ///
    /// # Errors
    ///
    /// The range is not within the response, or all of it is silent and cannot be trimmed or normalised.
    ///
    /// Real-time: setup.
    pub fn apply(&self, ir: Ir) -> Result<Ir, IrError> {
        if *self == Self::default() {
            return Ok(ir);
        }
        let unnamed = |reason: IrReason| reason.of(NAMELESS);
        let range = self.trim.range(&ir).map_err(unnamed)?;
        let parts = ir
            .channels
            .iter()
            .map(|channel| channel[range.clone()].to_vec());
        let mut channels: Vec<Vec<f32>> = parts.collect();
        for channel in &mut channels {
            if self.reverse {
                channel.reverse();
            }
            fade(channel.iter_mut(), self.fade_in);
            fade(channel.iter_mut().rev(), self.fade_out);
        }
        if let Some(factor) = self.normalise.factor(&channels).map_err(unnamed)? {
            for sample in channels.iter_mut().flatten() {
                *sample = (f64::from(*sample) * factor) as f32;
            }
        }
        let channels = channels.into_iter().map(Arc::from).collect();
        Ir::named(NAMELESS, channels, ir.rate)
    }
}

impl Trim {
    /// Frames that are kept: at least one.
    fn range(&self, ir: &Ir) -> Result<Range<usize>, IrReason> {
        let frames = ir.frames();
        match self {
            Self::Whole => Ok(0..frames),
            Self::Frames(range) if range.start < range.end && range.end <= frames => {
                Ok(range.clone())
            }
            Self::Frames(range) => Err(IrReason::Outside {
                from: range.start as u64,
                to: range.end as u64,
                frames: frames as u64,
            }),
            Self::Silence { below_db } => range_above(ir, *below_db),
        }
    }
}

/// From the first to the last frame above the threshold on any channel.
fn range_above(ir: &Ir, below_db: f64) -> Result<Range<usize>, IrReason> {
    let threshold = f64::from(peak(&ir.channels)) * libm::pow(10.0, below_db / 20.0);
    let is_audible = |sample: &f32| *sample != 0.0 && f64::from(sample.abs()) >= threshold;
    let first = ir
        .channels
        .iter()
        .filter_map(|c| c.iter().position(is_audible));
    let last = ir
        .channels
        .iter()
        .filter_map(|c| c.iter().rposition(is_audible));
    match (first.min(), last.max()) {
        (Some(first), Some(last)) => Ok(first..last + 1),
        _ => Err(IrReason::Silent("trimmed")),
    }
}

impl Normalise {
    /// Gain of the normalisation; `None` if there is none.
    fn factor(self, channels: &[Vec<f32>]) -> Result<Option<f64>, IrReason> {
        let size = match self {
            Self::Off => return Ok(None),
            Self::Peak => f64::from(peak(channels)),
            Self::Energy => channels
                .iter()
                .map(|c| energy(c))
                .fold(0.0, f64::max)
                .sqrt(),
        };
        if size > 0.0 {
            return Ok(Some(1.0 / size));
        }
        Err(IrReason::Silent("made louder"))
    }
}

fn peak(channels: &[impl AsRef<[f32]>]) -> f32 {
    let samples = channels.iter().flat_map(|c| c.as_ref());
    samples.fold(0.0, |max, sample| max.max(sample.abs()))
}

fn energy(samples: &[f32]) -> f64 {
    samples.iter().map(|s| f64::from(*s) * f64::from(*s)).sum()
}

/// Fades in the first `frames` of `samples`.
fn fade<'a>(samples: impl Iterator<Item = &'a mut f32>, frames: usize) {
    for (n, sample) in samples.take(frames).enumerate() {
        let part = (n as f64 + 0.5) / frames as f64;
        *sample = (f64::from(*sample) * (0.5 - 0.5 * libm::cos(PI * part))) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::SampleRate;

    fn ir(channels: &[&[f32]]) -> Ir {
        let channels = channels.iter().map(|channel| channel.to_vec());
        Ir::new(channels, SampleRate::new(48_000).unwrap()).unwrap()
    }

    fn processed(processing: IrProcessing, channels: &[&[f32]]) -> Vec<Vec<f32>> {
        let ir = processing.apply(ir(channels)).unwrap();
        ir.channels()
            .iter()
            .map(|channel| channel.to_vec())
            .collect()
    }

    #[test]
    fn processing_that_changes_nothing_keeps_the_memory() {
        let ir = ir(&[&[1.0, 2.0]]);
        let same = IrProcessing::default().apply(ir.clone()).unwrap();
        assert!(Arc::ptr_eq(&ir.channels()[0], &same.channels()[0]));
    }

    #[test]
    fn silence_is_trimmed_where_all_channels_have_it() {
        let cut = Trim::Silence { below_db: -40.0 };
        let processing = IrProcessing {
            trim: cut,
            ..IrProcessing::default()
        };
        let left = [0.001, 0.0, 1.0, 0.0, 0.5, 0.009, 0.0];
        let right = [0.0, 0.02, 0.0, 0.0, 0.0, 0.0, 0.001];
        let channels = processed(processing.clone(), &[&left, &right]);
        assert_eq!(channels, [[0.0, 1.0, 0.0, 0.5], [0.02, 0.0, 0.0, 0.0]]);
        let silent = processing.apply(ir(&[&[0.0, 0.0]])).unwrap_err();
        assert_eq!(
            silent.to_string(),
            "the impulse response is silent: it cannot be trimmed"
        );
    }

    #[test]
    fn trimming_comes_before_reversing() {
        let processing = IrProcessing {
            trim: Trim::Frames(1..4),
            reverse: true,
            ..IrProcessing::default()
        };
        assert_eq!(
            processed(processing.clone(), &[&[1.0, 2.0, 3.0, 4.0]]),
            [[4.0, 3.0, 2.0]]
        );
        let wrong = processing.apply(ir(&[&[1.0, 2.0]])).unwrap_err();
        assert!(wrong.to_string().contains("no part from 1 to 4"), "{wrong}");
    }

    #[test]
    fn fades_rise_and_fall_and_leave_the_middle() {
        let processing = IrProcessing {
            fade_in: 3,
            fade_out: 2,
            ..IrProcessing::default()
        };
        let channels = processed(processing, &[&[1.0; 7]]);
        let [a, b, c, d, e, f, g] = channels[0][..] else {
            panic!()
        };
        assert!(0.0 < a && a < b && b < c && c < 1.0 && (d, e) == (1.0, 1.0));
        assert!(1.0 > f && f > g && g > 0.0);
        let all = IrProcessing {
            fade_in: 100,
            ..IrProcessing::default()
        };
        assert!(processed(all, &[&[1.0; 7]])[0][6] < 0.02);
    }

    #[test]
    fn peak_and_energy_keep_the_balance_of_the_channels() {
        let normal = |normal| IrProcessing {
            normalise: normal,
            ..IrProcessing::default()
        };
        let channels: &[&[f32]] = &[&[3.0, -4.0], &[0.0, 2.0]];
        assert_eq!(
            processed(normal(Normalise::Peak), channels),
            [[0.75, -1.0], [0.0, 0.5]]
        );
        assert_eq!(
            processed(normal(Normalise::Energy), channels),
            [[0.6, -0.8], [0.0, 0.4]]
        );
        assert!(normal(Normalise::Peak).apply(ir(&[&[0.0]])).is_err());
    }
}
