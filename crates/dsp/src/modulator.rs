//! `mod`: a ring modulator, the input times a sine.
//!
//! One input, one output of one channel: input × sine of `freq` × `volume`. The sine runs on while the input is silent.
//! A change of `freq` keeps the phase; a change of `volume` glides.

use crate::osc::{FREQ, VOLUME, Voice};
use crate::sample::bounded;
use crate::sine::sine;
use crate::steps::{Step, steps};
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
        voice: Voice::new(creation, 0.0)?,
    }))
}

#[derive(Clone)]
struct Modulator {
    voice: Voice,
}

impl Modulator {
    fn skip(&mut self, frames: usize) {
        self.voice.phase.skip(frames);
        self.voice.volume.skip(frames);
    }

    fn fill(&mut self, from: &[f32], to: &mut [f32]) {
        let phase = &mut self.voice.phase;
        for (y, x) in to.iter_mut().zip(from) {
            *y = bounded(x * sine(phase.next()));
        }
        self.voice.volume.apply(to);
    }
}

impl Processor for Modulator {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.voice.set_up(setup.rate);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for step in steps(block) {
            match step {
                Step::Event(event) => self.voice.take_up(&event),
                Step::Play(range) if silent => self.skip(range.len()),
                Step::Play(range) => {
                    let from = &block.input(0).channel(0)[range.clone()];
                    self.fill(from, &mut block.output(0).channel(0)[range]);
                }
                Step::Tidy => {}
            }
        }
        if silent {
            block.silence_outputs();
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.voice.reset();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.voice.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.voice.load(bytes)
    }
}
