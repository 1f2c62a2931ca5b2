//! [`LadderState`]: the loop of a ladder filter, of which each frame waits for the one before; [`LoopWeights`]: its numbers.

use super::LadderValues;
use crate::filters::lanes::Number;
use crate::kernel::{FRAMES, Memory};

/// x (27 + x²) / (27 + 9 x²) as a part that is a line and one that waits for the division, for an `x` within ±3.
#[inline(always)]
pub(super) fn clip<T: Number>(x: T) -> T {
    x * T::of(LINE) + x * T::of(BEND) / (T::of(3.0) + x * x)
}

const LINE: f64 = 1.0 / 9.0;
const BEND: f64 = 8.0 / 3.0;

/// The states of the poles before the last frame, and what entered the clip in it. The loop of a frame waits for the division of
/// the frame before, and then only for a difference: all else is known by then.
#[derive(Clone, Copy)]
pub(super) struct LadderState<T = f64> {
    pub(super) poles: [T; 4],
    /// Within ±3.
    pub(super) bent: T,
    /// 3 + its square.
    pub(super) bound: T,
    /// The gain of a pole in the last frame.
    pub(super) gain: T,
}

impl LadderState {
    pub(super) fn of(memory: &Memory) -> Self {
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

    pub(super) fn store(self, memory: &mut Memory) {
        memory.numbers[..4].copy_from_slice(&self.poles);
        memory.numbers[4] = self.bent;
        memory.counts[0] = self.gain.to_bits();
    }
}

/// Weights of the frame before in a frame.
#[derive(Clone, Copy)]
pub(super) struct LoopWeights<T = f64> {
    /// Share of a pole's state in that of the next frame, and in those of the poles behind it.
    pub(super) keep: [T; 4],
    /// Twice the gains of u at the poles.
    pub(super) twice: [T; 4],
    /// Weights of the poles in the loop's input.
    pub(super) poles: [T; 4],
    /// Weight of u there, times both parts of the clip.
    pub(super) line: T,
    pub(super) bend: T,
}

impl LoopWeights {
    /// For a frame with these values, behind one whose poles had the gain `before`.
    #[inline(always)]
    pub(super) fn new(values: &LadderValues, before: f64) -> Self {
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

impl<T: Number> LadderState<T> {
    /// Takes the loop on by a frame with the input `x`, drive and scale of the loop included. Returns what the clip gave in the
    /// frame before.
    #[inline(always)]
    pub(super) fn advance(&mut self, of: &LoopWeights<T>, x: T) -> T {
        let Self { bent, bound, .. } = *self;
        let [a, b, c, d] = self.poles;
        let [w1, w2, w3, w4] = of.poles;
        let known = (x - of.line * bent) - ((w1 * a + w2 * b) + (w3 * c + w4 * d));
        let entered = known - of.bend * bent / bound;
        let u = bent * T::of(LINE) + bent * T::of(BEND) / bound;
        let [k0, k1, k2, k3] = of.keep;
        let [t1, t2, t3, t4] = of.twice;
        self.poles = [
            k0 * a + t1 * u,
            (k1 * a + k0 * b) + t2 * u,
            ((k2 * a + k1 * b) + k0 * c) + t3 * u,
            ((k3 * a + k2 * b) + (k1 * c + k0 * d)) + t4 * u,
        ];
        self.bent = entered.within(-3.0, 3.0);
        // The square is bounded beside the clamp, not behind it: shorter to wait for.
        let square = entered * entered;
        self.bound = T::of(3.0) + square.below(9.0);
        u
    }
}

impl LadderState {
    /// Takes the loop on by the frames of `clipped`: their inputs, then what the clip gave in the frame before each of them. Gives the
    /// states of the poles behind each frame too. Not inlined: what is computed beside the loop in vectors would take the registers
    /// that it needs.
    #[inline(never)]
    pub(super) fn run(
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
