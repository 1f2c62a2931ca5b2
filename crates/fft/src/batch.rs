//! Sixteen real transforms at once: each a complex one of half the length, whose spectrum is then taken apart.
//!
//! In time, frames 2n and 2n + 1 of sixteen channels are the real and imaginary parts of a block, just as they stand.

use crate::butterflies::{From, To};
use crate::complex::BLOCK;
use crate::complex::form::{BLOCKED, SWAPPED};
use crate::kernels::{Kernels, Work};
use crate::split::Split;
use crate::vector::Vector;
use crate::vertical::Vertical;

/// A transform and its inverse.
pub(crate) struct Batch {
    bins: usize,
    kernels: Kernels,
    inner: Vertical,
    split: Split,
}

impl Batch {
    /// *setup*
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Self {
        Self {
            bins,
            kernels,
            inner: Vertical::new(bins, kernels),
            split: Split::new(bins),
        }
    }

    /// *hot*
    pub(crate) fn forward(&self, time: &[f32], spectrum: &mut [f32]) {
        debug_assert!(time.len().min(spectrum.len()) >= self.bins * BLOCK);
        let from = From {
            at: time.as_ptr(),
            step: BLOCK,
        };
        let at = spectrum.as_mut_ptr();
        let to = To { at, step: BLOCK };
        // SAFETY: both slices have `bins` blocks (`RealFft` has compared), and are different ones.
        unsafe { self.inner.run::<BLOCKED, BLOCKED>(from, at, to) };
        self.kernels.run(Bins::<true> { plan: self, at });
    }

    /// *hot*
    pub(crate) fn inverse(&self, spectrum: &mut [f32], time: &mut [f32]) {
        debug_assert!(time.len().min(spectrum.len()) >= self.bins * BLOCK);
        let at = spectrum.as_mut_ptr();
        self.kernels.run(Bins::<false> { plan: self, at });
        let from = From { at, step: BLOCK };
        let at = time.as_mut_ptr();
        let to = To { at, step: BLOCK };
        // SAFETY: as for `forward`.
        unsafe { self.inner.run::<SWAPPED, SWAPPED>(from, at, to) };
    }
}

/// The complex spectrum at `at` becomes the real one, or back; `at` is good for all blocks.
///
/// 2026-11-21 Refused: taking bins apart within the last pass, while they are in the first cache. Slower by a sixth at
/// 128 bins, no faster at 4096.
struct Bins<'a, const FORWARD: bool> {
    plan: &'a Batch,
    at: *mut f32,
}

impl<const FORWARD: bool> Work for Bins<'_, FORWARD> {
    type Out = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: all blocks are good; the machine has `V`.
        unsafe {
            self.plan.split.ends::<V, FORWARD>(self.at);
            for bin in 1..self.plan.bins / 2 {
                self.plan.split.pair::<V, FORWARD>(self.at, bin);
            }
        }
    }
}
