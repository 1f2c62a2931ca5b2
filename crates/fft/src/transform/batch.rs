//! Sixteen real transforms at once: each a complex one of half the length, whose spectrum is then taken apart.
//!
//! In time, frames 2n and 2n + 1 of sixteen channels are block n: the even frame is the real parts, the odd frame the
//! imaginary parts, just as they are in memory. So reading costs nothing. [`RealSplit`] does the rest.

use crate::kernels::Kernels;
use crate::simd::form::{BLOCKED, SWAPPED};
use crate::simd::{BLOCK, Kernel, Vector};
use crate::transform::butterflies::{BlockSource, BlockTarget};
use crate::transform::lanes::LaneFft;
use crate::transform::split::RealSplit;
use std::ops::Range;

/// The greatest cost of a piece without its last step, as [`BatchFft::piece_cost`] counts.
const MAX_PIECE_COST: u32 = 12_000;
/// Instructions per pair of bins that is taken apart.
const PAIR_COST: u32 = 22;

/// A transform of sixteen channels and its inverse.
pub(crate) struct BatchFft {
    bins: usize,
    kernels: Kernels,
    inner: LaneFft,
    split: RealSplit,
    /// End of each piece of the complex transform, in steps.
    step_ends: Vec<usize>,
    /// End of each piece that takes bins apart, in bins.
    bin_ends: Vec<usize>,
}

/// A piece of work.
enum Piece {
    /// Steps of the complex transform.
    Steps(Range<usize>),
    /// Bins to be taken apart, or put together, with their mirror images.
    Bins(Range<usize>),
}

impl BatchFft {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Self {
        let inner = LaneFft::new(bins, kernels);
        let (mut step_ends, mut cost) = (Vec::new(), 0);
        for step in 0..inner.steps() {
            match step_ends.last_mut() {
                Some(end) if cost + inner.cost(step) <= MAX_PIECE_COST => {
                    *end = step + 1;
                    cost += inner.cost(step);
                }
                _ => {
                    step_ends.push(step + 1);
                    cost = inner.cost(step);
                }
            }
        }
        let each = (bins / 2)
            .min(MAX_PIECE_COST as usize / PAIR_COST as usize / 2)
            .next_power_of_two();
        Self {
            bins,
            kernels,
            inner,
            split: RealSplit::new(bins),
            step_ends,
            bin_ends: (1..=bins / 2 / each).map(|i| i * each).collect(),
        }
    }

    /// Number of pieces in either direction.
    pub(crate) fn pieces(&self) -> usize {
        self.step_ends.len() + self.bin_ends.len()
    }

    /// Cost of piece `i`, roughly its instructions with vectors of sixteen floats.
    pub(crate) fn piece_cost(&self, i: usize, forward: bool) -> u32 {
        match self.piece(i, forward) {
            Piece::Steps(steps) => steps.map(|step| self.inner.cost(step)).sum(),
            Piece::Bins(bins) => bins.len() as u32 * PAIR_COST,
        }
    }

    /// Piece `i`: steps, then bins if forward; bins, then steps if not.
    fn piece(&self, i: usize, forward: bool) -> Piece {
        let i = match forward {
            true => i,
            false => (i + self.step_ends.len()) % self.pieces(),
        };
        let range = |ends: &[usize], i: usize| {
            let begin = i.checked_sub(1).map_or(0, |before| ends[before]);
            begin..ends[i]
        };
        match i.checked_sub(self.step_ends.len()) {
            None => Piece::Steps(range(&self.step_ends, i)),
            Some(i) => Piece::Bins(range(&self.bin_ends, i)),
        }
    }

    /// Real-time: hot.
    pub(crate) fn forward_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32]) {
        match self.piece(i, true) {
            Piece::Steps(steps) => self.steps::<BLOCKED>(steps, time, spectrum),
            Piece::Bins(bins) => self.bins::<true>(bins, spectrum),
        }
    }

    /// Real-time: hot.
    pub(crate) fn inverse_piece(&self, i: usize, spectrum: &mut [f32], time: &mut [f32]) {
        match self.piece(i, false) {
            Piece::Steps(steps) => self.steps::<SWAPPED>(steps, spectrum, time),
            Piece::Bins(bins) => self.bins::<false>(bins, spectrum),
        }
    }

    /// Some steps of the complex transform, between blocks of form `FORM`.
    fn steps<const FORM: u8>(&self, steps: Range<usize>, from: &[f32], to: &mut [f32]) {
        assert!(from.len().min(to.len()) >= self.bins * BLOCK);
        let from = BlockSource::new(from.as_ptr(), BLOCK);
        let at = to.as_mut_ptr();
        let to = BlockTarget::new(at, BLOCK);
        // SAFETY: both slices have `bins` blocks, and are different ones.
        unsafe { self.inner.run::<FORM, FORM>(steps, from, at, to) };
    }

    /// Takes bins apart, or puts them together, with their mirror images.
    fn bins<const FORWARD: bool>(&self, bins: Range<usize>, spectrum: &mut [f32]) {
        assert!(spectrum.len() >= self.bins * BLOCK && bins.end <= self.bins / 2);
        self.kernels.run(SplitBins::<FORWARD> {
            plan: self,
            at: spectrum.as_mut_ptr(),
            bins,
        });
    }
}

/// The complex spectrum at `at` becomes the real one, or back, in some bins of the lower half; `at` is valid for
/// all blocks.
///
/// 2026-11-21 Refused: taking bins apart within the last pass, while they are in the first cache. Slower by a sixth at
/// 128 bins, no faster at 4096.
struct SplitBins<'a, const FORWARD: bool> {
    plan: &'a BatchFft,
    at: *mut f32,
    bins: Range<usize>,
}

impl<const FORWARD: bool> Kernel for SplitBins<'_, FORWARD> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: all blocks are valid; the machine has `V`.
        unsafe {
            if self.bins.start == 0 {
                self.plan.split.ends::<V, FORWARD>(self.at);
            }
            for bin in self.bins.start.max(1)..self.bins.end {
                self.plan.split.pair::<V, FORWARD>(self.at, bin);
            }
        }
    }
}
