//! The factors of transforms, in double precision.

/// `exp(-2 pi i part / whole)`. Angles are brought into the first eighth of the circle, where sine and cosine are at
/// their best, so that equal factors have equal bits and right angles are exact.
///
/// Real-time: setup.
pub(crate) fn turn(part: usize, whole: usize) -> (f64, f64) {
    let eighths = 8 * (part % whole);
    let (octant, rest) = (eighths / whole, eighths % whole);
    // An odd octant is gone through backwards.
    let rest = if octant % 2 == 1 { whole - rest } else { rest };
    let angle = std::f64::consts::FRAC_PI_4 * rest as f64 / whole as f64;
    let (sin, cos) = if rest == whole {
        (
            std::f64::consts::FRAC_1_SQRT_2,
            std::f64::consts::FRAC_1_SQRT_2,
        )
    } else {
        angle.sin_cos()
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
    fn a_turn_is_what_the_library_says() {
        for whole in [1, 2, 4, 8, 16, 64, 100, 1000] {
            for part in 0..2 * whole {
                let (sin, cos) = (std::f64::consts::TAU * part as f64 / whole as f64).sin_cos();
                let (re, im) = turn(part, whole);
                assert!(
                    (re - cos).abs() < 1e-14 && (im + sin).abs() < 1e-14,
                    "{part} {whole}"
                );
            }
        }
        assert_eq!(turn(1, 4), (0.0, -1.0));
        assert_eq!(turn(1, 2), (-1.0, -0.0));
    }
}
