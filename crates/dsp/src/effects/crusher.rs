//! `crush`: fewer bits and fewer samples, as early samplers had them.
//!
//! ```text
//! phase += hold_freq / rate        at each wrap: h = x        (at or above the rate: h = x always)
//! q = 2^(1 - bits)        y = x + mix × (q ⌊h / q + 1/2⌋ - x)
//! ```
//!
//! Neither the quantizer nor the sample and hold is band-limited: what aliases is the effect. With an `oversample` above 1 both run
//! at that multiple of the rate, between the filters of `kernel/oversampler.rs`: then the steps fall between frames too, and what they
//! make above half the rate is filtered and does not fold. The dry sound of `mix` is delayed as much.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `bits` 1 to 24, `hold_freq` 20 to 384000 Hz, `mix` 0 to 1; `oversample` |
//! | latency | none; 64 frames with an `oversample` above 1 |
//! | tail | until the next sample is taken; 128 frames more with an `oversample` above 1 |
//! | driven | all at audio rate |

use crate::kernel::{
    DelayRing, FrameValues, KernelNode, LaneIo, Memory, MemorySize, OVERSAMPLER_TAPS, Oversampler,
    UnitKernel,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture, Param};
use processor::{MakeContext, MakeError, Processor, Tail};
use units::Frames;

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

/// Largest magnitude that goes through the filters.
const MAX_FILTERED: f64 = 1e30;
const TIMES: &[&str] = &["1", "2", "4", "8"];

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Crusher::PARAMS.iter().map(ParamSpec::param).collect();
    params.extend([
        Param::choice("oversample", TIMES)
            .doc("Multiple of the rate at which it rounds and holds: above 1 nothing folds at the rate itself."),
        channels(),
    ]);
    Kind {
        params,
        typical_ns: 500,
        picture: KindPicture::Transfer(-2, 2),
        ..Kind::effect("crush", "Fewer bits and fewer samples.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let times = 1 << creation.choice("oversample")?;
    let kernel = Crusher {
        rate: 0.0,
        times,
        oversampler: Oversampler::new(times),
        dry: DelayRing::default(),
    };
    KernelNode::make(creation, kernel)
}

struct Crusher {
    rate: f64,
    times: usize,
    oversampler: Oversampler,
    /// The dry sound; not used at the rate itself.
    dry: DelayRing,
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
        let latency = f64::from(self.oversampler.latency());
        self.dry = DelayRing::new(self.oversampler.samples(), latency);
        MemorySize {
            numbers: 1,
            counts: 2,
            line: if self.times == 1 { 0 } else { self.dry.end() },
        }
    }

    fn values(&self, params: &[f64]) -> CrusherValues {
        let cycles = params[1] / self.rate;
        CrusherValues {
            step: (cycles < 1.0).then(|| (cycles / self.times as f64 * 2f64.powi(64)) as u64),
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
        let latency = self.oversampler.latency() as usize;
        for (i, values) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            let (at, q) = (memory.counts[1], values.quantum);
            let (mut phase, mut held) = (memory.counts[0], memory.numbers[0]);
            let crush = |x: f64| {
                let (next, wraps) = match values.step {
                    Some(step) => phase.overflowing_add(step),
                    None => (0, true),
                };
                phase = next;
                if wraps {
                    held = x;
                }
                q * libm::floor(held / q + 0.5)
            };
            // The sums of the filters stay within the range of a sample.
            let within = match self.times {
                1 => x,
                _ => x.clamp(-MAX_FILTERED, MAX_FILTERED),
            };
            let crushed = self.oversampler.process(memory, at, within, crush);
            (memory.counts[0], memory.numbers[0]) = (phase, held);
            let dry = match self.times {
                1 => x,
                _ => {
                    self.dry.write(memory, at, x);
                    memory.counts[1] = at.wrapping_add(1);
                    self.dry.read(memory, at, latency)
                }
            };
            io.output(0)[0][i] = to_sample(dry + values.mix * (crushed - dry));
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let filters = match self.times {
            1 => 0,
            _ => 2 * OVERSAMPLER_TAPS as u64,
        };
        Tail::Frames((self.rate / params[1]) as u64 + 64 + filters)
    }

    fn latency(&self) -> Frames {
        Frames(self.oversampler.latency())
    }
}
