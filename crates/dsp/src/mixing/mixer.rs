//! `mixer`: a sum of inputs, each with a level of its own.
//!
//! ```text
//! y = 10^(gain_db / 20) × Σk 10^(levelk / 20) × xk        in the order of the inputs
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in` inputs, 1 to 64, and `out`; as wide as `channels` says |
//! | parameters | `gain_db` and `level1` to `level64`, -120 (silence) to 40 dB; a change is a ramp of 5 ms; `split` |
//! | latency, tail | none |

use crate::param::{ParamSpec, channels};
use crate::sample::{SILENT_DB, channel_count, db_to_gain};
use crate::smoother::Smoother;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{BlockSpan, block_spans};
use graph::{Kind, PortSpec};
use processor::{
    Block, BlockPart, Event, ForkState, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError,
};
use std::ops::Range;

macro_rules! levels {
    ($($number:literal)*) => { [$(concat!("level", $number)),*] };
}

const NAMES: [&str; 64] = levels! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
};

const MASTER: ParamSpec = ParamSpec::new(0, "gain_db", (SILENT_DB, 40.0), 0.0)
    .unit("dB")
    .doc("Level of the sum; -120 is silence.");

/// The level of input `input`, counted from 0.
const fn fader(input: usize) -> ParamSpec {
    ParamSpec {
        index: 1 + input as u16,
        name: NAMES[input],
        doc: "Level of the input of this number; -120 is silence.",
        ..MASTER
    }
}

/// Cost of a sample of an input or of the sum, in ns, if the inputs come from different nodes.
const SAMPLE_NS: f64 = 0.23;

pub(crate) fn kind() -> Kind {
    let params = std::iter::once(MASTER).chain((0..NAMES.len()).map(fader));
    Kind {
        inputs: vec![PortSpec::many("in", 2, 1, NAMES.len() as u16)],
        outputs: vec![PortSpec::audio("out")],
        params: params
            .map(|param| param.param())
            .chain([split(), channels()])
            .collect(),
        typical_ns: 150,
        ..Kind::new("mixer", "Sum of its inputs, each with a level.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let level = |param: &ParamSpec| Ok(Smoother::new(db_to_gain(param.read(creation)?) as f32));
    let inputs = creation.node.inputs.len().min(NAMES.len());
    let faders: Result<_, MakeError> = (0..inputs).map(|i| level(&fader(i))).collect();
    Ok(Box::new(Mixer {
        split: Split::from_node(creation)?,
        levels: ForkState::new(Levels {
            master: level(&MASTER)?,
            faders: faders?,
        }),
        channels: channel_count(creation.node),
    }))
}

#[derive(Clone)]
struct Mixer {
    levels: ForkState<Levels>,
    channels: usize,
    split: Split,
}

/// The levels, which all parts of a block read.
#[derive(Clone)]
struct Levels {
    master: Smoother,
    faders: Box<[Smoother]>,
}

impl Mixer {
    fn all(&mut self) -> impl Iterator<Item = &mut Smoother> {
        let Levels { master, faders } = &mut *self.levels;
        std::iter::once(master).chain(faders)
    }

    fn handle_event(&mut self, event: &Event) {
        if let Some(db) = MASTER.value_of(event) {
            self.levels.master.set_target(db_to_gain(db) as f32);
        }
        for (input, smooth) in self.levels.faders.iter_mut().enumerate() {
            if let Some(db) = fader(input).value_of(event) {
                smooth.set_target(db_to_gain(db) as f32);
            }
        }
    }

    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        let channels = self.channels;
        self.split
            .process_with(block, &mut self.levels, range, move |levels, part| {
                levels.process_part(part, from, channels);
            });
        self.all().for_each(|smooth| smooth.skip(frames));
    }
}

impl Levels {
    /// Processes a part of the range that begins at frame `from`.
    fn process_part(&self, part: &mut BlockPart<'_>, from: usize, channels: usize) {
        let passed = part.range().start - from;
        for c in 0..channels {
            part.output(0).channel(c).fill(0.0);
        }
        for (i, fader) in self.faders.iter().enumerate() {
            let input = part.input(i);
            if input.is_silent() {
                continue;
            }
            let fader = fader.advanced(passed);
            for c in 0..channels {
                fader.add(input.channel(c), part.output(0).channel(c));
            }
        }
        let master = self.master.advanced(passed);
        for c in 0..channels {
            master.clone().apply(part.output(0).channel(c));
        }
    }
}

impl Processor for Mixer {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.all().for_each(|smooth| smooth.setup(setup.rate));
        let samples = (self.levels.faders.len() + 1) * self.channels;
        self.split.setup(setup, samples as f64 * SAMPLE_NS, samples);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => self.handle_event(&event),
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.all().all(|smooth| smooth.is_settled()) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn reset(&mut self) {
        self.all().for_each(Smoother::reset);
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let all = std::iter::once(&self.levels.master).chain(&self.levels.faders);
        state::put(bytes, all.flat_map(Smoother::state_words));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(
            bytes,
            (1 + self.levels.faders.len()) * Smoother::STATE_WORDS,
        )?;
        let part = |i| words.from(i * Smoother::STATE_WORDS);
        for (i, smooth) in self.all().enumerate() {
            // On a copy: if one is refused, none has changed.
            smooth.clone().load(part(i))?;
        }
        for (i, smooth) in self.all().enumerate() {
            smooth.load(part(i))?;
        }
        Ok(())
    }
}
