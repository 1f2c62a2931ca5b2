//! Complex numbers made of two vectors, and their layout in memory.
//!
//! A *block* is 32 floats, the smallest unit of every buffer here:
//!
//! ```text
//!            0   1   2         15   16  17  18        31
//!  BLOCKED  re0 re1 re2  ...  re15 im0 im1 im2  ...  im15     spectra; time values of a batch
//!  SWAPPED  im0 im1 im2  ...  im15 re0 re1 re2  ...  re15
//!  PAIRS    re0 im0 re1  ...  im7  re8 im8 re9  ...  im15     time values of one channel
//! ```
//!
//! A vector of any width divides a half of a block, so that a complex product needs no shuffles: real and imaginary
//! parts are in vectors of their own.

use super::{HALF, Vector};
use std::ops::{Add, Sub};

/// Some neighbouring complex numbers.
#[derive(Clone, Copy)]
pub struct Complex<V> {
    /// Their real parts.
    pub re: V,
    /// Their imaginary parts.
    pub im: V,
}

/// The layouts of a block.
pub mod form {
    /// Sixteen real parts, then sixteen imaginary ones.
    pub const BLOCKED: u8 = 0;
    /// The same with real and imaginary parts exchanged. A forward transform becomes an inverse one if both its ends
    /// are exchanged (Duhamel, Piron and Etcheto, "On Computing the Inverse DFT", IEEE Trans. ASSP 36(2), 1988).
    pub const SWAPPED: u8 = 1;
    /// Sixteen pairs of a real and an imaginary part.
    pub const PAIRS: u8 = 2;
    /// Sixteen pairs, exchanged.
    pub const SWAPPED_PAIRS: u8 = 3;
}

/// Floats in a block.
pub const BLOCK: usize = 2 * HALF;

impl<V: Vector> Add for Complex<V> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl<V: Vector> Sub for Complex<V> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl<V: Vector> Complex<V> {
    /// Numbers with these parts.
    #[inline(always)]
    pub const fn new(re: V, im: V) -> Self {
        Self { re, im }
    }

    /// Reads lanes `lane ..` of the block that begins at `block`.
    ///
    /// # Safety
    /// The machine has `V`; the block is valid to read; `lane + V::LANES` is at most 16.
    #[inline(always)]
    pub unsafe fn load<const FORM: u8>(block: *const f32, lane: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (first, second) = match FORM {
                form::BLOCKED | form::SWAPPED => {
                    (V::load(block.add(lane)), V::load(block.add(HALF + lane)))
                }
                _ => {
                    let low = V::load(block.add(2 * lane));
                    low.unzip(V::load(block.add(2 * lane + V::LANES)))
                }
            };
            let (re, im) = match FORM {
                form::BLOCKED | form::PAIRS => (first, second),
                _ => (second, first),
            };
            Self::new(re, im)
        }
    }

    /// Writes lanes `lane ..` of the block that begins at `block`.
    ///
    /// # Safety
    /// As for [`Complex::load`], the block valid to write.
    #[inline(always)]
    pub unsafe fn store<const FORM: u8>(self, block: *mut f32, lane: usize) {
        let (first, second) = match FORM {
            form::BLOCKED | form::PAIRS => (self.re, self.im),
            _ => (self.im, self.re),
        };
        // SAFETY: the caller's promise.
        unsafe {
            match FORM {
                form::BLOCKED | form::SWAPPED => {
                    first.store(block.add(lane));
                    second.store(block.add(HALF + lane));
                }
                _ => {
                    let (low, high) = first.zip(second);
                    low.store(block.add(2 * lane));
                    high.store(block.add(2 * lane + V::LANES));
                }
            }
        }
    }

    /// One complex number in all lanes.
    ///
    /// # Safety
    /// The machine has `V`; two floats at `from` are valid to read.
    #[inline(always)]
    pub unsafe fn splat(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new(V::splat(from.read()), V::splat(from.add(1).read())) }
    }

    /// Zero in all lanes.
    ///
    /// # Safety
    /// The machine has `V`.
    #[inline(always)]
    pub unsafe fn zero() -> Self {
        // SAFETY: the caller's promise.
        let zero = unsafe { V::splat(0.0) };
        Self::new(zero, zero)
    }

    /// `self + a * b`, the products added one after the other: first those with the real part of `a`, then those with
    /// its imaginary part. This order fixes the bits of every sum of products.
    #[inline(always)]
    pub fn add_product(self, a: Self, b: Self) -> Self {
        Self::new(
            a.im.fnma(b.im, a.re.fma(b.re, self.re)),
            a.im.fma(b.re, a.re.fma(b.im, self.im)),
        )
    }

    /// `self - i * other`
    #[inline(always)]
    pub(crate) fn sub_i(self, other: Self) -> Self {
        Self::new(self.re + other.im, self.im - other.re)
    }

    /// `self + i * other`
    #[inline(always)]
    pub(crate) fn add_i(self, other: Self) -> Self {
        Self::new(self.re - other.im, self.im + other.re)
    }

    /// `self * w`
    #[inline(always)]
    pub(crate) fn mul(self, w: Self) -> Self {
        Self::new(
            w.im.fnma(self.im, w.re * self.re),
            w.im.fma(self.re, w.re * self.im),
        )
    }

    /// The complex conjugate.
    ///
    /// # Safety
    /// The machine has `V`.
    #[inline(always)]
    pub(crate) unsafe fn conjugate(self) -> Self {
        Self {
            re: self.re,
            // SAFETY: the caller's promise.
            im: unsafe { V::splat(0.0) } - self.im,
        }
    }

    /// The numbers in opposite order.
    #[inline(always)]
    pub(crate) fn reverse(self) -> Self {
        Self::new(self.re.reverse(), self.im.reverse())
    }

    /// Lane 0 of `first`, then all lanes of `self` but the last.
    #[inline(always)]
    pub(crate) fn slide(self, first: Self) -> Self {
        Self::new(self.re.slide(first.re), self.im.slide(first.im))
    }

    /// The radix-2 butterfly: `self + w * b` and `self - w * b`.
    ///
    /// Where multiply-adds are fused, it takes six of them: the difference is twice `self` less the sum (Linzer and
    /// Feig, "Implementation of Efficient FFT Algorithms on Fused Multiply-Add Architectures", IEEE Trans. Signal
    /// Processing 41(1), 1993).
    #[inline(always)]
    pub(crate) fn butterfly(self, b: Self, w: Self, two: V) -> (Self, Self) {
        if !V::FUSED {
            let t = b.mul(w);
            return (self + t, self - t);
        }
        let sum = Self::new(
            w.im.fnma(b.im, w.re.fma(b.re, self.re)),
            w.im.fma(b.re, w.re.fma(b.im, self.im)),
        );
        (sum, self.doubled_less(sum, two))
    }

    /// The same with the factor `-i * w`: `self - i * w * b` and `self + i * w * b`.
    #[inline(always)]
    pub(crate) fn butterfly_i(self, b: Self, w: Self, two: V) -> (Self, Self) {
        if !V::FUSED {
            let t = b.mul(w);
            return (self.sub_i(t), self.add_i(t));
        }
        let sum = Self::new(
            w.re.fma(b.im, w.im.fma(b.re, self.re)),
            w.re.fnma(b.re, w.im.fma(b.im, self.im)),
        );
        (sum, self.doubled_less(sum, two))
    }

    #[inline(always)]
    fn doubled_less(self, sum: Self, two: V) -> Self {
        Self::new(self.re.fms(two, sum.re), self.im.fms(two, sum.im))
    }
}
