//! [`exp2`]: a power of two in single precision, without branches or tables, for loops that run in vectors.

/// 1.5 × 2^23: what is added to it loses its fraction, to the nearest whole number.
const ROUND: f32 = 12_582_912.0;

/// 2^`x`, with a relative error below 3e-7, and exactly for whole numbers. `x` is held within ±126; NaN gives NaN. The bits are
/// the same on every machine.
///
/// With x = n + f, f within ±0.5: 2^n as the exponent of a number, times a polynomial for 2^f (Taylor's, to the sixth power).
///
/// Real-time: hot.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let x = x.clamp(-126.0, 126.0);
    let rounded = x + ROUND;
    let f = x - (rounded - ROUND);
    // The low bits of `rounded` are n, in two's complement.
    let power = rounded.to_bits().wrapping_shl(23).wrapping_add(127 << 23);
    let high = 0.009_618_129 + f * (0.001_333_355_8 + f * 0.000_154_035_3);
    let low = std::f32::consts::LN_2 + f * (0.240_226_5 + f * (0.055_504_11 + f * high));
    f32::from_bits(power) * (1.0 + f * low)
}

#[cfg(test)]
mod tests {
    use super::exp2;

    #[test]
    fn it_is_the_power_of_two() {
        for i in -126_000..=126_000 {
            let x = i as f32 / 1000.0;
            let truth = f64::from(x).exp2();
            let error = (f64::from(exp2(x)) - truth).abs() / truth;
            assert!(error < 3e-7, "{x}: {error:e}");
        }
        for n in -126i16..=126 {
            assert_eq!(f64::from(exp2(f32::from(n))), f64::from(n).exp2());
        }
        assert_eq!(exp2(1e9), exp2(126.0));
        assert_eq!(exp2(f32::NEG_INFINITY), exp2(-126.0));
        assert!(exp2(f32::NAN).is_nan());
    }
}
