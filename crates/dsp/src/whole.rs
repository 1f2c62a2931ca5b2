//! Whole numbers of floats, with the values of `as`, in vectors.
//!
//! `as` holds what is too large at the bounds of its type, for which the compiler takes vectors apart. These take numbers that
//! fit.

/// 2^52: a sum with it has no part below 1.
const POINT: f64 = 4_503_599_627_370_496.0;
/// The same for numbers of both signs.
const SIGNED_POINT: f64 = 1.5 * POINT;

/// The whole number below `x`, or `x` itself; for an `x` from 0 to 2^51.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn below(x: f64) -> f64 {
    let nearest = (x + POINT) - POINT;
    if nearest > x { nearest - 1.0 } else { nearest }
}

/// The whole number above `x`, or `x` itself; for an `x` from 0 to 2^51.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn above(x: f64) -> f64 {
    let nearest = (x + POINT) - POINT;
    if nearest < x { nearest + 1.0 } else { nearest }
}

/// The bits of `x as i64` below 2^32: the part behind the point is left out. For an `x` within ±2^50.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn wrapped(x: f64) -> u32 {
    let size = below(x.abs());
    let whole = if x < 0.0 { -size } else { size };
    (whole + SIGNED_POINT).to_bits() as u32
}

/// `x as u32`, for an `x` below 2^31; 0 for what is negative or no number.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn of_narrow(x: f32) -> u32 {
    let bits = x.to_bits();
    // As many bits of the number, of which the first one is 2^30, lie behind the point; with a sign it is far more.
    let behind = 157u32.wrapping_sub(bits >> 23).min(31);
    let number = (bits & 0x7f_ffff | 0x80_0000) << 7;
    number >> behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_become_those_of_their_definition() {
        let mut x = 1e-9;
        while x < 1e14 {
            for x in [
                x,
                f64::floor(x),
                f64::floor(x) + 0.5,
                f64::floor(x).next_down(),
            ] {
                if x < 0.0 {
                    continue;
                }
                assert_eq!(below(x), x.floor(), "{x}");
                assert_eq!(above(x), x.ceil(), "{x}");
                assert_eq!(wrapped(x), x as i64 as u32, "{x}");
                assert_eq!(wrapped(-x), -x as i64 as u32, "-{x}");
            }
            x *= 1.01;
        }
        assert_eq!(
            [below(0.0), above(0.0), below(0.5), above(0.5)],
            [0.0, 0.0, 0.0, 1.0]
        );
    }

    #[test]
    fn narrow_numbers_become_those_of_their_definition() {
        let largest = 2_147_483_520f32;
        let bits = (0..=largest.to_bits()).step_by(997);
        for x in bits
            .map(f32::from_bits)
            .chain([largest, 0.0, -0.0, 1.0, 0.999_999_94])
        {
            assert_eq!(of_narrow(x), x as u32, "{x}");
        }
        assert_eq!([-1.0, -1e9, f32::NAN, -f32::NAN].map(of_narrow), [0; 4]);
    }
}
