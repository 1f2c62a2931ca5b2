//! `crush`: fewer bits and fewer samples, as early samplers had them.
//!
//! ```text
//! phase += hold_freq / rate        at each wrap: h = x        (at or above the rate: h = x always)
//! q = 2^(1 - bits)        y = x + mix × (q ⌊h / q + 1/2⌋ - x)
//! ```
//!
//! Neither the quantizer nor the sample and hold is band-limited: what aliases is the effect.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `bits` 1 to 24, `hold_freq` 20 to 384000 Hz, `mix` 0 to 1 |
//! | latency | none |
//! | tail | until the next sample is taken |
//! | driven | all at audio rate |

use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture};
use processor::{MakeContext, MakeError, Processor, Tail};

const BITS: ParamSpec = ParamSpec::new(0, "bits", (1.0, 24.0), 8.0)
    .doc("Bits of a sample; fractions too.")
    .audio_rate();
const HOLD: ParamSpec = ParamSpec::new(1, "hold_freq", (20.0, 384_000.0), 384_000.0)
    .unit("Hz")
    .doc("Samples a second.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(2, "mix", (0.0, 1.0), 1.0)
    .doc("Share of the crushed sound in the output.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Crusher::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        params,
        typical_ns: 500,
        picture: KindPicture::Transfer(-2, 2),
        ..Kind::effect("crush", "Fewer bits and fewer samples.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Crusher { rate: 0.0 })
}

struct Crusher {
    rate: f64,
}

#[derive(Clone, Copy)]
struct CrusherValues {
    /// In units of 2^-64 cycles; `None`: each frame is taken.
    step: Option<u64>,
    /// Size of a step of the quantizer.
    quantum: f64,
    mix: f64,
}

impl UnitKernel for Crusher {
    type Values = CrusherValues;
    const PARAMS: &'static [ParamSpec] = &[BITS, HOLD, MIX];
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 1,
            counts: 1,
            line: 0,
        }
    }

    fn values(&self, params: &[f64]) -> CrusherValues {
        let cycles = params[1] / self.rate;
        CrusherValues {
            step: (cycles < 1.0).then(|| (cycles * 2f64.powi(64)) as u64),
            quantum: libm::exp2(1.0 - params[0]),
            mix: params[2],
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, CrusherValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            let (phase, wraps) = match values.step {
                Some(step) => memory.counts[0].overflowing_add(step),
                None => (0, true),
            };
            memory.counts[0] = phase;
            if wraps {
                memory.numbers[0] = x;
            }
            let q = values.quantum;
            let crushed = q * libm::floor(memory.numbers[0] / q + 0.5);
            io.output(0)[0][i] = to_sample(x + values.mix * (crushed - x));
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        Tail::Frames((self.rate / params[1]) as u64 + 64)
    }
}
