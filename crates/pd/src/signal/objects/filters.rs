//! Filters (`d_filter.c`). State outside 2⁻⁶³ to 2⁶⁵ becomes 0 at the end of a block.

use super::ramps::is_odd;
use crate::constants::TWO_PI;
use crate::control::{Context, Handled, Making, Message, Object, words};
use crate::signal::loops::{RUN, block_by_block, each_in_turn, map_each, map_in_turn};
use crate::signal::{Inlets, Recursion, RecursionKind, SignalWorld};
use crate::state::held;

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
        "slop~" => Box::new(BoundedLowPass { last: 0.0 }),
        _ => return None,
    })
}

/// A number, or the first of several, for a right inlet.
pub(super) fn set(message: Message<'_>, to: &mut f32) -> Handled {
    let Some(number) = message.first_number() else {
        return Handled::No;
    };
    *to = number;
    Handled::Yes
}

struct LowPass {
    hz: f32,
    last: f32,
}

impl LowPass {
    /// Gain of what comes in, and of the sample before.
    fn coefficients(&self, rate: f32) -> (f32, f32) {
        let hz = if self.hz < 0.0 { 0.0 } else { self.hz };
        let coefficient = (hz * TWO_PI / rate).clamp(0.0, 1.0);
        (coefficient, 1.0 - coefficient)
    }
}

/// State that stays behind a block.
#[inline(always)]
pub(in super::super) fn kept(state: f32) -> f32 {
    if is_odd(state) { 0.0 } else { state }
}

impl Object for LowPass {
    held!(hz, last);

    fn may_batch(&self) -> bool {
        true
    }

    fn recursion(&self, rate: f32, _: Option<f32>) -> Option<Recursion> {
        let (coefficient, feedback) = self.coefficients(rate);
        Some(Recursion {
            kind: RecursionKind::LowPass,
            coefficients: [coefficient, feedback, 0.0, 0.0, 0.0],
            state: [self.last, 0.0],
            passes: false,
        })
    }

    fn set_recursion(&mut self, [last, _]: [f32; 2]) {
        self.last = kept(last);
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let (coefficient, feedback) = self.coefficients(world.rate());
        // What does not wait for the sample before comes first, in vectors.
        map_each(&mut outlets[0], inlets.get(0), |x| coefficient * x);
        block_by_block(&mut outlets[0], inlets.get(0), world.frames(), |to, _| {
            let mut last = self.last;
            each_in_turn(to, |x| {
                last = x + feedback * last;
                last
            });
            self.last = kept(last);
        });
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

impl HighPass {
    /// Gain of the sample before, and of differences.
    fn coefficients(&self, rate: f32) -> (f32, f32) {
        let hz = if self.hz < 0.0 { 0.0 } else { self.hz };
        let coefficient = (1.0 - hz * TWO_PI / rate).clamp(0.0, 1.0);
        (coefficient, 0.5 * (1.0 + coefficient))
    }

    /// Computes a block.
    #[inline(always)]
    fn block(&mut self, to: &mut [f32], from: &[f32], coefficients: (f32, f32)) {
        let mut last = self.last;
        let (runs, rest) = to.as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = from.as_chunks::<RUN>();
        for (to, from) in runs.iter_mut().zip(from_runs) {
            last = high_pass_run(to, from, coefficients, last);
        }
        if !rest.is_empty() {
            last = high_pass(rest, from_rest, coefficients, last);
        }
        self.last = kept(last);
    }
}

impl Object for HighPass {
    held!(hz, last);

    fn may_batch(&self) -> bool {
        true
    }

    fn recursion(&self, rate: f32, _: Option<f32>) -> Option<Recursion> {
        let (coefficient, normal) = self.coefficients(rate);
        Some(Recursion {
            kind: RecursionKind::HighPass,
            coefficients: [coefficient, normal, 0.0, 0.0, 0.0],
            state: [self.last, 0.0],
            passes: coefficient >= 1.0,
        })
    }

    fn set_recursion(&mut self, [last, _]: [f32; 2]) {
        self.last = kept(last);
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let (coefficient, normal) = self.coefficients(world.rate());
        if coefficient >= 1.0 {
            outlets[0].copy_from_slice(inlets.get(0));
            self.last = 0.0;
            return;
        }
        block_by_block(
            &mut outlets[0],
            inlets.get(0),
            world.frames(),
            |to, from| {
                self.block(to, from, (coefficient, normal));
            },
        );
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

impl BandPass {
    /// Gains of the two samples before, and of what goes out.
    fn coefficients(&self, rate: f32) -> [f32; 3] {
        let hz = if self.hz < 0.001 { 10.0 } else { self.hz };
        let q = if self.q < 0.0 { 0.0 } else { self.q };
        let omega = hz * TWO_PI / rate;
        let one_minus_r = if q < 0.001 { 1.0 } else { (omega / q).min(1.0) };
        let r = 1.0 - one_minus_r;
        let gain = 2.0 * one_minus_r * (one_minus_r + r * omega);
        [2.0 * quick_cosine(omega) * r, -r * r, gain]
    }
}

impl Object for BandPass {
    held!(hz, q, last, before);

    fn may_batch(&self) -> bool {
        true
    }

    fn recursion(&self, rate: f32, _: Option<f32>) -> Option<Recursion> {
        let [a1, a2, gain] = self.coefficients(rate);
        Some(Recursion {
            kind: RecursionKind::BandPass,
            coefficients: [a1, a2, gain, 0.0, 0.0],
            state: [self.last, self.before],
            passes: false,
        })
    }

    fn set_recursion(&mut self, [last, before]: [f32; 2]) {
        (self.last, self.before) = (kept(last), kept(before));
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let [a1, a2, gain] = self.coefficients(world.rate());
        block_by_block(
            &mut outlets[0],
            inlets.get(0),
            world.frames(),
            |to, from| {
                let (mut last, mut before) = (self.last, self.before);
                map_in_turn(to, from, |x| {
                    let new = x + a1 * last + a2 * before;
                    (before, last) = (last, new);
                    gain * new
                });
                (self.last, self.before) = (kept(last), kept(before));
            },
        );
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

/// A low-pass filter whose change for each sample is bounded, with frequencies of its own beyond the bounds.
struct BoundedLowPass {
    last: f32,
}

impl Object for BoundedLowPass {
    held!(last);

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let factor = TWO_PI / world.rate();
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
