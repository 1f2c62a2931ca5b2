//! `shape`: bends the wave: a hard clip, or a soft one.
//!
//! One input, one output, as wide as `channels` says, within ±1. Soft: x(27 + x²)/(27 + 9x²), a Padé form of the
//! hyperbolic tangent, which reaches ±1 at ±3. The bending makes overtones above half the sample rate; they fold back,
//! for nothing is up-sampled here.

use crate::knob::{Knob, channels, choice};
use crate::sample::{bounded, channels_of, from_db};
use crate::smooth::Smooth;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{Span, spans};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

const DRIVE: Knob = Knob {
    index: 0,
    name: "drive_db",
    unit: "dB",
    least: -60.0,
    most: 60.0,
    default: 0.0,
    doc: "How loud it goes into the bend.",
};

/// What a sample costs in each mode.
const SOFT_NS: f64 = 0.44;
const CLIP_NS: f64 = 0.18;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            DRIVE.param(),
            choice("mode", &["soft", "clip"], "Round or sharp corners."),
            split(),
            channels(),
        ],
        typical_ns: 70,
        ..Kind::new("shape", "Bends the wave: a soft or a hard clip.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let hard = creation.choice("mode")? == 1;
    Ok(Box::new(Shape {
        hard,
        split: Split::of(creation)?,
        drive: Smooth::new(from_db(DRIVE.of(creation)?) as f32),
        channels: channels_of(creation.node),
    }))
}

#[derive(Clone)]
struct Shape {
    hard: bool,
    drive: Smooth,
    channels: usize,
    split: Split,
}

#[inline(always)]
fn soft(x: f32) -> f32 {
    let x = x.clamp(-3.0, 3.0);
    let s = x * x;
    x * (27.0 + s) / (27.0 + 9.0 * s)
}

impl Shape {
    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        self.split.play(block, range, |part| {
            let drive = self.drive.after(part.range().start - from);
            let input = part.input(0);
            let mut output = part.output(0);
            for c in 0..self.channels {
                let to = output.channel(c);
                drive.scale(input.channel(c), to);
                if self.hard {
                    to.iter_mut().for_each(|y| *y = y.clamp(-1.0, 1.0));
                } else {
                    to.iter_mut().for_each(|y| *y = bounded(soft(*y)));
                }
            }
        });
        self.drive.skip(frames);
    }
}

impl Processor for Shape {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.drive.set_up(setup.rate);
        let sample_ns = if self.hard { CLIP_NS } else { SOFT_NS };
        let frame_ns = sample_ns * self.channels as f64;
        self.split.set_up(setup, frame_ns, 2 * self.channels);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in spans(block) {
            match span {
                Span::Event(event) => {
                    if let Some(db) = DRIVE.turned(&event) {
                        self.drive.go(from_db(db) as f32);
                    }
                }
                Span::Play(range) => self.play(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.drive.is_still() {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.lanes()
    }

    fn reset(&mut self) {
        self.drive.reset();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.drive.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, Smooth::WORDS)?;
        self.drive.take(words).map(|_same_node| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_bend_is_near_the_hyperbolic_tangent() {
        for i in -400..=400 {
            let x = i as f32 / 100.0;
            assert!((soft(x) - libm::tanhf(x)).abs() < 0.03, "{x}");
        }
        assert_eq!(soft(3.0), 1.0);
    }
}
