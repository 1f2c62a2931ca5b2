//! `bus`: a sum on a desk, with level, balance, width and mute.
//!
//! ```text
//! m = (l + r) / 2    s = width (l - r) / 2
//! left = level × min(1, 1 - balance) × (m + s)        right = level × min(1, 1 + balance) × (m - s)
//! ```
//!
//! What is connected to `in` is summed, as at any input. Solo (`solo NODE`) leaves buses alone: the echo of what is soloed is heard.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, two channels |
//! | parameters | `level_db` (-120 is silence), `balance` -1 to 1, `width` 0 (mono) to 2, `mute` 0 or 1 |
//! | latency, tail | none |
//! | driven | all at audio rate |

use super::stereo;
use crate::dynamics::detector::decibels;
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::ParamSpec;
use crate::sample::{SILENT_DB, db_to_gain, to_sample};
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};

const LEVEL: ParamSpec = decibels(
    0,
    "level_db",
    (SILENT_DB, 40.0),
    0.0,
    "The fader; -120 is silence.",
);
const BALANCE: ParamSpec = ParamSpec::new(1, "balance", (-1.0, 1.0), 0.0)
    .doc("-1 is left alone, 1 right alone.")
    .audio_rate();
const WIDTH: ParamSpec = ParamSpec::new(2, "width", (0.0, 2.0), 1.0)
    .doc("0 is mono, 1 as it comes.")
    .audio_rate();
const MUTE: ParamSpec = ParamSpec::new(3, "mute", (0.0, 1.0), 0.0)
    .doc("1 makes it silent.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![stereo("in")],
        outputs: vec![stereo("out")],
        params: Bus::PARAMS.iter().map(ParamSpec::param).collect(),
        typical_ns: 250,
        ..Kind::new(
            "bus",
            "A sum on a desk, with level, balance, width and mute.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Bus)
}

struct Bus;

/// Weights of a side and of the other one, for each side.
type BusValues = [[f64; 2]; 2];

impl UnitKernel for Bus {
    type Values = BusValues;
    const PARAMS: &'static [ParamSpec] = &[LEVEL, BALANCE, WIDTH, MUTE];
    const LINKED: bool = true;

    fn setup(&mut self, _: f64, _: usize) -> MemorySize {
        MemorySize::default()
    }

    fn values(&self, params: &[f64]) -> BusValues {
        let level = db_to_gain(params[0]) * (1.0 - params[3]);
        let (own, other) = ((1.0 + params[2]) / 2.0, (1.0 - params[2]) / 2.0);
        [1.0 - params[1], 1.0 + params[1]].map(|side| {
            let gain = level * side.min(1.0);
            [gain * own, gain * other]
        })
    }

    fn process(&self, values: FrameValues<'_, BusValues>, io: &mut LaneIo<'_>, _: &mut Memory) {
        for (i, [of_left, of_right]) in values.iter().enumerate() {
            let [left, right] = [0, 1].map(|side| f64::from(io.input(0)[side][i]));
            let out = io.output(0);
            out[0][i] = to_sample(of_left[0] * left + of_left[1] * right);
            out[1][i] = to_sample(of_right[0] * right + of_right[1] * left);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(0)
    }
}
