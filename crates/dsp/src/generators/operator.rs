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
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::ParamSpec;
use crate::sample::to_sample;
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

    fn process(
        &self,
        values: FrameValues<'_, OperatorValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let passed = memory.counts[0];
            let [last, before] = [memory.numbers[0], memory.numbers[1]];
            let moved = values.phase + values.feedback * (last + before) * 0.5;
            // Within ±101 cycles: whole numbers of 2^-32 cycles, which wrap.
            let moved = (moved * 4_294_967_296.0) as i64 as u32;
            let y = f64::from(sine(((passed >> 32) as u32).wrapping_add(moved)));
            (memory.numbers[1], memory.numbers[0]) = (last, y);
            io.output(0)[0][i] = to_sample(y * values.volume);
            memory.counts[0] = passed.wrapping_add(values.step);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }
}
