//! The real spectrum in a complex one of half the length.
//!
//! A real transform of 2M values is a complex one of M: even values are its real parts, odd values its imaginary parts
//! (Sorensen, Jones, Heideman and Burrus, "Real-Valued Fast Fourier Transform Algorithms", IEEE Trans. ASSP 35(6), 1987).
//! Its bins Z hold the spectrum E of the even values plus i times that of the odd ones, O. Both are symmetrical, so bins k
//! and M - k tell them apart. With Z' the conjugate of Z[M - k]:
//!
//! ```text
//!  E = (Z + Z') / 2     i O = (Z - Z') / 2     X[k]     = E + exp(-πi k / M) O
//!                                              X[M - k] = conjugate(E - exp(-πi k / M) O)
//! ```
//!
//! Bins 0 and M are both real and share bin 0 of the complex spectrum; bin M / 2 is its own mirror image.

use crate::simd::{BLOCK, Complex, HALF, Vector, form::BLOCKED};
use crate::transform::twiddle::twiddle;

/// The factors for a batch of sixteen.
pub(crate) struct RealSplit {
    bins: usize,
    /// For bins 0 .. `bins / 2`: `-i · exp(-πi · k / M) / 2`.
    table: Vec<f32>,
}

/// `-i · exp(-πi · bin / bins) / 2`, the factor of `Z - Z'` in bin `bin`.
pub(crate) fn split_factor(bin: usize, bins: usize) -> [f32; 2] {
    let (re, im) = twiddle(bin, 2 * bins);
    [(im / 2.0) as f32, (-re / 2.0) as f32]
}

impl RealSplit {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize) -> Self {
        Self {
            bins,
            table: (0..bins / 2)
                .flat_map(|bin| split_factor(bin, bins))
                .collect(),
        }
    }

    /// Takes bins 0 and `M / 2` apart.
    ///
    /// # Safety
    /// The machine has `V`; `at` is valid for all blocks.
    #[inline(always)]
    pub(crate) unsafe fn ends<V: Vector, const FORWARD: bool>(&self, at: *mut f32) {
        let mut lane = 0;
        while lane < HALF {
            // SAFETY: the caller's promise.
            unsafe {
                let middle = at.add(self.bins / 2 * BLOCK);
                let ends = Complex::<V>::load::<BLOCKED>(at, lane);
                ends.ends().store::<BLOCKED>(at, lane);
                let value = Complex::<V>::load::<BLOCKED>(middle, lane);
                value.middle::<FORWARD>().store::<BLOCKED>(middle, lane);
            }
            lane += V::LANES;
        }
    }

    /// Takes bin `bin`, of 1 .. `M / 2`, and its mirror image apart, or puts them together.
    ///
    /// # Safety
    /// The machine has `V`; `at` is valid for all blocks, and the bin exists.
    #[inline(always)]
    pub(crate) unsafe fn pair<V: Vector, const FORWARD: bool>(&self, at: *mut f32, bin: usize) {
        let mut lane = 0;
        while lane < HALF {
            // SAFETY: the caller's promise; the table has a factor for each of these bins.
            unsafe {
                let (low, high) = (at.add(bin * BLOCK), at.add((self.bins - bin) * BLOCK));
                let factor = Complex::<V>::splat(self.table.as_ptr().add(2 * bin));
                let (a, b) = (
                    Complex::load::<BLOCKED>(low, lane),
                    Complex::load::<BLOCKED>(high, lane),
                );
                let (a, b) = match FORWARD {
                    true => a.apart(b, factor, V::splat(0.5)),
                    false => a.together(b, factor, V::splat(2.0)),
                };
                a.store::<BLOCKED>(low, lane);
                b.store::<BLOCKED>(high, lane);
            }
            lane += V::LANES;
        }
    }
}

impl<V: Vector> Complex<V> {
    /// Bins 0 and `M` from complex bin 0. The same function is its inverse, times 2, as all of the inverse transform.
    #[inline(always)]
    pub(crate) fn ends(self) -> Self {
        Self {
            re: self.re + self.im,
            im: self.re - self.im,
        }
    }

    /// Bin `M / 2`: the conjugate; of an inverse transform, twice the conjugate.
    ///
    /// # Safety
    /// The machine has `V`.
    #[inline(always)]
    pub(crate) unsafe fn middle<const FORWARD: bool>(self) -> Self {
        // SAFETY: the caller's promise.
        let scale = |value| unsafe { V::splat(if FORWARD { value } else { 2.0 * value }) };
        Self {
            re: self.re * scale(1.0),
            im: self.im * scale(-1.0),
        }
    }

    /// Bins `k` and `M - k` of the real spectrum from those of the complex one. `factor` is half of
    /// `-i · exp(-πi · k / M)`.
    #[inline(always)]
    pub(crate) fn apart(self, mirror: Self, factor: Self, half: V) -> (Self, Self) {
        let even = (self.re + mirror.re, self.im - mirror.im);
        let odd = (self.re - mirror.re, self.im + mirror.im);
        let low = Self {
            re: factor.im.fnma(odd.1, factor.re.fma(odd.0, half * even.0)),
            im: factor.im.fma(odd.0, factor.re.fma(odd.1, half * even.1)),
        };
        let high = Self {
            re: even.0 - low.re,
            im: low.im - even.1,
        };
        (low, high)
    }

    /// Twice the complex bins `k` and `M - k` from the real spectrum's; the same `factor`.
    #[inline(always)]
    pub(crate) fn together(self, mirror: Self, factor: Self, two: V) -> (Self, Self) {
        let even = (self.re + mirror.re, self.im - mirror.im);
        // Twice the conjugate of `factor` times the difference.
        let odd = ((self.re - mirror.re) * two, (self.im + mirror.im) * two);
        let low = Self {
            re: factor.im.fma(odd.1, factor.re.fma(odd.0, even.0)),
            im: factor.im.fnma(odd.0, factor.re.fma(odd.1, even.1)),
        };
        let high = Self {
            re: even.0.fms(two, low.re),
            im: even.1.fnma(two, low.im),
        };
        (low, high)
    }
}
