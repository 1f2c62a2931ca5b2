//! One float at a time: runs on every machine, and is what the other sets are compared with.

use super::{HALF, Vector};
use std::ops::{Add, Mul, Sub};

/// One float.
#[derive(Clone, Copy)]
pub(crate) struct F32x1(f32);

operators!(F32x1, Add::add, Sub::sub, Mul::mul);

// SAFETY: it needs no instructions that some machine lacks.
unsafe impl Vector for F32x1 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { from.read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { to.write(self.0) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self(value)
    }

    #[inline(always)]
    fn unzip(self, next: Self) -> (Self, Self) {
        (self, next)
    }

    #[inline(always)]
    fn zip(self, second: Self) -> (Self, Self) {
        (self, second)
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        self
    }

    #[inline(always)]
    fn slide(self, first: Self) -> Self {
        first
    }

    #[inline(always)]
    fn first(self) -> f32 {
        self.0
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        for row in 0..HALF {
            for column in 0..HALF {
                // SAFETY: the caller's promise: sixteen rows of sixteen at either end.
                unsafe { *to.add(column * to_step + row) = *from.add(row * from_step + column) }
            }
        }
    }
}
