//! `lfo`: a slow oscillator, to drive parameters.
//!
//! ```text
//! phase += freq / rate, a fraction of a cycle in 64 bits
//! sine      sin 2π phase                 square  1 while phase < width, else -1
//! triangle  from -1 up to 1 at width, and down      ramp  from -1 to 1      saw  from 1 to -1
//! random    a new number of ±1 in each cycle        drift the same, joined by half a cosine
//! ```
//!
//! Nothing is band-limited: what an ear hears is `osc` and `wavetable`. The random numbers are SplitMix64 of `seed` and the
//! number of the cycle, so they are the same in every run.
//!
//! | | |
//! |---|---|
//! | ports | `sync`: a rise through 0.5 begins the cycle anew; `out`, one channel, within ±1 |
//! | parameters | `freq` 0 to 1000 Hz, `width` 0 to 1; `shape`, `phase` in cycles, `seed` |
//! | latency | none |
//! | tail | endless |
//! | driven | `freq` and `width` at audio rate |

use crate::generators::sine::{Phase, sine};
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::ParamSpec;
use crate::sample::to_sample;
use graph::{Kind, Param, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};
use units::SplitMix64;

const FREQ: ParamSpec = ParamSpec::new(0, "freq", (0.0, 1000.0), 1.0)
    .unit("Hz")
    .doc("Cycles a second.")
    .audio_rate();
const WIDTH: ParamSpec = ParamSpec::new(1, "width", (0.0, 1.0), 0.5)
    .doc("Share of the cycle that is high (square) or rises (triangle).")
    .audio_rate();

const SHAPES: &[&str] = &[
    "sine", "triangle", "square", "ramp", "saw", "random", "drift",
];

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("sync")],
        outputs: vec![PortSpec::mono("out")],
        params: vec![
            FREQ.param(),
            WIDTH.param(),
            Param::choice("shape", SHAPES).doc("Shape of a cycle."),
            Param::number("phase", (-1.0, 1.0), 0.0)
                .unit("cycles")
                .doc("Phase at the start and at a sync."),
            Param::number("seed", (0.0, 2f64.powi(53)), 0.0).doc("Seed of the random numbers."),
        ],
        typical_ns: 300,
        picture: graph::KindPicture::Waveform,
        ..Kind::new("lfo", "A slow oscillator, to drive parameters.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let shape = match creation.choice("shape")? {
        0 => Shape::Sine,
        1 => Shape::Triangle,
        2 => Shape::Square,
        3 => Shape::Ramp,
        4 => Shape::Saw,
        5 => Shape::Random,
        _ => Shape::Drift,
    };
    let kernel = Lfo {
        shape,
        start: Phase::at(creation.number("phase")?).at,
        seed: SplitMix64::mix(creation.number("seed")? as u64),
        per_hz: 0.0,
    };
    KernelNode::make(creation, kernel)
}

#[derive(Clone, Copy)]
enum Shape {
    Sine,
    Triangle,
    Square,
    Ramp,
    Saw,
    Random,
    Drift,
}

struct Lfo {
    shape: Shape,
    /// Phase at the start, in units of 2^-64 cycles.
    start: u64,
    seed: u64,
    per_hz: f64,
}

/// What a frame needs: the step of the phase in units of 2^-64 cycles, and the width.
#[derive(Clone, Copy)]
struct LfoValues {
    step: u64,
    width: f64,
}

impl Lfo {
    /// The random number of a cycle, from -1 to just below 1.
    fn random(&self, cycle: u64) -> f64 {
        let state = cycle.wrapping_mul(SplitMix64::STEP);
        f64::from(SplitMix64(self.seed.wrapping_add(state)).sample())
    }

    fn value(&self, phase: u64, cycle: u64, width: f64) -> f64 {
        let at = (phase >> 32) as f64 / 2f64.powi(32);
        match self.shape {
            Shape::Sine => f64::from(sine((phase >> 32) as u32)),
            Shape::Triangle if at < width => 2.0 * at / width - 1.0,
            Shape::Triangle => 1.0 - 2.0 * (at - width) / (1.0 - width),
            Shape::Square if at < width => 1.0,
            Shape::Square => -1.0,
            Shape::Ramp => 2.0 * at - 1.0,
            Shape::Saw => 1.0 - 2.0 * at,
            Shape::Random => self.random(cycle),
            Shape::Drift => {
                let quarter = (phase >> 33) as u32;
                // Half a cosine, from 0 to 1.
                let share = 0.5 - 0.5 * f64::from(sine(quarter.wrapping_add(1 << 30)));
                let (from, to) = (self.random(cycle), self.random(cycle.wrapping_add(1)));
                from + (to - from) * share
            }
        }
    }
}

impl UnitKernel for Lfo {
    type Values = LfoValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, WIDTH];
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.per_hz = 2f64.powi(64) / rate;
        MemorySize {
            numbers: 0,
            // The phase that has passed, the number of the cycle, and if the sync is high.
            counts: 3,
            line: 0,
        }
    }

    fn values(&self, params: &[f64]) -> LfoValues {
        LfoValues {
            step: (params[0] * self.per_hz).min(2f64.powi(63)) as u64,
            width: params[1],
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, LfoValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let [passed, cycle, was_high] = &mut memory.counts[..] else {
                return;
            };
            let is_high = io.input(0)[0][i] >= 0.5;
            if is_high && *was_high == 0 {
                (*passed, *cycle) = (0, cycle.wrapping_add(1));
            }
            *was_high = u64::from(is_high);
            let phase = self.start.wrapping_add(*passed);
            io.output(0)[0][i] = to_sample(self.value(phase, *cycle, values.width));
            *passed = passed.wrapping_add(values.step);
            let wraps = self.start.wrapping_add(*passed) < phase && values.step > 0;
            *cycle = cycle.wrapping_add(u64::from(wraps));
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }
}
