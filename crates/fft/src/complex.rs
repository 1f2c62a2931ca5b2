//! Complex numbers made of two vectors, and how they lie in memory.

use crate::vector::{HALF, Vector};

/// Some neighbouring complex numbers.
#[derive(Clone, Copy)]
pub(crate) struct Complex<V> {
    pub(crate) re: V,
    pub(crate) im: V,
}

/// Where the parts of a block lie.
pub(crate) mod form {
    /// Sixteen real parts, then sixteen imaginary ones.
    pub(crate) const BLOCKED: u8 = 0;
    /// The same with real and imaginary parts exchanged: what makes a forward transform an inverse one, if both its
    /// ends are so.
    pub(crate) const SWAPPED: u8 = 1;
    /// Sixteen pairs of a real and an imaginary part.
    pub(crate) const PAIRS: u8 = 2;
    /// Sixteen pairs, exchanged.
    pub(crate) const SWAPPED_PAIRS: u8 = 3;
}

/// How many floats a block has.
pub(crate) const BLOCK: usize = 2 * HALF;

impl<V: Vector> Complex<V> {
    /// Lanes `lane..` of the block that begins at `block`.
    ///
    /// # Safety
    /// The machine has `V`; the block is good to read; `lane + V::LANES` is at most 16.
    #[inline(always)]
    pub(crate) unsafe fn load<const FORM: u8>(block: *const f32, lane: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match FORM {
                form::BLOCKED => Self {
                    re: V::load(block.add(lane)),
                    im: V::load(block.add(HALF + lane)),
                },
                form::SWAPPED => Self {
                    re: V::load(block.add(HALF + lane)),
                    im: V::load(block.add(lane)),
                },
                _ => {
                    let low = V::load(block.add(2 * lane));
                    let high = V::load(block.add(2 * lane + V::LANES));
                    let (first, second) = low.unzip(high);
                    match FORM {
                        form::PAIRS => Self {
                            re: first,
                            im: second,
                        },
                        _ => Self {
                            re: second,
                            im: first,
                        },
                    }
                }
            }
        }
    }

    /// # Safety
    /// As for `load`, the block good to write.
    #[inline(always)]
    pub(crate) unsafe fn store<const FORM: u8>(self, block: *mut f32, lane: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match FORM {
                form::BLOCKED => {
                    self.re.store(block.add(lane));
                    self.im.store(block.add(HALF + lane));
                }
                form::SWAPPED => {
                    self.im.store(block.add(lane));
                    self.re.store(block.add(HALF + lane));
                }
                _ => {
                    let (low, high) = match FORM {
                        form::PAIRS => self.re.zip(self.im),
                        _ => self.im.zip(self.re),
                    };
                    low.store(block.add(2 * lane));
                    high.store(block.add(2 * lane + V::LANES));
                }
            }
        }
    }

    /// One complex number in all lanes.
    ///
    /// # Safety
    /// The machine has `V`; two floats at `from` are good to read.
    #[inline(always)]
    pub(crate) unsafe fn splat(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                re: V::splat(from.read()),
                im: V::splat(from.add(1).read()),
            }
        }
    }

    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }

    #[inline(always)]
    pub(crate) fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }

    /// `self - i * other`
    #[inline(always)]
    pub(crate) fn add_turned(self, other: Self) -> Self {
        Self {
            re: self.re + other.im,
            im: self.im - other.re,
        }
    }

    /// `self + i * other`
    #[inline(always)]
    pub(crate) fn sub_turned(self, other: Self) -> Self {
        Self {
            re: self.re - other.im,
            im: self.im + other.re,
        }
    }

    #[inline(always)]
    pub(crate) fn mul(self, w: Self) -> Self {
        Self {
            re: w.im.fnma(self.im, w.re * self.re),
            im: w.im.fma(self.re, w.re * self.im),
        }
    }

    /// The last lane first.
    #[inline(always)]
    pub(crate) fn reverse(self) -> Self {
        Self {
            re: self.re.reverse(),
            im: self.im.reverse(),
        }
    }

    /// `first`'s lane 0, then all lanes but the last.
    #[inline(always)]
    pub(crate) fn slide(self, first: Self) -> Self {
        Self {
            re: self.re.slide(first.re),
            im: self.im.slide(first.im),
        }
    }

    /// `self + w * b` and `self - w * b`. Where multiply-adds are fused, six of them: the difference is twice `self`
    /// less the sum.
    #[inline(always)]
    pub(crate) fn twist(self, b: Self, w: Self, two: V) -> (Self, Self) {
        if !V::FUSED {
            let t = b.mul(w);
            return (self.add(t), self.sub(t));
        }
        let sum = Self {
            re: w.im.fnma(b.im, w.re.fma(b.re, self.re)),
            im: w.im.fma(b.re, w.re.fma(b.im, self.im)),
        };
        (sum, self.doubled_less(sum, two))
    }

    /// `self - i * w * b` and `self + i * w * b`.
    #[inline(always)]
    pub(crate) fn twist_turned(self, b: Self, w: Self, two: V) -> (Self, Self) {
        if !V::FUSED {
            let t = b.mul(w);
            return (self.add_turned(t), self.sub_turned(t));
        }
        let sum = Self {
            re: w.re.fma(b.im, w.im.fma(b.re, self.re)),
            im: w.re.fnma(b.re, w.im.fma(b.im, self.im)),
        };
        (sum, self.doubled_less(sum, two))
    }

    #[inline(always)]
    fn doubled_less(self, sum: Self, two: V) -> Self {
        Self {
            re: self.re.fms(two, sum.re),
            im: self.im.fms(two, sum.im),
        }
    }
}
