//! `chorus` and `flanger`: copies of the input at delays that a slow sine moves.
//!
//! ```text
//! phase += speed / rate
//! D_v  = rate × (delay + depth × (1 + sin 2π(phase + v / voices + c × spread)) / 2), at least 1 frame    c: the channel
//! line = x + feedback × line[n - D_0], on a straight line between two frames
//! y    = (1 - mix) x + mix / voices × Σ_v line[n - D_v], on the cubic through four frames
//! ```
//!
//! Jon Dattorro, "Effect design, part 2: delay-line modulation and chorus", *J. Audio Eng. Soc.* 45 (1997). The loop reads on
//! a straight line, which is never louder than what it lies between, so it is stable on every path of the delay.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `speed` 0 to 20 Hz, `depth` 0 to 0.02 s, `delay` 0 to 0.05 s, `feedback` ±0.95, `mix` and `spread` 0 to 1; `voices` 1 to 8 (chorus) |
//! | latency | none: its delay is meant |
//! | tail | `delay` + `depth`, in a loop until it is 480 dB down; endless while a parameter is driven |
//! | driven | all at audio rate |

use crate::generators::sine::sine;
use crate::kernel::{
    DelayRing, FRAMES, FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel,
    line_sample, loop_tail,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, Tail};

const MAX_DELAY_S: f64 = 0.05;
const MAX_DEPTH_S: f64 = 0.02;

const SPEED: ParamSpec = ParamSpec::new(0, "speed", (0.0, 20.0), 0.6)
    .unit("Hz")
    .doc("Frequency of the movement.")
    .audio_rate();
const DEPTH: ParamSpec = ParamSpec::new(1, "depth", (0.0, MAX_DEPTH_S), 0.004)
    .unit("s")
    .doc("Length of the movement.")
    .audio_rate();
const DELAY: ParamSpec = ParamSpec::new(2, "delay", (0.0, MAX_DELAY_S), 0.012)
    .unit("s")
    .doc("Shortest delay.")
    .audio_rate();
const FEEDBACK: ParamSpec = ParamSpec::new(3, "feedback", (-0.95, 0.95), 0.0)
    .doc("Gain of the loop.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(4, "mix", (0.0, 1.0), 0.5)
    .doc("Share of the delayed sound in the output.")
    .audio_rate();
const SPREAD: ParamSpec = ParamSpec::new(5, "spread", (0.0, 1.0), 0.25)
    .unit("cycles")
    .doc("Distance of the movements of neighbouring channels.")
    .audio_rate();

const CHORUS: [ParamSpec; 6] = [SPEED, DEPTH, DELAY, FEEDBACK, MIX, SPREAD];
/// The same parameters with the defaults of a flanger.
const FLANGER: [ParamSpec; 6] = [
    ParamSpec {
        default: 0.2,
        ..SPEED
    },
    ParamSpec {
        default: 0.005,
        ..DEPTH
    },
    ParamSpec {
        default: 0.0005,
        ..DELAY
    },
    ParamSpec {
        default: 0.6,
        ..FEEDBACK
    },
    MIX,
    SPREAD,
];

fn kind_of(name: &'static str, summary: &'static str, params: &[ParamSpec]) -> Kind {
    Kind {
        params: params.iter().map(ParamSpec::param).collect(),
        typical_ns: 2000,
        duplicable: false,
        ..Kind::effect(name, summary)
    }
}

pub(crate) fn chorus_kind() -> Kind {
    let mut kind = kind_of("chorus", "Copies of the sound that are detuned.", &CHORUS);
    let voices = Param::number("voices", (1.0, 8.0), 3.0).doc("Number of copies.");
    kind.params.extend([voices, channels()]);
    kind
}

pub(crate) fn flanger_kind() -> Kind {
    let mut kind = kind_of("flanger", "A comb whose teeth wander.", &FLANGER);
    kind.params.push(channels());
    kind
}

pub(crate) fn make_chorus(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let voices = creation.number("voices")? as u32;
    KernelNode::make(creation, MovingTaps::new(voices))
}

pub(crate) fn make_flanger(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, MovingTaps::new(1))
}

struct MovingTaps {
    voices: u32,
    rate: f64,
    ring: DelayRing,
}

#[derive(Clone, Copy)]
struct TapValues {
    /// In units of 2^-64 cycles a frame.
    step: u64,
    /// In frames.
    depth: f64,
    delay: f64,
    feedback: f64,
    mix: f64,
    /// In units of 2^-32 cycles.
    spread: u32,
}

impl MovingTaps {
    fn new(voices: u32) -> Self {
        Self {
            voices,
            rate: 0.0,
            ring: DelayRing::default(),
        }
    }

    /// Writes the delays of a voice, in frames.
    #[inline(always)]
    fn delays(
        &self,
        values: FrameValues<'_, TapValues>,
        phases: &[u32; FRAMES],
        voice: u32,
        to: &mut [f64; FRAMES],
    ) {
        let part = ((u64::from(voice) << 32) / u64::from(self.voices)) as u32;
        let delay = |values: &TapValues, phase: u32| {
            let moved = 0.5 + 0.5 * f64::from(sine(phase.wrapping_add(part)));
            (values.delay + values.depth * moved).max(1.0)
        };
        let frames = to.iter_mut().zip(phases);
        match values.constant() {
            Some(values) => frames.for_each(|(to, phase)| *to = delay(values, *phase)),
            None => {
                for ((to, phase), values) in frames.zip(values.iter()) {
                    *to = delay(values, *phase);
                }
            }
        }
    }

    /// Writes the phases of the channel's movement. Returns the phase behind them.
    #[inline(always)]
    fn phases(
        &self,
        values: FrameValues<'_, TapValues>,
        memory: &Memory,
        to: &mut [u32; FRAMES],
    ) -> u64 {
        let (mut passed, count) = (memory.counts[1], values.len() as u64);
        if let Some(values) = values.constant() {
            let turned = u64::from(values.spread.wrapping_mul(memory.lane as u32)) << 32;
            let first = passed.wrapping_add(turned);
            for (phase, i) in to.iter_mut().zip(0u64..) {
                *phase = (first.wrapping_add(values.step.wrapping_mul(i)) >> 32) as u32;
            }
            return passed.wrapping_add(values.step.wrapping_mul(count));
        }
        for (phase, values) in to.iter_mut().zip(values.iter()) {
            let turned = values.spread.wrapping_mul(memory.lane as u32);
            *phase = ((passed >> 32) as u32).wrapping_add(turned);
            passed = passed.wrapping_add(values.step);
        }
        passed
    }

    /// Writes the input of the frames from `at` on to the line, with what comes back at the delays of the first voice.
    #[inline(always)]
    fn write_line(
        &self,
        values: FrameValues<'_, TapValues>,
        memory: &mut Memory,
        input: &[f32],
        delays: &[f64],
    ) {
        let at = memory.counts[0];
        if values.constant().is_some_and(|it| it.feedback == 0.0) {
            let mut line = [0.0; FRAMES];
            let line = &mut line[..input.len()];
            let samples = line.iter_mut().zip(input);
            samples.for_each(|(y, x)| *y = line_sample(f64::from(*x)));
            return self.ring.write_run(memory, at, line);
        }
        for ((i, (x, values)), delay) in (0u64..).zip(input.iter().zip(values.iter())).zip(delays) {
            let at = at.wrapping_add(i);
            let back = values.feedback * self.ring.read_linear(memory, at, *delay);
            self.ring.write(memory, at, f64::from(*x) + back);
        }
    }
}

impl UnitKernel for MovingTaps {
    type Values = TapValues;
    const PARAMS: &'static [ParamSpec] = &CHORUS;
    const IS_LOOP: bool = true;
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        // The line is written before it is read, so the newest frames must not be where the oldest are.
        let longest = (MAX_DELAY_S + MAX_DEPTH_S) * rate;
        self.ring = DelayRing::new(0, longest + FRAMES as f64);
        MemorySize {
            numbers: 0,
            // The frame and the phase.
            counts: 2,
            line: self.ring.end(),
        }
    }

    fn values(&self, params: &[f64]) -> TapValues {
        TapValues {
            step: (params[0] / self.rate * 2f64.powi(64)) as u64,
            depth: params[1] * self.rate,
            delay: params[2] * self.rate,
            feedback: params[3],
            mix: params[4],
            spread: (params[5] * 4_294_967_295.0) as u32,
        }
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, TapValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let count = values.len();
        let at = memory.counts[0];
        let mut phases = [0u32; FRAMES];
        let passed = self.phases(values, memory, &mut phases);
        let (input, output) = io.through();
        let (mut delays, mut wet) = ([0.0; FRAMES], [0.0; FRAMES]);
        self.delays(values, &phases, 0, &mut delays);
        // All frames at once: no voice hears a frame that comes behind its own.
        self.write_line(values, memory, &input[..count], &delays[..count]);
        for voice in 0..self.voices {
            if voice > 0 {
                self.delays(values, &phases, voice, &mut delays);
            }
            self.ring.add_cubic(memory, at, &delays, &mut wet, count);
        }
        let voices = f64::from(self.voices);
        let frames = output.iter_mut().zip(input).zip(wet);
        let mixed = |x: f64, wet: f64, mix: f64| to_sample(x + mix * (wet / voices - x));
        match values.constant() {
            Some(values) => {
                frames.for_each(|((y, x), wet)| *y = mixed(f64::from(*x), wet, values.mix));
            }
            None => {
                for (((y, x), wet), values) in frames.zip(values.iter()) {
                    *y = mixed(f64::from(*x), wet, values.mix);
                }
            }
        }
        memory.counts[0] = at.wrapping_add(count as u64);
        memory.counts[1] = passed;
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let values = self.values(params);
        let longest = values.delay + values.depth + 4.0;
        match values.feedback == 0.0 {
            true => Tail::Frames(longest as u64 + 64),
            false => loop_tail(longest, values.feedback),
        }
    }
}

/// A flanger has the parameters of a chorus, in the same order and ranges: its kernel reads them by these.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_have_the_same_parameters() {
        for (a, b) in CHORUS.iter().zip(&FLANGER) {
            assert_eq!(
                (a.index, a.name, a.min, a.max),
                (b.index, b.name, b.min, b.max)
            );
        }
    }
}
