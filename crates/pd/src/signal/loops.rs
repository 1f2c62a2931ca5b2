//! Loops over blocks, as the compiler turns them into few instructions: what waits for no other sample in runs of a constant length, of
//! which nothing else is known but that they lie apart; what comes one after the other in fours.

use rt::vectors::{Wide, widest};

/// Frames of a run. Pd's blocks have as many, and those of `block~` mostly some such runs.
pub(super) const RUN: usize = 64;

/// Writes a function of each sample.
#[inline(always)]
pub(super) fn map_each(to: &mut [f32], from: &[f32], function: impl Fn(f32) -> f32) {
    widest(Map { to, from, function });
}

/// Writes a function of each two samples.
#[inline(always)]
pub(super) fn zip_each(
    to: &mut [f32],
    first: &[f32],
    second: &[f32],
    function: impl Fn(f32, f32) -> f32,
) {
    let from = (first, second);
    widest(Zip { to, from, function });
}

/// Adds a signal to another.
#[inline(always)]
pub(super) fn add_each(to: &mut [f32], from: &[f32]) {
    widest(Sum { to, from });
}

/// As [`map_each`], of a loop that is already compiled for wide vectors.
pub(super) struct Map<'s, F> {
    pub to: &'s mut [f32],
    pub from: &'s [f32],
    pub function: F,
}

impl<F: Fn(f32) -> f32> Wide for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (runs, rest) = self.to.as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = self.from.as_chunks::<RUN>();
        for (to, from) in runs.iter_mut().zip(from_runs) {
            for (to, x) in to.iter_mut().zip(from) {
                *to = (self.function)(*x);
            }
        }
        if !rest.is_empty() {
            map_in_turn(rest, from_rest, self.function);
        }
    }
}

/// As [`zip_each`], of a loop that is already compiled for wide vectors.
pub(super) struct Zip<'s, F> {
    pub to: &'s mut [f32],
    pub from: (&'s [f32], &'s [f32]),
    pub function: F,
}

impl<F: Fn(f32, f32) -> f32> Wide for Zip<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (runs, rest) = self.to.as_chunks_mut::<RUN>();
        let (first_runs, first_rest) = self.from.0.as_chunks::<RUN>();
        let (second_runs, second_rest) = self.from.1.as_chunks::<RUN>();
        for ((to, a), b) in runs.iter_mut().zip(first_runs).zip(second_runs) {
            for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                *to = (self.function)(*a, *b);
            }
        }
        if !rest.is_empty() {
            zip_rest(rest, first_rest, second_rest, self.function);
        }
    }
}

#[inline(never)]
fn zip_rest(to: &mut [f32], first: &[f32], second: &[f32], function: impl Fn(f32, f32) -> f32) {
    for ((to, a), b) in to.iter_mut().zip(first).zip(second) {
        *to = function(*a, *b);
    }
}

/// The loop of [`add_each`].
struct Sum<'s> {
    to: &'s mut [f32],
    from: &'s [f32],
}

impl Wide for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (runs, rest) = self.to.as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = self.from.as_chunks::<RUN>();
        for (to, from) in runs.iter_mut().zip(from_runs) {
            for (to, x) in to.iter_mut().zip(from) {
                *to += x;
            }
        }
        for (to, x) in rest.iter_mut().zip(from_rest) {
            *to += x;
        }
    }
}

/// Writes a function of each sample, which waits for the one before.
#[inline(always)]
pub(super) fn map_in_turn<T: Copy, U>(to: &mut [U], from: &[T], mut function: impl FnMut(T) -> U) {
    let (fours, rest) = to.as_chunks_mut::<4>();
    let (from_fours, from_rest) = from.as_chunks::<4>();
    for (to, from) in fours.iter_mut().zip(from_fours) {
        for (to, x) in to.iter_mut().zip(from) {
            *to = function(*x);
        }
    }
    for (to, x) in rest.iter_mut().zip(from_rest) {
        *to = function(*x);
    }
}

/// Replaces each sample by a function of it, which waits for the one before.
#[inline(always)]
pub(super) fn each_in_turn<T: Copy>(samples: &mut [T], mut function: impl FnMut(T) -> T) {
    let (fours, rest) = samples.as_chunks_mut::<4>();
    for four in fours {
        for sample in four {
            *sample = function(*sample);
        }
    }
    for sample in rest {
        *sample = function(*sample);
    }
}
