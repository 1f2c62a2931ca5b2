//! Four rows of four samples as columns: for signals that are put side by side.

/// Columns as rows.
///
/// Real-time: hot.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn turned(rows: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    use std::arch::x86_64::{
        _mm_loadu_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_storeu_ps, _mm_unpackhi_ps, _mm_unpacklo_ps,
    };
    // Named one by one: the compiler's own shuffles went through memory.
    // SAFETY: each load reads and each store writes four samples of an array of four; all x86-64 have SSE.
    unsafe {
        let [a, b, c, d] = rows.each_ref().map(|row| _mm_loadu_ps(row.as_ptr()));
        let (low, high) = (_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
        let (next_low, next_high) = (_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
        let mut columns = [[0.0; 4]; 4];
        _mm_storeu_ps(columns[0].as_mut_ptr(), _mm_movelh_ps(low, next_low));
        _mm_storeu_ps(columns[1].as_mut_ptr(), _mm_movehl_ps(next_low, low));
        _mm_storeu_ps(columns[2].as_mut_ptr(), _mm_movelh_ps(high, next_high));
        _mm_storeu_ps(columns[3].as_mut_ptr(), _mm_movehl_ps(next_high, high));
        columns
    }
}

/// Columns as rows.
///
/// Real-time: hot.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn turned([a, b, c, d]: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    [0, 1, 2, 3].map(|at| [a[at], b[at], c[at], d[at]])
}

/// Four samples from `at` on.
///
/// # Panics
///
/// There are fewer.
///
/// Real-time: hot.
#[inline(always)]
pub fn four(from: &[f32], at: usize) -> [f32; 4] {
    [from[at], from[at + 1], from[at + 2], from[at + 3]]
}

#[cfg(test)]
mod tests {
    use super::{four, turned};

    #[test]
    fn columns_become_rows_and_rows_columns() {
        let samples: Vec<f32> = (0..16u8).map(f32::from).collect();
        let rows = [0, 4, 8, 12].map(|at| four(&samples, at));
        let columns = turned(rows);
        assert_eq!(columns[1], [1.0, 5.0, 9.0, 13.0]);
        assert_eq!(turned(columns), rows);
    }
}
