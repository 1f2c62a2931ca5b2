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

/// x (27 + x²) / (27 + 9 x²) as a part that is a line and one that waits for the division, for an `x` within ±3.
#[inline(always)]
fn clip(x: f64) -> f64 {
    x * LINE + x * BEND / (3.0 + x * x)
}

const LINE: f64 = 1.0 / 9.0;
const BEND: f64 = 8.0 / 3.0;

/// The states of the poles before the last frame, and what entered the clip in it. The loop of a frame waits for the division of
/// the frame before, and then only for a difference: all else is known by then.
#[derive(Clone, Copy)]
struct LadderState {
    poles: [f64; 4],
    /// Within ±3.
    bent: f64,
    /// 3 + its square.
    bound: f64,
    /// The gain of a pole in the last frame.
    gain: f64,
}

impl LadderState {
    fn of(memory: &Memory) -> Self {
        let gain = f64::from_bits(memory.counts[0]);
        // Saved ones may be anything.
        let bent = memory.numbers[4].clamp(-3.0, 3.0);
        Self {
            poles: [0, 1, 2, 3].map(|pole| memory.numbers[pole]),
            bent,
            bound: 3.0 + bent * bent,
            gain: if gain.abs() <= 1.0 { gain } else { 0.0 },
        }
    }

    fn store(self, memory: &mut Memory) {
        memory.numbers[..4].copy_from_slice(&self.poles);
        memory.numbers[4] = self.bent;
        memory.counts[0] = self.gain.to_bits();
    }
}

/// Weights of the frame before in a frame.
#[derive(Clone, Copy)]
struct LoopWeights {
    /// What the state of a pole leaves in that of the next frame, and in those of the poles behind it.
    keep: [f64; 4],
    /// Twice the gains of u at the poles.
    twice: [f64; 4],
    /// Weights of the poles in the loop's input.
    poles: [f64; 4],
    /// Weight of u there, times both parts of the clip.
    line: f64,
    bend: f64,
}

impl LoopWeights {
    /// For a frame with these values, behind one whose poles had the gain `before`.
    #[inline(always)]
    fn new(values: &LadderValues, before: f64) -> Self {
        let own = 2.0 * (1.0 - before);
        let square = before * before;
        let keep = [
            own - 1.0,
            own * before,
            own * square,
            own * (square * before),
        ];
        let twice = [
            2.0 * before,
            2.0 * square,
            2.0 * (square * before),
            2.0 * (square * square),
        ];
        let scale = values.feedback * values.loop_scale * values.own;
        let [first, second, third, _] = values.gains;
        let [w1, w2, w3, w4] = [scale * third, scale * second, scale * first, scale];
        let [k0, k1, k2, k3] = keep;
        let u = (w1 * twice[0] + w2 * twice[1]) + (w3 * twice[2] + w4 * twice[3]);
        Self {
            keep,
            twice,
            poles: [
                (w1 * k0 + w2 * k1) + (w3 * k2 + w4 * k3),
                (w2 * k0 + w3 * k1) + w4 * k2,
                w3 * k0 + w4 * k1,
                w4 * k0,
            ],
            line: u * LINE,
            bend: u * BEND,
        }
    }
}

impl LadderState {
    /// Takes the loop on by a frame with the input `x`, drive and scale of the loop included. Returns what the clip gave in the
    /// frame before.
    #[inline(always)]
    fn advance(&mut self, of: &LoopWeights, x: f64) -> f64 {
        let Self { bent, bound, .. } = *self;
        let [a, b, c, d] = self.poles;
        let [w1, w2, w3, w4] = of.poles;
        let known = (x - of.line * bent) - ((w1 * a + w2 * b) + (w3 * c + w4 * d));
        let entered = known - of.bend * bent / bound;
        let u = bent * LINE + bent * BEND / bound;
        let [k0, k1, k2, k3] = of.keep;
        let [t1, t2, t3, t4] = of.twice;
        self.poles = [
            k0 * a + t1 * u,
            (k1 * a + k0 * b) + t2 * u,
            ((k2 * a + k1 * b) + k0 * c) + t3 * u,
            ((k3 * a + k2 * b) + (k1 * c + k0 * d)) + t4 * u,
        ];
        self.bent = entered.clamp(-3.0, 3.0);
        // The square is bounded beside the clamp, not behind it: shorter to wait for.
        let square = entered * entered;
        self.bound = 3.0 + if square < 9.0 { square } else { 9.0 };
        u
    }
}

impl LadderState {
    /// Takes the loop on by the frames of `clipped`: their inputs, then what the clip gave in the frame before each of them. Gives the
    /// states of the poles behind each frame too. Not inlined: what is computed beside the loop in vectors would take the registers
    /// that it needs.
    #[inline(never)]
    fn run(
        mut self,
        of: &LoopWeights,
        clipped: &mut [f64],
        poles: &mut [[f64; FRAMES]; 4],
    ) -> Self {
        // Not behind the reference: the compiler would load them in each frame.
        let of = *of;
        let [a, b, c, d] = poles;
        let rows = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
        for (frame, ((a, b), (c, d))) in clipped.iter_mut().zip(rows) {
            *frame = self.advance(&of, *frame);
            [*a, *b, *c, *d] = self.poles;
        }
        self
    }
}

impl Ladder {
    /// The output of a frame, from the states before it and what its clip gives.
    #[inline(always)]
    fn output(&self, values: &LadderValues, [a, b, c, d]: [f64; 4], u: f64) -> f32 {
        let [g1, g2, g3, g4] = values.gains;
        let own = values.own;
        // What the states alone give at each pole.
        let y1 = own * a;
        let y2 = own * b + g1 * y1;
        let y3 = own * c + g1 * y2;
        let y4 = own * d + g1 * y3;
        let [w0, w1, w2, w3, w4] = self.weights;
        let front = w0 * u + w1 * (g1 * u + y1);
        let back = w3 * (g3 * u + y3) + w4 * (g4 * u + y4);
        to_sample((front + w2 * (g2 * u + y2)) + back)
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
