//! `operator`: a sine whose phase another signal moves: the building block of FM synthesis.
//!
//! ```text
//! s = sin(2π(φ + phase) + feedback × (s1 + s2) / 2)    y = volume × s        φ += freq × ratio / rate
//! ```
//!
//! John Chowning, "The synthesis of complex audio spectra by means of frequency modulation", *J. Audio Eng. Soc.* 21 (1973), as
//! phase modulation; the feedback is the mean of the last two sines, after Norio Tomisawa (US patent 4,249,447, 1981). Drive
//! `phase` with another operator: at an amplitude of a cycles the sidebands have the levels of the Bessel functions of
//! 2π a. Nothing limits the band: sidebands above half the rate alias.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, one channel, within ±`volume` |
//! | parameters | `freq` in Hz, `ratio` 0 to 64, `volume`, `phase` ±100 cycles, `feedback` 0 to 1 (radians of the last sine) |
//! | latency | none |
//! | tail | endless |
//! | driven | all at audio rate |

use crate::generators::osc::{FREQ as OSC_FREQ, VOLUME as OSC_VOLUME};
use crate::generators::sine::sine;
use crate::kernel::{FRAMES, FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::ParamSpec;
use crate::sample::to_sample;
use crate::whole::wrapped;
use graph::{Kind, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};
use std::f64::consts::TAU;

const FREQ: ParamSpec = OSC_FREQ.audio_rate();
const VOLUME: ParamSpec = OSC_VOLUME.audio_rate();
const RATIO: ParamSpec = ParamSpec::new(2, "ratio", (0.0, 64.0), 1.0)
    .doc("Factor of the frequency.")
    .audio_rate();
const PHASE: ParamSpec = ParamSpec::new(3, "phase", (-100.0, 100.0), 0.0)
    .unit("cycles")
    .doc("Added to the phase: drive it for phase modulation.")
    .audio_rate();
const FEEDBACK: ParamSpec = ParamSpec::new(4, "feedback", (0.0, 1.0), 0.0)
    .doc("Its own sine in its phase, in radians: from 0 to 1 a sine becomes a saw.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::mono("out")],
        params: Operator::PARAMS.iter().map(ParamSpec::param).collect(),
        typical_ns: 500,
        ..Kind::new("operator", "A sine whose phase can be driven, for FM.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Operator { rate: 0.0 })
}

struct Operator {
    rate: f64,
}

#[derive(Clone, Copy)]
struct OperatorValues {
    /// In units of 2^-64 cycles.
    step: u64,
    volume: f64,
    /// In cycles.
    phase: f64,
    /// In cycles for a sine of 1.
    feedback: f64,
}

/// The frames of a step.
struct OperatorFrames {
    /// Phases that have passed, in units of 2^-32 cycles.
    passed: [u32; FRAMES],
    /// In cycles.
    phases: [f64; FRAMES],
    feedbacks: [f64; FRAMES],
    volumes: [f64; FRAMES],
    sines: [f32; FRAMES],
    has_feedback: bool,
}

impl OperatorFrames {
    /// The phase of `memory` moves on with them.
    #[inline(always)]
    fn new(values: FrameValues<'_, OperatorValues>, memory: &mut Memory) -> Self {
        let (first, count) = (memory.counts[0], values.len() as u64);
        let mut frames = Self {
            passed: [0; FRAMES],
            phases: [0.0; FRAMES],
            feedbacks: [0.0; FRAMES],
            volumes: [0.0; FRAMES],
            sines: [0.0; FRAMES],
            has_feedback: false,
        };
        if let Some(one) = values.constant() {
            for (passed, i) in frames.passed.iter_mut().zip(0u64..) {
                *passed = (first.wrapping_add(one.step.wrapping_mul(i)) >> 32) as u32;
            }
            frames.phases = [one.phase; FRAMES];
            frames.feedbacks = [one.feedback; FRAMES];
            frames.volumes = [one.volume; FRAMES];
            frames.has_feedback = one.feedback != 0.0;
            memory.counts[0] = first.wrapping_add(one.step.wrapping_mul(count));
            return frames;
        }
        let mut passed = first;
        for (i, values) in values.iter().enumerate() {
            frames.passed[i] = (passed >> 32) as u32;
            passed = passed.wrapping_add(values.step);
            frames.phases[i] = values.phase;
            frames.feedbacks[i] = values.feedback;
            frames.volumes[i] = values.volume;
            frames.has_feedback |= values.feedback != 0.0;
        }
        memory.counts[0] = passed;
        frames
    }

    /// Computes the sines, none of which waits for another.
    #[inline(always)]
    fn run(&mut self, memory: &mut Memory, count: usize) {
        let frames = self.sines.iter_mut().zip(&self.passed).zip(&self.phases);
        for ((y, passed), phase) in frames {
            *y = sine(passed.wrapping_add(turned(*phase)));
        }
        for y in &self.sines[count.saturating_sub(2)..count] {
            memory.numbers[1] = std::mem::replace(&mut memory.numbers[0], f64::from(*y));
        }
    }

    /// Computes the sines, each of which moves the phases of the next two.
    #[inline(always)]
    fn follow(&mut self, memory: &mut Memory, count: usize) {
        let [mut last, mut before] = [memory.numbers[0], memory.numbers[1]];
        let frames = self.sines.iter_mut().zip(&self.passed);
        let values = self.phases.iter().zip(&self.feedbacks);
        for ((y, passed), (phase, feedback)) in frames.zip(values).take(count) {
            let moved = phase + feedback * (last + before) * 0.5;
            *y = sine(passed.wrapping_add(turned(moved)));
            (before, last) = (last, f64::from(*y));
        }
        (memory.numbers[0], memory.numbers[1]) = (last, before);
    }
}

/// `cycles`, within ±101, in units of 2^-32 cycles, which wrap.
#[inline(always)]
fn turned(cycles: f64) -> u32 {
    wrapped(cycles * 4_294_967_296.0)
}

impl UnitKernel for Operator {
    type Values = OperatorValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, VOLUME, RATIO, PHASE, FEEDBACK];
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            // The last two sines.
            numbers: 2,
            counts: 1,
            line: 0,
        }
    }

    fn values(&self, params: &[f64]) -> OperatorValues {
        let cycles = (params[0] * params[2] / self.rate).min(0.5);
        OperatorValues {
            step: (cycles * 2f64.powi(64)) as u64,
            volume: params[1],
            phase: params[3],
            feedback: params[4] / TAU,
        }
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, OperatorValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let count = values.len();
        let mut frames = OperatorFrames::new(values, memory);
        if frames.has_feedback {
            frames.follow(memory, count);
        } else {
            frames.run(memory, count);
        }
        let output = io.output(0)[0].iter_mut();
        for ((to, y), volume) in output.zip(&frames.sines).zip(&frames.volumes).take(count) {
            *to = to_sample(f64::from(*y) * volume);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }
}
