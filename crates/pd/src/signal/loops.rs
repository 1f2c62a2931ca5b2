//! Loops over blocks, as the compiler turns them into few instructions: what waits for no other sample in runs of a constant length, of
//! which nothing else is known but that they lie apart; what comes one after the other in fours.

use rt::vectors::{WideWork, in_eights, widest};
use std::array::TryFromSliceError;

/// Frames of a run. Pd's blocks have as many, and those of `block~` mostly some such runs.
pub(super) const RUN: usize = 64;

/// Writes a function of each sample.
#[inline(always)]
pub(super) fn map_each(to: &mut [f32], from: &[f32], function: impl Fn(f32) -> f32) {
    widest(Map { to, from, function });
}

/// As [`map_each`], a function that reads a table.
#[inline(always)]
pub(super) fn map_by_table(to: &mut [f32], from: &[f32], function: impl Fn(f32) -> f32) {
    let function = &function;
    for (to, from) in to.chunks_mut(RUN).zip(from.chunks(RUN)) {
        in_eights(Map { to, from, function });
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
    let from = (first, second);
    widest(Zip { to, from, function });
}

/// Computes a signal block by block, from another one: as one where it is one, which it is but in batches.
#[inline(always)]
pub(super) fn block_by_block(
    to: &mut [f32],
    from: &[f32],
    frames: usize,
    mut block: impl FnMut(&mut [f32], &[f32]),
) {
    if to.len() == frames {
        return block(to, from);
    }
    each_block(to, from, frames, block);
}

/// The loop of [`block_by_block`].
#[inline(never)]
fn each_block(
    to: &mut [f32],
    from: &[f32],
    frames: usize,
    mut block: impl FnMut(&mut [f32], &[f32]),
) {
    for (to, from) in to.chunks_mut(frames).zip(from.chunks(frames)) {
        block(to, from);
    }
}

/// The number that a run of a signal is, if it is one all along.
#[inline(always)]
pub(super) fn only_number(run: &[f32; RUN]) -> Option<f32> {
    widest(Differences(run)).then_some(run[0])
}

/// Finds out whether all samples of a run have the same bits.
struct Differences<'s>(&'s [f32; RUN]);

impl WideWork for Differences<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let first = self.0[0].to_bits();
        let bits = self.0.iter().map(|x| x.to_bits() ^ first);
        bits.fold(0, |all, bits| all | bits) == 0
    }
}

/// Adds a signal to another.
#[inline(always)]
pub(super) fn add_each(to: &mut [f32], from: &[f32]) {
    widest(Sum { to, from });
}

/// Moves the whole runs of a signal, and leaves silence.
pub(super) fn move_runs(to: &mut [f32], from: &mut [f32]) {
    widest(MoveRuns(to.as_chunks_mut().0, from.as_chunks_mut().0));
}

/// The loop of [`move_runs`].
struct MoveRuns<'s>(&'s mut [[f32; RUN]], &'s mut [[f32; RUN]]);

impl WideWork for MoveRuns<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.0.iter_mut().zip(self.1) {
            *to = *from;
            *from = [0.0; RUN];
        }
    }
}

/// As [`map_each`], of a loop that is already compiled for wide vectors.
pub(super) struct Map<'s, F> {
    pub to: &'s mut [f32],
    pub from: &'s [f32],
    pub function: F,
}

impl<F: Fn(f32) -> f32> WideWork for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { to, from, function } = self;
        let (Ok(run), Ok(from_run)) = (whole_mut(to), whole(from)) else {
            return map_in_runs(to, from, function);
        };
        for (to, x) in run.iter_mut().zip(from_run) {
            *to = function(*x);
        }
    }
}

/// A loop over a block of another length: runs in wide vectors, and the rest of a block shorter than one in turn.
#[inline(never)]
fn map_in_runs(to: &mut [f32], from: &[f32], function: impl Fn(f32) -> f32) {
    let (runs, rest) = to.as_chunks_mut::<RUN>();
    let (from_runs, from_rest) = from.as_chunks::<RUN>();
    if !runs.is_empty() {
        widest(MapRuns(runs, from_runs, &function));
    }
    for (to, x) in rest.iter_mut().zip(from_rest) {
        *to = function(*x);
    }
}

/// The loop of [`map_in_runs`].
struct MapRuns<'s, F>(&'s mut [[f32; RUN]], &'s [[f32; RUN]], &'s F);

impl<F: Fn(f32) -> f32> WideWork for MapRuns<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.0.iter_mut().zip(self.1) {
            for (to, x) in to.iter_mut().zip(from) {
                *to = self.2(*x);
            }
        }
    }
}

/// A block as a run, if it is one.
#[inline(always)]
fn whole(block: &[f32]) -> Result<&[f32; RUN], TryFromSliceError> {
    block.try_into()
}

#[inline(always)]
fn whole_mut(block: &mut [f32]) -> Result<&mut [f32; RUN], TryFromSliceError> {
    block.try_into()
}

/// As [`zip_each`], of a loop that is already compiled for wide vectors.
pub(super) struct Zip<'s, F> {
    pub to: &'s mut [f32],
    pub from: (&'s [f32], &'s [f32]),
    pub function: F,
}

impl<F: Fn(f32, f32) -> f32> WideWork for Zip<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { to, from, function } = self;
        let (Ok(run), Ok(first), Ok(second)) = (whole_mut(to), whole(from.0), whole(from.1)) else {
            return zip_in_runs(to, from, function);
        };
        for ((to, a), b) in run.iter_mut().zip(first).zip(second) {
            *to = function(*a, *b);
        }
    }
}

/// As [`map_in_runs`].
#[inline(never)]
fn zip_in_runs(
    to: &mut [f32],
    (first, second): (&[f32], &[f32]),
    function: impl Fn(f32, f32) -> f32,
) {
    let (runs, rest) = to.as_chunks_mut::<RUN>();
    let (first_runs, first_rest) = first.as_chunks::<RUN>();
    let (second_runs, second_rest) = second.as_chunks::<RUN>();
    if !runs.is_empty() {
        widest(ZipRuns(runs, (first_runs, second_runs), &function));
    }
    for ((to, a), b) in rest.iter_mut().zip(first_rest).zip(second_rest) {
        *to = function(*a, *b);
    }
}

/// Runs of a signal.
type Runs<'s> = &'s [[f32; RUN]];

/// The loop of [`zip_in_runs`].
struct ZipRuns<'s, F>(&'s mut [[f32; RUN]], (Runs<'s>, Runs<'s>), &'s F);

impl<F: Fn(f32, f32) -> f32> WideWork for ZipRuns<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((to, first), second) in self.0.iter_mut().zip(self.1.0).zip(self.1.1) {
            for ((to, a), b) in to.iter_mut().zip(first).zip(second) {
                *to = self.2(*a, *b);
            }
        }
    }
}

/// The loop of [`add_each`].
struct Sum<'s> {
    to: &'s mut [f32],
    from: &'s [f32],
}

impl WideWork for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { to, from } = self;
        let (Ok(run), Ok(from_run)) = (whole_mut(to), whole(from)) else {
            return to.iter_mut().zip(from).for_each(|(to, x)| *to += x);
        };
        for (to, x) in run.iter_mut().zip(from_run) {
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

/// As [`map_in_turn`], a function of each two samples.
#[inline(always)]
pub(super) fn zip_in_turn(
    to: &mut [f32],
    (first, second): (&[f32], &[f32]),
    mut function: impl FnMut(f32, f32) -> f32,
) {
    let (fours, rest) = to.as_chunks_mut::<4>();
    let (first_fours, first_rest) = first.as_chunks::<4>();
    let (second_fours, second_rest) = second.as_chunks::<4>();
    for ((to, a), b) in fours.iter_mut().zip(first_fours).zip(second_fours) {
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            *to = function(*a, *b);
        }
    }
    for ((to, a), b) in rest.iter_mut().zip(first_rest).zip(second_rest) {
        *to = function(*a, *b);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_number_if_no_sample_has_other_bits() {
        let mut run = [-0.0; RUN];
        assert_eq!(only_number(&run).map(f32::to_bits), Some(1 << 31));
        for at in [0, 1, 17, RUN - 1] {
            run[at] = 0.0;
            assert_eq!(only_number(&run), None, "{at}");
            run[at] = -0.0;
        }
    }
}
