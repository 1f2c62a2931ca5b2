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

use crate::param::{ParamSpec, channels};
use crate::sample::{channel_count, clamp_sample, db_to_gain};
use crate::smoother::Smoother;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{BlockSpan, block_spans};
use graph::{Kind, Param, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

const DRIVE: ParamSpec = ParamSpec::new(0, "drive_db", (-60.0, 60.0), 0.0)
    .unit("dB")
    .doc("Gain before the shaper.");

/// Cost of a sample on one core in each mode, in ns.
const SOFT_NS: f64 = 0.44;
const CLIP_NS: f64 = 0.18;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            DRIVE.param(),
            Param::choice("mode", &["soft", "clip"]).doc("Soft (tanh) or hard clip."),
            split(),
            channels(),
        ],
        typical_ns: 70,
        ..Kind::new("shape", "A wave shaper: soft or hard clip.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let hard = creation.choice("mode")? == 1;
    Ok(Box::new(WaveShaper {
        hard,
        split: Split::from_node(creation)?,
        drive: Smoother::new(db_to_gain(DRIVE.read(creation)?) as f32),
        channels: channel_count(creation.node),
    }))
}

#[derive(Clone)]
struct WaveShaper {
    hard: bool,
    drive: Smoother,
    channels: usize,
    split: Split,
}

#[inline(always)]
fn soft_clip(x: f32) -> f32 {
    let x = x.clamp(-3.0, 3.0);
    let s = x * x;
    x * (27.0 + s) / (27.0 + 9.0 * s)
}

impl WaveShaper {
    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        let (drive, channels, hard) = (self.drive, self.channels, self.hard);
        self.split.process(block, range, move |part| {
            let drive = drive.advanced(part.range().start - from);
            let input = part.input(0);
            let mut output = part.output(0);
            for c in 0..channels {
                let to = output.channel(c);
                drive.scale(input.channel(c), to);
                if hard {
                    to.iter_mut().for_each(|y| *y = y.clamp(-1.0, 1.0));
                } else {
                    to.iter_mut().for_each(|y| *y = clamp_sample(soft_clip(*y)));
                }
            }
        });
        self.drive.skip(frames);
    }
}

impl Processor for WaveShaper {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.drive.setup(setup.rate);
        let sample_ns = if self.hard { CLIP_NS } else { SOFT_NS };
        let frame_ns = sample_ns * self.channels as f64;
        self.split.setup(setup, frame_ns, 2 * self.channels);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => {
                    if let Some(db) = DRIVE.value_of(&event) {
                        self.drive.set_target(db_to_gain(db) as f32);
                    }
                }
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.drive.is_settled() {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn reset(&mut self) {
        self.drive.reset();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.drive.state_words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, Smoother::STATE_WORDS)?;
        self.drive.load(words).map(|_same_node| ())
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
