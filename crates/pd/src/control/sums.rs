//! Sums of sine and cosine waves, as arrays take them (`g_array.c`).

use crate::constants::PI;

/// Points behind a period, for the cubic.
pub(super) const EXTRA: usize = 3;

/// Fills the points of an array: a period of a power of two, and [`EXTRA`] points more.
///
/// Real-time: hot, points x partials.
pub(super) fn fill(points: &mut [f32], partials: impl Iterator<Item = f32> + Clone, is_sine: bool) {
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let step = (2.0 * PI) / points.len().saturating_sub(EXTRA) as f64;
    let mut phase = -step;
    for point in points {
        let (mut angle, mut sum) = (if is_sine { phase } else { 0.0 }, 0.0);
        for partial in partials.clone() {
            sum += f64::from(partial) * if is_sine { angle.sin() } else { angle.cos() };
            angle += phase;
        }
        #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
        let narrowed = sum as f32;
        *point = narrowed;
        phase += step;
    }
}
