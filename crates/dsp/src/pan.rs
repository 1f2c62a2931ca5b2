//! `pan`: one channel between two.
//!
//! One input and the outputs `left` and `right`, of one channel each. Equal power: in the middle both have -3.01 dB. A
//! change glides for 5 ms.

use crate::knob::Knob;
use crate::sine::sine;
use crate::smooth::Smooth;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{Span, spans};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

const PAN: Knob = Knob {
    index: 0,
    name: "pan",
    unit: "",
    least: -1.0,
    most: 1.0,
    default: 0.0,
    doc: "From -1, left, to 1, right.",
};

/// What a frame costs.
const FRAME_NS: f64 = 0.22;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![PortSpec::mono("left"), PortSpec::mono("right")],
        params: vec![PAN.param(), split()],
        typical_ns: 80,
        ..Kind::new("pan", "One channel between two, with equal power.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let sides = factors(PAN.of(creation)?).map(Smooth::new);
    Ok(Box::new(Pan {
        sides,
        split: Split::of(creation)?,
    }))
}

/// Cosine and sine of an eighth of a circle on either side of the middle; exactly 0 at the ends.
fn factors(pan: f64) -> [f32; 2] {
    let eighth = (pan + 1.0) * 536_870_912.0;
    let right = eighth as u32;
    [sine(right + (1 << 30)), sine(right)]
}

#[derive(Clone)]
struct Pan {
    sides: [Smooth; 2],
    split: Split,
}

impl Pan {
    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        self.split.play(block, range, |part| {
            let passed = part.range().start - from;
            let input = part.input(0).channel(0);
            for (port, side) in self.sides.iter().enumerate() {
                let mut output = part.output(port);
                side.after(passed).scale(input, output.channel(0));
            }
        });
        self.sides.iter_mut().for_each(|side| side.skip(frames));
    }
}

impl Processor for Pan {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.sides
            .iter_mut()
            .for_each(|side| side.set_up(setup.rate));
        self.split.set_up(setup, FRAME_NS, 3);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in spans(block) {
            match span {
                Span::Event(event) => {
                    if let Some(pan) = PAN.turned(&event) {
                        let pairs = self.sides.iter_mut().zip(factors(pan));
                        pairs.for_each(|(side, factor)| side.go(factor));
                    }
                }
                Span::Play(range) => self.play(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.sides.iter().all(Smooth::is_still) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.lanes()
    }

    fn reset(&mut self) {
        self.sides.iter_mut().for_each(Smooth::reset);
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.sides.iter().flat_map(Smooth::words));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2 * Smooth::WORDS)?;
        let mut sides = self.sides;
        for (i, side) in sides.iter_mut().enumerate() {
            side.take(words.from(i * Smooth::WORDS))?;
        }
        self.sides = sides;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_is_the_same_wherever_it_stands() {
        for i in -10..=10 {
            let [left, right] = factors(f64::from(i) / 10.0);
            assert!((left * left + right * right - 1.0).abs() < 1e-6);
        }
        assert_eq!(factors(-1.0)[1], 0.0);
        assert_eq!(factors(1.0)[0], 0.0);
    }
}
