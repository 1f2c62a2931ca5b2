//! `gain`: multiplies by a factor.
//!
//! ```text
//! y = x × gain × 10^(gain_db / 20)
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `gain_db` -120 (silence) to 40 dB and `gain` -100 to 100; a change is a ramp of 5 ms; `split` |
//! | latency, tail | none |

use crate::param::{ParamSpec, channels};
use crate::sample::{SILENT_DB, channel_count, db_to_gain};
use crate::smoother::Smoother;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{BlockSpan, block_spans};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::ops::Range;

const GAIN_DB: ParamSpec = ParamSpec::new(0, "gain_db", (SILENT_DB, 40.0), 0.0)
    .unit("dB")
    .doc("Gain; -120 is silence.");

const GAIN: ParamSpec = ParamSpec::new(1, "gain", (-100.0, 100.0), 1.0)
    .doc("Gain as a factor; a negative one inverts the polarity.");

/// Cost of a sample on one core, in ns.
const SAMPLE_NS: f64 = 0.11;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![GAIN_DB.param(), GAIN.param(), split(), channels()],
        typical_ns: 40,
        ..Kind::new("gain", "Multiplies by a factor.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let (db, gain) = (GAIN_DB.read(creation)?, GAIN.read(creation)?);
    Ok(Box::new(Gain {
        split: Split::from_node(creation)?,
        initial: (db, gain),
        db,
        gain,
        factor: Smoother::new((db_to_gain(db) * gain) as f32),
        channels: channel_count(creation.node),
    }))
}

#[derive(Clone)]
struct Gain {
    initial: (f64, f64),
    db: f64,
    gain: f64,
    factor: Smoother,
    channels: usize,
    split: Split,
}

impl Gain {
    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        let (factor, channels) = (self.factor, self.channels);
        self.split.process(block, range, move |part| {
            let factor = factor.advanced(part.range().start - from);
            let input = part.input(0);
            let mut output = part.output(0);
            for c in 0..channels {
                factor.scale(input.channel(c), output.channel(c));
            }
        });
        self.factor.skip(frames);
    }
}

impl Processor for Gain {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        (self.db, self.gain) = self.initial;
        self.factor.setup(setup.rate);
        let samples = self.channels as f64;
        self.split
            .setup(setup, samples * SAMPLE_NS, 2 * self.channels);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => {
                    self.db = GAIN_DB.value_of(&event).unwrap_or(self.db);
                    self.gain = GAIN.value_of(&event).unwrap_or(self.gain);
                    self.factor
                        .set_target((db_to_gain(self.db) * self.gain) as f32);
                }
                BlockSpan::Process(range) if silent => self.factor.skip(range.len()),
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.factor.is_settled() {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn reset(&mut self) {
        (self.db, self.gain) = self.initial;
        self.factor.reset();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.db.to_bits(), self.gain.to_bits()]);
        state::put(bytes, self.factor.state_words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2 + Smoother::STATE_WORDS)?;
        let (db, gain) = (words.number(0)?, words.number(1)?);
        if self.factor.load(words.from(2))? {
            (self.db, self.gain) = (db, gain);
        }
        Ok(())
    }
}
