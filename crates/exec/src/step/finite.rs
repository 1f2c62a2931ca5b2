//! Replaces samples that are infinite or NaN by silence, where sound enters a graph, stays in it, or leaves it.
//!
//! Every feedback loop goes through a delay line. So a sample that is cleaned there comes round once at most.

/// Bits of the exponent: all are set in infinite samples and in NaN, and in no other.
const EXPONENT: u32 = 0x7f80_0000;

/// Silences samples that are not finite. Returns the number of them.
///
/// Real-time: hot.
pub(crate) fn silence_non_finite(samples: &mut [f32]) -> u64 {
    if !has_non_finite(samples) {
        return 0;
    }
    let non_finite = samples.iter_mut().filter(|x| !x.is_finite());
    non_finite.map(|x| *x = 0.0).count() as u64
}

/// Returns true if a sample is not finite. It has no branch in the loop, so it runs in vectors.
///
/// Real-time: hot.
#[inline]
pub(crate) fn has_non_finite(samples: &[f32]) -> bool {
    // The sum has the highest bit where the exponent is full.
    let carry = |x: &f32| (x.to_bits() & EXPONENT).wrapping_add(1 << 23);
    samples.iter().fold(0, |any, x| any | carry(x)) >> 31 != 0
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
}
