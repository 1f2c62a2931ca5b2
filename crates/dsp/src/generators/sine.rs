//! [`Phase`]: a phase as a whole number, and [`sine`] of it.
//!
//! The phase is a fraction of a cycle in 64 bits that wraps by itself. It never drifts, and any number of frames can be skipped
//! at once with the same result as one by one.

use units::SampleRate;

/// A running phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// Fraction of the cycle that has passed, in units of 2^-64.
    pub(crate) at: u64,
    /// Fraction of a cycle per frame, in units of 2^-64; at most a half.
    pub(crate) step: u64,
}

impl Phase {
    /// A phase at `cycles`, with frequency 0.
    pub(crate) fn at(cycles: f64) -> Self {
        let part = cycles - cycles as i64 as f64;
        // In two's complement a negative part is the right fraction of a cycle too.
        let at = ((part * 2f64.powi(62)) as i64 as u64) << 2;
        Self { at, step: 0 }
    }

    /// Sets the frequency, held below half the rate; the phase continues.
    ///
    /// Real-time: hot.
    pub(crate) fn set_frequency(&mut self, hz: f64, rate: SampleRate) {
        let cycles = (hz / f64::from(rate.hz())).clamp(0.0, 0.5);
        self.step = (cycles * 2f64.powi(64)) as u64;
    }

    /// Returns the phase in units of 2^-32 cycles, and moves on by a frame.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        let now = (self.at >> 32) as u32;
        self.at = self.at.wrapping_add(self.step);
        now
    }

    /// Moves on by `frames` frames.
    ///
    /// Real-time: hot.
    pub(crate) fn skip(&mut self, frames: usize) {
        self.at = self.at.wrapping_add(self.step.wrapping_mul(frames as u64));
    }
}

/// Sine of a phase in units of 2^-32 cycles, with an error below 3e-7.
///
/// The phase is folded into a quarter wave as a whole number, exactly; then Hastings' polynomial of the ninth degree
/// (*Approximations for Digital Computers*, 1955, sheet 16).
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn sine(phase: u32) -> f32 {
    let p = phase as i32;
    let folded = if (p ^ (p << 1)) < 0 {
        i32::MIN.wrapping_sub(p)
    } else {
        p
    };
    let x = folded as f32 * (1.0 / 1_073_741_824.0);
    let s = x * x;
    let tail = 0.079_689_68 + s * (-0.004_673_766 + s * 0.000_151_484_19);
    x * (std::f32::consts::FRAC_PI_2 + s * (-0.645_963_7 + s * tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_the_sine() {
        for i in 0..100_000u32 {
            let phase = i.wrapping_mul(42_949);
            let truth = libm::sin(f64::from(phase) / 2f64.powi(32) * std::f64::consts::TAU);
            assert!((f64::from(sine(phase)) - truth).abs() < 3e-7, "{phase}");
        }
        assert_eq!(sine(0), 0.0);
    }

    #[test]
    fn a_phase_may_begin_anywhere_in_a_cycle() {
        assert_eq!(Phase::at(0.25).at, 1 << 62);
        assert_eq!(Phase::at(-0.25).at, 3 << 62);
        assert_eq!(Phase::at(7.5).at, 1 << 63);
    }
}
