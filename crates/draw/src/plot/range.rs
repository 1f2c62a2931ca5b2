//! The range of an axis, and the ticks on it.

use super::data::{Axis, Scale};
use crate::ticks;

/// An axis with both ends known.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_log: bool,
}

impl Range {
    /// The range of `values` and a little more. If `has_ground`, it contains 0: bars start there.
    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>, has_ground: bool) -> Self {
        let is_log = axis.scale == Scale::Log;
        let (mut low, mut high) = values
            .filter(|value| axis.can_show(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
        let default = if is_log { (1.0, 10.0) } else { (0.0, 1.0) };
        if low > high {
            (low, high) = default;
        }
        if !is_log && high - low < axis.min_span {
            let middle = 0.5 * (low + high);
            (low, high) = (middle - 0.5 * axis.min_span, middle + 0.5 * axis.min_span);
        }
        let (low, high) = if is_log {
            let margin = (high / low).powf(0.04).max(1.12);
            (low / margin, high * margin)
        } else {
            let margin = ((high - low) * 0.05).max(high.abs() * 1e-3).max(1e-12);
            // A range that is near 0 begins there.
            let from_zero = low >= 0.0 && (has_ground || low < 0.6 * high);
            let to_zero = has_ground && high <= 0.0;
            (
                if from_zero { 0.0 } else { low - margin },
                if to_zero { 0.0 } else { high + margin },
            )
        };
        let is_valid = high > low && (high - low).is_finite();
        let (low, high) = if is_valid { (low, high) } else { default };
        Self { low, high, is_log }
    }

    /// Position of `value` on the axis, from 0 to 1.
    pub(super) fn position(&self, value: f64) -> f64 {
        let position = if self.is_log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if position.is_nan() {
            0.0
        } else {
            position.clamp(0.0, 1.0)
        }
    }

    /// Values to mark, with their labels; about `count` have one.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, Option<String>)> {
        if self.is_log {
            let ticks = ticks::logarithmic(self.low, self.high, count);
            let label = |(v, has_label): (f64, bool)| (v, has_label.then(|| ticks::number(v, v)));
            return ticks.into_iter().map(label).collect();
        }
        let (values, step) = ticks::linear(self.low, self.high, count);
        values
            .into_iter()
            .map(|v| (v, Some(ticks::number(v, step))))
            .collect()
    }
}
