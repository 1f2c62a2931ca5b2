//! Numbers as Pd writes them: shorter than what they stand for, and heard for that reason.
#![expect(
    clippy::approx_constant,
    reason = "the same bits need the same constants"
)]

/// Half a circle.
pub(crate) const PI: f64 = 3.14159;
/// Where `pique` takes an angle for half a circle.
pub(crate) const NEAR_PI: f32 = 3.14;
/// A circle in floats.
pub(crate) const TWO_PI: f32 = 2.0 * 3.14159;
/// A circle of the oscillating filter.
pub(crate) const CIRCLE: f32 = 6.28318;
/// The natural logarithm of 10.
pub(crate) const LN_10: f64 = 2.302585092994;
