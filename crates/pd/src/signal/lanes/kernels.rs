//! The recursions of filters, a sample of each lane at a time (`objects/filters` says what they are).

use super::super::objects::{PoleDesign, Poles, filter_each, is_odd};
use super::Inlets;
use super::kernel::{Kernel, Lane, Numbers, Signals, each};

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
        [signal, re, im]: &mut Signals<L, 3>,
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
