//! The real spectrum in a complex one of half the length: what happens to bin `k` and its mirror image.
//!
//! The complex transform takes even frames as real and odd ones as imaginary parts. Its bins hold the even frames'
//! spectrum plus i times the odd ones'; both are symmetrical, so bin `k` and bin `M - k` tell them apart.

use crate::complex::Complex;
use crate::vector::Vector;

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
