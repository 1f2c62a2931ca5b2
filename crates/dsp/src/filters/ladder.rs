//! `ladder`: the four-pole ladder filter of analog synthesizers, with a soft clip before its poles.
//!
//! ```text
//! g = tan(π freq / rate)    G = g / (1 + g)    k = 4 resonance
//! S = what the four states alone give at the end of the ladder
//! u = clip((drive x - k S) / (1 + k G⁴))        clip(x) = x (27 + x²) / (27 + 9 x²) within ±3, then ±1
//! four one-poles in a row: y1 … y4               low24 = y4, low12 = y2, band12 = 2 (y1 - y2),
//! high12 = u - 2 y1 + y2, band24 = 4 (y2 - 2 y3 + y4), high24 = u - 4 y1 + 6 y2 - 4 y3 + y4
//! ```
//!
//! Vadim Zavalishin, *The Art of VA Filter Design* (2012), chapter 5: trapezoidal one-poles in a loop without a delay. What
//! enters the poles is within ±1, and each pole is stable for itself, so the filter is bounded on every path of its
//! parameters. Below the clip the response is that of 1 / ((1 + s)⁴ + k). At a resonance of 1 it rings, ever more quietly. Above 1 it
//! oscillates once any sound has reached it: in silence it does not begin. The clip is not oversampled.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1 Hz to 0.49 of the rate, `resonance` 0 to 1.2, `drive_db` -40 to 40; `mode` |
//! | latency | none |
//! | tail | until the slowest pole has decayed; endless at a resonance of 1 and above; endless while a parameter is driven |
//! | driven | all three at audio rate |

mod lanes;
mod state;

use self::state::{LadderState, LoopWeights, clip};
use crate::filters::kernel::FREQ;
use crate::filters::lanes::Number;
use crate::kernel::{
    FRAMES, FrameValues, KernelNode, LaneIo, LaneSignals, LaneUnits, Memory, MemorySize,
    UnitKernel, decay_tail, integrator_gain,
};
use crate::param::{ParamSpec, channels};
use crate::sample::{db_to_gain, to_sample};
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, Tail};

const RESONANCE: ParamSpec = ParamSpec::new(1, "resonance", (0.0, 1.2), 0.0)
    .doc("Feedback: 0 none, 1 rings for seconds, above 1 it oscillates once it has heard a sound.")
    .audio_rate();
const DRIVE: ParamSpec = ParamSpec::new(2, "drive_db", (-40.0, 40.0), 0.0)
    .unit("dB")
    .doc("Gain before the clip.")
    .audio_rate();

const MODES: &[&str] = &["low24", "low12", "band12", "high12", "band24", "high24"];
/// Weights of u, y1 … y4 in each mode.
const WEIGHTS: [[f64; 5]; 6] = [
    [0.0, 0.0, 0.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 2.0, -2.0, 0.0, 0.0],
    [1.0, -2.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 4.0, -8.0, 4.0],
    [1.0, -4.0, 6.0, -4.0, 1.0],
];

pub(crate) fn kind() -> Kind {
    let mode = "What passes, and its slope in dB an octave.";
    Kind {
        params: vec![
            FREQ.param(),
            RESONANCE.param(),
            DRIVE.param(),
            Param::choice("mode", MODES).doc(mode),
            channels(),
        ],
        typical_ns: 900,
        side_by_side: true,
        ..Kind::effect(
            "ladder",
            "The resonant four-pole filter of analog synthesizers.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let weights = WEIGHTS[creation.choice("mode")?];
    KernelNode::make(creation, Ladder { weights, rate: 0.0 })
}

struct Ladder {
    weights: [f64; 5],
    rate: f64,
}

/// Numbers that follow from the parameters of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LadderValues {
    /// G, the gain of a resolved one-pole, and its powers up to G⁴.
    gains: [f64; 4],
    /// What a pole gives of its own state: 1 - G.
    own: f64,
    feedback: f64,
    /// 1 / (1 + k G⁴).
    loop_scale: f64,
    drive: f64,
}

impl LadderValues {
    /// With the gain of a resolved one-pole.
    fn new(gain: f64, resonance: f64, drive: f64) -> Self {
        let gains = [gain, gain * gain, gain * gain * gain, (gain * gain).powi(2)];
        let feedback = 4.0 * resonance;
        Self {
            gains,
            own: 1.0 - gain,
            feedback,
            loop_scale: 1.0 / (1.0 + feedback * gains[3]),
            drive,
        }
    }
}

/// Numbers of what is heard.
struct OutputWeights<T> {
    gains: [T; 4],
    own: T,
    weights: [T; 5],
}

impl<T: Number> OutputWeights<T> {
    /// The output of a frame, from the states before it and what its clip gives.
    #[inline(always)]
    fn of(&self, [a, b, c, d]: [T; 4], u: T) -> T {
        let [g1, g2, g3, g4] = self.gains;
        let own = self.own;
        // What the states alone give at each pole.
        let y1 = own * a;
        let y2 = own * b + g1 * y1;
        let y3 = own * c + g1 * y2;
        let y4 = own * d + g1 * y3;
        let [w0, w1, w2, w3, w4] = self.weights;
        let front = w0 * u + w1 * (g1 * u + y1);
        let back = w3 * (g3 * u + y3) + w4 * (g4 * u + y4);
        (front + w2 * (g2 * u + y2)) + back
    }
}

impl Ladder {
    /// The gain of a resolved one-pole at a frequency.
    fn gain(&self, freq: f64) -> f64 {
        let g = integrator_gain(freq, self.rate);
        g / (1.0 + g)
    }

    /// The output of a frame, from the states before it and what its clip gives.
    #[inline(always)]
    fn output(&self, values: &LadderValues, poles: [f64; 4], u: f64) -> f32 {
        let LadderValues { gains, own, .. } = *values;
        let weights = self.weights;
        let output = OutputWeights {
            gains,
            own,
            weights,
        };
        to_sample(output.of(poles, u))
    }

    /// Processes frames of the same values: what does not wait for the frame before is left out of the loop and runs in vectors.
    #[inline(always)]
    fn process_still(
        &self,
        values: &LadderValues,
        state: &mut LadderState,
        input: &[f32],
        output: &mut [f32],
    ) {
        let weights = LoopWeights::new(values, values.gains[0]);
        let scale = values.drive * values.loop_scale;
        let count = input.len().min(FRAMES);
        let (mut clipped, mut poles) = ([0.0; FRAMES + 1], [[0.0; FRAMES]; 4]);
        for (to, x) in clipped.iter_mut().zip(input) {
            *to = f64::from(*x) * scale;
        }
        *state = state.run(&weights, &mut clipped[..count], &mut poles);
        clipped[count] = clip(state.bent);
        let [a, b, c, d] = &poles;
        for (i, y) in output.iter_mut().enumerate().take(count) {
            *y = self.output(values, [a[i], b[i], c[i], d[i]], clipped[i + 1]);
        }
    }
}

impl UnitKernel for Ladder {
    type Values = LadderValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, RESONANCE, DRIVE];
    const IS_LOOP: bool = true;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            // Four poles, and what enters the clip.
            numbers: 5,
            // The gain of the frame before, as bits.
            counts: 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> LadderValues {
        LadderValues::new(self.gain(params[0]), params[1], db_to_gain(params[2]))
    }

    fn next_values(
        &self,
        params: &[f64],
        (before, values): (&[f64], &LadderValues),
    ) -> LadderValues {
        let gain = match params[0] == before[0] {
            true => values.gains[0],
            false => self.gain(params[0]),
        };
        let drive = match params[2] == before[2] {
            true => values.drive,
            false => db_to_gain(params[2]),
        };
        LadderValues::new(gain, params[1], drive)
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, LadderValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let (input, output) = io.through();
        let mut state = LadderState::of(memory);
        let count = values.len();
        // Where nothing moves, only the first frame may be behind one of another gain.
        let moving = match values.constant() {
            Some(values) => usize::from(values.gains[0] != state.gain).min(count),
            None => count,
        };
        for ((x, y), values) in input
            .iter()
            .zip(&mut *output)
            .zip(values.iter())
            .take(moving)
        {
            let weights = LoopWeights::new(values, state.gain);
            state.gain = values.gains[0];
            state.advance(&weights, f64::from(*x) * (values.drive * values.loop_scale));
            *y = self.output(values, state.poles, clip(state.bent));
        }
        if let Some(values) = values.constant() {
            let (input, output) = (&input[moving..count], &mut output[moving..count]);
            self.process_still(values, &mut state, input, output);
        }
        state.store(memory);
    }

    // One waits in each frame for the one before; the lanes of others cost next to nothing.
    const MIN_LANES: usize = 2;

    fn fits_lane(&self, values: &LadderValues, memory: &Memory) -> bool {
        values.gains[0] == LadderState::of(memory).gain
    }

    #[inline(always)]
    fn process_lanes(lanes: &mut LaneUnits<'_, Self>, signals: LaneSignals<'_>) {
        lanes::process(lanes, signals);
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let g = integrator_gain(params[0], self.rate);
        // Poles of (1 + s)⁴ + k: s = -1 + k^(1/4) e^(±jπ/4), at a frequency of 1.
        let way = libm::sqrt(libm::sqrt(4.0 * params[1])) * std::f64::consts::FRAC_1_SQRT_2;
        let radius = |(re, im): (f64, f64)| {
            let (re, im) = (re * g, im * g);
            libm::hypot(1.0 + re, im) / libm::hypot(1.0 - re, im)
        };
        let radius = radius((way - 1.0, way)).max(radius((-1.0 - way, way)));
        match radius < 1.0 - 1e-7 {
            // Four poles at one place: n³ r^n takes a little longer than r^n.
            true => match decay_tail(radius) {
                Tail::Frames(frames) => Tail::Frames(2 * frames),
                Tail::Infinite => Tail::Infinite,
            },
            false => Tail::Infinite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_moved_is_taken_from_the_frame_before() {
        crate::kernel::check_next_values(&Ladder {
            weights: WEIGHTS[0],
            rate: 48_000.0,
        });
    }
}
