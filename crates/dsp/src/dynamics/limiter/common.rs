//! Shares of both limiters: their parameters, the largest sample and the ceiling.

use crate::dynamics::detector::{decibels, seconds};
use crate::kernel::Samples;
use crate::param::ParamSpec;
use std::ops::Neg;

pub(super) const CEILING: ParamSpec = decibels(
    0,
    "ceiling_db",
    (-24.0, 0.0),
    -1.0,
    "Largest peak of the output.",
);
pub(super) const GAIN: ParamSpec = decibels(1, "gain_db", (-48.0, 48.0), 0.0, "Gain before it.");
pub(super) const RELEASE: ParamSpec =
    seconds(2, "release", 2.0, 0.05, "Time of 63 % of the way back.");

/// `x` within ± `ceiling`. As `clamp`, which runs in no vectors since it may panic.
#[inline(always)]
pub(super) fn within<T: Copy + PartialOrd + Neg<Output = T>>(x: T, ceiling: T) -> T {
    let x = if x > ceiling { ceiling } else { x };
    if x < -ceiling { -ceiling } else { x }
}

/// The largest magnitude of samples; infinite if one is no number. As bits they are compared in vectors.
#[inline(always)]
pub(super) fn loudest(samples: &[f32]) -> f64 {
    let mut bits = 0;
    // Written twice: those of a whole step are known to be as many.
    match <&Samples>::try_from(samples) {
        Ok(all) => all.iter().for_each(
            #[inline(always)]
            |x| bits = x.abs().to_bits().max(bits),
        ),
        Err(_) => samples.iter().for_each(
            #[inline(always)]
            |x| bits = x.abs().to_bits().max(bits),
        ),
    }
    f64::from(f32::from_bits(bits.min(f32::INFINITY.to_bits())))
}
