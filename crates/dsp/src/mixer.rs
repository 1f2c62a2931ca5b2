//! `mixer`: faders into one sum.
//!
//! `in` inputs (up to 64) and one output, as wide as `channels` says. Input k is multiplied by `levelK`, the sum by
//! `gain_db`. The sum is taken in the order of the inputs. A change glides for 5 ms.

use crate::knob::{Knob, channels};
use crate::mix::many;
use crate::sample::{SILENT_DB, bounded, channels_of, from_db};
use crate::smooth::Smooth;
use crate::state;
use crate::steps::{Step, steps};
use graph::{Kind, PortCount, PortSpec};
use processor::{Activity, Block, Creation, Event, MakeError, Processor, Setup, StateError};
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

pub(crate) fn kind() -> Kind {
    let inputs = PortSpec {
        count: PortCount::Many {
            default: 2,
            least: 1,
            most: NAMES.len() as u16,
        },
        ..many("in", 2, 1)
    };
    let knobs = std::iter::once(MASTER).chain((0..NAMES.len()).map(fader));
    Kind {
        inputs: vec![inputs],
        outputs: vec![PortSpec::audio("out")],
        params: knobs.map(|knob| knob.param()).chain([channels()]).collect(),
        typical_ns: 150,
        ..Kind::new("mixer", "Faders into one sum.")
    }
}

pub(crate) fn make(creation: &Creation<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let level = |knob: &Knob| Ok(Smooth::new(from_db(knob.of(creation)?) as f32));
    let inputs = creation.node.inputs.len().min(NAMES.len());
    let faders: Result<_, MakeError> = (0..inputs).map(|i| level(&fader(i))).collect();
    Ok(Box::new(Mixer {
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
        for c in 0..self.channels {
            let mut sum = [0.0f32; 64];
            let sum = &mut sum[..range.len()];
            for (i, fader) in self.faders.iter().enumerate() {
                let input = block.input(i);
                if input.is_silent() {
                    continue;
                }
                let mut fader = *fader;
                for (y, x) in sum.iter_mut().zip(&input.channel(c)[range.clone()]) {
                    *y = bounded(*y + bounded(x * fader.next()));
                }
            }
            let mut output = block.output(0);
            self.master
                .scale(sum, &mut output.channel(c)[range.clone()]);
        }
        self.all().for_each(|smooth| smooth.skip(range.len()));
    }
}

impl Processor for Mixer {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.all().for_each(|smooth| smooth.set_up(setup.rate));
    }

    fn process(&mut self, block: &mut Block<'_>) -> Activity {
        let silent = block.is_silent();
        for step in steps(block) {
            match step {
                Step::Event(event) => self.take_up(&event),
                Step::Play(range) => self.play(block, range),
                Step::Tidy => {}
            }
        }
        if !silent {
            return Activity::Awake;
        }
        block.silence();
        if self.all().all(|smooth| smooth.is_still()) {
            Activity::Asleep
        } else {
            Activity::Awake
        }
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
        let mut loaded = self.clone();
        for (smooth, words) in loaded.all().zip(words.chunks(Smooth::WORDS)) {
            smooth.take(words)?;
        }
        *self = loaded;
        Ok(())
    }

    fn duplicate(&self) -> Option<Box<dyn Processor>> {
        Some(Box::new(self.clone()))
    }
}
