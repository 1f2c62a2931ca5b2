//! Sixteen real transforms at once: each a complex one of half the length, whose spectrum is then taken apart.
//!
//! In time, frames 2n and 2n + 1 of sixteen channels are the real and imaginary parts of a block, just as they stand.

use crate::butterflies::{From, To};
use crate::complex::form::{BLOCKED, SWAPPED};
use crate::complex::{BLOCK, Complex};
use crate::kernels::{Kernels, Work};
use crate::turn::turn;
use crate::vector::{HALF, Vector};
use crate::vertical::Vertical;

/// A transform and its inverse.
pub(crate) struct Batch {
    bins: usize,
    kernels: Kernels,
    inner: Vertical,
    /// For bins 1 .. `bins / 2`: half of -i exp(-pi i k / bins).
    table: Vec<f32>,
}

impl Batch {
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Self {
        let factor = |bin: usize| {
            let (re, im) = turn(bin, 2 * bins);
            [(im / 2.0) as f32, (-re / 2.0) as f32]
        };
        Self {
            bins,
            kernels,
            inner: Vertical::new(bins, kernels),
            table: (0..bins / 2).flat_map(factor).collect(),
        }
    }

    pub(crate) fn forward(&self, time: &[f32], spectrum: &mut [f32]) {
        debug_assert!(time.len().min(spectrum.len()) >= self.bins * BLOCK);
        let from = From {
            at: time.as_ptr(),
            step: BLOCK,
        };
        let at = spectrum.as_mut_ptr();
        let to = To { at, step: BLOCK };
        // SAFETY: both slices have `bins` blocks, and are different ones.
        unsafe { self.inner.run::<BLOCKED, BLOCKED>(from, at, to) };
        self.kernels.run(Split::<true> { plan: self, at });
    }

    pub(crate) fn inverse(&self, spectrum: &mut [f32], time: &mut [f32]) {
        debug_assert!(time.len().min(spectrum.len()) >= self.bins * BLOCK);
        let at = spectrum.as_mut_ptr();
        self.kernels.run(Split::<false> { plan: self, at });
        let from = From { at, step: BLOCK };
        let at = time.as_mut_ptr();
        let to = To { at, step: BLOCK };
        // SAFETY: both slices have `bins` blocks, and are different ones.
        unsafe { self.inner.run::<SWAPPED, SWAPPED>(from, at, to) };
    }
}

/// The complex spectrum at `at` becomes the real one's, or back; `at` is good for all blocks.
struct Split<'a, const FORWARD: bool> {
    plan: &'a Batch,
    at: *mut f32,
}

impl<const FORWARD: bool> Work for Split<'_, FORWARD> {
    type Out = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let bins = self.plan.bins;
        // SAFETY: all blocks are good; the table has `bins / 2` factors; the machine has `V`.
        unsafe {
            let (half, two) = (V::splat(0.5), V::splat(2.0));
            let middle = self.at.add(bins / 2 * BLOCK);
            let mut lane = 0;
            while lane < HALF {
                let ends = Complex::<V>::load::<BLOCKED>(self.at, lane);
                ends.ends().store::<BLOCKED>(self.at, lane);
                let value = Complex::<V>::load::<BLOCKED>(middle, lane);
                value.middle::<FORWARD>().store::<BLOCKED>(middle, lane);
                lane += V::LANES;
            }
            for bin in 1..bins / 2 {
                let low = self.at.add(bin * BLOCK);
                let high = self.at.add((bins - bin) * BLOCK);
                let factor = Complex::<V>::splat(self.plan.table.as_ptr().add(2 * bin));
                let mut lane = 0;
                while lane < HALF {
                    let (a, b) = (
                        Complex::load::<BLOCKED>(low, lane),
                        Complex::load::<BLOCKED>(high, lane),
                    );
                    let (a, b) = if FORWARD {
                        a.apart(b, factor, half)
                    } else {
                        a.together(b, factor, two)
                    };
                    a.store::<BLOCKED>(low, lane);
                    b.store::<BLOCKED>(high, lane);
                    lane += V::LANES;
                }
            }
        }
    }
}
