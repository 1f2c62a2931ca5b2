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
//! | driven | `freq` and `volume` at audio rate. While a driven one is 0 it is silent and its phase stands still |

use crate::generators::driven::{DrivenFrames, is_driven, is_stopped};
use crate::generators::osc::{FREQ, OscillatorCore, VOLUME};
use crate::generators::sine::sine;
use crate::sample::clamp_sample;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, KindPicture, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![PortSpec::mono("out")],
        params: vec![FREQ.audio_rate().param(), VOLUME.audio_rate().param()],
        typical_ns: 90,
        picture: KindPicture::Tone,
        ..Kind::new("mod", "A ring modulator: the input times a sine.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let core = OscillatorCore::new(creation, 0.0)?;
    match is_driven(creation) {
        true => Ok(Box::new(DrivenModulator { core })),
        false => Ok(Box::new(Modulator { core })),
    }
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

/// A ring modulator of which `freq` or `volume` is driven at audio rate.
#[derive(Clone)]
struct DrivenModulator {
    core: OscillatorCore,
}

impl DrivenModulator {
    fn generate(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let driven = DrivenFrames::new(&mut self.core, block, range.clone());
        let from = &block.input(0).channel(0)[range.clone()];
        let mut output = block.output(0);
        let out = &mut output.channel(0)[range];
        driven.write(out, |phase, _| sine(phase));
        for (y, x) in out.iter_mut().zip(from) {
            *y = clamp_sample(*y * x);
        }
        driven.apply_level(&mut self.core, out);
    }
}

impl Processor for DrivenModulator {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.core.setup(setup.rate);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let stopped = is_stopped(block);
        let silent = stopped || block.is_silent();
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.core.handle_event(&event),
                BlockStep::Process(range) if stopped => self.core.volume.skip(range.len()),
                BlockStep::Process(range) => self.generate(block, range),
                BlockStep::Cleanup => {}
            }
        }
        if silent {
            block.silence_outputs();
        }
        match stopped && self.core.volume.is_settled() {
            true => ProcessStatus::Sleep,
            false => ProcessStatus::Continue,
        }
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
