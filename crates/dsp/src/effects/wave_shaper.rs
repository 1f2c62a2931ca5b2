//! `shape`: a wave shaper with a soft or a hard clip.
//!
//! ```text
//! soft: y = x (27 + x²) / (27 + 9 x²), |x| ≤ 3     near tanh x, a form of its Padé approximant that reaches ±1 at ±3
//! clip: y = x held within ±1                       x is the input times 10^(drive_db / 20)
//! ```
//!
//! A wave shaper makes overtones above half the sample rate, which alias; nothing is oversampled here.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says; the output is within ±1 |
//! | parameters | `drive_db` -60 to 60 dB, a change is a ramp of 5 ms; `mode`; `split` |
//! | latency, tail | none |
//! | driven | `drive_db` at audio rate |

use crate::mixing::gain::{CHUNK, scale_db};
use crate::param::{ParamSpec, channels};
use crate::sample::{channel_count, clamp_sample, db_to_gain};
use crate::smoothed::{Smoothed, SmoothedKernel};
use crate::smoother::Smoother;
use crate::split::split;
use graph::{Kind, Param};
use processor::{BlockPart, Event, MakeContext, MakeError, Processor};

const DRIVE: ParamSpec = ParamSpec::new(0, "drive_db", (-60.0, 60.0), 0.0)
    .unit("dB")
    .doc("Gain before the shaper.")
    .audio_rate();

/// Cost of a sample on one core in each mode, in ns.
const SOFT_NS: f64 = 0.44;
const CLIP_NS: f64 = 0.18;

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![
            DRIVE.param(),
            Param::choice("mode", &["soft", "clip"]).doc("Soft (tanh) or hard clip."),
            split(),
            channels(),
        ],
        typical_ns: 70,
        picture: graph::KindPicture::Transfer(-2, 2),
        ..Kind::effect("shape", "A wave shaper: soft or hard clip.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let kernel = WaveShaper {
        hard: creation.choice("mode")? == 1,
        channels: channel_count(creation.node),
    };
    let drive = db_to_gain(DRIVE.read(creation)?) as f32;
    match creation.is_driven(DRIVE.index) {
        true => Smoothed::make(creation, DrivenShaper(kernel), [drive]),
        false => Smoothed::make(creation, kernel, [drive]),
    }
}

struct WaveShaper {
    hard: bool,
    channels: usize,
}

#[inline(always)]
fn soft_clip(x: f32) -> f32 {
    let x = x.clamp(-3.0, 3.0);
    let s = x * x;
    x * (27.0 + s) / (27.0 + 9.0 * s)
}

impl SmoothedKernel for WaveShaper {
    fn frame_cost(&self, _: usize) -> (f64, usize) {
        let sample_ns = if self.hard { CLIP_NS } else { SOFT_NS };
        (sample_ns * self.channels as f64, 2 * self.channels)
    }

    fn handle_event(&self, event: &Event, _: [f64; 2], factors: &mut [Smoother]) {
        if let Some(db) = DRIVE.value_of(event) {
            factors[0].follow(event, db_to_gain(db) as f32);
        }
    }

    fn process_part(&self, part: &mut BlockPart<'_>, factors: &[Smoother], passed: usize) {
        let drive = &factors[0];
        let input = part.input(0);
        let mut output = part.output(0);
        for c in 0..self.channels {
            let to = output.channel(c);
            drive.scale(passed, input.channel(c), to);
            self.clip(to);
        }
    }
}

impl WaveShaper {
    #[inline(always)]
    fn clip(&self, to: &mut [f32]) {
        if self.hard {
            to.iter_mut().for_each(|y| *y = y.clamp(-1.0, 1.0));
        } else {
            to.iter_mut().for_each(|y| *y = clamp_sample(soft_clip(*y)));
        }
    }
}

/// A shaper whose `drive_db` is driven at audio rate.
struct DrivenShaper(WaveShaper);

impl SmoothedKernel for DrivenShaper {
    fn frame_cost(&self, factors: usize) -> (f64, usize) {
        self.0.frame_cost(factors)
    }

    fn handle_event(&self, event: &Event, saved: [f64; 2], factors: &mut [Smoother]) {
        self.0.handle_event(event, saved, factors);
    }

    fn process_part(&self, part: &mut BlockPart<'_>, _: &[Smoother], _: usize) {
        let Some(drive) = part.param_signal(DRIVE.index) else {
            return;
        };
        let input = part.input(0);
        let mut output = part.output(0);
        for from in (0..drive.len()).step_by(CHUNK) {
            let range = from..drive.len().min(from + CHUNK);
            let mut factors = [1.0; CHUNK];
            let factors = &mut factors[..range.len()];
            scale_db(&drive[range.clone()], factors);
            for c in 0..self.0.channels {
                let to = &mut output.channel(c)[range.clone()];
                let from = &input.channel(c)[range.clone()];
                for (y, (x, factor)) in to.iter_mut().zip(from.iter().zip(&*factors)) {
                    *y = clamp_sample(x * factor);
                }
                self.0.clip(to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_clip_is_near_the_hyperbolic_tangent() {
        for i in -400..=400 {
            let x = i as f32 / 100.0;
            assert!((soft_clip(x) - libm::tanhf(x)).abs() < 0.03, "{x}");
        }
        assert_eq!(soft_clip(3.0), 1.0);
    }
}
