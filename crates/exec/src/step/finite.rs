//! Replaces samples that are infinite or NaN by silence, where sound enters a graph, stays in it, or leaves it.
//!
//! Every feedback loop goes through a delay line. So a sample that is cleaned there comes round once at most.

use rt::vectors::{WideWork, copy_any, widest};

/// Silences samples that are not finite. Returns the number of them.
#[cold]
fn silence_non_finite(samples: &mut [f32]) -> u64 {
    let non_finite = samples.iter_mut().filter(|x| !x.is_finite());
    non_finite.map(|x| *x = 0.0).count() as u64
}

/// Copies samples, those that are not finite as silence, in one pass. Returns the number of these.
///
/// Real-time: hot.
#[inline]
pub(crate) fn copy_finite(from: &[f32], to: &mut [f32]) -> u64 {
    match widest(FiniteCopy { from, to: &mut *to }) {
        false => 0,
        true => silence_non_finite(to),
    }
}

/// A copy that finds out if a sample is not finite.
pub(super) struct FiniteCopy<'a> {
    pub(super) from: &'a [f32],
    pub(super) to: &'a mut [f32],
}

impl WideWork for FiniteCopy<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        copy_any(self.from, self.to, not_finite)
    }
}

/// Not 0 for a sample that is not finite: x - x is then NaN, and else +0.0, whose bits are all 0.
#[expect(
    clippy::eq_op,
    reason = "the difference is not 0 for NaN and infinities"
)]
#[inline(always)]
fn not_finite(x: f32) -> u32 {
    (x - x).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_finite_is_silenced_and_counted() {
        let mut samples = [f32::MAX, f32::NAN, -0.0, f32::NEG_INFINITY, 1e-40, 0.5];
        assert_eq!(silence_non_finite(&mut samples), 2);
        assert_eq!(samples, [f32::MAX, 0.0, -0.0, 0.0, 1e-40, 0.5]);
        assert_eq!(silence_non_finite(&mut samples), 0);
    }

    #[test]
    fn a_copy_silences_and_counts_as_well_at_any_length() {
        for length in [0, 1, 2, 15, 31, 50, 64, 65, 128] {
            let from: Vec<f32> = (0..length).map(|i| i as f32 - 20.5).collect();
            let mut to = vec![1.0; length];
            assert_eq!(copy_finite(&from, &mut to), 0);
            assert_eq!(from, to);
            for at in 0..length {
                let mut broken = from.clone();
                broken[at] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][at % 3];
                assert_eq!(copy_finite(&broken, &mut to), 1);
                broken[at] = 0.0;
                assert_eq!(broken, to);
            }
        }
    }
}
