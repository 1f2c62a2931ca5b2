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
use crate::smoothed::{Smoothed, SmoothedKernel};
use crate::smoother::Smoother;
use crate::split::split;
use graph::{Kind, PortSpec};
use processor::{BlockPart, Event, MakeContext, MakeError, Processor};

macro_rules! levels {
    ($($number:literal)*) => { [$(concat!("level", $number)),*] };
}

const NAMES: [&str; 64] = levels! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
};

/// A level: of the sum (0), or of an input, counted from 1.
const fn level(number: usize) -> ParamSpec {
    let (name, doc) = match number {
        0 => ("gain_db", "Level of the sum; -120 is silence."),
        input => (
            NAMES[input - 1],
            "Level of the input of this number; -120 is silence.",
        ),
    };
    ParamSpec::new(number as u16, name, (SILENT_DB, 40.0), 0.0)
        .unit("dB")
        .doc(doc)
}

/// Cost of a sample of an input or of the sum, in ns, if the inputs come from different nodes.
const SAMPLE_NS: f64 = 0.23;

pub(crate) fn kind() -> Kind {
    let params = (0..=NAMES.len()).map(|number| level(number).param());
    Kind {
        inputs: vec![PortSpec::many("in", 2, 1, NAMES.len() as u16)],
        outputs: vec![PortSpec::audio("out")],
        params: params.chain([split(), channels()]).collect(),
        typical_ns: 150,
        ..Kind::new("mixer", "Sum of its inputs, each with a level.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let inputs = creation.node.inputs.len().min(NAMES.len());
    let level = |number| Ok(db_to_gain(level(number).read(creation)?) as f32);
    let levels: Result<Vec<f32>, MakeError> = (0..=inputs).map(level).collect();
    let channels = channel_count(creation.node);
    Smoothed::make(creation, Mixer { channels }, levels?)
}

struct Mixer {
    channels: usize,
}

impl SmoothedKernel for Mixer {
    fn frame_cost(&self, levels: usize) -> (f64, usize) {
        let samples = levels * self.channels;
        (samples as f64 * SAMPLE_NS, samples)
    }

    fn handle_event(&self, event: &Event, _: [f64; 2], levels: &mut [Smoother]) {
        for (i, factor) in levels.iter_mut().enumerate() {
            if let Some(db) = level(i).value_of(event) {
                factor.follow(event, db_to_gain(db) as f32);
            }
        }
    }

    fn process_part(&self, part: &mut BlockPart<'_>, levels: &[Smoother], passed: usize) {
        for c in 0..self.channels {
            part.output(0).channel(c).fill(0.0);
        }
        for (i, fader) in levels[1..].iter().enumerate() {
            let input = part.input(i);
            if input.is_silent() {
                continue;
            }
            let fader = fader.advanced(passed);
            for c in 0..self.channels {
                fader.add(input.channel(c), part.output(0).channel(c));
            }
        }
        let master = levels[0].advanced(passed);
        for c in 0..self.channels {
            master.clone().apply(part.output(0).channel(c));
        }
    }
}
