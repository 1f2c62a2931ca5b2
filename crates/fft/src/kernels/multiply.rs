//! The complex multiply-adds of a frequency-domain delay line, onto one sum.

use super::pass::{Pass, Stored};
use crate::Kernels;
use crate::real_fft::Packing;
use crate::simd::BLOCK;

impl Kernels {
    /// `sum += a * b`, bin by bin. All three have the same length, a whole number of blocks (32 floats). The real bins
    /// of block 0, which `packing` gives the place of, are multiplied as real numbers.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn multiply_add(self, sum: &mut [f32], a: &[f32], b: &[f32], packing: Packing) {
        self.multiply_add_many(sum, &[(a, b)], packing);
    }

    /// `sum += a * b` for each pair in order, with the bits of as many calls of [`Kernels::multiply_add`]. The sum
    /// stays in registers over eight pairs, so that it is read and written once instead of eight times.
    ///
    /// Real-time: hot.
    pub fn multiply_add_many(self, sum: &mut [f32], pairs: &[(&[f32], &[f32])], packing: Packing) {
        self.add_pairs(sum, pairs, Some(packing));
    }

    /// As [`Kernels::multiply_add_many`] for some neighbouring blocks of longer spectra. `packing` is given if block 0
    /// is among them, and `None` if it is not.
    ///
    /// Real-time: hot.
    pub fn multiply_add_blocks(
        self,
        sum: &mut [f32],
        pairs: &[(&[f32], &[f32])],
        packing: Option<Packing>,
    ) {
        self.add_pairs(sum, pairs, packing);
    }

    /// As [`Kernels::multiply_add_blocks`] with the second factors in half precision ([`crate::half`]). They are
    /// converted exactly, so that only their storage rounds.
    ///
    /// Real-time: hot.
    pub fn multiply_add_f16(
        self,
        sum: &mut [f32],
        pairs: &[(&[f32], &[u16])],
        packing: Option<Packing>,
    ) {
        self.add_pairs(sum, pairs, packing);
    }

    fn add_pairs<T: Stored>(
        self,
        sum: &mut [f32],
        mut pairs: &[(&[f32], &[T])],
        packing: Option<Packing>,
    ) {
        debug_assert!(sum.len().is_multiple_of(BLOCK), "whole blocks");
        while let Some(((a, b), _)) = pairs.split_first() {
            debug_assert!(
                a.len() == sum.len() && b.len() == sum.len(),
                "equal lengths"
            );
            let count = match pairs.len() {
                8.. => self.add_first::<T, 8>(sum, pairs, packing),
                4.. => self.add_first::<T, 4>(sum, pairs, packing),
                2.. => self.add_first::<T, 2>(sum, pairs, packing),
                _ => self.add_first::<T, 1>(sum, pairs, packing),
            };
            pairs = &pairs[count..];
        }
    }

    /// Adds the first `N` pairs, of which there are at least as many. Returns `N`.
    fn add_first<T: Stored, const N: usize>(
        self,
        sum: &mut [f32],
        pairs: &[(&[f32], &[T])],
        packing: Option<Packing>,
    ) -> usize {
        let pairs = &pairs[..N];
        let shortest = |len: usize, (a, b): &(&[f32], &[T])| len.min(a.len()).min(b.len());
        let len = pairs.iter().fold(sum.len(), shortest);
        let (inputs, filters) = (pairs.iter().map(|p| p.0), pairs.iter().map(|p| p.1));
        let sums = [sum.as_mut_ptr()];
        self.run(Pass::<T, N, 1>::new(
            sums,
            inputs,
            filters,
            (0, len),
            packing,
        ));
        N
    }
}
