//! Complex poles and zeros: `cpole~`, `czero~`, `czero_rev~` (`d_filter.c`).

use super::poles::Raw;
use crate::control::{Context, Handled, Message, Object, words};
use crate::signal::loops::RUN;
use crate::signal::{Inlets, Recursion, RecursionKind, SignalWorld};
use crate::state::held;
use rt::vectors::{WideWork, widest};

/// A signal and the coefficients of a complex filter, real parts before imaginary ones.
type ComplexInlets<'s> = [&'s [f32]; 4];

impl ComplexFilter {
    /// A filter that nothing has passed yet.
    pub(super) fn new(kind: Raw) -> Self {
        let (re, im) = (0.0, 0.0);
        Self { kind, re, im }
    }

    /// Computes a run, or a part of one.
    fn run(&mut self, to: (&mut [f32], &mut [f32]), from: ComplexInlets<'_>) {
        let last = (self.re, self.im);
        (self.re, self.im) = match self.kind {
            Raw::Pole => complex_pole(to, from, last),
            Raw::Zero => widest(ComplexZero(to, from, last, zero)),
            Raw::ReversedZero => widest(ComplexZero(to, from, last, reversed_zero)),
        };
    }
}

/// A run of a complex pole. Gives its state.
#[inline(never)]
fn complex_pole(
    (to_re, to_im): (&mut [f32], &mut [f32]),
    [x_re, x_im, c_re, c_im]: ComplexInlets<'_>,
    (mut re, mut im): (f32, f32),
) -> (f32, f32) {
    let frames = to_re.len();
    let (to_im, x_re, x_im) = (&mut to_im[..frames], &x_re[..frames], &x_im[..frames]);
    let (c_re, c_im) = (&c_re[..frames], &c_im[..frames]);
    for at in 0..frames {
        let new_re = x_re[at] + re * c_re[at] - im * c_im[at];
        let new_im = x_im[at] + re * c_im[at] + im * c_re[at];
        (to_re[at], to_im[at]) = (new_re, new_im);
        (re, im) = (new_re, new_im);
    }
    (re, im)
}

/// A sample, the one before, and the coefficient, to what goes out.
#[inline(always)]
fn zero([re, im]: [f32; 2], [last_re, last_im]: [f32; 2], [c_re, c_im]: [f32; 2]) -> (f32, f32) {
    (
        re - last_re * c_re + last_im * c_im,
        im - last_re * c_im - last_im * c_re,
    )
}

/// As [`zero`], with the coefficient's conjugate, before the signal.
#[inline(always)]
fn reversed_zero(
    [re, im]: [f32; 2],
    [last_re, last_im]: [f32; 2],
    [c_re, c_im]: [f32; 2],
) -> (f32, f32) {
    (
        last_re - re * c_re - im * c_im,
        last_im - re * c_im + im * c_re,
    )
}

/// The loop of a complex zero: a function of each sample, the one before, and the coefficient. It waits for nothing.
struct ComplexZero<'s, F>(
    (&'s mut [f32], &'s mut [f32]),
    ComplexInlets<'s>,
    (f32, f32),
    F,
);

impl<F: Fn([f32; 2], [f32; 2], [f32; 2]) -> (f32, f32)> WideWork for ComplexZero<'_, F> {
    /// The last sample.
    type Output = (f32, f32);

    #[inline(always)]
    fn run(self) -> (f32, f32) {
        let Self((to_re, to_im), [re, im, c_re, c_im], last, function) = self;
        let frames = to_re.len();
        let (to_im, re, im) = (&mut to_im[..frames], &re[..frames], &im[..frames]);
        let (c_re, c_im) = (&c_re[..frames], &c_im[..frames]);
        let Some(end) = frames.checked_sub(1) else {
            return last;
        };
        (to_re[0], to_im[0]) = function([re[0], im[0]], last.into(), [c_re[0], c_im[0]]);
        for at in 1..frames {
            let before = [re[at - 1], im[at - 1]];
            (to_re[at], to_im[at]) = function([re[at], im[at]], before, [c_re[at], c_im[at]]);
        }
        (re[end], im[end])
    }
}

/// One complex pole or zero; signal and coefficient have two inlets each.
pub(super) struct ComplexFilter {
    kind: Raw,
    re: f32,
    im: f32,
}

impl Object for ComplexFilter {
    held!(re, im; not kind);

    fn recursion(&self, _: f32, _: Option<f32>) -> Option<Recursion> {
        Some(Recursion {
            kind: match self.kind {
                Raw::Pole => RecursionKind::ComplexPole,
                Raw::Zero => RecursionKind::ComplexZero,
                Raw::ReversedZero => RecursionKind::ReversedComplexZero,
            },
            coefficients: [0.0; 5],
            state: [self.re, self.im],
            passes: false,
        })
    }

    fn set_recursion(&mut self, [re, im]: [f32; 2]) {
        (self.re, self.im) = (self.kind.kept(re), self.kind.kept(im));
    }

    fn may_batch(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let [to_re, to_im] = outlets else {
            return;
        };
        let inlets = [0, 1, 2, 3].map(|at| inlets.get(at).chunks(RUN));
        let [mut re, mut im, mut c_re, mut c_im] = inlets;
        // The blocks of a batch are runs.
        let is_batch = to_re.len() > world.frames();
        let outputs = to_re.chunks_mut(RUN).zip(to_im.chunks_mut(RUN));
        for to in outputs {
            if let (Some(re), Some(im), Some(c_re), Some(c_im)) =
                (re.next(), im.next(), c_re.next(), c_im.next())
            {
                self.run(to, [re, im, c_re, c_im]);
            }
            if is_batch {
                self.set_recursion([self.re, self.im]);
            }
        }
        self.set_recursion([self.re, self.im]);
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let number = |at: usize| message.values.get(at).map_or(0.0, |value| value.number());
        match message.selector {
            words::SET => (self.re, self.im) = (number(0), number(1)),
            words::CLEAR => (self.re, self.im) = (0.0, 0.0),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
