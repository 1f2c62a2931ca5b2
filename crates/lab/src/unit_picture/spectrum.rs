//! Levels and phases of what a unit plays.

use super::bench::RATE;
use std::f64::consts::TAU;
use std::ops::Range;

/// Lowest level that is drawn, in dB.
const FLOOR_DB: f64 = -120.0;

/// Level of the spectrum of `samples` at `hz`, in dB.
pub(super) fn level_db(samples: &[f32], hz: f64) -> f64 {
    let (re, im) = bin(samples, hz);
    decibels(re.hypot(im))
}

/// Phase of the spectrum of `samples` at `hz` less that of `reference`, in degrees from -180 to 180.
pub(super) fn phase_between(samples: &[f32], reference: &[f32], hz: f64) -> f64 {
    let ((a, b), (c, d)) = (bin(samples, hz), bin(reference, hz));
    (b * c - a * d).atan2(a * c + b * d).to_degrees()
}

/// Real and imaginary part of the spectrum of `samples` at `hz`.
fn bin(samples: &[f32], hz: f64) -> (f64, f64) {
    let (sin, cos) = (TAU * hz / RATE).sin_cos();
    let (mut re, mut im, mut x, mut y) = (0.0, 0.0, 1.0, 0.0);
    for sample in samples {
        let sample = f64::from(*sample);
        (re, im) = (re + sample * x, im - sample * y);
        (x, y) = (x * cos - y * sin, x * sin + y * cos);
    }
    (re, im)
}

/// Largest level in `range`, in dB.
pub(super) fn peak_db(samples: &[f32], range: Range<usize>) -> f64 {
    let peak = samples[range]
        .iter()
        .fold(0f32, |peak, x| peak.max(x.abs()));
    decibels(f64::from(peak))
}

fn decibels(gain: f64) -> f64 {
    (20.0 * gain.log10()).max(FLOOR_DB)
}
