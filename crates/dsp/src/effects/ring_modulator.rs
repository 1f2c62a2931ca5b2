//! `mod`: a ring modulator, which multiplies its input by a sine.
//!
//! ```text
//! y = x × volume × sin(2π phase)        phase += freq / rate
//! ```
//!
//! The sine runs on while the input is silent.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, one channel |
//! | parameters | `freq` in Hz, held below half the rate (a change keeps the phase); `volume`, a factor (changes in a ramp of 5 ms) |
//! | latency, tail | none |

use crate::generators::osc::{FREQ, OscillatorCore, VOLUME};
use crate::generators::sine::sine;
use crate::sample::clamp_sample;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![PortSpec::mono("out")],
        params: vec![FREQ.param(), VOLUME.param()],
        typical_ns: 90,
        ..Kind::new("mod", "A ring modulator: the input times a sine.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Modulator {
        core: OscillatorCore::new(creation, 0.0)?,
    }))
}

#[derive(Clone)]
struct Modulator {
    core: OscillatorCore,
}

impl Modulator {
    fn skip(&mut self, frames: usize) {
        self.core.phase.skip(frames);
        self.core.volume.skip(frames);
    }

    fn generate(&mut self, from: &[f32], to: &mut [f32]) {
        let phase = &mut self.core.phase;
        for (y, x) in to.iter_mut().zip(from) {
            *y = clamp_sample(x * sine(phase.next()));
        }
        self.core.volume.apply(to);
    }
}

impl Processor for Modulator {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.core.setup(setup.rate);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.core.handle_event(&event),
                BlockStep::Process(range) if silent => self.skip(range.len()),
                BlockStep::Process(range) => {
                    let from = &block.input(0).channel(0)[range.clone()];
                    self.generate(from, &mut block.output(0).channel(0)[range]);
                }
                BlockStep::Cleanup => {}
            }
        }
        if silent {
            block.silence_outputs();
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.core.reset();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.core.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.core.load(bytes)
    }
}
