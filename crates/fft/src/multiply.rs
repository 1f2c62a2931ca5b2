//! The complex multiply-adds of a frequency-domain delay line, on blocked spectra.

use crate::complex::BLOCK;
use crate::kernels::{Kernels, Work};
use crate::plan::Packing;
use crate::vector::{HALF, Vector};

impl Kernels {
    /// `sum += a * b`, bin by bin. All three have the same length, a whole number of blocks (32 floats); `packing`
    /// says where in block 0 the two real bins stand, which are multiplied for themselves.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn multiply_add(self, sum: &mut [f32], a: &[f32], b: &[f32], packing: Packing) {
        self.multiply_add_many(sum, &[(a, b)], packing);
    }

    /// `sum += a * b` for each pair in turn, with the bits of as many calls of [`Kernels::multiply_add`]; the sum
    /// stays in registers over eight pairs.
    ///
    /// Real-time: hot.
    pub fn multiply_add_many(self, sum: &mut [f32], pairs: &[(&[f32], &[f32])], packing: Packing) {
        self.add_pairs(sum, pairs, Some(packing));
    }

    /// As [`Kernels::multiply_add_many`] for some neighbouring blocks of longer spectra: `packing` where block 0 is
    /// among them, `None` where they come later.
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
            let many = match pairs.len() {
                8.. => self.add_some::<T, 8>(sum, pairs, packing),
                4.. => self.add_some::<T, 4>(sum, pairs, packing),
                2.. => self.add_some::<T, 2>(sum, pairs, packing),
                _ => self.add_some::<T, 1>(sum, pairs, packing),
            };
            pairs = &pairs[many..];
        }
    }

    /// Adds the first `N` pairs, of which there must be as many; gives `N`.
    fn add_some<T: Stored, const N: usize>(
        self,
        sum: &mut [f32],
        pairs: &[(&[f32], &[T])],
        packing: Option<Packing>,
    ) -> usize {
        let shortest = |len: usize, (a, b): &(&[f32], &[T])| len.min(a.len()).min(b.len());
        let len = pairs[..N].iter().fold(sum.len(), shortest);
        let work = AddSome::<T, N> {
            blocks: len / BLOCK,
            sum: sum.as_mut_ptr(),
            a: std::array::from_fn(|i| pairs[i].0.as_ptr()),
            b: std::array::from_fn(|i| pairs[i].1.as_ptr()),
            packing,
        };
        self.run(work);
        N
    }
}

/// How a factor is kept.
pub(crate) trait Stored: Copy {
    /// # Safety
    /// The machine has `V`; as many values as it has lanes are good to read.
    unsafe fn load<V: Vector>(from: *const Self) -> V;
}

impl Stored for f32 {
    #[inline(always)]
    unsafe fn load<V: Vector>(from: *const Self) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load(from) }
    }
}

impl Stored for u16 {
    #[inline(always)]
    unsafe fn load<V: Vector>(from: *const Self) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load_half(from) }
    }
}

/// `N` pairs onto a sum. All pointers are good for `blocks` blocks, and `sum` is borrowed alone.
struct AddSome<T, const N: usize> {
    blocks: usize,
    sum: *mut f32,
    a: [*const f32; N],
    b: [*const T; N],
    /// What is special about block 0, if it is there.
    packing: Option<Packing>,
}

impl<T: Stored, const N: usize> Work for AddSome<T, N> {
    type Out = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        if self.blocks == 0 {
            return;
        }
        // SAFETY: the pointers are good for all blocks; the machine has `V`.
        unsafe {
            let kept = (self.sum.read(), self.sum.add(HALF).read());
            match self.packing {
                Some(Packing::Batch) => self.real_block::<V>(),
                Some(Packing::Mono) | None => self.block::<V>(0),
            }
            for block in 1..self.blocks {
                self.block::<V>(block * BLOCK);
            }
            if self.packing == Some(Packing::Mono) {
                self.real_lane::<V>(kept);
            }
        }
    }
}

impl<T: Stored, const N: usize> AddSome<T, N> {
    /// # Safety
    /// The machine has `V`; a block begins at `at`.
    #[inline(always)]
    unsafe fn block<V: Vector>(&self, at: usize) {
        let mut lane = at;
        while lane < at + HALF {
            // SAFETY: the caller's promise.
            unsafe {
                let mut re = V::load(self.sum.add(lane));
                let mut im = V::load(self.sum.add(lane + HALF));
                for i in 0..N {
                    let a_re = V::load(self.a[i].add(lane));
                    let a_im = V::load(self.a[i].add(lane + HALF));
                    let b_re = T::load::<V>(self.b[i].add(lane));
                    let b_im = T::load::<V>(self.b[i].add(lane + HALF));
                    re = a_im.fnma(b_im, a_re.fma(b_re, re));
                    im = a_im.fma(b_re, a_re.fma(b_im, im));
                }
                re.store(self.sum.add(lane));
                im.store(self.sum.add(lane + HALF));
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
            // SAFETY: the caller's promise.
            unsafe {
                let mut sum = V::load(self.sum.add(lane));
                for i in 0..N {
                    let b = T::load::<V>(self.b[i].add(lane));
                    sum = V::load(self.a[i].add(lane)).fma(b, sum);
                }
                sum.store(self.sum.add(lane));
            }
            lane += V::LANES;
        }
    }

    /// Lane 0 of block 0 of a mono spectrum, from what `sum` had there before.
    ///
    /// # Safety
    /// The machine has `V`; there is a block.
    #[inline(always)]
    unsafe fn real_lane<V: Vector>(&self, before: (f32, f32)) {
        for (at, before) in [(0, before.0), (HALF, before.1)] {
            // SAFETY: the caller's promise: `at` and the lanes after it lie in the block.
            unsafe {
                let mut sum = V::splat(before);
                for i in 0..N {
                    let b = T::load::<V>(self.b[i].add(at));
                    sum = V::load(self.a[i].add(at)).fma(b, sum);
                }
                self.sum.add(at).write(sum.first());
            }
        }
    }
}
