//! `pan`: one channel between two, with equal power.
//!
//! ```text
//! θ = (pan + 1) π / 4      left = x cos θ      right = x sin θ      in the middle both are -3.01 dB
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `left`, `right`, one channel each |
//! | parameters | `pan` -1 (left) to 1 (right); a change is a ramp of 5 ms of both factors; `split` |
//! | latency, tail | none |

use crate::generators::sine::sine;
use crate::param::ParamSpec;
use crate::smoother::Smoother;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{BlockSpan, block_spans};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

const PAN: ParamSpec =
    ParamSpec::new(0, "pan", (-1.0, 1.0), 0.0).doc("From -1, left, to 1, right.");

/// Cost of a frame on one core, in ns.
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
    let sides = factors(PAN.read(creation)?).map(Smoother::new);
    Ok(Box::new(Pan {
        sides,
        split: Split::from_node(creation)?,
    }))
}

/// Cosine and sine of (pan + 1) π/4; exactly 0 at the ends.
fn factors(pan: f64) -> [f32; 2] {
    let eighth = (pan + 1.0) * 536_870_912.0;
    let right = eighth as u32;
    [sine(right + (1 << 30)), sine(right)]
}

#[derive(Clone)]
struct Pan {
    sides: [Smoother; 2],
    split: Split,
}

impl Pan {
    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        let sides = self.sides;
        self.split.process(block, range, move |part| {
            let passed = part.range().start - from;
            let input = part.input(0).channel(0);
            for (port, side) in sides.iter().enumerate() {
                let mut output = part.output(port);
                side.advanced(passed).scale(input, output.channel(0));
            }
        });
        self.sides.iter_mut().for_each(|side| side.skip(frames));
    }
}

impl Processor for Pan {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.sides
            .iter_mut()
            .for_each(|side| side.setup(setup.rate));
        self.split.setup(setup, FRAME_NS, 3);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => {
                    if let Some(pan) = PAN.value_of(&event) {
                        let pairs = self.sides.iter_mut().zip(factors(pan));
                        pairs.for_each(|(side, factor)| side.set_target(factor));
                    }
                }
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.sides.iter().all(Smoother::is_settled) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn reset(&mut self) {
        self.sides.iter_mut().for_each(Smoother::reset);
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.sides.iter().flat_map(Smoother::state_words));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2 * Smoother::STATE_WORDS)?;
        let mut sides = self.sides;
        for (i, side) in sides.iter_mut().enumerate() {
            side.load(words.from(i * Smoother::STATE_WORDS))?;
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
