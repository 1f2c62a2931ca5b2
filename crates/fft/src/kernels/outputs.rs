//! Several outputs of a delay line in one pass over memory.
//!
//! A long delay line is bound by the bytes that it reads: each output takes all inputs and all filters. But most of the
//! next outputs' products are known already: output `n` takes input `n - p` times filter `p`, and so output `n + 1`
//! takes that same input times filter `p + 1`. Done together, both are read once.

use super::pass::{Pass, Stored};
use crate::Kernels;
use crate::real_fft::Packing;
use crate::simd::BLOCK;
use std::ops::Range;

/// How many floats of each spectrum are gone through at a time, so that what is needed again is still near.
const NEAR: usize = 1024;
/// How many inputs a pass takes.
const INPUTS: usize = 4;
/// The most outputs of a pass.
const OUTPUTS: usize = 4;

impl Kernels {
    /// `sums[k] += inputs[i] * filters[i + k]` for every `k` and `i` of which there is such a filter; each sum adds its
    /// products in the order of the inputs, with the bits of as many calls of [`Kernels::multiply_add`]. Two to four
    /// sums bring most. All spectra have one length, a whole number of blocks; `packing` as for
    /// [`Kernels::multiply_add_blocks`].
    ///
    /// A delay line of P partitions with two sums, in every other period: `inputs` are the last P spectra, the newest
    /// first, and `filters` all partitions. The first sum is then whole; the second lacks what the next input brings,
    /// times filter 0.
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
        for at in (0..len).step_by(NEAR) {
            let span = (at, NEAR.min(len - at));
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

    /// A few sums over a span (its begin and its length) of all spectra, which are at least so long.
    fn group<T: Stored, const K: usize>(
        self,
        mut sums: [&mut [f32]; K],
        inputs: &[&[f32]],
        filters: &[&[T]],
        span: (usize, usize),
        packing: Option<Packing>,
    ) {
        // As long as every sum has filters for all inputs of a pass.
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

    /// The inputs of `range`, `N` at a time: it is a multiple of `N` long, and for each of them there are `K` filters.
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
