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

use crate::filters::kernel::FREQ;
use crate::kernel::{
    FRAMES, FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_tail,
    integrator_gain,
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
#[derive(Clone, Copy)]
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

/// x (27 + x²) / (27 + 9 x²) as a part that is a line and one that waits for the division.
#[inline(always)]
fn clip(x: f64) -> f64 {
    let x = x.clamp(-3.0, 3.0);
    x * (1.0 / 9.0) + x * (8.0 / 3.0) / (3.0 + x * x)
}

/// A state of a pole is `2 gain u + rest`, where u is what entered the first pole in the frame before. As long as u is not
/// known, the poles work on with the rest: only a product and a sum of the loop wait for it.
#[derive(Clone, Copy)]
struct LadderState {
    rest: [f64; 4],
    u: f64,
    /// The gain of a pole in the frame before.
    gain: f64,
}

impl LadderState {
    fn of(memory: &Memory) -> Self {
        let gain = f64::from_bits(memory.counts[0]);
        Self {
            rest: [0, 1, 2, 3].map(|pole| memory.numbers[pole]),
            u: memory.numbers[4],
            // A saved one may be anything.
            gain: if gain.abs() <= 1.0 { gain } else { 0.0 },
        }
    }

    fn store(self, memory: &mut Memory) {
        memory.numbers[..4].copy_from_slice(&self.rest);
        memory.numbers[4] = self.u;
        memory.counts[0] = self.gain.to_bits();
    }
}

/// Weights of the state before in the loop's input: of each pole's rest, and of u.
#[derive(Clone, Copy)]
struct LoopWeights {
    rest: [f64; 4],
    u: f64,
    /// Twice the gains of u at the poles, in the frame before.
    twice: [f64; 4],
}

impl LoopWeights {
    /// For a frame with these values, behind one whose poles had the gain `before`.
    #[inline(always)]
    fn new(values: &LadderValues, before: f64) -> Self {
        let scale = values.feedback * values.loop_scale * values.own;
        let [first, second, third, _] = values.gains;
        let rest = [scale * third, scale * second, scale * first, scale];
        let square = before * before;
        let twice = [before, square, square * before, square * square].map(|gain| 2.0 * gain);
        let [a, b, c, d] = [0, 1, 2, 3].map(|pole| rest[pole] * twice[pole]);
        let u = (a + b) + (c + d);
        Self { rest, u, twice }
    }
}

impl LadderState {
    /// Takes the loop on by a frame with the input `x`, drive and scale of the loop included. Returns u, and what the states
    /// alone give at each pole.
    #[inline(always)]
    fn advance(&mut self, values: &LadderValues, of: &LoopWeights, x: f64) -> (f64, [f64; 4]) {
        let Self { rest, u, .. } = *self;
        let [a, b, c, d] = [0, 1, 2, 3].map(|pole| of.rest[pole] * rest[pole]);
        let known = x - ((a + b) + (c + d));
        let [a, b, c, d] = [0, 1, 2, 3].map(|pole| of.twice[pole] * u + rest[pole]);
        // A pole hears all before it: without the row of poles, none of them waits for its neighbour.
        let [g1, g2, g3, _] = values.gains.map(|gain| values.own * gain);
        let alone = [
            values.own * a,
            values.own * b + g1 * a,
            (values.own * c + g1 * b) + g2 * a,
            (values.own * d + g1 * c) + (g2 * b + g3 * a),
        ];
        let u = clip(known - of.u * u);
        for ((rest, alone), state) in self.rest.iter_mut().zip(alone).zip([a, b, c, d]) {
            *rest = 2.0 * alone - state;
        }
        self.u = u;
        (u, alone)
    }
}

impl Ladder {
    /// The output of a frame.
    #[inline(always)]
    fn output(&self, values: &LadderValues, u: f64, alone: [f64; 4]) -> f32 {
        let mut out = self.weights[0] * u;
        let poles = self.weights[1..].iter().zip(values.gains).zip(alone);
        for ((weight, gain), alone) in poles {
            out += weight * (gain * u + alone);
        }
        to_sample(out)
    }

    /// Processes frames of the same values: what does not wait for the frame before is left out of the loop and runs in vectors.
    fn process_still(
        &self,
        values: &LadderValues,
        state: &mut LadderState,
        input: &[f32],
        output: &mut [f32],
    ) {
        let weights = LoopWeights::new(values, values.gains[0]);
        let scale = values.drive * values.loop_scale;
        let (mut u, mut alone) = ([0.0; FRAMES], [[0.0; FRAMES]; 4]);
        // Not behind the reference while it runs: the compiler would store it in each frame.
        let mut moving = *state;
        for (u, x) in u.iter_mut().zip(input) {
            *u = f64::from(*x) * scale;
        }
        for (i, frame) in u.iter_mut().take(input.len()).enumerate() {
            let of_states;
            (*frame, of_states) = moving.advance(values, &weights, *frame);
            for (alone, x) in alone.iter_mut().zip(of_states) {
                alone[i] = x;
            }
        }
        *state = moving;
        for (i, y) in output.iter_mut().take(input.len().min(FRAMES)).enumerate() {
            *y = self.output(values, u[i], [0, 1, 2, 3].map(|pole| alone[pole][i]));
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
            // What four poles have without u, and u.
            numbers: 5,
            // The gain of the frame before, as bits.
            counts: 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> LadderValues {
        let g = integrator_gain(params[0], self.rate);
        let gain = g / (1.0 + g);
        let gains = [gain, gain * gain, gain * gain * gain, (gain * gain).powi(2)];
        let feedback = 4.0 * params[1];
        LadderValues {
            gains,
            own: 1.0 - gain,
            feedback,
            loop_scale: 1.0 / (1.0 + feedback * gains[3]),
            drive: db_to_gain(params[2]),
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, LadderValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let (input, output) = io.through();
        let mut state = LadderState::of(memory);
        let count = values.len();
        let moving = if values.constant().is_some() {
            1
        } else {
            count
        };
        // Where nothing moves, only the first frame may be behind one of another gain.
        for ((x, y), values) in input
            .iter()
            .zip(&mut *output)
            .zip(values.iter())
            .take(moving)
        {
            let weights = LoopWeights::new(values, state.gain);
            state.gain = values.gains[0];
            let x = f64::from(*x) * (values.drive * values.loop_scale);
            let (u, alone) = state.advance(values, &weights, x);
            *y = self.output(values, u, alone);
        }
        if let Some(values) = values.constant() {
            let (input, output) = (&input[moving..count], &mut output[moving..count]);
            self.process_still(values, &mut state, input, output);
        }
        state.store(memory);
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
