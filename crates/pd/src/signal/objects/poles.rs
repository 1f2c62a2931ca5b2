//! Poles and zeros: `vcf~`, `rpole~`, `cpole~` and their like (`d_filter.c`).

use super::complex::ComplexFilter;
use super::cosine_table::CosineTable;
use super::filters::{kept, set};
use super::phases::UNIT;
use crate::constants::CIRCLE;
use crate::control::{Context, Handled, Making, Message, Object, words};
use crate::signal::loops::{RUN, zip_in_turn};
use crate::signal::{Inlets, Recursion, RecursionKind, SignalWorld};
use crate::state::held;
use rt::vectors::{WideWork, in_eights, widest};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let kind = match making.class {
        "rpole~" | "cpole~" => Raw::Pole,
        "rzero~" | "czero~" => Raw::Zero,
        "rzero_rev~" | "czero_rev~" => Raw::ReversedZero,
        "vcf~" => {
            return Some(Box::new(Vcf {
                q: making.number(0, 1.0),
                re: 0.0,
                im: 0.0,
            }));
        }
        _ => return None,
    };
    Some(match making.class.starts_with('r') {
        true => Box::new(RealFilter { kind, last: 0.0 }),
        false => Box::new(ComplexFilter::new(kind)),
    })
}

/// A complex pole whose frequency is a signal.
struct Vcf {
    q: f32,
    re: f32,
    im: f32,
}

impl Object for Vcf {
    held!(q, re, im);

    fn may_batch(&self) -> bool {
        true
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            2 => set(message, &mut self.q),
            _ => Handled::No,
        }
    }

    fn recursion(&self, rate: f32, hz: Option<f32>) -> Option<Recursion> {
        let design = PoleDesign::new(self.q, rate);
        let (kind, [a, b, c]) = match hz {
            Some(hz) => (RecursionKind::FixedPole, design.fixed(hz).into()),
            None => (RecursionKind::FollowedPole, design.numbers()),
        };
        Some(Recursion {
            kind,
            coefficients: [a, b, c, 0.0, 0.0],
            state: [self.re, self.im],
            passes: false,
        })
    }

    fn set_recursion(&mut self, [re, im]: [f32; 2]) {
        (self.re, self.im) = (kept(re), kept(im));
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let design = PoleDesign::new(self.q, world.rate());
        let (mut re, mut im) = (self.re, self.im);
        let [first, second] = outlets else {
            return;
        };
        let number = inlets.number(1);
        let runs = inlets.get(0).chunks(RUN).zip(inlets.get(1).chunks(RUN));
        let outputs = first.chunks_mut(RUN).zip(second.chunks_mut(RUN));
        // The blocks of a batch are runs.
        let is_batch = inlets.get(0).len() > world.frames();
        for ((low, band), (signal, hz)) in outputs.zip(runs) {
            let mut poles = Poles::new();
            match number {
                Some(hz) => poles.fill(&design, signal, hz),
                None => in_eights(FollowedPoles(&mut poles, &design, (signal, hz))),
            }
            (re, im) = match (low.try_into(), band.try_into()) {
                (Ok(low), Ok(band)) => poles.run(low, band, (re, im)),
                _ => poles.run_part(low, band, (re, im)),
            };
            if is_batch {
                (re, im) = (kept(re), kept(im));
            }
        }
        (self.re, self.im) = (kept(re), kept(im));
    }
}

/// Numbers by which the poles of `vcf~` follow from frequencies.
pub(in super::super) struct PoleDesign {
    inverse: f32,
    correction: f32,
    to_radians: f32,
}

impl PoleDesign {
    fn new(q: f32, rate: f32) -> Self {
        Self {
            inverse: if q > 0.0 { 1.0 / q } else { 0.0 },
            correction: 2.0 - 2.0 / (q + 2.0),
            to_radians: CIRCLE / rate,
        }
    }

    /// A design of these numbers.
    #[inline(always)]
    pub(in super::super) fn of([inverse, correction, to_radians]: [f32; 3]) -> Self {
        Self {
            inverse,
            correction,
            to_radians,
        }
    }

    /// Its numbers.
    fn numbers(&self) -> [f32; 3] {
        [self.inverse, self.correction, self.to_radians]
    }

    /// Gain, and the pole itself, at one frequency.
    fn fixed(&self, hz: f32) -> (f32, f32, f32) {
        let (width, angle) = self.pole(hz);
        let radius = 1.0 - width;
        let (cosine, sine) = CosineTable::get().cosine_and_sine(f64::from(angle) + UNIT);
        (self.correction * width, radius * cosine, radius * sine)
    }

    /// 1 minus the radius of a pole, and the angle in points of the table. Pd's source takes the former from the radius, which
    /// leaves few of its digits; the compiler of the packaged Pd does not.
    #[inline(always)]
    fn pole(&self, hz: f32) -> (f32, f32) {
        let center = hz * self.to_radians;
        let center = if center < 0.0 { 0.0 } else { center };
        let width = if self.inverse > 0.0 {
            center * self.inverse
        } else {
            1.0
        };
        let width = if width > 1.0 { 1.0 } else { width };
        (width, center * (512.0_f32 / CIRCLE))
    }
}

/// Part of a run of `vcf~` that is not computed sample after sample, and so in vectors.
pub(in super::super) struct Poles {
    pub re: [f32; RUN],
    pub im: [f32; RUN],
    /// The signal, with the gain of its pole.
    pub signal: [f32; RUN],
}

impl Poles {
    /// Poles that are still to be written.
    #[inline(always)]
    pub(in super::super) const fn new() -> Self {
        Self {
            re: [0.0; RUN],
            im: [0.0; RUN],
            signal: [0.0; RUN],
        }
    }

    /// One pole all along.
    #[inline(never)]
    fn fill(&mut self, design: &PoleDesign, signal: &[f32], hz: f32) {
        let (gain, re, im) = design.fixed(hz);
        (self.re, self.im) = ([re; RUN], [im; RUN]);
        for (to, x) in self.signal.iter_mut().zip(signal) {
            *to = gain * x;
        }
    }

    /// Runs the filter from a state on. Gives its state.
    #[inline(never)]
    fn run(
        &self,
        low: &mut [f32; RUN],
        band: &mut [f32; RUN],
        (mut re, mut im): (f32, f32),
    ) -> (f32, f32) {
        for at in 0..RUN {
            let (before, pole_re, pole_im) = (re, self.re[at], self.im[at]);
            re = self.signal[at] + pole_re * before - pole_im * im;
            im = pole_im * before + pole_re * im;
            (low[at], band[at]) = (re, im);
        }
        (re, im)
    }

    /// As [`run`](Self::run), over a part of a run, which has a sample or more.
    fn run_part(&self, low: &mut [f32], band: &mut [f32], state: (f32, f32)) -> (f32, f32) {
        let mut all = [[0.0; RUN]; 2];
        let [whole_low, whole_band] = &mut all;
        self.run(whole_low, whole_band, state);
        let count = low.len();
        low.copy_from_slice(&whole_low[..count]);
        band.copy_from_slice(&whole_band[..count]);
        (low[count - 1], band[count - 1])
    }

    /// A pole for each sample.
    #[inline(always)]
    pub(in super::super) fn follow(&mut self, design: &PoleDesign, signal: &[f32], hz: &[f32]) {
        // Radii and angles first, in place of what follows from them.
        let all = (self.re.iter_mut()).zip(&mut self.im).zip(&mut self.signal);
        for (((radius, angle), to), (x, hz)) in all.zip(signal.iter().zip(hz)) {
            let (width, turn) = design.pole(*hz);
            (*radius, *angle) = (1.0 - width, turn);
            *to = design.correction * width * x;
        }
        let table = CosineTable::get();
        for (re, im) in self.re.iter_mut().zip(&mut self.im) {
            let (radius, angle) = (*re, *im);
            let (cosine, sine) = table.cosine_and_sine(f64::from(angle) + UNIT);
            (*re, *im) = (radius * cosine, radius * sine);
        }
    }
}

/// [`Poles::follow`] in wide vectors.
struct FollowedPoles<'r>(&'r mut Poles, &'r PoleDesign, (&'r [f32], &'r [f32]));

impl WideWork for FollowedPoles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(poles, design, (signal, hz)) = self;
        poles.follow(design, signal, hz);
    }
}

/// A frequency that is left out, or let through.
#[derive(Clone, Copy)]
pub(super) enum Raw {
    Pole,
    Zero,
    ReversedZero,
}

impl Raw {
    /// State that stays behind a block.
    pub(super) fn kept(self, state: f32) -> f32 {
        match self {
            Self::Pole => kept(state),
            Self::Zero | Self::ReversedZero => state,
        }
    }
}

/// One real pole or zero; its coefficient is a signal.
struct RealFilter {
    kind: Raw,
    last: f32,
}

impl RealFilter {
    /// Computes a block.
    fn block(&mut self, to: &mut [f32], (x, coefficients): (&[f32], &[f32])) {
        let mut last = self.last;
        match self.kind {
            Raw::Pole => zip_in_turn(to, (x, coefficients), |x, coefficient| {
                last = x + coefficient * last;
                last
            }),
            Raw::Zero => widest(RealZero(to, (x, coefficients), last, |x, before, c| {
                x - c * before
            })),
            Raw::ReversedZero => widest(RealZero(to, (x, coefficients), last, |x, before, c| {
                before - c * x
            })),
        }
        if !matches!(self.kind, Raw::Pole) {
            last = x.last().copied().unwrap_or(last);
        }
        self.last = self.kind.kept(last);
    }
}

impl Object for RealFilter {
    held!(last; not kind);

    fn recursion(&self, _: f32, _: Option<f32>) -> Option<Recursion> {
        Some(Recursion {
            kind: match self.kind {
                Raw::Pole => RecursionKind::RealPole,
                Raw::Zero => RecursionKind::RealZero,
                Raw::ReversedZero => RecursionKind::ReversedRealZero,
            },
            coefficients: [0.0; 5],
            state: [self.last, 0.0],
            passes: false,
        })
    }

    fn set_recursion(&mut self, [last, _]: [f32; 2]) {
        self.last = self.kind.kept(last);
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
        let frames = world.frames();
        let signals = (inlets.get(0).chunks(frames)).zip(inlets.get(1).chunks(frames));
        for (to, signals) in outlets[0].chunks_mut(frames).zip(signals) {
            self.block(to, signals);
        }
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET => self.last = message.number(),
            words::CLEAR => self.last = 0.0,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// The loop of a real zero: a function of each sample, the one before, and the coefficient. It waits for nothing.
struct RealZero<'s, F>(&'s mut [f32], (&'s [f32], &'s [f32]), f32, F);

impl<F: Fn(f32, f32, f32) -> f32> WideWork for RealZero<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(to, (x, coefficients), last, function) = self;
        if let ([first, to @ ..], [x_first, later @ ..], [c_first, coefficients @ ..]) =
            (to, x, coefficients)
        {
            *first = function(*x_first, last, *c_first);
            for (((to, x), before), c) in to.iter_mut().zip(later).zip(x).zip(coefficients) {
                *to = function(*x, *before, *c);
            }
        }
    }
}
