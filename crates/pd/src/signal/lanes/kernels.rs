//! The recursions of filters, a sample of each lane at a time (`objects/filters` says what they are).

use super::super::loops::RUN;
use super::super::objects::{PoleDesign, Poles, filter_each, is_odd, kept};
use super::super::recursion::{Recursion, RecursionKind};
use super::transpose::{apart, side_by_side};
use super::{Inlets, part_of};

/// A sample of each lane.
pub(super) type Lane<const L: usize> = [f32; L];

/// Numbers and states of recursions, lane by lane.
pub(super) struct Numbers<const L: usize> {
    coefficients: [Lane<L>; 5],
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
    fn take<const L: usize>(_: &Numbers<L>, inlets: &Inlets<'_>, to: &mut [[[f32; RUN]; L]; S]) {
        for (at, to) in to.iter_mut().enumerate().take(Self::INLETS) {
            for (lane, to) in to.iter_mut().enumerate() {
                *to = *inlets.get(lane, at);
            }
        }
    }

    /// Computes a run, in the place of its signals, in parts of `P` frames.
    #[inline(always)]
    fn run_parts<const L: usize, const P: usize>(
        numbers: &Numbers<L>,
        state: &mut [Lane<L>; 2],
        signals: &mut [[[f32; RUN]; L]; S],
    ) {
        for part in 0..RUN / P {
            let mut samples = [[[0.0; L]; P]; S];
            for (to, from) in samples.iter_mut().zip(&*signals).take(Self::TAKEN) {
                side_by_side(from.each_ref().map(|from| part_of(from, part)), to);
            }
            Self::run(numbers, state, &mut samples);
            for (from, to) in samples.iter().zip(&mut *signals).take(Self::OUTLETS) {
                let mut found = [[0.0; P]; L];
                apart(from, &mut found);
                for (to, from) in to.iter_mut().zip(&found) {
                    if let Some(to) = to.as_chunks_mut().0.get_mut(part) {
                        *to = *from;
                    }
                }
            }
        }
    }

    /// Computes a part.
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
fn each<const L: usize>(function: impl Fn(usize) -> f32) -> Lane<L> {
    let mut to = [0.0; L];
    for (at, to) in to.iter_mut().enumerate() {
        *to = function(at);
    }
    to
}

/// The recursion of one state: `lop~` and `rpole~`.
pub(super) struct LowPass;

impl Kernel<1> for LowPass {
    const INLETS: usize = 1;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        numbers: &Numbers<L>,
        [last, _]: &mut [Lane<L>; 2],
        [x]: [Lane<L>; 1],
    ) -> [Lane<L>; 1] {
        let [gain, feedback, ..] = &numbers.coefficients;
        *last = each(|at| gain[at] * x[at] + feedback[at] * last[at]);
        [*last]
    }
}

pub(super) struct HighPass;

impl Kernel<1> for HighPass {
    const INLETS: usize = 1;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        numbers: &Numbers<L>,
        [last, _]: &mut [Lane<L>; 2],
        [x]: [Lane<L>; 1],
    ) -> [Lane<L>; 1] {
        let [coefficient, normal, ..] = &numbers.coefficients;
        let new: Lane<L> = each(|at| x[at] + coefficient[at] * last[at]);
        let to = each(|at| normal[at] * (new[at] - last[at]));
        *last = new;
        [to]
    }
}

pub(super) struct BandPass;

impl Kernel<1> for BandPass {
    const INLETS: usize = 1;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        numbers: &Numbers<L>,
        [last, before]: &mut [Lane<L>; 2],
        [x]: [Lane<L>; 1],
    ) -> [Lane<L>; 1] {
        let [a1, a2, gain, ..] = &numbers.coefficients;
        let new: Lane<L> = each(|at| x[at] + a1[at] * last[at] + a2[at] * before[at]);
        (*before, *last) = (*last, new);
        [each(|at| gain[at] * new[at])]
    }
}

pub(super) struct Biquad;

impl Kernel<1> for Biquad {
    const INLETS: usize = 1;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        numbers: &Numbers<L>,
        [last, before]: &mut [Lane<L>; 2],
        [x]: [Lane<L>; 1],
    ) -> [Lane<L>; 1] {
        let [fb1, fb2, ff1, ff2, ff3] = &numbers.coefficients;
        let new: Lane<L> = each(|at| {
            let new = x[at] + fb1[at] * last[at] + fb2[at] * before[at];
            if is_odd(new) { 0.0 } else { new }
        });
        let to = each(|at| ff1[at] * new[at] + ff2[at] * last[at] + ff3[at] * before[at]);
        (*before, *last) = (*last, new);
        [to]
    }

    #[inline(always)]
    fn run<const L: usize, const P: usize>(
        numbers: &Numbers<L>,
        state: &mut [Lane<L>; 2],
        [signal]: &mut [[Lane<L>; P]; 1],
    ) {
        filter_each(&numbers.coefficients, state, signal);
    }
}

/// `vcf~` at one frequency.
pub(super) struct FixedPole;

impl Kernel<2> for FixedPole {
    const INLETS: usize = 1;
    const OUTLETS: usize = 2;

    #[inline(always)]
    fn step<const L: usize>(
        numbers: &Numbers<L>,
        [re, im]: &mut [Lane<L>; 2],
        [x, _]: [Lane<L>; 2],
    ) -> [Lane<L>; 2] {
        let [gain, c_re, c_im, ..] = &numbers.coefficients;
        let new_re = each(|at| gain[at] * x[at] + c_re[at] * re[at] - c_im[at] * im[at]);
        let new_im = each(|at| c_im[at] * re[at] + c_re[at] * im[at]);
        (*re, *im) = (new_re, new_im);
        [new_re, new_im]
    }
}

/// `vcf~` at the frequencies of a signal.
pub(super) struct FollowedPole;

impl Kernel<3> for FollowedPole {
    const INLETS: usize = 2;
    const OUTLETS: usize = 2;
    const TAKEN: usize = 3;

    #[inline(always)]
    fn take<const L: usize>(
        numbers: &Numbers<L>,
        inlets: &Inlets<'_>,
        [signal, re, im]: &mut [[[f32; RUN]; L]; 3],
    ) {
        let mut poles = Poles::new();
        for lane in 0..L {
            let [inverse, correction, to_radians, ..] = numbers.coefficients;
            let design = PoleDesign::of([inverse[lane], correction[lane], to_radians[lane]]);
            poles.follow(&design, inlets.get(lane, 0), inlets.get(lane, 1));
            (signal[lane], re[lane], im[lane]) = (poles.signal, poles.re, poles.im);
        }
    }

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [re, im]: &mut [Lane<L>; 2],
        [x, c_re, c_im]: [Lane<L>; 3],
    ) -> [Lane<L>; 3] {
        let new_re = each(|at| x[at] + c_re[at] * re[at] - c_im[at] * im[at]);
        let new_im = each(|at| c_im[at] * re[at] + c_re[at] * im[at]);
        (*re, *im) = (new_re, new_im);
        [new_re, new_im, x]
    }
}

pub(super) struct RealPole;

impl Kernel<2> for RealPole {
    const INLETS: usize = 2;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [last, _]: &mut [Lane<L>; 2],
        [x, c]: [Lane<L>; 2],
    ) -> [Lane<L>; 2] {
        *last = each(|at| x[at] + c[at] * last[at]);
        [*last, *last]
    }
}

pub(super) struct ComplexPole;

impl Kernel<4> for ComplexPole {
    const INLETS: usize = 4;
    const OUTLETS: usize = 2;

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [re, im]: &mut [Lane<L>; 2],
        [x_re, x_im, c_re, c_im]: [Lane<L>; 4],
    ) -> [Lane<L>; 4] {
        let new_re = each(|at| x_re[at] + re[at] * c_re[at] - im[at] * c_im[at]);
        let new_im = each(|at| x_im[at] + re[at] * c_im[at] + im[at] * c_re[at]);
        (*re, *im) = (new_re, new_im);
        [new_re, new_im, x_re, x_im]
    }
}

/// A real zero: `x - c·before`.
pub(super) struct RealZero;

impl Kernel<2> for RealZero {
    const INLETS: usize = 2;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [last, _]: &mut [Lane<L>; 2],
        [x, c]: [Lane<L>; 2],
    ) -> [Lane<L>; 2] {
        let to = each(|at| x[at] - c[at] * last[at]);
        *last = x;
        [to, x]
    }
}

pub(super) struct ReversedRealZero;

impl Kernel<2> for ReversedRealZero {
    const INLETS: usize = 2;
    const OUTLETS: usize = 1;

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [last, _]: &mut [Lane<L>; 2],
        [x, c]: [Lane<L>; 2],
    ) -> [Lane<L>; 2] {
        let to = each(|at| last[at] - c[at] * x[at]);
        *last = x;
        [to, x]
    }
}

pub(super) struct ComplexZero;

impl Kernel<4> for ComplexZero {
    const INLETS: usize = 4;
    const OUTLETS: usize = 2;

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [re, im]: &mut [Lane<L>; 2],
        [x_re, x_im, c_re, c_im]: [Lane<L>; 4],
    ) -> [Lane<L>; 4] {
        let to_re = each(|at| x_re[at] - re[at] * c_re[at] + im[at] * c_im[at]);
        let to_im = each(|at| x_im[at] - re[at] * c_im[at] - im[at] * c_re[at]);
        (*re, *im) = (x_re, x_im);
        [to_re, to_im, x_re, x_im]
    }
}

pub(super) struct ReversedComplexZero;

impl Kernel<4> for ReversedComplexZero {
    const INLETS: usize = 4;
    const OUTLETS: usize = 2;

    #[inline(always)]
    fn step<const L: usize>(
        _: &Numbers<L>,
        [re, im]: &mut [Lane<L>; 2],
        [x_re, x_im, c_re, c_im]: [Lane<L>; 4],
    ) -> [Lane<L>; 4] {
        let to_re = each(|at| re[at] - x_re[at] * c_re[at] - x_im[at] * c_im[at]);
        let to_im = each(|at| im[at] - x_re[at] * c_im[at] + x_im[at] * c_re[at]);
        (*re, *im) = (x_re, x_im);
        [to_re, to_im, x_re, x_im]
    }
}
