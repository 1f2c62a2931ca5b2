//! The factors of transforms (twiddle factors), in double precision.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4};

/// `exp(-2πi · part / whole)` as real and imaginary part.
///
/// The angle is reduced to the first eighth of the circle, where sine and cosine are most precise. So equal factors have
/// equal bits, and right angles are exact. They come from `libm` and not from the system's library, whose last bit
/// differs between systems.
///
/// Real-time: setup.
pub(crate) fn twiddle(part: usize, whole: usize) -> (f64, f64) {
    let eighths = 8 * (part % whole);
    let (octant, rest) = (eighths / whole, eighths % whole);
    // Angles of an odd octant are counted from its end.
    let rest = if octant % 2 == 1 { whole - rest } else { rest };
    let (sin, cos) = match rest == whole {
        true => (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        false => libm::sincos(FRAC_PI_4 * rest as f64 / whole as f64),
    };
    let (sin, cos) = match octant {
        0 => (sin, cos),
        1 => (cos, sin),
        2 => (cos, -sin),
        3 => (sin, -cos),
        4 => (-sin, -cos),
        5 => (-cos, -sin),
        6 => (-cos, sin),
        _ => (-sin, cos),
    };
    (cos, -sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_the_same_bits_on_every_system() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for whole in [16, 48, 1024, 65_536] {
            for part in 0..whole {
                let (re, im) = twiddle(part, whole);
                for bits in [re.to_bits(), im.to_bits()] {
                    hash = (hash ^ bits).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
        assert_eq!(hash, 0x0725_88b5_74a8_4205);
    }

    #[test]
    fn factors_agree_with_the_standard_library() {
        for whole in [1, 2, 4, 8, 16, 64, 100, 1000] {
            for part in 0..2 * whole {
                let (sin, cos) = (std::f64::consts::TAU * part as f64 / whole as f64).sin_cos();
                let (re, im) = twiddle(part, whole);
                assert!(
                    (re - cos).abs() < 1e-14 && (im + sin).abs() < 1e-14,
                    "{part} {whole}"
                );
            }
        }
        assert_eq!(twiddle(1, 4), (0.0, -1.0));
        assert_eq!(twiddle(1, 2), (-1.0, -0.0));
    }
}
