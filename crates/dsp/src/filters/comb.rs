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
    DelayRing, FRAMES, FrameValues, KernelNode, LaneIo, Memory, MemorySize, SplitDelay, UnitKernel,
    line_sample, loop_tail,
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
    delay: SplitDelay,
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

/// Shortest delay, in frames, for which as many frames are computed at once.
const MIN_RUN: usize = 8;

impl Comb {
    /// Processes frames that are no more than the delay: none hears another, so each pass runs in vectors. The bits are those of
    /// frame after frame; what multiplies by 0 or 1 is left out.
    #[inline(always)]
    fn process_run(
        &self,
        values: &CombValues,
        input: &[f32],
        output: &mut [f32],
        memory: &mut Memory,
    ) {
        let (at, count) = (memory.counts[0], input.len());
        let SplitDelay { whole, share } = values.delay;
        if (values.blend, values.forward, values.damp, share) == (1.0, 0.0, 0.0, 0.0) {
            self.process_plain(values, input, output, memory);
            return;
        }
        // The older of the two samples of each frame; the newer one is that of the frame behind.
        let mut heard = [0f32; FRAMES + 1];
        let heard = &mut heard[..count + 1];
        self.ring.read_run(memory, at, whole + 1, heard);
        let mut delayed = [0f64; FRAMES];
        let delayed = &mut delayed[..count];
        let pairs = heard.windows(2).map(|pair| [pair[0], pair[1]]);
        match share == 0.0 {
            true => (delayed.iter_mut().zip(&heard[1..])).for_each(|(y, x)| *y = f64::from(*x)),
            false => (delayed.iter_mut().zip(pairs)).for_each(|(y, pair)| {
                let [older, newer] = pair.map(f64::from);
                *y = newer + (older - newer) * share;
            }),
        }
        let mut damped = [0f64; FRAMES];
        let low = match values.damp == 0.0 {
            true => &*delayed,
            false => {
                let mut low = memory.numbers[0];
                for (y, x) in damped.iter_mut().zip(&*delayed) {
                    low = x + values.damp * (low - x);
                    *y = low;
                }
                &damped[..count]
            }
        };
        let mut line = [0f32; FRAMES];
        let frames = input.iter().zip(low).zip(&*delayed);
        let outputs = line.iter_mut().zip(output);
        let w = |x: f32, low: f64| f64::from(x) + values.feedback * low;
        if (values.blend, values.forward) == (1.0, 0.0) {
            for ((line, y), ((x, low), _)) in outputs.zip(frames) {
                let w = w(*x, *low);
                (*line, *y) = (line_sample(w), to_sample(w));
            }
        } else {
            for ((line, y), ((x, low), delayed)) in outputs.zip(frames) {
                let w = w(*x, *low);
                *line = line_sample(w);
                *y = to_sample(values.blend * w + values.forward * delayed);
            }
        }
        self.ring.write_run(memory, at, &line[..count]);
        memory.counts[0] = at.wrapping_add(count as u64);
        memory.numbers[0] = low[count - 1];
    }
}

impl Comb {
    /// Processes frames of a plain loop: a delay of whole frames and its gain. Nothing else is left to multiply.
    #[inline(always)]
    fn process_plain(
        &self,
        values: &CombValues,
        input: &[f32],
        output: &mut [f32],
        memory: &mut Memory,
    ) {
        let (at, count) = (memory.counts[0], input.len());
        let (mut line, mut heard) = ([0f32; FRAMES], [0f32; FRAMES]);
        let (line, heard) = (&mut line[..count], &mut heard[..count]);
        self.ring.read_run(memory, at, values.delay.whole, heard);
        let frames = input.iter().zip(&*heard);
        for ((line, y), (x, heard)) in line.iter_mut().zip(output).zip(frames) {
            let w = f64::from(*x) + values.feedback * f64::from(*heard);
            (*line, *y) = (line_sample(w), to_sample(w));
        }
        self.ring.write_run(memory, at, line);
        memory.counts[0] = at.wrapping_add(count as u64);
        memory.numbers[0] = f64::from(heard[count - 1]);
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

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, CombValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let (input, output) = io.through();
        if let Some(constant) = values.constant()
            && constant.delay.whole >= MIN_RUN
        {
            // A whole step in a call of its own: the compiler knows its length.
            if values.len() == FRAMES && constant.delay.whole >= FRAMES {
                self.process_run(constant, input, output, memory);
                return;
            }
            let run = constant.delay.whole.min(FRAMES);
            let (input, output) = (&input[..values.len()], &mut output[..values.len()]);
            for (input, output) in input.chunks(run).zip(output.chunks_mut(run)) {
                self.process_run(constant, input, output, memory);
            }
            return;
        }
        let ring = self.ring;
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
