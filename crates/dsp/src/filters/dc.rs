//! `dc`: takes away what does not move: the first-order high-pass at a very low frequency.
//!
//! ```text
//! low = low + 2 G (x - low) of a trapezoidal one-pole, G = g / (1 + g), g = tan(π freq / rate)        y = x - low
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1 to 100 Hz: there half the power passes |
//! | latency | none |
//! | tail | until the pole has decayed |
//! | driven | `freq` at audio rate |

use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_tail, integrator_gain,
    one_pole,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};

const FREQ: ParamSpec = ParamSpec::new(0, "freq", (1.0, 100.0), 10.0)
    .unit("Hz")
    .doc("Frequency at which half the power passes.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![FREQ.param(), channels()],
        typical_ns: 300,
        ..Kind::effect("dc", "Takes away a constant offset.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, DcBlocker { rate: 0.0 })
}

struct DcBlocker {
    rate: f64,
}

impl UnitKernel for DcBlocker {
    /// Gain of the integrator.
    type Values = f64;
    const PARAMS: &'static [ParamSpec] = &[FREQ];

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> f64 {
        integrator_gain(params[0], self.rate)
    }

    fn process(&self, values: FrameValues<'_, f64>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        for (i, g) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            let low = one_pole(&mut memory.numbers[0], *g, x);
            io.output(0)[0][i] = to_sample(x - low);
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let g = self.values(params);
        decay_tail((1.0 - g).abs() / (1.0 + g))
    }
}
