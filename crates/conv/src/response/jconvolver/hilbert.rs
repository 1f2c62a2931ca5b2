//! Hilbert transform: shifts all frequencies by 90 degrees.

use std::f64::consts::PI;

/// Makes `length` taps around tap `length / 2`: the ideal 2 / (pi n) at every odd distance n, times jconvolver's window
/// 0.43 + 0.57 cos.
///
/// Real-time: setup.
pub(super) fn hilbert(length: usize) -> Vec<f32> {
    let half = length / 2;
    let mut taps = vec![0.0; length];
    for n in (1..half).step_by(2) {
        let window = 0.43 + 0.57 * libm::cos(PI * n as f64 / half as f64);
        let tap = (2.0 / (PI * n as f64) * window) as f32;
        taps[half - n] = tap;
        taps[half + n] = -tap;
    }
    taps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Response to a complex exponential of `turns` cycles a frame, with the middle tap as time zero.
    fn response(taps: &[f32], turns: f64) -> (f64, f64) {
        let half = (taps.len() / 2) as f64;
        let sum = |of: fn(f64) -> f64| -> f64 {
            let taps = taps.iter().enumerate();
            let parts = taps.map(|(k, t)| f64::from(*t) * of(2.0 * PI * turns * (k as f64 - half)));
            parts.sum()
        };
        (sum(libm::cos), -sum(libm::sin))
    }

    #[test]
    fn every_frequency_is_shifted_by_90_degrees_and_keeps_its_level() {
        let taps = hilbert(1024);
        for turns in [0.01, 0.1, 0.25, 0.4, 0.49] {
            let (even, odd) = response(&taps, turns);
            assert!(even.abs() < 1e-6, "{even} at {turns}");
            assert!((odd - 1.0).abs() < 0.01, "{odd} at {turns}");
        }
    }
}
