//! Loops over blocks, as the compiler turns them into few instructions: what waits for no other sample in runs of a constant length, of
//! which nothing else is known but that they lie apart; what comes one after the other in fours.

/// Frames of a run. Pd's blocks have as many, and those of `block~` mostly some such runs.
pub(super) const RUN: usize = 64;

/// Writes a function of each sample.
#[inline(always)]
pub(super) fn map_each(to: &mut [f32], from: &[f32], function: impl Fn(f32) -> f32) {
    let (runs, rest) = to.as_chunks_mut();
    let (from_runs, from_rest) = from.as_chunks();
    for (to, from) in runs.iter_mut().zip(from_runs) {
        map_run(to, from, &function);
    }
    if !rest.is_empty() {
        map_in_turn(rest, from_rest, function);
    }
}

// Not inlined: so the compiler knows that the two lie apart.
#[inline(never)]
fn map_run(to: &mut [f32; RUN], from: &[f32; RUN], function: &impl Fn(f32) -> f32) {
    for (to, x) in to.iter_mut().zip(from) {
        *to = function(*x);
    }
}

/// Writes a function of each two samples.
#[inline(always)]
pub(super) fn zip_each(
    to: &mut [f32],
    first: &[f32],
    second: &[f32],
    function: impl Fn(f32, f32) -> f32,
) {
    let (runs, rest) = to.as_chunks_mut();
    let (first_runs, first_rest) = first.as_chunks();
    let (second_runs, second_rest) = second.as_chunks();
    for ((to, a), b) in runs.iter_mut().zip(first_runs).zip(second_runs) {
        zip_run(to, a, b, &function);
    }
    if !rest.is_empty() {
        zip_rest(rest, first_rest, second_rest, function);
    }
}

#[inline(never)]
fn zip_run(
    to: &mut [f32; RUN],
    first: &[f32; RUN],
    second: &[f32; RUN],
    function: &impl Fn(f32, f32) -> f32,
) {
    for ((to, a), b) in to.iter_mut().zip(first).zip(second) {
        *to = function(*a, *b);
    }
}

#[inline(never)]
fn zip_rest(to: &mut [f32], first: &[f32], second: &[f32], function: impl Fn(f32, f32) -> f32) {
    for ((to, a), b) in to.iter_mut().zip(first).zip(second) {
        *to = function(*a, *b);
    }
}

/// Adds a signal to another.
#[inline(always)]
pub(super) fn add_each(to: &mut [f32], from: &[f32]) {
    let (runs, rest) = to.as_chunks_mut();
    let (from_runs, from_rest) = from.as_chunks();
    for (to, from) in runs.iter_mut().zip(from_runs) {
        add_run(to, from);
    }
    for (to, x) in rest.iter_mut().zip(from_rest) {
        *to += x;
    }
}

#[inline(never)]
fn add_run(to: &mut [f32; RUN], from: &[f32; RUN]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
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
