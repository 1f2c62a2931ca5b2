//! Several outputs of a delay line in one pass over memory.
//!
//! A long delay line is bound by the bytes that it reads: each output takes all inputs and all filters. But most of the
//! next outputs' products are known already: output `n` takes input `n - p` times filter `p`, and so output `n + 1`
//! takes that same input times filter `p + 1`. Done together, both are read once.

use crate::complex::BLOCK;
use crate::kernels::{Kernels, Work};
use crate::multiply::Stored;
use crate::plan::Packing;
use crate::vector::{HALF, Vector};
use std::ops::Range;

/// How many floats of each spectrum are gone through at a time, so that what is needed again is still near.
const NEAR: usize = 1024;
/// How many inputs a pass takes.
const INPUTS: usize = 4;
/// The most outputs of a pass.
const OUTPUTS: usize = 4;
/// How many filters these need.
const FILTERS: usize = INPUTS + OUTPUTS - 1;

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
            let mut work = Pass::<T, N, K>::new(sums, len, packing);
            work.take(&inputs[first..][..N], &filters[first..][..N + K - 1], at);
            self.run(work);
        }
    }
}

/// `N` inputs onto `K` sums. The sums' pointers are good for `len` floats, a whole number of blocks, and each is
/// borrowed alone; so are the inputs' and the filters', `N` and `N + K - 1` of them.
struct Pass<T, const N: usize, const K: usize> {
    len: usize,
    sums: [*mut f32; K],
    inputs: [*const f32; N],
    filters: [*const T; FILTERS],
    packing: Option<Packing>,
}

impl<T: Stored, const N: usize, const K: usize> Pass<T, N, K> {
    fn new(sums: [*mut f32; K], len: usize, packing: Option<Packing>) -> Self {
        Self {
            len,
            sums,
            inputs: [std::ptr::null(); N],
            filters: [std::ptr::null(); FILTERS],
            packing,
        }
    }

    /// Takes the span's part of each.
    fn take(&mut self, inputs: &[&[f32]], filters: &[&[T]], at: usize) {
        for (to, from) in self.inputs.iter_mut().zip(inputs) {
            *to = from[at..at + self.len].as_ptr();
        }
        for (to, from) in self.filters.iter_mut().zip(filters) {
            *to = from[at..at + self.len].as_ptr();
        }
    }
}

impl<T: Stored, const N: usize, const K: usize> Work for Pass<T, N, K> {
    type Out = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let mut begin = 0;
        // SAFETY: blocks begin at multiples of their length below `len`; the machine has `V`.
        unsafe {
            let mut kept = [(0.0, 0.0); K];
            for (kept, sum) in kept.iter_mut().zip(self.sums) {
                *kept = (sum.read(), sum.add(HALF).read());
            }
            if self.packing == Some(Packing::Batch) {
                self.real_block::<V>();
                begin = BLOCK;
            }
            let mut at = begin;
            while at < self.len {
                self.block::<V>(at);
                at += BLOCK;
            }
            if self.packing == Some(Packing::Mono) {
                for (k, kept) in kept.into_iter().enumerate() {
                    self.real_lane::<V>(k, kept);
                }
            }
        }
    }
}

impl<T: Stored, const N: usize, const K: usize> Pass<T, N, K> {
    /// # Safety
    /// The machine has `V`; a block begins at `at`.
    #[inline(always)]
    unsafe fn block<V: Vector>(&self, at: usize) {
        let mut lane = at;
        while lane < at + HALF {
            // SAFETY: the caller's promise.
            unsafe {
                let zero = V::splat(0.0);
                let (mut re, mut im) = ([zero; K], [zero; K]);
                for k in 0..K {
                    re[k] = V::load(self.sums[k].add(lane));
                    im[k] = V::load(self.sums[k].add(lane + HALF));
                }
                for i in 0..N {
                    let a_re = V::load(self.inputs[i].add(lane));
                    let a_im = V::load(self.inputs[i].add(lane + HALF));
                    for k in 0..K {
                        let b_re = T::load::<V>(self.filters[i + k].add(lane));
                        let b_im = T::load::<V>(self.filters[i + k].add(lane + HALF));
                        re[k] = a_im.fnma(b_im, a_re.fma(b_re, re[k]));
                        im[k] = a_im.fma(b_re, a_re.fma(b_im, im[k]));
                    }
                }
                for k in 0..K {
                    re[k].store(self.sums[k].add(lane));
                    im[k].store(self.sums[k].add(lane + HALF));
                }
            }
            lane += V::LANES;
        }
    }

    /// Block 0 of a batch: all its values are real.
    ///
    /// # Safety
    /// The machine has `V`; there is a block.
    #[inline(always)]
    unsafe fn real_block<V: Vector>(&self) {
        let mut lane = 0;
        while lane < BLOCK {
            for k in 0..K {
                // SAFETY: the caller's promise.
                unsafe {
                    let sum = V::load(self.sums[k].add(lane));
                    self.real::<V>(k, lane, sum).store(self.sums[k].add(lane));
                }
            }
            lane += V::LANES;
        }
    }

    /// Lane 0 of block 0 of a mono spectrum, from what the sum had there before.
    ///
    /// # Safety
    /// The machine has `V`; there is a block.
    #[inline(always)]
    unsafe fn real_lane<V: Vector>(&self, k: usize, before: (f32, f32)) {
        // SAFETY: the caller's promise.
        unsafe {
            let re = self.real::<V>(k, 0, V::splat(before.0));
            let im = self.real::<V>(k, HALF, V::splat(before.1));
            self.sums[k].write(re.first());
            self.sums[k].add(HALF).write(im.first());
        }
    }

    /// `sum` and the products of real numbers at `lane`.
    ///
    /// # Safety
    /// The machine has `V`; there is a block, and `lane + V::LANES` is at most its length.
    #[inline(always)]
    unsafe fn real<V: Vector>(&self, k: usize, lane: usize, mut sum: V) -> V {
        for i in 0..N {
            // SAFETY: the caller's promise.
            unsafe {
                let b = T::load::<V>(self.filters[i + k].add(lane));
                sum = V::load(self.inputs[i].add(lane)).fma(b, sum);
            }
        }
        sum
    }
}
