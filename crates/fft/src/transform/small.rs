//! The `realfft` crate as a back-end: channel by channel, converted to blocked spectra and back.

use crate::real_fft::{LANES, Packing};
use crate::simd::BLOCK;
use realfft::num_complex::Complex32;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// A transform and its inverse.
pub(crate) struct SmallFft {
    bins: usize,
    packing: Packing,
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
}

/// The parts of the scratch memory.
struct Rooms<'a> {
    time: &'a mut [f32],
    spectrum: &'a mut [Complex32],
    rest: &'a mut [Complex32],
}

impl SmallFft {
    pub(crate) fn new(bins: usize, packing: Packing) -> Self {
        let mut planner = RealFftPlanner::new();
        Self {
            bins,
            packing,
            forward: planner.plan_fft_forward(2 * bins),
            inverse: planner.plan_fft_inverse(2 * bins),
        }
    }

    pub(crate) fn scratch_len(&self) -> usize {
        let rest = self
            .forward
            .get_scratch_len()
            .max(self.inverse.get_scratch_len());
        2 * self.bins + 2 * (self.bins + 1) + 2 * rest
    }

    fn rooms<'a>(&self, scratch: &'a mut [f32]) -> Rooms<'a> {
        let (time, scratch) = scratch.split_at_mut(2 * self.bins);
        let (pairs, _) = scratch.as_chunks_mut::<2>();
        let (len, at) = (pairs.len(), pairs.as_mut_ptr());
        // SAFETY: `Complex32` is `repr(C)` of two floats and so lies in memory like an array of two; the new slice
        // takes the place of `pairs`.
        let complex = unsafe { std::slice::from_raw_parts_mut(at.cast::<Complex32>(), len) };
        let (spectrum, rest) = complex.split_at_mut(self.bins + 1);
        Rooms {
            time,
            spectrum,
            rest,
        }
    }

    pub(crate) fn forward(&self, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        let rooms = self.rooms(scratch);
        let rest = &mut rooms.rest[..self.forward.get_scratch_len()];
        for channel in 0..self.packing.channels() {
            match self.packing {
                Packing::Mono => rooms.time.copy_from_slice(time),
                Packing::Batch => {
                    for (to, frame) in rooms.time.iter_mut().zip(time.as_chunks::<LANES>().0) {
                        *to = frame[channel];
                    }
                }
            }
            let done = self
                .forward
                .process_with_scratch(rooms.time, rooms.spectrum, rest);
            debug_assert!(done.is_ok(), "the lengths are right");
            self.block(rooms.spectrum, spectrum, channel);
        }
    }

    pub(crate) fn inverse(&self, spectrum: &mut [f32], time: &mut [f32], scratch: &mut [f32]) {
        let rooms = self.rooms(scratch);
        let rest = &mut rooms.rest[..self.inverse.get_scratch_len()];
        for channel in 0..self.packing.channels() {
            self.unblock(spectrum, rooms.spectrum, channel);
            let done = self
                .inverse
                .process_with_scratch(rooms.spectrum, rooms.time, rest);
            debug_assert!(
                done.is_ok(),
                "the lengths are right, and both ends are real"
            );
            match self.packing {
                Packing::Mono => time.copy_from_slice(rooms.time),
                Packing::Batch => {
                    for (frame, from) in
                        time.as_chunks_mut::<LANES>().0.iter_mut().zip(&*rooms.time)
                    {
                        frame[channel] = *from;
                    }
                }
            }
        }
    }

    /// `M + 1` bins to blocks.
    fn block(&self, bins: &[Complex32], spectrum: &mut [f32], channel: usize) {
        let blocks = spectrum.as_chunks_mut::<BLOCK>().0;
        match self.packing {
            Packing::Mono => {
                for (block, bins) in blocks.iter_mut().zip(bins.as_chunks::<LANES>().0) {
                    let (re, im) = block.split_at_mut(LANES);
                    for ((re, im), bin) in re.iter_mut().zip(im).zip(bins) {
                        (*re, *im) = (bin.re, bin.im);
                    }
                }
            }
            Packing::Batch => {
                for (block, bin) in blocks.iter_mut().zip(bins) {
                    (block[channel], block[LANES + channel]) = (bin.re, bin.im);
                }
            }
        }
        if let (Some(block), Some(last)) = (blocks.first_mut(), bins.last()) {
            block[LANES + channel] = last.re;
        }
    }

    /// Blocks to `M + 1` bins.
    fn unblock(&self, spectrum: &[f32], bins: &mut [Complex32], channel: usize) {
        let blocks = spectrum.as_chunks::<BLOCK>().0;
        match self.packing {
            Packing::Mono => {
                for (block, bins) in blocks.iter().zip(bins.as_chunks_mut::<LANES>().0) {
                    let (re, im) = block.split_at(LANES);
                    for ((re, im), bin) in re.iter().zip(im).zip(bins) {
                        *bin = Complex32::new(*re, *im);
                    }
                }
            }
            Packing::Batch => {
                for (block, bin) in blocks.iter().zip(&mut *bins) {
                    *bin = Complex32::new(block[channel], block[LANES + channel]);
                }
            }
        }
        if let [first, .., last] = bins {
            *last = Complex32::new(first.im, 0.0);
            first.im = 0.0;
        }
    }
}
