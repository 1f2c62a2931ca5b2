//! [`Pass`]: the inner loop of a frequency-domain delay line.
//!
//! A pass adds the products of `N` inputs and `N + K - 1` filters to `K` sums, `sums[k] += inputs[i] * filters[i + k]`.
//! With `N` 4 and `K` 2:
//!
//! ```text
//!             filters[0] [1] [2] [3] [4]
//!  inputs[0]      s0     s1               s0: the sum of this period
//!  inputs[1]             s0  s1           s1: what the next period's sum needs of the same inputs
//!  inputs[2]                 s0  s1
//!  inputs[3]                     s0  s1
//! ```
//!
//! The sums stay in registers over all inputs of a pass. Each sum adds its products in the order of the inputs, by
//! [`Complex::add_product`]. So the bits do not depend on `N`, `K` or the division into passes.

use crate::real_fft::Packing;
use crate::simd::{BLOCK, Complex, HALF, Kernel, Vector, form::BLOCKED};

/// The most filters of a pass.
const MAX_FILTERS: usize = 8;

/// A number format of filters.
pub(super) trait Stored: Copy {
    /// Reads as many values as `V` has lanes.
    ///
    /// # Safety
    /// The machine has `V`; the values are valid to read.
    unsafe fn load<V: Vector>(from: *const Self) -> V;
}

impl Stored for f32 {
    #[inline(always)]
    unsafe fn load<V: Vector>(from: *const Self) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load(from) }
    }
}

/// Half precision: converted exactly, so that only the storage rounds.
impl Stored for u16 {
    #[inline(always)]
    unsafe fn load<V: Vector>(from: *const Self) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load_half(from) }
    }
}

/// `N` inputs onto `K` sums. The pointers are valid for `len` values, a whole number of blocks; each sum is borrowed
/// exclusively. There are `N + K - 1` filters.
pub(super) struct Pass<T, const N: usize, const K: usize> {
    len: usize,
    sums: [*mut f32; K],
    inputs: [*const f32; N],
    filters: [*const T; MAX_FILTERS],
    /// Packing of block 0 if it is among the blocks of the pass.
    packing: Option<Packing>,
}

impl<T: Stored, const N: usize, const K: usize> Pass<T, N, K> {
    /// A pass over values `at .. at + len` of all slices, which have at least as many.
    pub(super) fn new<'a>(
        sums: [*mut f32; K],
        inputs: impl Iterator<Item = &'a [f32]>,
        filters: impl Iterator<Item = &'a [T]>,
        (at, len): (usize, usize),
        packing: Option<Packing>,
    ) -> Self
    where
        T: 'a,
    {
        let mut pass = Self {
            len: len / BLOCK * BLOCK,
            sums,
            inputs: [std::ptr::null(); N],
            filters: [std::ptr::null(); MAX_FILTERS],
            packing,
        };
        for (to, from) in pass.inputs.iter_mut().zip(inputs) {
            *to = from[at..at + len].as_ptr();
        }
        for (to, from) in pass.filters[..N + K - 1].iter_mut().zip(filters) {
            *to = from[at..at + len].as_ptr();
        }
        pass
    }
}

impl<T: Stored, const N: usize, const K: usize> Kernel for Pass<T, N, K> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        if self.len == 0 {
            return;
        }
        // SAFETY: blocks begin at multiples of their length below `len`; the machine has `V`.
        unsafe {
            let mut before = [(0.0, 0.0); K];
            for (before, sum) in before.iter_mut().zip(self.sums) {
                *before = (sum.read(), sum.add(HALF).read());
            }
            match self.packing {
                Some(Packing::Batch) => self.real_block::<V>(),
                Some(Packing::Mono) | None => self.block::<V>(0),
            }
            for at in (BLOCK..self.len).step_by(BLOCK) {
                self.block::<V>(at);
            }
            if self.packing == Some(Packing::Mono) {
                for (k, before) in before.into_iter().enumerate() {
                    self.real_lane::<V>(k, before);
                }
            }
        }
    }
}

impl<T: Stored, const N: usize, const K: usize> Pass<T, N, K> {
    /// Adds the products of the block at `at`.
    ///
    /// # Safety
    /// The machine has `V`; a block begins at `at`.
    #[inline(always)]
    unsafe fn block<V: Vector>(&self, at: usize) {
        let mut lane = 0;
        while lane < HALF {
            // SAFETY: the caller's promise.
            unsafe {
                let mut sums = [Complex::<V>::zero(); K];
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = Complex::load::<BLOCKED>(self.sums[k].add(at), lane);
                }
                for i in 0..N {
                    let a = Complex::load::<BLOCKED>(self.inputs[i].add(at), lane);
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let filter = self.filters[i + k].add(at + lane);
                        let b = Complex::new(T::load(filter), T::load(filter.add(HALF)));
                        *sum = sum.add_product(a, b);
                    }
                }
                for (k, sum) in sums.into_iter().enumerate() {
                    sum.store::<BLOCKED>(self.sums[k].add(at), lane);
                }
            }
            lane += V::LANES;
        }
    }

    /// Adds the products of block 0 of a batch, whose values are all real: DC and Nyquist of sixteen channels.
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

    /// Writes lane 0 of block 0 of a mono spectrum, DC and Nyquist, from the values that the sum had there before.
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
