//! [`Slices`]: filters one behind the other, computed a few frames at a time.
//!
//! A filter waits for its own sample before, and so does the next one. A whole block of the first, then a whole block of the second, is
//! twice the wait. In slices the processor begins the first filter's next slice while the second one waits within its own:
//!
//! ```text
//!   rpole~   0 1 2 3
//!   *~ 0.5    0 1 2 3
//!   cpole~     0 1 2 3        the numbers are slices
//! ```
//!
//! Each sample is computed as by the object alone, from the same numbers.

use super::kernel::{Kernel, Numbers};
use super::kernels;
use super::{Cut, LanePlace};
use crate::signal::BLOCK;
use crate::signal::chain::Chain;
use crate::signal::place::SignalObject;
use crate::signal::recursion::{Recursion, RecursionKind};
use rt::vectors::{WideWork, in_eights};
use std::marker::PhantomData;

/// Frames of a slice.
const SLICE: usize = 32;
/// Steps that are computed in slices together, at most.
const MOST: usize = 16;

/// Role of a step among those that are computed in slices.
#[derive(Clone, Copy)]
pub(in super::super) enum Sliced {
    /// A chain of sums and products.
    Chain,
    Filter(RecursionKind, LanePlace),
    /// Something else.
    No,
}

impl Sliced {
    /// Returns true if it waits for its own sample before.
    fn waits(&self) -> bool {
        matches!(self, Self::Filter(kind, _) if kind.waits())
    }
}

/// Steps that are computed in slices.
pub(in super::super) struct Slices(Box<[Sliced]>);

impl Slices {
    /// Finds steps that are worth it: from one that waits to another one, with nothing between that cannot be cut. Gives the place of the
    /// first, and the steps.
    pub(in super::super) fn find(steps: &[Sliced]) -> Vec<(usize, Self)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < steps.len() {
            let most = steps.len().min(at + MOST);
            let all = &steps[at..most];
            let cut = all.iter().position(|step| matches!(step, Sliced::No));
            let all = &all[..cut.unwrap_or(all.len())];
            let last = all.iter().rposition(Sliced::waits).unwrap_or(0);
            if last == 0 || !all[0].waits() {
                at += 1;
                continue;
            }
            found.push((at, Self(all[..=last].into())));
            at += last + 1;
        }
        found
    }

    /// Number of steps.
    pub(in super::super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns true if a block may be cut.
    pub(in super::super) fn fit(frames: usize) -> bool {
        frames.is_multiple_of(SLICE)
    }

    /// Computes a block, or those of a batch; `chain` gives the chain that a step is.
    ///
    /// Real-time: hot.
    #[inline(never)]
    pub(in super::super) fn run<'c>(
        &self,
        chain: impl Fn(usize) -> Option<&'c Chain>,
        objects: &mut [SignalObject],
        (blocks, rate): (&mut [Box<[f32]>], f32),
        cut: Cut,
    ) {
        let mut numbers = [const { Numbers::<1>::new() }; MOST];
        for (step, numbers) in self.0.iter().zip(&mut numbers) {
            if let Sliced::Filter(_, place) = step
                && let Some(found) = recursion(&objects[place.object], rate)
            {
                numbers.set(0, &found);
            }
        }
        for slice in 0..blocks[0].len() / SLICE {
            for (at, (step, numbers)) in self.0.iter().zip(&mut numbers).enumerate() {
                match step {
                    Sliced::Filter(kind, place) => {
                        filter(*kind, numbers, Slice(place, blocks, slice));
                    }
                    _ => {
                        if let Some(chain) = chain(at) {
                            in_eights(ChainSlice(chain, slice, objects, blocks));
                        }
                    }
                }
            }
            if cut == Cut::Blocks && (slice + 1) % (BLOCK / SLICE) == 0 {
                self.end_block(&mut numbers);
            }
        }
        for (step, numbers) in self.0.iter().zip(&numbers) {
            if let Sliced::Filter(_, place) = step {
                let object = &mut objects[place.object].object;
                object.set_recursion(numbers.state(0));
            }
        }
    }

    /// Ends a block of a batch.
    #[inline(always)]
    fn end_block(&self, numbers: &mut [Numbers<1>]) {
        for (step, numbers) in self.0.iter().zip(numbers) {
            if let Sliced::Filter(kind, _) = step {
                numbers.end_block(*kind);
            }
        }
    }
}

/// A slice of a chain.
struct ChainSlice<'r>(&'r Chain, usize, &'r [SignalObject], &'r mut [Box<[f32]>]);

impl WideWork for ChainSlice<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(chain, slice, objects, blocks) = self;
        chain.run_whole::<SLICE>(slice, objects, blocks);
    }
}

/// The numbers of a filter.
fn recursion(object: &SignalObject, rate: f32) -> Option<Recursion> {
    object.object.recursion(rate, Some(object.number(1)))
}

/// A slice of the signals of a filter, in the blocks of a row.
struct Slice<'s>(&'s LanePlace, &'s mut [Box<[f32]>], usize);

/// Computes a slice of a filter.
#[inline(always)]
fn filter(kind: RecursionKind, numbers: &mut Numbers<1>, slice: Slice<'_>) {
    match kind {
        RecursionKind::LowPass => run::<kernels::LowPass, 1>(numbers, slice),
        RecursionKind::HighPass => run::<kernels::HighPass, 1>(numbers, slice),
        RecursionKind::BandPass => run::<kernels::BandPass, 1>(numbers, slice),
        RecursionKind::Biquad => run::<kernels::Biquad, 1>(numbers, slice),
        RecursionKind::FixedPole => run::<kernels::FixedPole, 2>(numbers, slice),
        RecursionKind::RealPole => run::<kernels::RealPole, 2>(numbers, slice),
        RecursionKind::ComplexPole => run::<kernels::ComplexPole, 4>(numbers, slice),
        RecursionKind::RealZero => run::<kernels::RealZero, 2>(numbers, slice),
        RecursionKind::ReversedRealZero => run::<kernels::ReversedRealZero, 2>(numbers, slice),
        RecursionKind::ComplexZero => run::<kernels::ComplexZero, 4>(numbers, slice),
        RecursionKind::ReversedComplexZero => {
            run::<kernels::ReversedComplexZero, 4>(numbers, slice)
        }
        // Its poles are found for whole runs.
        RecursionKind::FollowedPole => {}
    }
}

#[inline(always)]
fn run<K: Kernel<S>, const S: usize>(numbers: &mut Numbers<1>, slice: Slice<'_>) {
    let Slice(place, blocks, slice) = slice;
    // Taken out meanwhile: each sample goes to its place at once, where the next filter finds it.
    let take = |outlet: Option<u32>, blocks: &mut [Box<[f32]>]| match outlet {
        Some(outlet) => std::mem::take(&mut blocks[outlet as usize]),
        None => Box::default(),
    };
    let mut first = take(place.outlets[0], blocks);
    let mut second = match K::OUTLETS {
        1 => Box::default(),
        _ => take(place.outlets[1], blocks),
    };
    let [mut unread, mut unread_too] = [[0.0; SLICE]; 2];
    let to = [
        first
            .as_chunks_mut()
            .0
            .get_mut(slice)
            .unwrap_or(&mut unread),
        second
            .as_chunks_mut()
            .0
            .get_mut(slice)
            .unwrap_or(&mut unread_too),
    ];
    let mut from = [&[0.0; SLICE]; S];
    for (from, inlet) in from.iter_mut().zip(place.inlets).take(K::INLETS) {
        if let Some(slice) = blocks[inlet as usize].as_chunks().0.get(slice) {
            *from = slice;
        }
    }
    match numbers.passes[0] {
        true => *to[0] = *from[0],
        false => in_eights(Alone::<K, S>(numbers, from, to, PhantomData)),
    }
    if let Some(outlet) = place.outlets[0] {
        blocks[outlet as usize] = first;
    }
    if let Some(outlet) = place.outlets[1]
        && K::OUTLETS == 2
    {
        blocks[outlet as usize] = second;
    }
}

/// A slice of a filter. A function of its own: what waits for the sample before wants its numbers in registers.
struct Alone<'s, K, const S: usize>(
    &'s mut Numbers<1>,
    [&'s [f32; SLICE]; S],
    [&'s mut [f32; SLICE]; 2],
    PhantomData<K>,
);

impl<K: Kernel<S>, const S: usize> WideWork for Alone<'_, K, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        K::run_alone(self.0, self.1, self.2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_reach_from_what_waits_to_what_waits() {
        let place = LanePlace::new(0, &[1], &[Some(2)]);
        let [pole, zero] = [RecursionKind::RealPole, RecursionKind::RealZero];
        let [pole, zero] = [pole, zero].map(|kind| Sliced::Filter(kind, place));
        let [chain, no] = [Sliced::Chain, Sliced::No];
        let found = |steps: &[Sliced]| {
            let found = Slices::find(steps);
            Vec::from_iter(found.iter().map(|(at, slices)| (*at, slices.count())))
        };
        assert_eq!(
            found(&[chain, pole, chain, zero, pole, zero, chain]),
            [(1, 4)]
        );
        assert_eq!(
            found(&[pole, no, pole, zero, chain, no, pole, pole]),
            [(6, 2)]
        );
        assert_eq!(found(&[pole; 20]), [(0, 16), (16, 4)]);
        assert!(found(&[]).is_empty());
    }
}
