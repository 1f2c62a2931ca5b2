//! The vectors of x86-64: four floats (SSE3), eight (AVX2 with FMA and F16C), sixteen (AVX-512).

use super::{HALF, Vector, transpose_by_four};
use std::arch::x86_64::*;

/// Four floats.
#[derive(Clone, Copy)]
pub(crate) struct F32x4(__m128);

/// Eight floats.
#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

/// Sixteen floats.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

operators!(F32x4, _mm_add_ps, _mm_sub_ps, _mm_mul_ps);
operators!(F32x8, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps);
operators!(F32x16, _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps);

/// Inside `impl Vector`: the multiply-adds that round once.
macro_rules! fused {
    ($fma:ident, $fnma:ident, $fms:ident) => {
        const FUSED: bool = true;

        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            // SAFETY: there is a value of this type, so the machine has its instructions.
            Self(unsafe { $fma(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn fnma(self, b: Self, c: Self) -> Self {
            // SAFETY: as for `fma`.
            Self(unsafe { $fnma(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn fms(self, b: Self, c: Self) -> Self {
            // SAFETY: as for `fma`.
            Self(unsafe { $fms(self.0, b.0, c.0) })
        }
    };
}

// SAFETY: values are made by `load`, `load_half` and `splat` only, and the operations need no other instructions.
unsafe impl Vector for F32x4 {
    const LANES: usize = 4;
    memory!(_mm_loadu_ps, _mm_storeu_ps, _mm_set1_ps, _mm_cvtss_f32);

    #[inline(always)]
    fn unzip(self, next: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            (
                Self(_mm_shuffle_ps::<0b10_00_10_00>(self.0, next.0)),
                Self(_mm_shuffle_ps::<0b11_01_11_01>(self.0, next.0)),
            )
        }
    }

    #[inline(always)]
    fn zip(self, second: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            (
                Self(_mm_unpacklo_ps(self.0, second.0)),
                Self(_mm_unpackhi_ps(self.0, second.0)),
            )
        }
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        Self(unsafe { _mm_shuffle_ps::<0b00_01_10_11>(self.0, self.0) })
    }

    #[inline(always)]
    fn slide(self, first: Self) -> Self {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let up = _mm_shuffle_ps::<0b10_01_00_00>(self.0, self.0);
            Self(_mm_move_ss(up, first.0))
        }
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        // SAFETY: the caller's promise.
        unsafe { transpose_by_four::<Self>(from, from_step, to, to_step) }
    }
}

// SAFETY: values are made by `load`, `load_half` and `splat` only, and the operations need no other instructions.
unsafe impl Vector for F32x8 {
    const LANES: usize = 8;
    memory!(
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_cvtss_f32
    );
    fused!(_mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_fmsub_ps);

    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) })
    }

    #[inline(always)]
    fn unzip(self, next: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let low = _mm256_permute2f128_ps::<0x20>(self.0, next.0);
            let high = _mm256_permute2f128_ps::<0x31>(self.0, next.0);
            (
                Self(_mm256_shuffle_ps::<0b10_00_10_00>(low, high)),
                Self(_mm256_shuffle_ps::<0b11_01_11_01>(low, high)),
            )
        }
    }

    #[inline(always)]
    fn zip(self, second: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let low = _mm256_unpacklo_ps(self.0, second.0);
            let high = _mm256_unpackhi_ps(self.0, second.0);
            (
                Self(_mm256_permute2f128_ps::<0x20>(low, high)),
                Self(_mm256_permute2f128_ps::<0x31>(low, high)),
            )
        }
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
            Self(_mm256_permutevar8x32_ps(self.0, order))
        }
    }

    #[inline(always)]
    fn slide(self, first: Self) -> Self {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let order = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
            let up = _mm256_permutevar8x32_ps(self.0, order);
            Self(_mm256_blend_ps::<1>(up, first.0))
        }
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        for row in (0..HALF).step_by(8) {
            for column in (0..HALF).step_by(8) {
                // SAFETY: the caller's promise: sixteen rows of sixteen at either end, and AVX2.
                unsafe {
                    let from = from.add(row * from_step + column);
                    let to = to.add(column * to_step + row);
                    transpose_eight(from, from_step, to, to_step);
                }
            }
        }
    }
}

/// F32x8 rows of eight become columns. Rows of four from both halves meet while they are loaded, so that only two
/// rounds of shuffles are left.
///
/// # Safety
/// The machine has AVX2; all rows are good to read and to write.
#[inline(always)]
unsafe fn transpose_eight(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [_mm256_setzero_ps(); 8];
        for (i, row) in rows.iter_mut().enumerate() {
            let at = from.add((i & 3) * from_step + (i >> 2) * 4);
            let low = _mm256_castps128_ps256(_mm_loadu_ps(at));
            *row = _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(at.add(4 * from_step)));
        }
        for (i, quad) in rows.chunks_exact(4).enumerate() {
            let a = _mm256_unpacklo_ps(quad[0], quad[1]);
            let b = _mm256_unpackhi_ps(quad[0], quad[1]);
            let c = _mm256_unpacklo_ps(quad[2], quad[3]);
            let d = _mm256_unpackhi_ps(quad[2], quad[3]);
            let to = to.add(4 * i * to_step);
            _mm256_storeu_ps(to, _mm256_shuffle_ps::<0b01_00_01_00>(a, c));
            _mm256_storeu_ps(to.add(to_step), _mm256_shuffle_ps::<0b11_10_11_10>(a, c));
            _mm256_storeu_ps(
                to.add(2 * to_step),
                _mm256_shuffle_ps::<0b01_00_01_00>(b, d),
            );
            _mm256_storeu_ps(
                to.add(3 * to_step),
                _mm256_shuffle_ps::<0b11_10_11_10>(b, d),
            );
        }
    }
}

// SAFETY: values are made by `load`, `load_half` and `splat` only, and the operations need no other instructions.
unsafe impl Vector for F32x16 {
    const LANES: usize = 16;
    memory!(
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_cvtss_f32
    );
    fused!(_mm512_fmadd_ps, _mm512_fnmadd_ps, _mm512_fmsub_ps);

    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) })
    }

    #[inline(always)]
    fn unzip(self, next: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (
                Self(_mm512_permutex2var_ps(self.0, even, next.0)),
                Self(_mm512_permutex2var_ps(self.0, odd, next.0)),
            )
        }
    }

    #[inline(always)]
    fn zip(self, second: Self) -> (Self, Self) {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high =
                _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            (
                Self(_mm512_permutex2var_ps(self.0, low, second.0)),
                Self(_mm512_permutex2var_ps(self.0, high, second.0)),
            )
        }
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let order = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
            Self(_mm512_permutexvar_ps(order, self.0))
        }
    }

    #[inline(always)]
    fn slide(self, first: Self) -> Self {
        // SAFETY: there is a value of this type, so the machine has its instructions.
        unsafe {
            let order = _mm512_setr_epi32(16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
            Self(_mm512_permutex2var_ps(self.0, order, first.0))
        }
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        // SAFETY: the caller's promise: sixteen rows of sixteen at either end, and AVX-512.
        unsafe {
            for column in (0..HALF).step_by(4) {
                // Lane 4g + i of row r: row 4g + r, column + i. F32x4 rows meet in each while they are loaded.
                let mut quad = [_mm512_setzero_ps(); 4];
                for (r, row) in quad.iter_mut().enumerate() {
                    let at = from.add(r * from_step + column);
                    let lanes = _mm512_castps128_ps512(_mm_loadu_ps(at));
                    let lanes = _mm512_insertf32x4::<1>(lanes, _mm_loadu_ps(at.add(4 * from_step)));
                    let lanes = _mm512_insertf32x4::<2>(lanes, _mm_loadu_ps(at.add(8 * from_step)));
                    *row = _mm512_insertf32x4::<3>(lanes, _mm_loadu_ps(at.add(12 * from_step)));
                }
                let a = _mm512_unpacklo_ps(quad[0], quad[1]);
                let b = _mm512_unpackhi_ps(quad[0], quad[1]);
                let c = _mm512_unpacklo_ps(quad[2], quad[3]);
                let d = _mm512_unpackhi_ps(quad[2], quad[3]);
                let to = to.add(column * to_step);
                _mm512_storeu_ps(to, _mm512_shuffle_ps::<0b01_00_01_00>(a, c));
                _mm512_storeu_ps(to.add(to_step), _mm512_shuffle_ps::<0b11_10_11_10>(a, c));
                _mm512_storeu_ps(
                    to.add(2 * to_step),
                    _mm512_shuffle_ps::<0b01_00_01_00>(b, d),
                );
                _mm512_storeu_ps(
                    to.add(3 * to_step),
                    _mm512_shuffle_ps::<0b11_10_11_10>(b, d),
                );
            }
        }
    }
}
