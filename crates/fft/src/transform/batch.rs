//! Sixteen real transforms at once: each a complex one of half the length, whose spectrum is then taken apart.
//!
//! In time, frames 2n and 2n + 1 of sixteen channels are the real and imaginary parts of a block, just as they stand.

use crate::transform::butterflies::{From, To};
use crate::simd::BLOCK;
use crate::simd::form::{BLOCKED, SWAPPED};
use crate::kernels::Kernels;
use crate::simd::Kernel;
use crate::transform::split::Split;
use crate::simd::Vector;
use crate::transform::lanes::Vertical;
use std::ops::Range;

/// How heavy a piece is at most, but for its last step, as [`Batch::weight`] counts.
const PIECE: u32 = 12_000;
/// What a pair of bins weighs.
const PAIR: u32 = 22;

/// A transform and its inverse.
pub(crate) struct Batch {
    bins: usize,
    kernels: Kernels,
    inner: Vertical,
    split: Split,
    /// Where each piece of the complex transform ends, in steps, and its weight.
    steps: Vec<(usize, u32)>,
    /// Where each piece of taking the bins apart ends, in bins.
    splits: Vec<usize>,
}

/// What a piece does.
enum Piece {
    Steps(Range<usize>),
    Bins(Range<usize>),
}

impl Batch {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Self {
        let inner = Vertical::new(bins, kernels);
        let mut steps: Vec<(usize, u32)> = Vec::new();
        for step in 0..inner.steps() {
            match steps.last_mut() {
                Some((end, weight)) if *weight + inner.weight(step) <= PIECE => {
                    *end += 1;
                    *weight += inner.weight(step);
                }
                _ => steps.push((step + 1, inner.weight(step))),
            }
        }
        let each = (bins / 2)
            .min(PIECE as usize / PAIR as usize / 2)
            .next_power_of_two();
        Self {
            bins,
            kernels,
            inner,
            split: Split::new(bins),
            steps,
            splits: (1..=bins / 2 / each).map(|i| i * each).collect(),
        }
    }

    /// How many pieces there are, either way.
    pub(crate) fn pieces(&self) -> usize {
        self.steps.len() + self.splits.len()
    }

    /// Roughly how many instructions piece `i` is, with a vector as wide as half a block.
    pub(crate) fn weight(&self, i: usize, forward: bool) -> u32 {
        match self.piece(i, forward) {
            Piece::Steps(steps) => steps.map(|step| self.inner.weight(step)).sum(),
            Piece::Bins(bins) => bins.len() as u32 * PAIR,
        }
    }

    fn piece(&self, i: usize, forward: bool) -> Piece {
        let i = match forward {
            true => i,
            false => (i + self.steps.len()) % self.pieces(),
        };
        match i.checked_sub(self.steps.len()) {
            None => {
                let begin = i.checked_sub(1).map_or(0, |before| self.steps[before].0);
                Piece::Steps(begin..self.steps[i].0)
            }
            Some(i) => {
                let begin = i.checked_sub(1).map_or(0, |before| self.splits[before]);
                Piece::Bins(begin..self.splits[i])
            }
        }
    }

    /// All pieces.
    ///
    /// Real-time: hot.
    pub(crate) fn forward(&self, time: &[f32], spectrum: &mut [f32]) {
        self.forward_steps(0..self.inner.steps(), time, spectrum);
        self.bins::<true>(0..self.bins / 2, spectrum);
    }

    /// All pieces.
    ///
    /// Real-time: hot.
    pub(crate) fn inverse(&self, spectrum: &mut [f32], time: &mut [f32]) {
        self.bins::<false>(0..self.bins / 2, spectrum);
        self.inverse_steps(0..self.inner.steps(), spectrum, time);
    }

    /// Real-time: hot.
    pub(crate) fn forward_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32]) {
        match self.piece(i, true) {
            Piece::Steps(steps) => self.forward_steps(steps, time, spectrum),
            Piece::Bins(bins) => self.bins::<true>(bins, spectrum),
        }
    }

    /// Real-time: hot.
    pub(crate) fn inverse_piece(&self, i: usize, spectrum: &mut [f32], time: &mut [f32]) {
        match self.piece(i, false) {
            Piece::Steps(steps) => self.inverse_steps(steps, spectrum, time),
            Piece::Bins(bins) => self.bins::<false>(bins, spectrum),
        }
    }

    fn forward_steps(&self, steps: Range<usize>, time: &[f32], spectrum: &mut [f32]) {
        debug_assert!(time.len().min(spectrum.len()) >= self.bins * BLOCK);
        let from = From {
            at: time.as_ptr(),
            step: BLOCK,
        };
        let at = spectrum.as_mut_ptr();
        let to = To { at, step: BLOCK };
        // SAFETY: both slices have `bins` blocks (`RealFft` has compared), and are different ones.
        unsafe { self.inner.run::<BLOCKED, BLOCKED>(steps, from, at, to) };
    }

    fn inverse_steps(&self, steps: Range<usize>, spectrum: &[f32], time: &mut [f32]) {
        debug_assert!(time.len().min(spectrum.len()) >= self.bins * BLOCK);
        let from = From {
            at: spectrum.as_ptr(),
            step: BLOCK,
        };
        let at = time.as_mut_ptr();
        let to = To { at, step: BLOCK };
        // SAFETY: as for `forward_steps`.
        unsafe { self.inner.run::<SWAPPED, SWAPPED>(steps, from, at, to) };
    }

    /// Takes bins apart, or puts them together, with their mirror images.
    fn bins<const FORWARD: bool>(&self, bins: Range<usize>, spectrum: &mut [f32]) {
        debug_assert!(spectrum.len() >= self.bins * BLOCK && bins.end <= self.bins / 2);
        self.kernels.run(Bins::<FORWARD> {
            plan: self,
            at: spectrum.as_mut_ptr(),
            bins,
        });
    }
}

/// The complex spectrum at `at` becomes the real one, or back, in some bins of the lower half; `at` is good for
/// all blocks.
///
/// 2026-11-21 Refused: taking bins apart within the last pass, while they are in the first cache. Slower by a sixth at
/// 128 bins, no faster at 4096.
struct Bins<'a, const FORWARD: bool> {
    plan: &'a Batch,
    at: *mut f32,
    bins: Range<usize>,
}

impl<const FORWARD: bool> Kernel for Bins<'_, FORWARD> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: all blocks are good; the machine has `V`.
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
