//! `pitch`: shifts the pitch by two moving taps of a delay line that fade into each other.
//!
//! ```text
//! r = 2^(semitones / 12)        φ += (1 - r) / (window × rate), a fraction of a cycle; at r = 1 φ moves to the next of 0 and 1/2
//! tap k at φ + k / 2, k = 0, 1: delay = window × rate × fraction + 2, weight = sin²(π × fraction)
//! y = (1 - mix) x + mix × Σ_k weight_k × line[n - delay_k], on the cubic through four frames
//! ```
//!
//! The rotating-tape-head shifter (Udo Zölzer (ed.), *DAFX*, 2nd ed. (2011), section 6.4.3). The taps' weights add up to 1. It has
//! the amplitude modulation of its method, at (1 - r) / window times a second: long windows for chords, short ones for speech. Where
//! the pitch is not shifted, two taps that stand still would be a comb filter: they move on, by 7 cents, until one of them is silent.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `semitones` ±24, `window` 0.005 to 0.2 s, `mix` 0 to 1 |
//! | latency | none stated: the delay moves from 0 to `window` |
//! | tail | `window` |
//! | driven | all at audio rate |

use crate::generators::sine::sine;
use crate::kernel::{DelayRing, FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};

const SEMITONES: ParamSpec = ParamSpec::new(0, "semitones", (-24.0, 24.0), 0.0)
    .unit("semitones")
    .doc("Shift of the pitch.")
    .audio_rate();
const WINDOW: ParamSpec = ParamSpec::new(1, "window", (0.005, MAX_WINDOW_S), 0.06)
    .unit("s")
    .doc("Length over which a tap moves.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(2, "mix", (0.0, 1.0), 1.0)
    .doc("Share of the shifted sound in the output.")
    .audio_rate();

const MAX_WINDOW_S: f64 = 0.2;
/// Change of the delay while the taps of an unshifted sound move to their places, in frames a frame.
const DRIFT: f64 = 1.0 / 256.0;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = PitchShifter::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        params,
        typical_ns: 1600,
        duplicable: false,
        picture: graph::KindPicture::Tone,
        ..Kind::effect("pitch", "Shifts the pitch.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let (rate, ring) = (0.0, DelayRing::default());
    KernelNode::make(creation, PitchShifter { rate, ring })
}

struct PitchShifter {
    rate: f64,
    ring: DelayRing,
}

#[derive(Clone, Copy)]
struct PitchValues {
    /// In units of 2^-64 cycles, as a signed number.
    step: i64,
    /// Largest step towards a silent tap, in the same units.
    drift: i64,
    /// In frames.
    window: f64,
    mix: f64,
}

impl PitchValues {
    /// Step of the phase, which is at `phase` in units of 2^-64 cycles.
    #[inline(always)]
    fn step_from(&self, phase: u64) -> i64 {
        if self.step != 0 {
            return self.step;
        }
        // One tap is silent at each half cycle, which are the multiples of 2^63.
        let beyond = ((phase << 1) as i64) >> 1;
        -beyond.clamp(-self.drift, self.drift)
    }
}

impl UnitKernel for PitchShifter {
    type Values = PitchValues;
    const PARAMS: &'static [ParamSpec] = &[SEMITONES, WINDOW, MIX];
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        self.ring = DelayRing::new(0, MAX_WINDOW_S * rate + 4.0);
        MemorySize {
            numbers: 0,
            // The frame and the phase.
            counts: 2,
            line: self.ring.end(),
        }
    }

    fn values(&self, params: &[f64]) -> PitchValues {
        let window = params[1] * self.rate;
        let cycles = (1.0 - libm::exp2(params[0] / 12.0)) / window;
        PitchValues {
            step: (cycles * 2f64.powi(64)) as i64,
            drift: (DRIFT / window * 2f64.powi(64)) as i64,
            window,
            mix: params[2],
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, PitchValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let at = memory.counts[0];
            let x = f64::from(io.input(0)[0][i]);
            self.ring.write(memory, at, x);
            let phase = (memory.counts[1] >> 32) as u32;
            let tap = |phase: u32| {
                let fraction = f64::from(phase) / 2f64.powi(32);
                let weight = f64::from(sine(phase >> 1)).powi(2);
                let delay = values.window * fraction + 2.0;
                weight * self.ring.read_cubic(memory, at, delay)
            };
            let wet = tap(phase) + tap(phase.wrapping_add(1 << 31));
            io.output(0)[0][i] = to_sample(x + values.mix * (wet - x));
            memory.counts[0] = at.wrapping_add(1);
            memory.counts[1] =
                memory.counts[1].wrapping_add_signed(values.step_from(memory.counts[1]));
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        Tail::Frames((params[1] * self.rate) as u64 + 64)
    }
}
