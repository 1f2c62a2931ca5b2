//! `mixer`: faders into one sum.
//!
//! `in` inputs (up to 64) and one output, as wide as `channels` says. Input k is multiplied by `levelK`, the sum by
//! `gain_db`. The sum is taken in the order of the inputs. A change glides for 5 ms.

use crate::knob::{Knob, channels};
use crate::mix::many;
use crate::sample::{SILENT_DB, channels_of, from_db};
use crate::smooth::Smooth;
use crate::split::{Split, split};
use crate::state;
use crate::steps::{Span, spans};
use graph::{Kind, PortCount, PortSpec};
use processor::{
    Block, BlockPart, Event, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
};
use std::ops::Range;

macro_rules! levels {
    ($($number:literal)*) => { [$(concat!("level", $number)),*] };
}

const NAMES: [&str; 64] = levels! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
};

const MASTER: Knob = Knob {
    index: 0,
    name: "gain_db",
    unit: "dB",
    least: SILENT_DB,
    most: 40.0,
    default: 0.0,
    doc: "The level of the sum; -120 is silence.",
};

/// The fader of input `input`, counted from 0.
const fn fader(input: usize) -> Knob {
    Knob {
        index: 1 + input as u16,
        name: NAMES[input],
        doc: "The level of the input of this number; -120 is silence.",
        ..MASTER
    }
}

/// What a sample of an input, or of the sum, costs where the inputs come from nodes of their own.
const SAMPLE_NS: f64 = 0.23;

pub(crate) fn kind() -> Kind {
    let inputs = PortSpec {
        count: PortCount::Many {
            default: 2,
            min: 1,
            max: NAMES.len() as u16,
        },
        ..many("in", 2, 1)
    };
    let knobs = std::iter::once(MASTER).chain((0..NAMES.len()).map(fader));
    Kind {
        inputs: vec![inputs],
        outputs: vec![PortSpec::audio("out")],
        params: knobs
            .map(|knob| knob.param())
            .chain([split(), channels()])
            .collect(),
        typical_ns: 150,
        ..Kind::new("mixer", "Faders into one sum.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let level = |knob: &Knob| Ok(Smooth::new(from_db(knob.of(creation)?) as f32));
    let inputs = creation.node.inputs.len().min(NAMES.len());
    let faders: Result<_, MakeError> = (0..inputs).map(|i| level(&fader(i))).collect();
    Ok(Box::new(Mixer {
        split: Split::of(creation)?,
        master: level(&MASTER)?,
        faders: faders?,
        channels: channels_of(creation.node),
    }))
}

#[derive(Clone)]
struct Mixer {
    master: Smooth,
    faders: Box<[Smooth]>,
    channels: usize,
    split: Split,
}

impl Mixer {
    fn all(&mut self) -> impl Iterator<Item = &mut Smooth> {
        std::iter::once(&mut self.master).chain(&mut self.faders)
    }

    fn take_up(&mut self, event: &Event) {
        if let Some(db) = MASTER.turned(event) {
            self.master.go(from_db(db) as f32);
        }
        for (input, smooth) in self.faders.iter_mut().enumerate() {
            if let Some(db) = fader(input).turned(event) {
                smooth.go(from_db(db) as f32);
            }
        }
    }

    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let (from, frames) = (range.start, range.len());
        self.split
            .play(block, range, |part| self.play_part(part, from));
        self.all().for_each(|smooth| smooth.skip(frames));
    }

    /// Plays a part of what begins at the frame `from`.
    fn play_part(&self, part: &mut BlockPart<'_>, from: usize) {
        let passed = part.range().start - from;
        for c in 0..self.channels {
            part.output(0).channel(c).fill(0.0);
        }
        for (i, fader) in self.faders.iter().enumerate() {
            let input = part.input(i);
            if input.is_silent() {
                continue;
            }
            let fader = fader.after(passed);
            for c in 0..self.channels {
                fader.add(input.channel(c), part.output(0).channel(c));
            }
        }
        let master = self.master.after(passed);
        for c in 0..self.channels {
            master.clone().apply(part.output(0).channel(c));
        }
    }
}

impl Processor for Mixer {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.all().for_each(|smooth| smooth.set_up(setup.rate));
        let samples = (self.faders.len() + 1) * self.channels;
        self.split
            .set_up(setup, samples as f64 * SAMPLE_NS, samples);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        for span in spans(block) {
            match span {
                Span::Event(event) => self.take_up(&event),
                Span::Play(range) => self.play(block, range),
            }
        }
        if !silent {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        if self.all().all(|smooth| smooth.is_still()) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn max_parallelism(&self) -> u32 {
        self.split.lanes()
    }

    fn reset(&mut self) {
        self.all().for_each(Smooth::reset);
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let all = std::iter::once(&self.master).chain(&self.faders);
        state::put(bytes, all.flat_map(Smooth::words));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, (1 + self.faders.len()) * Smooth::WORDS)?;
        let part = |i| words.from(i * Smooth::WORDS);
        for (i, smooth) in self.all().enumerate() {
            // A copy: where one is refused none has changed.
            smooth.clone().take(part(i))?;
        }
        for (i, smooth) in self.all().enumerate() {
            smooth.take(part(i))?;
        }
        Ok(())
    }
}
