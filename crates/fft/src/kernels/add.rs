//! Sums of spectra, float by float.

use crate::kernels::Kernels;
use crate::simd::{BLOCK, HALF, Kernel, Vector};
use std::ops::Range;

impl Kernels {
    /// `sum = a + b`. All have one length, a multiple of sixteen; a remainder is left unchanged.
    ///
    /// Real-time: hot.
    pub fn add(self, sum: &mut [f32], a: &[f32], b: &[f32]) {
        debug_assert!(sum.len() == a.len() && sum.len() == b.len(), "one length");
        self.run(Add {
            len: sum.len().min(a.len()).min(b.len()) / HALF * HALF,
            sum: sum.as_mut_ptr(),
            a: a.as_ptr(),
            b: b.as_ptr(),
        });
    }

    /// `sum += a`, likewise.
    ///
    /// Real-time: hot.
    pub fn add_assign(self, sum: &mut [f32], a: &[f32]) {
        debug_assert!(sum.len() == a.len(), "one length");
        self.run(Add {
            len: sum.len().min(a.len()) / HALF * HALF,
            sum: sum.as_mut_ptr(),
            a: sum.as_ptr(),
            b: a.as_ptr(),
        });
    }

    /// Writes the sum of blocks `part` of two spectra; the blocks of `to` are `step` blocks apart.
    ///
    /// Real-time: hot.
    pub(crate) fn add_blocks(
        self,
        part: Range<usize>,
        (a, b): (&[f32], &[f32]),
        to: &mut [f32],
        step: usize,
    ) {
        let blocks = a.len() / BLOCK;
        assert!(a.len() == b.len() && to.len() >= blocks * step * BLOCK && part.end <= blocks);
        self.run(AddBlocks {
            part,
            a: a.as_ptr(),
            b: b.as_ptr(),
            to: to.as_mut_ptr(),
            step,
        });
    }
}

/// The pointers are valid for the blocks of `part`, `to` for `step` times as many.
struct AddBlocks {
    part: Range<usize>,
    a: *const f32,
    b: *const f32,
    to: *mut f32,
    step: usize,
}

impl Kernel for AddBlocks {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for block in self.part.clone() {
            for lane in (0..BLOCK).step_by(V::LANES) {
                let at = block * BLOCK + lane;
                // SAFETY: the lanes of a vector divide a block; the machine has `V`.
                unsafe {
                    let sum = V::load(self.a.add(at)) + V::load(self.b.add(at));
                    sum.store(self.to.add(block * self.step * BLOCK + lane));
                }
            }
        }
    }
}

/// All pointers are valid for `len` floats, a multiple of sixteen. `sum` is borrowed exclusively; `a` may be the same.
struct Add {
    len: usize,
    sum: *mut f32,
    a: *const f32,
    b: *const f32,
}

impl Kernel for Add {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for at in (0..self.len).step_by(V::LANES) {
            // SAFETY: the lanes of a vector divide sixteen, so all of them are below `len`; the machine has `V`.
            unsafe {
                let sum = V::load(self.a.add(at)) + V::load(self.b.add(at));
                sum.store(self.sum.add(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectra_are_added_on_all_kernels() {
        let row = |from: usize| (from..from + 48).map(|i| i as f32).collect::<Vec<_>>();
        let (a, b, c) = (row(100), row(7), row(50));
        for kernels in Kernels::available() {
            let mut sum = vec![f32::NAN; 48];
            kernels.add(&mut sum, &a, &b);
            let truth = |f: &dyn Fn(usize) -> f32| (0..48).map(f).collect::<Vec<_>>();
            assert_eq!(sum, truth(&|i| a[i] + b[i]), "{kernels:?}");
            kernels.add_assign(&mut sum, &c);
            assert_eq!(sum, truth(&|i| a[i] + b[i] + c[i]), "{kernels:?}");
        }
    }
}
