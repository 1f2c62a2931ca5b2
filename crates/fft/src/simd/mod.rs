//! [`Vector`]: the operations that kernels use. One body of each kernel serves every width of vectors.
//!
//! A kernel is a value that implements [`Kernel`]: its data are the fields, its body is generic over [`Vector`].
//! [`Kernels::run`](crate::Kernels::run) calls that body inside a function that has one instruction set enabled:
//!
//! ```text
//!  Kernels::run(kernel) ─┬─ scalar  kernel.run::<F32x1>()    one float
//!                        ├─ sse3    kernel.run::<F32x4>()    four floats
//!                        ├─ avx2    kernel.run::<F32x8>()    eight floats, with FMA and F16C
//!                        ├─ avx512  kernel.run::<F32x16>()   sixteen floats
//!                        └─ neon    kernel.run::<Neon>()     four floats, with FMA
//! ```
//!
//! The body and all that it calls are `#[inline(always)]`, so that they are compiled for those instructions. A value of
//! a vector type exists only where its instructions do. Therefore arithmetic on such values is safe, and only making
//! them (`load`, `splat`) is not.
//!
//! 2026-11-22 Refused: `fearless_simd` 1.2. Its multiply-add kernel gives the same bits and takes 7 % (15 products) to
//! 11 % (7 products of 1024 blocks) more instructions (callgrind, AVX2). It lacks half-precision loads and the 16 x 16
//! transpose, and its AVX-512 level asks for more than AVX-512F, so that older processors would change their bits.

#[macro_use]
mod macros;
mod complex;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod scalar;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

pub use complex::{BLOCK, Complex, form};

use crate::half;
use std::ops::{Add, Mul, Sub};

/// Floats in one half of a block: the real parts, or the imaginary parts.
pub const HALF: usize = 16;

/// A computation over vectors of any width, with the data that it works on.
pub trait Kernel {
    /// Its result.
    type Output;

    /// Computes. Implementations are `#[inline(always)]`, with all that they call, so that they are compiled for the
    /// instructions of the function that calls them.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn run<V: Vector>(self) -> Self::Output;
}

/// Some neighbouring floats of a block's half.
///
/// The multiply-adds round once where [`Vector::FUSED`] is true, and twice elsewhere. So the bits of a result depend on
/// the set of kernels, and on nothing else: neither on the number of lanes nor on the address of the memory.
///
/// # Safety
/// Operations on values are safe to call wherever a value exists: an implementation makes values only by `load` and
/// `splat`, which are called only where the machine has the instructions of the type.
pub unsafe trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Number of floats; divides [`HALF`].
    const LANES: usize;
    /// True if [`Vector::fma`] rounds once.
    const FUSED: bool = false;

    /// Reads the floats from `from` on, of any alignment.
    ///
    /// # Safety
    /// The machine has the instructions, and `from` is valid for [`Vector::LANES`] floats.
    unsafe fn load(from: *const f32) -> Self;

    /// Reads as many half-precision floats and converts them, exactly.
    ///
    /// # Safety
    /// As for `load`.
    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> Self {
        let mut wide = [0.0; HALF];
        for (i, wide) in wide[..Self::LANES].iter_mut().enumerate() {
            // SAFETY: the caller's promise: there are `LANES` of them.
            *wide = half::to_f32(unsafe { from.add(i).read() });
        }
        // SAFETY: `wide` has at least `LANES` floats; the machine has the instructions, by the caller's promise.
        unsafe { Self::load(wide.as_ptr()) }
    }

    /// Writes the floats to `to` and after it, of any alignment.
    ///
    /// # Safety
    /// `to` is valid for [`Vector::LANES`] floats.
    unsafe fn store(self, to: *mut f32);

    /// The same float in every lane.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn splat(value: f32) -> Self;

    /// `self * b + c`
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        self * b + c
    }

    /// `c - self * b`
    #[inline(always)]
    fn fnma(self, b: Self, c: Self) -> Self {
        c - self * b
    }

    /// `self * b - c`
    #[inline(always)]
    fn fms(self, b: Self, c: Self) -> Self {
        self * b - c
    }

    /// Splits neighbouring pairs, those of `self` before those of `next`, into all first and all second floats.
    fn unzip(self, next: Self) -> (Self, Self);
    /// The inverse of [`Vector::unzip`].
    fn zip(self, second: Self) -> (Self, Self);
    /// The floats in opposite order.
    fn reverse(self) -> Self;
    /// Lane 0 of `first`, then all floats of `self` but the last.
    fn slide(self, first: Self) -> Self;
    /// The float in lane 0.
    fn first(self) -> f32;

    /// Writes sixteen rows of sixteen floats as columns. Rows begin `from_step` and `to_step` floats apart.
    ///
    /// # Safety
    /// The machine has the instructions; all rows are valid to read and to write, and do not overlap.
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize);
}

/// [`Vector::transpose`] for vectors of four floats, four rows and four columns at a time.
///
/// # Safety
/// As for [`Vector::transpose`].
#[inline(always)]
unsafe fn transpose_by_four<V: Vector>(
    from: *const f32,
    from_step: usize,
    to: *mut f32,
    to_step: usize,
) {
    debug_assert_eq!(V::LANES, 4);
    for row in (0..HALF).step_by(4) {
        for column in (0..HALF).step_by(4) {
            // SAFETY: the caller's promise: sixteen rows of sixteen at either end, and the instructions.
            unsafe {
                let at = |i: usize| V::load(from.add((row + i) * from_step + column));
                // Twice a perfect shuffle of rows half the block apart.
                let ((a, b), (c, d)) = (at(0).zip(at(2)), at(1).zip(at(3)));
                let ((a, b), (c, d)) = (a.zip(c), b.zip(d));
                for (i, column_of) in [a, b, c, d].into_iter().enumerate() {
                    column_of.store(to.add((column + i) * to_step + row));
                }
            }
        }
    }
}
