//! The real spectrum in a complex one of half the length: what happens to bin `k` and its mirror image.
//!
//! The complex transform takes even frames as real and odd ones as imaginary parts. Its bins hold the even frames'
//! spectrum plus i times the odd ones'; both are symmetrical, so bin `k` and bin `M - k` tell them apart.

use crate::simd::{BLOCK, Complex, form::BLOCKED};
use crate::transform::twiddle::turn;
use crate::simd::{HALF, Vector};

/// The factors for a batch of sixteen.
pub(crate) struct Split {
    bins: usize,
    /// For bins 0 .. `bins / 2`: half of -i exp(-pi i k / M).
    table: Vec<f32>,
}

/// Half of -i exp(-pi i `bin` / `bins`).
pub(crate) fn factor(bin: usize, bins: usize) -> [f32; 2] {
    let (re, im) = turn(bin, 2 * bins);
    [(im / 2.0) as f32, (-re / 2.0) as f32]
}

impl Split {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize) -> Self {
        Self {
            bins,
            table: (0..bins / 2).flat_map(|bin| factor(bin, bins)).collect(),
        }
    }

    /// Bins 0 and `M / 2`.
    ///
    /// # Safety
    /// The machine has `V`; `at` is good for all blocks.
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

    /// Bin `bin`, of 1 .. `M / 2`, and its mirror image.
    ///
    /// # Safety
    /// The machine has `V`; `at` is good for all blocks; there is such a bin.
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
    /// Bins 0 and `M` from complex bin 0; there and, but for the factor 2 that all of the inverse has, back.
    #[inline(always)]
    pub(crate) fn ends(self) -> Self {
        Self {
            re: self.re + self.im,
            im: self.re - self.im,
        }
    }

    /// Bin `M / 2`: the conjugate, and twice it on the way back.
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
    /// -i exp(-pi i k / M).
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
