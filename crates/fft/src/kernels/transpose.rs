//! Transposition of sixteen rows to sixteen columns: from channels in buffers of their own to frames, and back.

use crate::kernels::Kernels;
use crate::real_fft::LANES;
use crate::simd::{Kernel, Vector};

impl Kernels {
    /// Writes sixteen rows of sixteen floats as columns: row `r` of `to` has float `r` of each row of `from`. Rows begin
    /// `from_step` and `to_step` floats apart.
    ///
    /// # Panics
    ///
    /// The slices are too short, or rows overlap.
    ///
    /// Real-time: hot.
    pub fn transpose(self, from: &[f32], from_step: usize, to: &mut [f32], to_step: usize) {
        let end = |step: usize| {
            step.checked_mul(LANES - 1)
                .and_then(|at| at.checked_add(LANES))
        };
        let holds =
            |len: usize, step: usize| step >= LANES && end(step).is_some_and(|end| len >= end);
        assert!(
            holds(from.len(), from_step) && holds(to.len(), to_step),
            "the slices hold all rows"
        );
        self.run(Transpose {
            from: from.as_ptr(),
            from_step,
            to: to.as_mut_ptr(),
            to_step,
        });
    }
}

/// All rows are valid to read and to write, and do not overlap.
struct Transpose {
    from: *const f32,
    from_step: usize,
    to: *mut f32,
    to_step: usize,
}

impl Kernel for Transpose {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the machine has `V`, by the caller's promise; the rows are valid, by the type's.
        unsafe { V::transpose(self.from, self.from_step, self.to, self.to_step) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_on_all_kernels() {
        let from: Vec<f32> = (0..16 * 40).map(|i| i as f32).collect();
        for kernels in Kernels::available() {
            let mut to = vec![-1.0; 16 * 24];
            kernels.transpose(&from, 40, &mut to, 24);
            for (row, to) in to.chunks(24).enumerate() {
                let column: Vec<f32> = from.iter().skip(row).step_by(40).copied().collect();
                assert_eq!(to[..16], column[..], "{kernels:?}");
                assert_eq!(to[16..], [-1.0; 8]);
            }
        }
    }
}
