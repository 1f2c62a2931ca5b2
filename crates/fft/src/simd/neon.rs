//! The vectors of aarch64, where every machine has NEON: four floats.

use super::{Vector, transpose_by_four};
use std::arch::aarch64::*;

/// Four floats.
#[derive(Clone, Copy)]
pub(crate) struct Neon(float32x4_t);

operators!(Neon, vaddq_f32, vsubq_f32, vmulq_f32);

// SAFETY: every machine of this architecture has the instructions.
unsafe impl Vector for Neon {
    const LANES: usize = 4;
    const FUSED: bool = true;
    memory!(vld1q_f32, vst1q_f32, vdupq_n_f32, vgetq_lane_f32::<0>);

    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: there is a value of this type, so the machine has NEON.
        Self(unsafe { vfmaq_f32(c.0, self.0, b.0) })
    }

    #[inline(always)]
    fn fnma(self, b: Self, c: Self) -> Self {
        // SAFETY: as for `fma`.
        Self(unsafe { vfmsq_f32(c.0, self.0, b.0) })
    }

    #[inline(always)]
    fn fms(self, b: Self, c: Self) -> Self {
        // SAFETY: as for `fma`.
        Self(unsafe { vnegq_f32(vfmsq_f32(c.0, self.0, b.0)) })
    }

    #[inline(always)]
    fn unzip(self, next: Self) -> (Self, Self) {
        // SAFETY: as for `fma`.
        unsafe {
            (
                Self(vuzp1q_f32(self.0, next.0)),
                Self(vuzp2q_f32(self.0, next.0)),
            )
        }
    }

    #[inline(always)]
    fn zip(self, second: Self) -> (Self, Self) {
        // SAFETY: as for `fma`.
        unsafe {
            (
                Self(vzip1q_f32(self.0, second.0)),
                Self(vzip2q_f32(self.0, second.0)),
            )
        }
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: as for `fma`.
        unsafe {
            let pairs = vrev64q_f32(self.0);
            Self(vextq_f32::<2>(pairs, pairs))
        }
    }

    #[inline(always)]
    fn slide(self, first: Self) -> Self {
        // SAFETY: as for `fma`.
        unsafe {
            let up = vextq_f32::<3>(self.0, self.0);
            Self(vsetq_lane_f32::<0>(vgetq_lane_f32::<0>(first.0), up))
        }
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        // SAFETY: the caller's promise.
        unsafe { transpose_by_four::<Self>(from, from_step, to, to_step) }
    }
}
