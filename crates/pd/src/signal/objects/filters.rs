//! Filters (`d_filter.c`). State outside 2⁻⁶³ to 2⁶⁵ becomes 0 at the end of a block.

use super::phases::{CosineTable, UNIT};
use super::ramps::is_odd;
use crate::constants::{CIRCLE, TWO_PI};
use crate::control::{Context, Handled, Making, Message, Object, Value, words};
use crate::signal::loops::{RUN, each_in_turn, map_each, map_in_turn, zip_in_turn};
use crate::signal::{Inlets, SignalWorld};
use rt::vectors::{Wide, widest};

/// A quarter of a circle.
const QUARTER: f32 = TWO_PI / 4.0;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "lop~" => Box::new(LowPass {
            hz: making.number(0, 0.0),
            last: 0.0,
        }),
        "hip~" => Box::new(HighPass {
            hz: making.number(0, 0.0),
            last: 0.0,
        }),
        "bp~" => Box::new(BandPass {
            hz: making.number(0, 0.0),
            q: making.number(1, 0.0),
            last: 0.0,
            before: 0.0,
        }),
        "biquad~" => {
            let mut filter = Biquad {
                coefficients: [0.0; 5],
                last: 0.0,
                before: 0.0,
            };
            let numbers: Vec<f32> = making.values.iter().map(|value| value.number()).collect();
            filter.set(&numbers);
            Box::new(filter)
        }
        "vcf~" => Box::new(Vcf {
            q: making.number(0, 1.0),
            re: 0.0,
            im: 0.0,
        }),
        "slop~" => Box::new(BoundedLowPass { last: 0.0 }),
        "rpole~" | "rzero~" | "rzero_rev~" => {
            let kind = match making.class {
                "rpole~" => Raw::Pole,
                "rzero~" => Raw::Zero,
                _ => Raw::ReversedZero,
            };
            Box::new(RealFilter { kind, last: 0.0 })
        }
        "cpole~" | "czero~" | "czero_rev~" => {
            let kind = match making.class {
                "cpole~" => Raw::Pole,
                "czero~" => Raw::Zero,
                _ => Raw::ReversedZero,
            };
            Box::new(ComplexFilter {
                kind,
                re: 0.0,
                im: 0.0,
            })
        }
        _ => return None,
    })
}

/// A number for a right inlet.
fn set(message: Message<'_>, to: &mut f32) -> Handled {
    match message.values.first() {
        Some(Value::Float(number)) => *to = *number,
        _ => return Handled::No,
    }
    Handled::Yes
}

struct LowPass {
    hz: f32,
    last: f32,
}

impl Object for LowPass {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let hz = if self.hz < 0.0 { 0.0 } else { self.hz };
        let coefficient = (hz * TWO_PI / world.rate).clamp(0.0, 1.0);
        let feedback = 1.0 - coefficient;
        let mut last = self.last;
        // What does not wait for the sample before comes first, in vectors.
        map_each(&mut outlets[0], inlets.get(0), |x| coefficient * x);
        each_in_turn(&mut outlets[0], |x| {
            last = x + feedback * last;
            last
        });
        self.last = if is_odd(last) { 0.0 } else { last };
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::CLEAR {
            return Handled::No;
        }
        self.last = 0.0;
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, &mut self.hz)
    }
}

struct HighPass {
    hz: f32,
    last: f32,
}

impl Object for HighPass {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let hz = if self.hz < 0.0 { 0.0 } else { self.hz };
        let coefficient = (1.0 - hz * TWO_PI / world.rate).clamp(0.0, 1.0);
        if coefficient >= 1.0 {
            outlets[0].copy_from_slice(inlets.get(0));
            self.last = 0.0;
            return;
        }
        let normal = 0.5 * (1.0 + coefficient);
        let mut last = self.last;
        let (runs, rest) = outlets[0].as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = inlets.get(0).as_chunks::<RUN>();
        for (to, from) in runs.iter_mut().zip(from_runs) {
            last = high_pass_run(to, from, (coefficient, normal), last);
        }
        if !rest.is_empty() {
            last = high_pass(rest, from_rest, (coefficient, normal), last);
        }
        self.last = if is_odd(last) { 0.0 } else { last };
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::CLEAR {
            return Handled::No;
        }
        self.last = 0.0;
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, &mut self.hz)
    }
}

/// A whole run of `hip~`. Gives its state.
#[inline(never)]
fn high_pass_run(
    to: &mut [f32; RUN],
    from: &[f32; RUN],
    coefficients: (f32, f32),
    last: f32,
) -> f32 {
    high_pass(to, from, coefficients, last)
}

/// A run of `hip~`. Gives its state.
#[inline(always)]
fn high_pass(to: &mut [f32], from: &[f32], (coefficient, normal): (f32, f32), last: f32) -> f32 {
    let mut states = [last; RUN + 1];
    let mut last = last;
    map_in_turn(&mut states[1..], from, |x| {
        last = x + coefficient * last;
        last
    });
    // Differences wait for nothing: they come in vectors.
    for ((to, new), before) in to.iter_mut().zip(&states[1..]).zip(&states) {
        *to = normal * (new - before);
    }
    last
}

struct BandPass {
    hz: f32,
    q: f32,
    last: f32,
    before: f32,
}

/// A cosine by a polynomial, 0 beyond a quarter of a period.
fn quick_cosine(x: f32) -> f32 {
    if (-QUARTER..=QUARTER).contains(&x) {
        let g = x * x;
        ((g * g * g * (-1.0 / 720.0) + g * g * (1.0 / 24.0)) - g * 0.5) + 1.0
    } else {
        0.0
    }
}

impl Object for BandPass {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let hz = if self.hz < 0.001 { 10.0 } else { self.hz };
        let q = if self.q < 0.0 { 0.0 } else { self.q };
        let omega = hz * TWO_PI / world.rate;
        let one_minus_r = if q < 0.001 { 1.0 } else { (omega / q).min(1.0) };
        let r = 1.0 - one_minus_r;
        let a1 = 2.0 * quick_cosine(omega) * r;
        let a2 = -r * r;
        let gain = 2.0 * one_minus_r * (one_minus_r + r * omega);
        let (mut last, mut before) = (self.last, self.before);
        map_in_turn(&mut outlets[0], inlets.get(0), |x| {
            let new = x + a1 * last + a2 * before;
            (before, last) = (last, new);
            gain * new
        });
        self.last = if is_odd(last) { 0.0 } else { last };
        self.before = if is_odd(before) { 0.0 } else { before };
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::CLEAR {
            return Handled::No;
        }
        (self.last, self.before) = (0.0, 0.0);
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(
            message,
            if inlet == 1 {
                &mut self.hz
            } else {
                &mut self.q
            },
        )
    }
}

struct Biquad {
    /// Two for what was, three for what comes.
    coefficients: [f32; 5],
    last: f32,
    before: f32,
}

impl Biquad {
    /// Sets the coefficients; an unstable filter becomes silent.
    fn set(&mut self, numbers: &[f32]) {
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0.0);
        let (a, b) = (number(0), number(1));
        let discriminant = a * a + 4.0 * b;
        let is_stable = if discriminant < 0.0 {
            b >= -1.0
        } else {
            (-2.0..=2.0).contains(&a) && 1.0 - a - b >= 0.0 && 1.0 + a - b >= 0.0
        };
        self.coefficients = match is_stable {
            true => [0, 1, 2, 3, 4].map(number),
            false => [0.0; 5],
        };
    }
}

impl Object for Biquad {
    fn list(&mut self, values: &[Value], _: &mut Context<'_>) -> Handled {
        let mut numbers = [0.0; 5];
        for (number, value) in numbers.iter_mut().zip(values) {
            *number = value.number();
        }
        self.set(&numbers);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET | words::CLEAR => {
                let number = |at: usize| message.values.get(at).map_or(0.0, |value| value.number());
                (self.last, self.before) = (number(0), number(1));
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let [fb1, fb2, ff1, ff2, ff3] = self.coefficients;
        let (mut last, mut before) = (self.last, self.before);
        map_in_turn(&mut outlets[0], inlets.get(0), |x| {
            let new = x + fb1 * last + fb2 * before;
            let new = if is_odd(new) { 0.0 } else { new };
            let out = ff1 * new + ff2 * last + ff3 * before;
            (before, last) = (last, new);
            out
        });
        (self.last, self.before) = (last, before);
    }
}

/// A complex pole whose frequency is a signal.
struct Vcf {
    q: f32,
    re: f32,
    im: f32,
}

impl Object for Vcf {
    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            2 => set(message, &mut self.q),
            _ => Handled::No,
        }
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let q = self.q;
        let design = PoleDesign {
            inverse: if q > 0.0 { 1.0 / q } else { 0.0 },
            correction: 2.0 - 2.0 / (q + 2.0),
            to_radians: CIRCLE / world.rate,
        };
        let (mut re, mut im) = (self.re, self.im);
        let [first, second] = outlets else {
            return;
        };
        let number = inlets.number(1);
        let runs = inlets.get(0).chunks(RUN).zip(inlets.get(1).chunks(RUN));
        let outputs = first.chunks_mut(RUN).zip(second.chunks_mut(RUN));
        for ((low, band), (signal, hz)) in outputs.zip(runs) {
            let mut poles = Poles::new();
            match number {
                Some(hz) => poles.fill(&design, signal, hz),
                None => poles.follow(&design, signal, hz),
            }
            (re, im) = match (low.try_into(), band.try_into()) {
                (Ok(low), Ok(band)) => poles.run(low, band, (re, im)),
                _ => poles.run_part(low, band, (re, im)),
            };
        }
        self.re = if is_odd(re) { 0.0 } else { re };
        self.im = if is_odd(im) { 0.0 } else { im };
    }
}

/// How the poles of `vcf~` follow from frequencies.
struct PoleDesign {
    inverse: f32,
    correction: f32,
    to_radians: f32,
}

impl PoleDesign {
    /// Radius and angle of a pole, the angle in points of the table.
    #[inline(always)]
    fn pole(&self, hz: f32) -> (f32, f32) {
        let center = hz * self.to_radians;
        let center = if center < 0.0 { 0.0 } else { center };
        let r = if self.inverse > 0.0 {
            1.0 - center * self.inverse
        } else {
            0.0
        };
        let radius = if r < 0.0 { 0.0 } else { r };
        (radius, center * (512.0_f32 / CIRCLE))
    }

    /// Gain of a pole.
    #[inline(always)]
    fn gain(&self, radius: f32) -> f32 {
        self.correction * (1.0 - radius)
    }
}

/// What a run of `vcf~` does not compute sample after sample, and so in vectors.
struct Poles {
    re: [f32; RUN],
    im: [f32; RUN],
    /// The signal, with the gain of its pole.
    signal: [f32; RUN],
}

impl Poles {
    /// Poles that are still to be written.
    #[inline(always)]
    fn new() -> Self {
        Self {
            re: [0.0; RUN],
            im: [0.0; RUN],
            signal: [0.0; RUN],
        }
    }

    /// One pole all along.
    #[inline(never)]
    fn fill(&mut self, design: &PoleDesign, signal: &[f32], hz: f32) {
        let (radius, angle) = design.pole(hz);
        let (cosine, sine) = CosineTable::get().cosine_and_sine(f64::from(angle) + UNIT);
        (self.re, self.im) = ([radius * cosine; RUN], [radius * sine; RUN]);
        let gain = design.gain(radius);
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
    fn follow(&mut self, design: &PoleDesign, signal: &[f32], hz: &[f32]) {
        widest(FollowedPoles(self, design, (signal, hz)));
    }
}

/// The loop of [`Poles::follow`].
struct FollowedPoles<'r>(&'r mut Poles, &'r PoleDesign, (&'r [f32], &'r [f32]));

impl Wide for FollowedPoles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(poles, design, (signal, hz)) = self;
        // Radii and angles first, in place of what follows from them.
        let all = poles
            .re
            .iter_mut()
            .zip(&mut poles.im)
            .zip(&mut poles.signal);
        for (((radius, angle), to), (x, hz)) in all.zip(signal.iter().zip(hz)) {
            (*radius, *angle) = design.pole(*hz);
            *to = design.gain(*radius) * x;
        }
        let table = CosineTable::get();
        for (re, im) in poles.re.iter_mut().zip(&mut poles.im) {
            let (radius, angle) = (*re, *im);
            let (cosine, sine) = table.cosine_and_sine(f64::from(angle) + UNIT);
            (*re, *im) = (radius * cosine, radius * sine);
        }
    }
}

#[derive(Clone, Copy)]
enum Raw {
    Pole,
    Zero,
    ReversedZero,
}

/// One real pole or zero; its coefficient is a signal.
struct RealFilter {
    kind: Raw,
    last: f32,
}

impl Object for RealFilter {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let (to, x, coefficients) = (&mut *outlets[0], inlets.get(0), inlets.get(1));
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
        let snaps = matches!(self.kind, Raw::Pole) && is_odd(last);
        self.last = if snaps { 0.0 } else { last };
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

impl<F: Fn(f32, f32, f32) -> f32> Wide for RealZero<'_, F> {
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

/// One complex pole or zero; signal and coefficient have two inlets each.
struct ComplexFilter {
    kind: Raw,
    re: f32,
    im: f32,
}

impl Object for ComplexFilter {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let [first, second] = outlets else {
            return;
        };
        let (mut last_re, mut last_im) = (self.re, self.im);
        let signals = inlets.get(0).iter().zip(inlets.get(1));
        let coefficients = inlets.get(2).iter().zip(inlets.get(3));
        let outputs = first.iter_mut().zip(second.iter_mut());
        for ((to_re, to_im), ((re, im), (c_re, c_im))) in outputs.zip(signals.zip(coefficients)) {
            match self.kind {
                Raw::Pole => {
                    let new_re = re + last_re * c_re - last_im * c_im;
                    let new_im = im + last_re * c_im + last_im * c_re;
                    (*to_re, *to_im) = (new_re, new_im);
                    (last_re, last_im) = (new_re, new_im);
                }
                Raw::Zero => {
                    *to_re = re - last_re * c_re + last_im * c_im;
                    *to_im = im - last_re * c_im - last_im * c_re;
                    (last_re, last_im) = (*re, *im);
                }
                Raw::ReversedZero => {
                    // The coefficient's conjugate, before the signal.
                    *to_re = last_re - re * c_re - im * c_im;
                    *to_im = last_im - re * c_im + im * c_re;
                    (last_re, last_im) = (*re, *im);
                }
            }
        }
        let snap = |x: f32| {
            if matches!(self.kind, Raw::Pole) && is_odd(x) {
                0.0
            } else {
                x
            }
        };
        (self.re, self.im) = (snap(last_re), snap(last_im));
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

/// A low-pass filter whose change for each sample is bounded, with frequencies of its own beyond the bounds.
struct BoundedLowPass {
    last: f32,
}

impl Object for BoundedLowPass {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let factor = TWO_PI / world.rate;
        let mut last = self.last;
        for (at, to) in outlets[0].iter_mut().enumerate() {
            let [x, hz, down, down_hz, up, up_hz] =
                [0, 1, 2, 3, 4, 5].map(|inlet| inlets.get(inlet)[at]);
            let bounded = |hz: f32| (hz * factor).clamp(0.0, 1.0);
            let coefficient = bounded(hz);
            let difference = x - last;
            let inside = difference.clamp(-down, up);
            let change = if inside == difference {
                coefficient * difference
            } else if difference > up {
                coefficient * up + bounded(up_hz) * (difference - up)
            } else {
                coefficient * -down + bounded(down_hz) * (difference + down)
            };
            last += change;
            *to = last;
        }
        self.last = if is_odd(last) { 0.0 } else { last };
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET => self.last = message.number(),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
