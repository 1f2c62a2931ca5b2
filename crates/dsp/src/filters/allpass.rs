//! `allpass`: passes every frequency at its level and turns its phase.
//!
//! ```text
//! first:  y = 2 low - x        90° at freq, 180° far above      c = (1 - g) / (1 + g), d = √(1 - c²)
//!         as a rotation: y = d s - c x,  s = c s + d x            g = tan(π freq / rate)
//! second: y = x - 2 k band     180° at freq, 360° far above      k = 1 / q, state-variable filter
//! ```
//!
//! The first order is the normalized one-multiplier section: a rotation of state and input, so it keeps the energy on every path
//! of `freq`. The second order is that of `svf`.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1 Hz to 0.49 of the rate, `q` 0.05 to 100 (second order); `order` |
//! | latency | none |
//! | tail | until the slower pole has decayed |
//! | driven | `freq` and `q` at audio rate |

use crate::filters::kernel::FREQ;
use crate::filters::svf::Q;
use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, Resonator, UnitKernel, decay_tail,
    integrator_gain,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture, Param};
use processor::{MakeContext, MakeError, Processor, Tail};

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![
            FREQ.param(),
            Q.param(),
            Param::choice("order", &["second", "first"]).doc("Turns by 360 or by 180 degrees."),
            channels(),
        ],
        typical_ns: 500,
        picture: KindPicture::Phase,
        ..Kind::effect("allpass", "Turns phases and leaves levels as they are.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let rate = 0.0;
    match creation.choice("order")? {
        0 => KernelNode::make(creation, SecondOrder { rate }),
        _ => KernelNode::make(creation, FirstOrder { rate }),
    }
}

/// Cosine and sine of the rotation of a first-order all-pass whose phase is turned by 90° at `freq`.
///
/// Real-time: hot.
pub(crate) fn rotation(freq: f64, rate: f64) -> [f64; 2] {
    let g = integrator_gain(freq, rate);
    [(1.0 - g) / (1.0 + g), 2.0 * g.sqrt() / (1.0 + g)]
}

/// One step of a first-order all-pass.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn rotate([c, d]: [f64; 2], state: &mut f64, x: f64) -> f64 {
    let y = d * *state - c * x;
    *state = c * *state + d * x;
    y
}

struct SecondOrder {
    rate: f64,
}

impl UnitKernel for SecondOrder {
    type Values = Resonator;
    const PARAMS: &'static [ParamSpec] = &[FREQ, Q];

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 2,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> Resonator {
        Resonator::new(params[0], params[1], self.rate)
    }

    fn process(
        &self,
        values: FrameValues<'_, Resonator>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            io.output(0)[0][i] = to_sample(values.all_pass(&mut memory.numbers, x));
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        decay_tail(self.values(params).pole_radius())
    }
}

struct FirstOrder {
    rate: f64,
}

impl UnitKernel for FirstOrder {
    type Values = [f64; 2];
    const PARAMS: &'static [ParamSpec] = &[FREQ, Q];

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> [f64; 2] {
        rotation(params[0], self.rate)
    }

    fn process(&self, values: FrameValues<'_, [f64; 2]>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        for (i, values) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            io.output(0)[0][i] = to_sample(rotate(*values, &mut memory.numbers[0], x));
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        decay_tail(self.values(params)[0].abs())
    }
}
