//! The vectors of aarch64, where every machine has NEON: four floats.

use super::{HALF, Vector};
use crate::half;
use std::arch::aarch64::*;
use std::ops::{Add, Mul, Sub};

/// Four floats.
#[derive(Clone, Copy)]
pub(crate) struct Neon(float32x4_t);

impl Add for Neon {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: there is a value of this type, so the machine has NEON.
        Self(unsafe { vaddq_f32(self.0, other.0) })
    }
}

impl Sub for Neon {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as for `add`.
        Self(unsafe { vsubq_f32(self.0, other.0) })
    }
}

impl Mul for Neon {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as for `add`.
        Self(unsafe { vmulq_f32(self.0, other.0) })
    }
}

// SAFETY: operations on values need what made the values.
unsafe impl Vector for Neon {
    const LANES: usize = 4;
    const FUSED: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_f32(from) })
    }

    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> Self {
        let mut wide = [0.0; 4];
        for (i, wide) in wide.iter_mut().enumerate() {
            // SAFETY: the caller's promise: four of them.
            *wide = half::to_f32(unsafe { from.add(i).read() });
        }
        // SAFETY: `wide` has four.
        unsafe { Self::load(wide.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { vst1q_f32(to, self.0) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vdupq_n_f32(value) })
    }

    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: there is a value of this type.
        Self(unsafe { vfmaq_f32(c.0, self.0, b.0) })
    }

    #[inline(always)]
    fn fnma(self, b: Self, c: Self) -> Self {
        // SAFETY: there is a value of this type.
        Self(unsafe { vfmsq_f32(c.0, self.0, b.0) })
    }

    #[inline(always)]
    fn fms(self, b: Self, c: Self) -> Self {
        // SAFETY: there is a value of this type.
        Self(unsafe { vnegq_f32(vfmsq_f32(c.0, self.0, b.0)) })
    }

    #[inline(always)]
    fn unzip(self, next: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type.
        unsafe {
            (
                Self(vuzp1q_f32(self.0, next.0)),
                Self(vuzp2q_f32(self.0, next.0)),
            )
        }
    }

    #[inline(always)]
    fn zip(self, second: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type.
        unsafe {
            (
                Self(vzip1q_f32(self.0, second.0)),
                Self(vzip2q_f32(self.0, second.0)),
            )
        }
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: there is a value of this type.
        unsafe {
            let pairs = vrev64q_f32(self.0);
            Self(vextq_f32::<2>(pairs, pairs))
        }
    }

    #[inline(always)]
    fn slide(self, first: Self) -> Self {
        // SAFETY: there is a value of this type.
        unsafe {
            let up = vextq_f32::<3>(self.0, self.0);
            Self(vsetq_lane_f32::<0>(vgetq_lane_f32::<0>(first.0), up))
        }
    }

    #[inline(always)]
    fn first(self) -> f32 {
        // SAFETY: there is a value of this type.
        unsafe { vgetq_lane_f32::<0>(self.0) }
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        for row in (0..HALF).step_by(4) {
            for column in (0..HALF).step_by(4) {
                // SAFETY: the caller's promise: sixteen rows of sixteen at either end, and NEON.
                unsafe {
                    let at = |i: usize| Self::load(from.add((row + i) * from_step + column));
                    // Twice a perfect shuffle of rows half the block apart.
                    let ((a, b), (c, d)) = (at(0).zip(at(2)), at(1).zip(at(3)));
                    let ((a, b), (c, d)) = (a.zip(c), b.zip(d));
                    for (i, turned) in [a, b, c, d].into_iter().enumerate() {
                        turned.store(to.add((column + i) * to_step + row));
                    }
                }
            }
        }
    }
}
