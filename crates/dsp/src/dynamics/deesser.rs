//! `deesser`: reduces high frequencies while they are loud.
//!
//! ```text
//! low, band, high of a state-variable filter at freq, k = √2        L = 20 log10 of the loudest channel of high
//! c = min((1 - 1 / ratio) (L - threshold), range), 0 below the threshold        s follows c within 1 ms up, `release` down
//! G = 10^(-s / 20)        y = low + √G k band + G high: a shelf of second order whose gain moves
//! ```
//!
//! A dynamic shelf with the detector of Giannoulis, Massberg and Reiss (2012); below the threshold y is x, to the last bit. The gauge
//! `reduction` shows s in dB.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1000 to 16000 Hz, `threshold_db`, `ratio`, `range_db`, `release` |
//! | latency | none |
//! | tail | until the filter has decayed |
//! | driven | all at audio rate |

use crate::dynamics::detector::{GainCurve, decibels, follow, level_db, moving_gain, seconds};
use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, Resonator, UnitKernel, decay_factor,
    decay_tail,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture};
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};
use std::f64::consts::FRAC_1_SQRT_2;

const FREQ: ParamSpec = ParamSpec::new(0, "freq", (1000.0, 16_000.0), 5000.0)
    .unit("Hz")
    .doc("Where the high band begins.")
    .audio_rate();
const THRESHOLD: ParamSpec = decibels(
    1,
    "threshold_db",
    (-80.0, 20.0),
    -30.0,
    "Level of the high band above which it is reduced.",
);
const RATIO: ParamSpec = ParamSpec::new(2, "ratio", (1.0, 20.0), 4.0)
    .doc("Change of the high band, in dB, for one of 1 dB in the output.")
    .audio_rate();
const RANGE: ParamSpec = decibels(3, "range_db", (0.0, 40.0), 12.0, "Largest reduction.");
const RELEASE: ParamSpec = seconds(4, "release", 1.0, 0.05, "Time of 63 % of its end.");

const ATTACK_S: f64 = 0.001;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Deesser::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        params,
        typical_ns: 1800,
        picture: KindPicture::LevelsAt(7000),
        ..Kind::effect("deesser", "Reduces high frequencies while they are loud.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let kernel = Deesser {
        rate: 0.0,
        attack: 0.0,
        shown: Gauge::default(),
    };
    KernelNode::make(creation, kernel)
}

struct Deesser {
    rate: f64,
    attack: f64,
    shown: Gauge,
}

#[derive(Clone, Copy)]
struct DeesserValues {
    filter: Resonator,
    curve: GainCurve,
    range_db: f64,
    release: f64,
}

impl UnitKernel for Deesser {
    type Values = DeesserValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, THRESHOLD, RATIO, RANGE, RELEASE];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        (self.rate, self.attack) = (rate, decay_factor(ATTACK_S, rate));
        MemorySize {
            // The reduction, the filters' states, and the bands of a frame.
            numbers: 1 + 4 * channels,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> DeesserValues {
        DeesserValues {
            filter: Resonator::new(params[0], FRAC_1_SQRT_2, self.rate),
            curve: GainCurve {
                threshold_db: params[1],
                slope: 1.0 - 1.0 / params[2],
                knee_db: 0.0,
            },
            range_db: params[3],
            release: decay_factor(params[4], self.rate),
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, DeesserValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let (reduction, rest) = memory.numbers.split_at_mut(1);
        let (states, bands) = rest.split_at_mut(2 * io.output(0).len());
        for (i, values) in values.iter().enumerate() {
            let k = values.filter.k;
            let mut loudest = 0f64;
            let lanes = states.chunks_exact_mut(2).zip(bands.chunks_exact_mut(2));
            for (c, (state, parts)) in lanes.enumerate() {
                let x = f64::from(io.input(0)[c][i]);
                let [low, band] = values.filter.tick(state, x);
                let high = x - k * band - low;
                (parts[0], parts[1]) = (k * band, high);
                loudest = loudest.max(high.abs());
            }
            let wanted = values.curve.reduction_db(level_db(loudest));
            let wanted = wanted.min(values.range_db);
            reduction[0] = follow(reduction[0], wanted, self.attack, values.release);
            let gain = moving_gain(-reduction[0]);
            let [band_loss, high_loss] = [1.0 - gain.sqrt(), 1.0 - gain];
            for (c, parts) in bands.chunks_exact(2).enumerate() {
                let x = f64::from(io.input(0)[c][i]);
                let y = x - band_loss * parts[0] - high_loss * parts[1];
                io.output(0)[c][i] = to_sample(y);
            }
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        decay_tail(self.values(params).filter.pole_radius())
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.shown = services.gauge("reduction");
    }

    fn show(&self, memory: &Memory) {
        self.shown.set(memory.numbers[0] as f32);
    }
}
