//! [`SmallFft`]: one channel and few bins, by the crate `realfft`, with its spectra converted to blocks and back.
//!
//! Columns and rows of [`FourStep`](super::four_step::FourStep) need 256 bins at least. Below that the library is fast, and
//! its bits are those that short partitions have always had.

use crate::real_fft::LANES;
use crate::simd::BLOCK;
use realfft::num_complex::Complex32;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// A transform of one channel and its inverse.
pub(crate) struct SmallFft {
    bins: usize,
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
}

/// The parts of the scratch memory.
struct Scratch<'a> {
    /// A copy of the values in time, which the library destroys.
    time: &'a mut [f32],
    /// `bins + 1` bins as the library has them.
    spectrum: &'a mut [Complex32],
    /// The library's own.
    rest: &'a mut [Complex32],
}

impl SmallFft {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize) -> Self {
        let mut planner = RealFftPlanner::new();
        Self {
            bins,
            forward: planner.plan_fft_forward(2 * bins),
            inverse: planner.plan_fft_inverse(2 * bins),
        }
    }

    /// Length of the scratch memory, in floats.
    pub(crate) fn scratch_len(&self) -> usize {
        let rest = self
            .forward
            .get_scratch_len()
            .max(self.inverse.get_scratch_len());
        2 * self.bins + 2 * (self.bins + 1) + 2 * rest
    }

    fn parts<'a>(&self, scratch: &'a mut [f32]) -> Scratch<'a> {
        let (time, scratch) = scratch.split_at_mut(2 * self.bins);
        let (pairs, _) = scratch.as_chunks_mut::<2>();
        let (len, at) = (pairs.len(), pairs.as_mut_ptr());
        // SAFETY: `Complex32` is `repr(C)` of two floats and so has the layout of an array of two; the new slice
        // takes the place of `pairs`.
        let complex = unsafe { std::slice::from_raw_parts_mut(at.cast::<Complex32>(), len) };
        let (spectrum, rest) = complex.split_at_mut(self.bins + 1);
        Scratch {
            time,
            spectrum,
            rest,
        }
    }

    /// Real-time: hot.
    pub(crate) fn forward(&self, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        let parts = self.parts(scratch);
        parts.time.copy_from_slice(time);
        let rest = &mut parts.rest[..self.forward.get_scratch_len()];
        let done = self
            .forward
            .process_with_scratch(parts.time, parts.spectrum, rest);
        debug_assert!(done.is_ok(), "the lengths are exact");
        to_blocks(parts.spectrum, spectrum);
    }

    /// Real-time: hot.
    pub(crate) fn inverse(&self, spectrum: &[f32], time: &mut [f32], scratch: &mut [f32]) {
        let parts = self.parts(scratch);
        from_blocks(spectrum, parts.spectrum);
        let rest = &mut parts.rest[..self.inverse.get_scratch_len()];
        let done = self
            .inverse
            .process_with_scratch(parts.spectrum, time, rest);
        debug_assert!(done.is_ok(), "exact lengths, first and last bin real");
    }
}

/// Converts `bins + 1` bins to blocks.
fn to_blocks(bins: &[Complex32], spectrum: &mut [f32]) {
    let blocks = spectrum.as_chunks_mut::<BLOCK>().0;
    for (block, bins) in blocks.iter_mut().zip(bins.as_chunks::<LANES>().0) {
        let (re, im) = block.split_at_mut(LANES);
        for ((re, im), bin) in re.iter_mut().zip(im).zip(bins) {
            (*re, *im) = (bin.re, bin.im);
        }
    }
    if let (Some(block), Some(last)) = (blocks.first_mut(), bins.last()) {
        block[LANES] = last.re;
    }
}

/// Converts blocks to `bins + 1` bins.
fn from_blocks(spectrum: &[f32], bins: &mut [Complex32]) {
    let blocks = spectrum.as_chunks::<BLOCK>().0;
    for (block, bins) in blocks.iter().zip(bins.as_chunks_mut::<LANES>().0) {
        let (re, im) = block.split_at(LANES);
        for ((re, im), bin) in re.iter().zip(im).zip(bins) {
            *bin = Complex32::new(*re, *im);
        }
    }
    if let [first, .., last] = bins {
        *last = Complex32::new(first.im, 0.0);
        first.im = 0.0;
    }
}
