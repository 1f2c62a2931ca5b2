//! `comb`: the universal comb filter: a feedback comb, a feedforward comb or an all-pass, tuned between frames.
//!
//! ```text
//! w[n] = x[n] + feedback × l[n]         l = d + damp (l - d), a low-pass in the loop
//! y[n] = blend × w[n] + forward × d[n]   d[n] = w[n - rate / freq], on a straight line between two frames
//! ```
//!
//! Udo Zölzer (ed.), *DAFX* (2nd ed., 2011), section 2.5.1. With `blend` = -`feedback` and `forward` 1 it is an all-pass (if
//! `damp` is 0). Neither the line between two frames nor the low-pass can be louder than what they are made of, so the
//! loop is stable on every path of its parameters.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 10 to 20 000 Hz, at most the rate, `feedback` ±0.999, `forward` and `blend` ±1, `damp` 0 to 0.99 |
//! | latency | none |
//! | tail | until the loop is 480 dB down; endless while a parameter is driven |
//! | driven | all at audio rate |

use crate::kernel::{
    DelayRing, FrameValues, KernelNode, LaneIo, Memory, MemorySize, Tap, UnitKernel, loop_tail,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};

const FREQ: ParamSpec = ParamSpec::new(0, "freq", (10.0, 20_000.0), 440.0)
    .unit("Hz")
    .doc("Distance of the teeth: the delay is 1 / freq.")
    .audio_rate();
const FEEDBACK: ParamSpec = ParamSpec::new(1, "feedback", (-0.999, 0.999), 0.5)
    .doc("Gain of the loop.")
    .audio_rate();
const FORWARD: ParamSpec = ParamSpec::new(2, "forward", (-1.0, 1.0), 0.0)
    .doc("Gain of the delayed sound in the output.")
    .audio_rate();
const BLEND: ParamSpec = ParamSpec::new(3, "blend", (-1.0, 1.0), 1.0)
    .doc("Gain of the undelayed sound in the output.")
    .audio_rate();
const DAMP: ParamSpec = ParamSpec::new(4, "damp", (0.0, 0.99), 0.0)
    .doc("Loss of high frequencies in the loop.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Comb::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        params,
        typical_ns: 700,
        ..Kind::effect("comb", "A comb filter, forward, back or all-pass.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let (rate, ring) = (0.0, DelayRing::default());
    KernelNode::make(creation, Comb { rate, ring })
}

struct Comb {
    rate: f64,
    ring: DelayRing,
}

#[derive(Clone, Copy)]
struct CombValues {
    delay: Tap,
    feedback: f64,
    forward: f64,
    blend: f64,
    damp: f64,
}

impl Comb {
    /// Delay in frames.
    fn delay(&self, params: &[f64]) -> f64 {
        (self.rate / params[0]).max(1.0)
    }
}

impl UnitKernel for Comb {
    type Values = CombValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, FEEDBACK, FORWARD, BLEND, DAMP];
    const IS_LOOP: bool = true;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        self.ring = DelayRing::new(0, rate / FREQ.min);
        MemorySize {
            numbers: 1,
            counts: 1,
            line: self.ring.end(),
        }
    }

    fn values(&self, params: &[f64]) -> CombValues {
        CombValues {
            delay: self.ring.tap(self.delay(params)),
            feedback: params[1],
            forward: params[2],
            blend: params[3],
            damp: params[4],
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, CombValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let ring = self.ring;
        let (input, output) = io.through();
        // Not in the memory while it is read and written: the compiler would store them in each frame.
        let (mut at, mut low) = (memory.counts[0], memory.numbers[0]);
        for ((x, y), values) in input.iter().zip(output).zip(values.iter()) {
            let delayed = ring.read_tap(memory, at, values.delay);
            low = delayed + values.damp * (low - delayed);
            let w = f64::from(*x) + values.feedback * low;
            ring.write(memory, at, w);
            at = at.wrapping_add(1);
            *y = to_sample(values.blend * w + values.forward * delayed);
        }
        (memory.counts[0], memory.numbers[0]) = (at, low);
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let (feedback, damp) = (params[1], params[4]);
        // The low-pass delays each round a little.
        let round = self.delay(params) + 2.0 + 2.0 / (1.0 - damp);
        loop_tail(round * 1.5, feedback)
    }
}
