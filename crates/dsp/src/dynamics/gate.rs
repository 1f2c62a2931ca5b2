//! `gate` and `expander`: reduce what is below a threshold, on all channels alike.
//!
//! ```text
//! e = max(|x| of the loudest channel of `in` or `side`, e × exp(-1 / (0.01 rate)))        L = 20 log10 e
//! gate      opens at L > threshold, shuts when L < threshold - hysteresis has lasted for `hold`
//!           o → 1 within `attack` while open, else → 0 within `release`    y = x × (f + (1 - f) o), f = 10^(-range / 20)
//! expander  c = min((ratio - 1) (threshold - L), range), 0 above the threshold
//!           s → 1 - c / range, up within `attack`, down within `release`    y = x × 10^((s - 1) range / 20)
//! ```
//!
//! Udo Zölzer (ed.), *DAFX* (2nd ed., 2011), section 4.2. Times are those of 63 %. The gauges `open` (gate) and `level_db`
//! (expander) show o and L.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `side`, `out`, as wide as `channels` says |
//! | parameters | `threshold_db`, `range_db`, `attack`, `release`; `hysteresis_db` and `hold` (gate), `ratio` (expander); `key` |
//! | latency, tail | none |
//! | driven | all live ones at audio rate |

use crate::dynamics::detector::{
    decibels, follow, gain_of, level_db, loudest, moving_gain, seconds,
};
use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_factor,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture, Param, PortSpec};
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};

const THRESHOLD: ParamSpec = decibels(
    0,
    "threshold_db",
    (-100.0, 20.0),
    -50.0,
    "Level below which it reduces.",
);
const RANGE: ParamSpec = decibels(1, "range_db", (0.0, 120.0), 80.0, "Largest reduction.");
const ATTACK: ParamSpec = seconds(2, "attack", 1.0, 0.001, "Time of 63 % of the way up.");
const RELEASE: ParamSpec = seconds(3, "release", 5.0, 0.1, "Time of 63 % of the way down.");
const HYSTERESIS: ParamSpec = decibels(
    4,
    "hysteresis_db",
    (0.0, 24.0),
    4.0,
    "How far below the threshold it shuts.",
);
const HOLD: ParamSpec = seconds(5, "hold", 5.0, 0.02, "Time that it stays open.");
const RATIO: ParamSpec = ParamSpec::new(4, "ratio", (1.0, 20.0), 2.0)
    .doc("Change of the output, in dB, for one of 1 dB in the input.")
    .audio_rate();

/// Time constant of the level's fall.
const FALL_S: f64 = 0.01;
/// A level below this is 0.
const SILENT_LEVEL: f64 = 1e-14;

fn kind_of(name: &'static str, summary: &'static str, params: &[ParamSpec]) -> Kind {
    let mut params: Vec<_> = params.iter().map(ParamSpec::param).collect();
    let key = Param::choice("key", &["in", "side"]).doc("The input whose level is measured.");
    params.extend([key, channels()]);
    Kind {
        inputs: ["in", "side"].map(PortSpec::audio).into(),
        params,
        typical_ns: 1300,
        picture: KindPicture::Levels,
        ..Kind::effect(name, summary)
    }
}

pub(crate) fn gate_kind() -> Kind {
    kind_of("gate", "Shuts below a threshold.", Gate::PARAMS)
}

pub(crate) fn expander_kind() -> Kind {
    kind_of("expander", "Makes quiet sound quieter.", Expander::PARAMS)
}

pub(crate) fn make_gate(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Gate(Follower::new(creation)?))
}

pub(crate) fn make_expander(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Expander(Follower::new(creation)?))
}

/// The level that both measure, and the gauge.
struct Follower {
    key: usize,
    rate: f64,
    fall: f64,
    shown: Gauge,
}

impl Follower {
    fn new(creation: &MakeContext<'_>) -> Result<Self, MakeError> {
        Ok(Self {
            key: creation.choice("key")?,
            rate: 0.0,
            fall: 0.0,
            shown: Gauge::default(),
        })
    }

    fn setup(&mut self, rate: f64) {
        (self.rate, self.fall) = (rate, decay_factor(FALL_S, rate));
    }

    /// Level of frame `i` in dB; `level` is the state.
    #[inline(always)]
    fn measure(&self, level: &mut f64, io: &LaneIo<'_>, i: usize) -> f64 {
        let fallen = *level * self.fall;
        *level = loudest(io.input(self.key), i).max(fallen);
        if *level < SILENT_LEVEL {
            *level = 0.0;
        }
        level_db(*level)
    }
}

/// Multiplies frame `i` of all channels.
#[inline(always)]
fn scale(io: &mut LaneIo<'_>, i: usize, gain: f64) {
    for c in 0..io.output(0).len() {
        let x = f64::from(io.input(0)[c][i]);
        io.output(0)[c][i] = to_sample(x * gain);
    }
}

struct Gate(Follower);

#[derive(Clone, Copy)]
struct GateValues {
    threshold_db: f64,
    shut_db: f64,
    floor: f64,
    attack: f64,
    release: f64,
    /// In frames.
    hold: u64,
}

impl UnitKernel for Gate {
    type Values = GateValues;
    const PARAMS: &'static [ParamSpec] = &[THRESHOLD, RANGE, ATTACK, RELEASE, HYSTERESIS, HOLD];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.0.setup(rate);
        MemorySize {
            // The level, and how far it is open.
            numbers: 2,
            // Frames for which it stays open.
            counts: 1,
            line: 0,
        }
    }

    fn values(&self, params: &[f64]) -> GateValues {
        GateValues {
            threshold_db: params[0],
            shut_db: params[0] - params[4],
            floor: gain_of(-params[1]),
            attack: decay_factor(params[2], self.0.rate),
            release: decay_factor(params[3], self.0.rate),
            hold: (params[5] * self.0.rate) as u64 + 1,
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, GateValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let level = self.0.measure(&mut memory.numbers[0], io, i);
            let left = &mut memory.counts[0];
            // A count from a damaged state may be of any size.
            *left = match level {
                level if level > values.threshold_db => values.hold,
                level if level >= values.shut_db && *left > 0 => values.hold,
                _ => (*left).min(values.hold).saturating_sub(1),
            };
            let open = f64::from(u8::from(*left > 0));
            let state = follow(memory.numbers[1], open, values.attack, values.release);
            memory.numbers[1] = state;
            scale(io, i, values.floor + (1.0 - values.floor) * state);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(0)
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.0.shown = services.gauge("open");
    }

    fn show(&self, memory: &Memory) {
        self.0.shown.set(memory.numbers[1] as f32);
    }
}

struct Expander(Follower);

#[derive(Clone, Copy)]
struct ExpanderValues {
    threshold_db: f64,
    range_db: f64,
    attack: f64,
    release: f64,
    slope: f64,
}

impl UnitKernel for Expander {
    type Values = ExpanderValues;
    const PARAMS: &'static [ParamSpec] = &[THRESHOLD, RANGE, ATTACK, RELEASE, RATIO];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.0.setup(rate);
        MemorySize {
            // The level, and the share of the range that is not reduced.
            numbers: 2,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> ExpanderValues {
        ExpanderValues {
            threshold_db: params[0],
            range_db: params[1],
            attack: decay_factor(params[2], self.0.rate),
            release: decay_factor(params[3], self.0.rate),
            slope: params[4] - 1.0,
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, ExpanderValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let level = self.0.measure(&mut memory.numbers[0], io, i);
            let below = (values.threshold_db - level).max(0.0);
            let reduction = (values.slope * below).min(values.range_db);
            let wanted = match values.range_db > 0.0 {
                true => 1.0 - reduction / values.range_db,
                false => 1.0,
            };
            let state = follow(memory.numbers[1], wanted, values.attack, values.release);
            memory.numbers[1] = state;
            scale(
                io,
                i,
                moving_gain(((state - 1.0) * values.range_db).min(0.0)),
            );
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(0)
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.0.shown = services.gauge("level_db");
    }

    fn show(&self, memory: &Memory) {
        self.0.shown.set(level_db(memory.numbers[0]) as f32);
    }
}
