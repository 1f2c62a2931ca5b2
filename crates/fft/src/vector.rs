//! What the kernels need of a vector: one body of every kernel serves every width.
//!
//! A body is written once over [`Vector`], all of it `inline(always)`, and [`crate::Kernels::run`] calls it inside a
//! function that has the instruction set switched on. So a value of a vector type exists only where its instructions
//! do, which is why arithmetic on such values is safe and only making them (`load`, `splat`) is not.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod scalar;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use std::ops::{Add, Mul, Sub};

/// How many floats a half of a block has: the real parts, or the imaginary ones.
pub(crate) const HALF: usize = 16;

/// Some neighbouring floats of a block's half.
///
/// # Safety
/// Every implementation's operations on values are safe to call wherever a value exists. `load` and `splat` must be
/// called only where the machine has the instructions of the type.
pub(crate) unsafe trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// How many floats; divides [`HALF`].
    const LANES: usize;
    /// Whether [`Vector::fma`] rounds once.
    const FUSED: bool;

    /// The floats from `from` on, of any alignment.
    ///
    /// # Safety
    /// The machine has the instructions, and `from` is good for [`Vector::LANES`] floats.
    unsafe fn load(from: *const f32) -> Self;

    /// As many floats of half precision.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn load_half(from: *const u16) -> Self;

    /// # Safety
    /// `to` is good for [`Vector::LANES`] floats.
    unsafe fn store(self, to: *mut f32);

    /// # Safety
    /// The machine has the instructions.
    unsafe fn splat(value: f32) -> Self;

    /// `self * b + c`
    fn fma(self, b: Self, c: Self) -> Self;
    /// `c - self * b`
    fn fnma(self, b: Self, c: Self) -> Self;
    /// `self * b - c`
    fn fms(self, b: Self, c: Self) -> Self;

    /// Neighbouring pairs, `self` before `next`, as all first ones and all second ones.
    fn unzip(self, next: Self) -> (Self, Self);
    /// The opposite of [`Vector::unzip`].
    fn zip(self, second: Self) -> (Self, Self);
    /// The last float first.
    fn reverse(self) -> Self;
    /// `first`'s lane 0, then all of `self` but its last float.
    fn slide(self, first: Self) -> Self;
    /// The float in lane 0.
    fn first(self) -> f32;

    /// Sixteen rows of sixteen floats become columns; rows begin `from_step` and `to_step` floats apart.
    ///
    /// # Safety
    /// The machine has the instructions; all rows are good to read and to write, and do not overlap.
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize);
}
