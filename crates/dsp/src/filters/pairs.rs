//! [`PairFilter`]: a recursive filter that takes two frames at once, so that its loop waits half as often.
//!
//! ```text
//! s[n+1] = M s[n] + b x[n]                      one frame
//! s[n+2] = M² s[n] + (M b x[n] + b x[n+1])      two frames: only M² s[n] waits for the pair before
//! ```
//!
//! What goes into the loop, and the outputs of both frames, wait for no other pair and run in vectors. A pair begins at an even
//! frame. Where a block ends between both frames the state stays that of the first one, and its input is held: so the bits do
//! not depend on how time is cut into blocks. Parhi and Messerschmitt, "Pipeline interleaving and parallelism in recursive
//! digital filters" (IEEE Trans. ASSP 37 (1989)), call this look-ahead.

use super::driven::FRAMES;
use super::kernel::{FilterKernel, FilterState};
use crate::sample::to_sample;

/// Pairs of the frames of a step.
const PAIRS: usize = FRAMES / 2;

/// A state to the next one: `matrix` × state + `input` × x.
#[derive(Clone, Copy)]
pub(crate) struct Transition {
    pub(super) matrix: [[f64; 2]; 2],
    pub(super) input: [f64; 2],
}

impl Transition {
    /// The state behind a frame; `states` numbers of it count.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn step(&self, states: usize, state: FilterState, x: f64) -> FilterState {
        self.advance(states, state, self.input.map(|gain| gain * x))
    }

    /// The next state, with what goes into it from the input.
    #[inline(always)]
    fn advance(&self, states: usize, [s1, s2]: FilterState, into: FilterState) -> FilterState {
        let [[a, b], [c, d]] = self.matrix;
        match states {
            // The loop would wait for the second number, though it is 0.
            1 => [into[0] + a * s1, 0.0],
            _ => [(into[0] + b * s2) + a * s1, (into[1] + c * s1) + d * s2],
        }
    }

    /// The step over two frames; its input is the first one.
    pub(super) fn twice(&self) -> Self {
        let [[a, b], [c, d]] = self.matrix;
        let [i, j] = self.input;
        Self {
            matrix: [
                [a * a + b * c, a * b + b * d],
                [c * a + d * c, c * b + d * d],
            ],
            input: [a * i + b * j, c * i + d * j],
        }
    }
}

/// Memory of one channel: a state, and the input of a frame that is not in it yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairState {
    pub(super) state: FilterState,
    /// 0 if none is held.
    pub(super) held: f64,
}

impl PairState {
    /// Numbers of a saved one.
    pub(super) const NUMBERS: usize = 3;

    pub(super) fn numbers(&self) -> [f64; Self::NUMBERS] {
        [self.state[0], self.state[1], self.held]
    }

    pub(super) fn from_numbers([s1, s2, held]: [f64; Self::NUMBERS]) -> Self {
        let state = [s1, s2];
        Self { state, held }
    }
}

/// A filter whose coefficients stand still.
pub(super) struct PairFilter<'a, K: FilterKernel<OUTS>, const OUTS: usize> {
    pub(super) kernel: &'a K,
    pub(super) coefficients: K::Coefficients,
    /// One frame, and two.
    pub(super) one: Transition,
    pub(super) two: Transition,
}

/// The pairs of a channel: inputs of first and second frames, and states before them.
struct Pairs {
    first: [f64; PAIRS],
    second: [f64; PAIRS],
    states: [[f64; PAIRS]; 2],
}

impl<K: FilterKernel<OUTS>, const OUTS: usize> PairFilter<'_, K, OUTS> {
    /// What a pair takes into the state.
    #[inline(always)]
    fn entering(&self, index: usize, first: f64, second: f64) -> f64 {
        self.two.input[index] * first + self.one.input[index] * second
    }

    /// Processes the second frame of a pair. If the first one is not held, it is a frame of its own.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn end_pair(
        &self,
        memory: &mut PairState,
        is_held: bool,
        x: f32,
        out: &mut [[f32; FRAMES]; OUTS],
    ) {
        let (state, held, x) = (memory.state, memory.held, f64::from(x));
        let (before, next) = match is_held {
            true => {
                let into = [0, 1].map(|index| self.entering(index, held, x));
                (
                    self.one.step(K::STATES, state, held),
                    self.two.advance(K::STATES, state, into),
                )
            }
            false => (state, self.one.step(K::STATES, state, x)),
        };
        self.write(before, x, out, 0);
        *memory = PairState {
            state: next,
            held: 0.0,
        };
    }

    /// Processes the first frame of a pair whose second one is not here yet: sample `at` of `out`.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn begin_pair(
        &self,
        memory: &mut PairState,
        x: f32,
        out: &mut [[f32; FRAMES]; OUTS],
        at: usize,
    ) {
        memory.held = f64::from(x);
        self.write(memory.state, memory.held, out, at);
    }

    #[inline(always)]
    fn write(&self, state: FilterState, x: f64, out: &mut [[f32; FRAMES]; OUTS], at: usize) {
        let y = self.kernel.outputs(&self.coefficients, state, x);
        for (out, y) in out.iter_mut().zip(y) {
            out[at] = to_sample(y);
        }
    }

    /// Processes the whole pairs of the inputs of `N` channels to the samples of `out` from `begin` on. The loops of all
    /// channels run side by side: one waits for its state while others compute.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn pairs<const N: usize>(
        &self,
        memory: &mut [PairState; N],
        inputs: [&[f32]; N],
        out: &mut [[[f32; FRAMES]; OUTS]; N],
        begin: usize,
    ) {
        let count = inputs[0].len() / 2;
        let mut pairs = inputs.map(|input| {
            let mut pairs = Pairs {
                first: [0.0; PAIRS],
                second: [0.0; PAIRS],
                states: [[0.0; PAIRS]; 2],
            };
            let frames = pairs.first.iter_mut().zip(&mut pairs.second);
            for ((first, second), x) in frames.zip(input.chunks_exact(2)) {
                (*first, *second) = (f64::from(x[0]), f64::from(x[1]));
            }
            for (index, into) in pairs.states.iter_mut().enumerate().take(K::STATES) {
                for ((into, first), second) in into.iter_mut().zip(&pairs.first).zip(&pairs.second)
                {
                    *into = self.entering(index, *first, *second);
                }
            }
            pairs
        });
        let mut states = memory.map(|memory| memory.state);
        for pair in 0..count {
            for (state, pairs) in states.iter_mut().zip(&mut pairs) {
                let [one, two] = &mut pairs.states;
                let into = [one[pair], two[pair]];
                (one[pair], two[pair]) = (state[0], state[1]);
                *state = self.two.advance(K::STATES, *state, into);
            }
        }
        for lane in 0..N {
            memory[lane].state = states[lane];
            self.write_pairs(&pairs[lane], count, &mut out[lane], begin);
        }
    }

    /// The outputs of whole pairs.
    #[inline(always)]
    fn write_pairs(
        &self,
        pairs: &Pairs,
        count: usize,
        out: &mut [[f32; FRAMES]; OUTS],
        begin: usize,
    ) {
        let mut samples = [[[0f32; 2]; PAIRS]; OUTS];
        for pair in 0..count {
            let state = [pairs.states[0][pair], pairs.states[1][pair]];
            let (first, second) = (pairs.first[pair], pairs.second[pair]);
            let between = self.one.step(K::STATES, state, first);
            let y = self.kernel.outputs(&self.coefficients, state, first);
            let z = self.kernel.outputs(&self.coefficients, between, second);
            for (samples, (y, z)) in samples.iter_mut().zip(y.into_iter().zip(z)) {
                samples[pair] = [to_sample(y), to_sample(z)];
            }
        }
        for (out, samples) in out.iter_mut().zip(&samples) {
            let samples = samples[..count].as_flattened();
            out[begin..begin + samples.len()].copy_from_slice(samples);
        }
    }
}
