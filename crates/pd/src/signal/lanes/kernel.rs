//! [`Kernel`]: a recursion in lanes, with the numbers and states of each lane.

use super::super::loops::RUN;
use super::super::objects::kept;
use super::super::recursion::{Recursion, RecursionKind};
use super::transpose::{apart, side_by_side};
use super::{Inlets, PART, part_of};

/// A sample of each lane.
pub(super) type Lane<const L: usize> = [f32; L];

/// A run of each of `S` signals of each lane.
pub(super) type Signals<const L: usize, const S: usize> = [[[f32; RUN]; L]; S];

/// Memory for a run: its samples side by side, and its signals.
pub(super) type RunMemory<'m, const L: usize, const S: usize> =
    (&'m mut [[Lane<L>; RUN]; S], &'m mut Signals<L, S>);

/// Numbers and states of recursions, lane by lane.
pub(super) struct Numbers<const L: usize> {
    pub(super) coefficients: [Lane<L>; 5],
    pub(super) state: [Lane<L>; 2],
    /// Lanes that leave their signals as they are.
    pub(super) passes: [bool; L],
}

impl<const L: usize> Numbers<L> {
    /// Those of lanes that nothing runs in.
    pub(super) const fn new() -> Self {
        Self {
            coefficients: [[0.0; L]; 5],
            state: [[0.0; L]; 2],
            passes: [false; L],
        }
    }

    /// Sets those of a lane.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, of: &Recursion) {
        for (all, one) in self.coefficients.iter_mut().zip(of.coefficients) {
            all[lane] = one;
        }
        for (all, one) in self.state.iter_mut().zip(of.state) {
            all[lane] = one;
        }
        self.passes[lane] = of.passes;
    }

    /// Takes what has come in for what goes out, in lanes that leave it as it is.
    #[cold]
    pub(super) fn pass(&self, inlets: &Inlets<'_>, to: &mut [[f32; RUN]; L]) {
        for (lane, to) in to.iter_mut().enumerate() {
            if self.passes[lane] {
                *to = *inlets.get(lane, 0);
            }
        }
    }

    /// Ends a block of a batch.
    #[inline(always)]
    pub(super) fn end_block(&mut self, kind: RecursionKind) {
        self.state = behind_block(kind, self.state);
    }

    /// The state of a lane.
    #[inline(always)]
    pub(super) fn state(&self, lane: usize) -> [f32; 2] {
        match self.passes[lane] {
            true => [0.0; 2],
            false => self.state.map(|all| all[lane]),
        }
    }
}

/// The state from which the objects go on, behind a block.
#[inline(always)]
pub(super) fn behind_block<const L: usize>(
    kind: RecursionKind,
    state: [Lane<L>; 2],
) -> [Lane<L>; 2] {
    match kind.drops_odd_states() {
        true => state.map(|lanes| each(|at| kept(lanes[at]))),
        false => state,
    }
}

/// A recursion of `S` signals: those of its inlets, then in their place those of its outlets.
pub(super) trait Kernel<const S: usize> {
    const INLETS: usize;
    const OUTLETS: usize;
    /// Signals that a run takes to the lanes.
    const TAKEN: usize = Self::INLETS;

    /// The next sample of each lane. Changes the state.
    fn step<const L: usize>(
        numbers: &Numbers<L>,
        state: &mut [Lane<L>; 2],
        from: [Lane<L>; S],
    ) -> [Lane<L>; S];

    /// Takes the signals of a run: those of each inlet and lane.
    #[inline(always)]
    fn take<const L: usize>(_: &Numbers<L>, inlets: &Inlets<'_>, to: &mut Signals<L, S>) {
        for (at, to) in to.iter_mut().enumerate().take(Self::INLETS) {
            for (lane, to) in to.iter_mut().enumerate() {
                *to = *inlets.get(lane, at);
            }
        }
    }

    /// Computes a run as a whole.
    #[inline(always)]
    fn run_whole<const L: usize>(
        numbers: &Numbers<L>,
        state: &mut [Lane<L>; 2],
        inlets: &Inlets<'_>,
        (samples, signals): RunMemory<'_, L, S>,
    ) {
        let has_own = Self::TAKEN != Self::INLETS;
        if has_own {
            Self::take(numbers, inlets, signals);
        }
        for (at, to) in samples.iter_mut().enumerate().take(Self::TAKEN) {
            let mut from = [&[0.0; RUN]; L];
            for (lane, from) in from.iter_mut().enumerate() {
                *from = match has_own {
                    true => &signals[at][lane],
                    false => inlets.get(lane, at),
                };
            }
            side_by_side(from, to);
        }
        Self::run(numbers, state, samples);
        for (from, to) in samples.iter().zip(signals).take(Self::OUTLETS) {
            apart(from, to);
        }
    }

    /// Computes a run in parts, in the place of its signals.
    #[inline(always)]
    fn run_parts<const L: usize>(
        numbers: &Numbers<L>,
        state: &mut [Lane<L>; 2],
        signals: &mut Signals<L, S>,
    ) {
        for part in 0..RUN / PART {
            let mut samples = [[[0.0; L]; PART]; S];
            for (to, from) in samples.iter_mut().zip(&*signals).take(Self::TAKEN) {
                side_by_side(from.each_ref().map(|from| part_of(from, part)), to);
            }
            Self::run(numbers, state, &mut samples);
            for (from, to) in samples.iter().zip(&mut *signals).take(Self::OUTLETS) {
                let mut found = [[0.0; PART]; L];
                apart(from, &mut found);
                for (to, from) in to.iter_mut().zip(&found) {
                    if let Some(to) = to.as_chunks_mut().0.get_mut(part) {
                        *to = *from;
                    }
                }
            }
        }
    }

    /// Computes some frames of all lanes.
    #[inline(always)]
    fn run<const L: usize, const P: usize>(
        numbers: &Numbers<L>,
        state: &mut [Lane<L>; 2],
        signals: &mut [[Lane<L>; P]; S],
    ) {
        for at in 0..P {
            let mut sample = [[0.0; L]; S];
            for (to, signal) in sample.iter_mut().zip(&*signals) {
                *to = signal[at];
            }
            let sample = Self::step(numbers, state, sample);
            for (signal, from) in signals.iter_mut().zip(sample) {
                signal[at] = from;
            }
        }
    }

    /// Computes some frames of a lane alone: those at its inlets to those at its outlets.
    #[inline(always)]
    fn run_alone<const FRAMES: usize>(
        numbers: &mut Numbers<1>,
        from: [&[f32; FRAMES]; S],
        to: [&mut [f32; FRAMES]; 2],
    ) {
        let mut state = numbers.state;
        for at in 0..FRAMES {
            let mut sample = [[0.0]; S];
            for (to, from) in sample.iter_mut().zip(from).take(Self::INLETS) {
                *to = [from[at]];
            }
            let sample = Self::step(numbers, &mut state, sample);
            to[0][at] = sample[0][0];
            if Self::OUTLETS == 2 {
                to[1][at] = sample[1][0];
            }
        }
        numbers.state = state;
    }
}

/// A function of each lane. A loop: closures within `std::array::from_fn` are compiled apart, for plain instructions.
#[inline(always)]
pub(super) fn each<const L: usize>(function: impl Fn(usize) -> f32) -> Lane<L> {
    let mut to = [0.0; L];
    for (at, to) in to.iter_mut().enumerate() {
        *to = function(at);
    }
    to
}
