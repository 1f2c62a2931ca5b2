//! `gain`: louder or softer.
//!
//! One input, one output, as wide as `channels` says; the output is the input times `gain` times `gain_db`, where both
//! are given. A change glides for 5 ms.

use crate::knob::{Knob, channels};
use crate::sample::{SILENT_DB, channels_of, from_db};
use crate::smooth::Smooth;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{Span, spans};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

const GAIN_DB: Knob = Knob {
    index: 0,
    name: "gain_db",
    unit: "dB",
    least: SILENT_DB,
    most: 40.0,
    default: 0.0,
    doc: "How much louder; -120 is silence.",
};

const GAIN: Knob = Knob {
    index: 1,
    name: "gain",
    unit: "",
    least: -100.0,
    most: 100.0,
    default: 1.0,
    doc: "The same as a factor; below 0 turns the wave over.",
};

/// What a sample costs.
const SAMPLE_NS: f64 = 0.11;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![GAIN_DB.param(), GAIN.param(), split(), channels()],
        typical_ns: 40,
        ..Kind::new("gain", "Louder or softer.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let (db, gain) = (GAIN_DB.of(creation)?, GAIN.of(creation)?);
    Ok(Box::new(Gain {
        split: Split::of(creation)?,
        made: (db, gain),
        db,
        gain,
        factor: Smooth::new((from_db(db) * gain) as f32),
        channels: channels_of(creation.node),
    }))
}

#[derive(Clone)]
struct Gain {
    made: (f64, f64),
    db: f64,
    gain: f64,
    factor: Smooth,
    channels: usize,
    split: Split,
}

impl Gain {
    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        self.split.play(block, range, |part| {
            let factor = self.factor.after(part.range().start - from);
            let input = part.input(0);
            let mut output = part.output(0);
            for c in 0..self.channels {
                factor.scale(input.channel(c), output.channel(c));
            }
        });
        self.factor.skip(frames);
    }
}

impl Processor for Gain {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        (self.db, self.gain) = self.made;
        self.factor.set_up(setup.rate);
        let samples = self.channels as f64;
        self.split
            .set_up(setup, samples * SAMPLE_NS, 2 * self.channels);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in spans(block) {
            match span {
                Span::Event(event) => {
                    self.db = GAIN_DB.turned(&event).unwrap_or(self.db);
                    self.gain = GAIN.turned(&event).unwrap_or(self.gain);
                    self.factor.go((from_db(self.db) * self.gain) as f32);
                }
                Span::Play(range) if silent => self.factor.skip(range.len()),
                Span::Play(range) => self.play(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.factor.is_still() {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.lanes()
    }

    fn reset(&mut self) {
        (self.db, self.gain) = self.made;
        self.factor.reset();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.db.to_bits(), self.gain.to_bits()]);
        state::put(bytes, self.factor.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2 + Smooth::WORDS)?;
        let (db, gain) = (words.number(0)?, words.number(1)?);
        if self.factor.take(words.from(2))? {
            (self.db, self.gain) = (db, gain);
        }
        Ok(())
    }
}
