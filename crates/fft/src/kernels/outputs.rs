//! Several outputs of a delay line in one pass over memory.
//!
//! The speed of a long delay line is limited by memory bandwidth: each output reads all inputs and all filters. But most
//! products of the next outputs use inputs that are known already: output `n` needs input `n - p` times filter `p`, and
//! output `n + 1` needs the same input times filter `p + 1`. Computed together, both are read once.

use super::pass::{Pass, Stored};
use crate::Kernels;
use crate::real_fft::Packing;
use crate::simd::BLOCK;
use std::ops::Range;

/// Floats of each spectrum that all passes process before the next ones, so that they stay in the first-level cache.
const SPAN: usize = 1024;
/// Inputs of a pass.
const INPUTS: usize = 4;
/// The most sums of a pass.
const OUTPUTS: usize = 4;

impl Kernels {
    /// `sums[k] += inputs[i] * filters[i + k]` for every `k` and `i` of which there is such a filter; each sum adds its
    /// products in the order of the inputs, with the bits of as many calls of [`Kernels::multiply_add`]. Two to four
    /// sums save most. All spectra have one length, a whole number of blocks; `packing` as for
    /// [`Kernels::multiply_add_blocks`].
    ///
    /// Example: a delay line of P partitions with two sums, in every other period. `inputs` are the last P spectra, the
    /// newest first, and `filters` are all partitions. Then the first sum is complete; the second lacks only the product
    /// of the next input and filter 0.
    ///
    /// Real-time: hot.
    pub fn multiply_add_outputs(
        self,
        sums: &mut [&mut [f32]],
        inputs: &[&[f32]],
        filters: &[&[f32]],
        packing: Option<Packing>,
    ) {
        self.ahead(sums, inputs, filters, packing);
    }

    /// As [`Kernels::multiply_add_outputs`] with filters in half precision ([`crate::half`]).
    ///
    /// Real-time: hot.
    pub fn multiply_add_outputs_f16(
        self,
        sums: &mut [&mut [f32]],
        inputs: &[&[f32]],
        filters: &[&[u16]],
        packing: Option<Packing>,
    ) {
        self.ahead(sums, inputs, filters, packing);
    }

    fn ahead<T: Stored>(
        self,
        sums: &mut [&mut [f32]],
        inputs: &[&[f32]],
        filters: &[&[T]],
        packing: Option<Packing>,
    ) {
        let len = sums.iter().map(|sum| sum.len());
        let len = len.chain(inputs.iter().map(|input| input.len()));
        let len = len.chain(filters.iter().map(|filter| filter.len()));
        let len = len.min().unwrap_or(0) / BLOCK * BLOCK;
        for at in (0..len).step_by(SPAN) {
            let span = (at, SPAN.min(len - at));
            let packing = packing.filter(|_| at == 0);
            for (group, sums) in sums.chunks_mut(OUTPUTS).enumerate() {
                let filters = filters.get(group * OUTPUTS..).unwrap_or_default();
                match sums {
                    [a, b, c, d] => {
                        self.group([&mut a[..], b, c, d], inputs, filters, span, packing)
                    }
                    [a, b, c] => self.group([&mut a[..], b, c], inputs, filters, span, packing),
                    [a, b] => self.group([&mut a[..], b], inputs, filters, span, packing),
                    [a] => self.one([a], inputs, filters, span, packing),
                    _ => {}
                }
            }
        }
    }

    /// A few sums over a span (offset and length) of all spectra, which are at least as long.
    fn group<T: Stored, const K: usize>(
        self,
        mut sums: [&mut [f32]; K],
        inputs: &[&[f32]],
        filters: &[&[T]],
        span: (usize, usize),
        packing: Option<Packing>,
    ) {
        // Inputs for which every sum has a filter.
        let whole = inputs.len().min((filters.len() + 1).saturating_sub(K));
        let fours = whole / INPUTS * INPUTS;
        self.passes::<T, INPUTS, K>(&mut sums, (inputs, filters), 0..fours, span, packing);
        self.passes::<T, 1, K>(&mut sums, (inputs, filters), fours..whole, span, packing);
        // The last inputs have no filters for the later sums.
        for (k, sum) in sums.into_iter().enumerate() {
            let rest = filters.get(whole + k..).unwrap_or_default();
            self.one([sum], &inputs[whole..], rest, span, packing);
        }
    }

    /// The same for one sum: as many inputs as there are filters.
    fn one<T: Stored>(
        self,
        mut sum: [&mut [f32]; 1],
        inputs: &[&[f32]],
        filters: &[&[T]],
        span: (usize, usize),
        packing: Option<Packing>,
    ) {
        let all = inputs.len().min(filters.len());
        let (fours, twos) = (all / INPUTS * INPUTS, all / 2 * 2);
        let of = (inputs, filters);
        self.passes::<T, INPUTS, 1>(&mut sum, of, 0..fours, span, packing);
        self.passes::<T, 2, 1>(&mut sum, of, fours..twos, span, packing);
        self.passes::<T, 1, 1>(&mut sum, of, twos..all, span, packing);
    }

    /// The inputs of `range`, `N` at a time. The length of `range` is a multiple of `N`, and each input has `K` filters.
    fn passes<T: Stored, const N: usize, const K: usize>(
        self,
        sums: &mut [&mut [f32]; K],
        (inputs, filters): (&[&[f32]], &[&[T]]),
        range: Range<usize>,
        (at, len): (usize, usize),
        packing: Option<Packing>,
    ) {
        for first in range.step_by(N) {
            let sums = std::array::from_fn(|k| sums[k][at..at + len].as_mut_ptr());
            let inputs = inputs[first..][..N].iter().copied();
            let filters = filters[first..][..N + K - 1].iter().copied();
            self.run(Pass::<T, N, K>::new(
                sums,
                inputs,
                filters,
                (at, len),
                packing,
            ));
        }
    }
}
