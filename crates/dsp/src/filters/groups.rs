//! [`GroupFilter`]: a recursive filter that takes eight frames at once, so that little of it waits for the frame before.
//!
//! ```text
//! s[n+1] = M s[n] + b x[n]                                    one frame
//! s[n+8] = M⁸ s[n] + Σ_k M^(7-k) b x[n+k], k = 0 … 7          a group
//! ```
//!
//! What enters each group waits for nothing. Then the states at the begins of groups follow, eight frames a step. From these on all groups
//! run frame by frame, side by side in vectors. A group begins at each eighth frame since the start. Where a block ends inside
//! one, its begin and what has entered are kept: so the bits do not depend on how time is cut into blocks. Parhi and Messerschmitt,
//! "Pipeline interleaving and parallelism in recursive digital filters" (IEEE Trans. ASSP 37 (1989)), call this look-ahead.

use super::driven::FRAMES;
use super::kernel::{FilterKernel, FilterState};
use super::lanes::{Eight, LANES, Number};
use crate::sample::to_sample;
use rt::vectors::WideWork;

/// Frames of a group.
pub(super) const GROUP: usize = 8;

/// A number of each frame: of the first frames of all groups, then of the second ones, and so on.
type Rows = [Eight; GROUP];

/// A state to the next one: `matrix` × state + `input` × x.
#[derive(Clone, Copy, Default)]
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
        advance(&self.matrix, states, state, self.input.map(|gain| gain * x))
    }
}

/// The next state, or several, with what goes into it from the input.
#[inline(always)]
fn advance<T: Number>(
    matrix: &[[f64; 2]; 2],
    states: usize,
    [s1, s2]: [T; 2],
    into: [T; 2],
) -> [T; 2] {
    let [[a, b], [c, d]] = *matrix;
    let (a, b, c, d) = (T::of(a), T::of(b), T::of(c), T::of(d));
    match states {
        // The loop would wait for the second number, though it is 0.
        1 => [into[0] + a * s1, T::of(0.0)],
        _ => [(into[0] + b * s2) + a * s1, (into[1] + c * s1) + d * s2],
    }
}

/// Numbers that follow from a transition that stands still.
#[derive(Clone, Copy, Default)]
pub(super) struct GroupTransition {
    one: Transition,
    /// M⁸.
    eight: [[f64; 2]; 2],
    /// M^(7-k) b of each frame k of a group.
    weights: [[f64; 2]; GROUP],
}

impl GroupTransition {
    /// Real-time: hot.
    pub(super) fn new(one: Transition) -> Self {
        let product = |[[a, b], [c, d]]: [[f64; 2]; 2], [[e, f], [g, h]]: [[f64; 2]; 2]| {
            [
                [a * e + b * g, a * f + b * h],
                [c * e + d * g, c * f + d * h],
            ]
        };
        let two = product(one.matrix, one.matrix);
        let four = product(two, two);
        let mut weights = [one.input; GROUP];
        for k in (0..GROUP - 1).rev() {
            let [[a, b], [c, d]] = one.matrix;
            let [i, j] = weights[k + 1];
            weights[k] = [a * i + b * j, c * i + d * j];
        }
        Self {
            one,
            eight: product(four, four),
            weights,
        }
    }
}

/// Memory of one channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupState {
    pub(super) state: FilterState,
    /// The state at the begin of the group that is under way, and what has entered since.
    begin: FilterState,
    entered: FilterState,
    /// False where the frames up to the next group are on their own.
    is_in_group: bool,
}

impl GroupState {
    /// Numbers of a saved one.
    pub(super) const NUMBERS: usize = 7;

    pub(super) fn numbers(&self) -> [f64; Self::NUMBERS] {
        let ([s1, s2], [b1, b2], [e1, e2]) = (self.state, self.begin, self.entered);
        [
            s1,
            s2,
            b1,
            b2,
            e1,
            e2,
            f64::from(u8::from(self.is_in_group)),
        ]
    }

    pub(super) fn from_numbers([s1, s2, b1, b2, e1, e2, is_in]: [f64; Self::NUMBERS]) -> Self {
        Self {
            state: [s1, s2],
            begin: [b1, b2],
            entered: [e1, e2],
            is_in_group: is_in != 0.0,
        }
    }

    /// Leaves the group: the frames up to the next one are on their own.
    ///
    /// Real-time: hot.
    pub(super) fn leave_group(&mut self) {
        *self = Self {
            state: self.state,
            ..Self::default()
        };
    }

    /// Returns true if nothing sounds on.
    ///
    /// Real-time: hot.
    pub(super) fn is_zero(&self) -> bool {
        [self.state, self.begin, self.entered] == [[0.0; 2]; 3]
    }
}

/// Frames of a channel, from frame `first` of a group on, by a filter whose coefficients stand still.
pub(super) struct GroupWork<'a, K: FilterKernel<OUTS>, const OUTS: usize> {
    pub(super) kernel: &'a K,
    pub(super) coefficients: &'a K::Coefficients,
    pub(super) transition: &'a GroupTransition,
    pub(super) first: usize,
    pub(super) memory: &'a mut GroupState,
    pub(super) input: &'a [f32],
    /// Samples of each output; those of one that nobody reads may stay as they are.
    pub(super) outputs: [&'a mut [f32]; OUTS],
    pub(super) is_read: [bool; OUTS],
}

impl<K: FilterKernel<OUTS>, const OUTS: usize> WideWork for GroupWork<'_, K, OUTS> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let count = self.input.len();
        if self.first == 0 && count == FRAMES {
            // Compiled by itself, for a number of groups that the compiler knows.
            return self.groups(0, LANES);
        }
        let head = ((GROUP - self.first) % GROUP).min(count);
        if head > 0 {
            self.frames(self.first, 0, head);
        }
        let groups = (count - head) / GROUP;
        if groups > 0 {
            self.groups(head, groups);
        }
        let tail = head + groups * GROUP;
        if tail < count {
            self.frames(0, tail, count - tail);
        }
    }
}

impl<K: FilterKernel<OUTS>, const OUTS: usize> GroupWork<'_, K, OUTS> {
    /// Processes frames of a group one by one: `count` from frame `from` of it on.
    #[inline(never)]
    fn frames(&mut self, from: usize, at: usize, count: usize) {
        let (memory, transition) = (&mut *self.memory, self.transition);
        for (k, at) in (from..from + count).zip(at..) {
            // From silence on, the frames before may have been slept through.
            if k == 0 || (!memory.is_in_group && memory.state == [0.0; 2]) {
                (memory.begin, memory.entered) = (memory.state, [0.0; 2]);
                memory.is_in_group = true;
            }
            let x = f64::from(self.input[at]);
            let y = self.kernel.outputs(self.coefficients, memory.state, x);
            for (output, y) in self.outputs.iter_mut().zip(y) {
                output[at] = to_sample(y);
            }
            memory.state = transition.one.step(K::STATES, memory.state, x);
            for (entered, weight) in memory.entered.iter_mut().zip(transition.weights[k]) {
                *entered += weight * x;
            }
        }
        if from + count == GROUP {
            if memory.is_in_group {
                let (begin, entered) = (memory.begin, memory.entered);
                memory.state = advance(&transition.eight, K::STATES, begin, entered);
            }
            memory.leave_group();
        }
    }

    /// Processes whole groups.
    #[inline(always)]
    fn groups(&mut self, at: usize, groups: usize) {
        let range = at..at + groups * GROUP;
        let inputs = rows_of(&self.input[range.clone()]);
        let mut begins = [[0.0; LANES]; 2];
        for (entered, index) in begins.iter_mut().zip(0..K::STATES) {
            let mut sum = Eight::of(0.0);
            for (row, weights) in inputs.iter().zip(&self.transition.weights) {
                sum = sum + Eight::of(weights[index]) * *row;
            }
            *entered = sum.0;
        }
        let eight = &self.transition.eight;
        let state = &mut self.memory.state;
        follow(eight, K::STATES, state, &mut begins, groups);
        let states = self.states(&inputs, begins.map(Eight));
        for port in 0..OUTS {
            if self.is_read[port] {
                let samples = self.port(port, &states, &inputs);
                let output = &mut self.outputs[port][range.clone()];
                // Put where they belong at once, if there are as many.
                match <&mut [f32; FRAMES]>::try_from(&mut *output) {
                    Ok(output) => *output = samples,
                    Err(_) => output.copy_from_slice(&samples[..range.len()]),
                }
            }
        }
    }

    /// The states of all frames of a channel, from those at the begins of groups.
    #[inline(always)]
    fn states(&self, inputs: &Rows, mut state: [Eight; 2]) -> [[Eight; 2]; GROUP] {
        let mut states = [state; GROUP];
        let one = &self.transition.one;
        for (to, x) in states[1..].iter_mut().zip(inputs) {
            // Written out: `map` may stay a call, which keeps nothing in registers.
            let [first, second] = one.input;
            let into = [Eight::of(first) * *x, Eight::of(second) * *x];
            state = advance(&one.matrix, K::STATES, state, into);
            *to = state;
        }
        states
    }

    /// The samples of an output, in the order of time.
    #[inline(always)]
    fn port(&self, port: usize, states: &[[Eight; 2]; GROUP], inputs: &Rows) -> [f32; FRAMES] {
        let mut rows = [[0f32; LANES]; GROUP];
        for ((row, state), x) in rows.iter_mut().zip(states).zip(inputs) {
            let y = self.kernel.outputs(self.coefficients, *state, *x)[port];
            for (to, y) in row.iter_mut().zip(y.0) {
                *to = to_sample(y);
            }
        }
        frames_of(&rows)
    }
}

/// Goes from group to group: what has entered one makes way for the state at its begin. It is a function of its own so that the
/// compiler does not take apart the vectors around it.
///
/// Real-time: hot.
#[inline(never)]
fn follow(
    eight: &[[f64; 2]; 2],
    states: usize,
    state: &mut FilterState,
    [first, second]: &mut [[f64; LANES]; 2],
    groups: usize,
) {
    let mut here = *state;
    for (first, second) in first.iter_mut().zip(second).take(groups) {
        let into = [*first, *second];
        [*first, *second] = here;
        here = advance(eight, states, here, into);
    }
    *state = here;
}

/// Samples in the order of time to rows.
#[inline(always)]
fn rows_of(samples: &[f32]) -> Rows {
    let mut few = [0f32; FRAMES];
    // Where they lie, if there are as many: what was just copied can be read in pieces of the same place only, or is waited for.
    let all = match <&[f32; FRAMES]>::try_from(samples) {
        Ok(all) => all,
        Err(_) => {
            few[..samples.len()].copy_from_slice(samples);
            &few
        }
    };
    let mut rows = [Eight::of(0.0); GROUP];
    let [a, b, c, d, e, f, g, h] = all.as_chunks::<GROUP>().0 else {
        return rows;
    };
    for (k, row) in rows.iter_mut().enumerate() {
        *row = Eight([a[k], b[k], c[k], d[k], e[k], f[k], g[k], h[k]].map(f64::from));
    }
    rows
}

/// Rows to samples in the order of time.
#[inline(always)]
fn frames_of(rows: &[[f32; LANES]; GROUP]) -> [f32; FRAMES] {
    let mut all = [0f32; FRAMES];
    let [a, b, c, d, e, f, g, h] = rows;
    for (group, to) in all.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        *to = [a, b, c, d, e, f, g, h].map(|row| row[group]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_the_frames_of_all_groups() {
        let samples: [f32; FRAMES] = std::array::from_fn(|i| i as f32);
        let rows = rows_of(&samples);
        for (k, row) in rows.iter().enumerate() {
            for (g, x) in row.0.iter().enumerate() {
                assert_eq!(*x, (g * GROUP + k) as f64);
            }
        }
        let back = frames_of(&rows.map(|row| row.0.map(|x| x as f32)));
        assert_eq!(back, samples);
    }
}
