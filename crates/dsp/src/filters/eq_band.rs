//! [`EqBand`]: one band of an equalizer, a peak or a shelf; `eq` has the formulas.

use crate::kernel::{Resonator, integrator_gain};
use std::f64::consts::SQRT_2;

/// The side on which a shelf lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EqShelf {
    Low,
    High,
}

impl EqShelf {
    /// The gain of an integrator, and the weights of input, band and low, for the gain `g` of the shelf's middle, damping `k` and the root
    /// `a` of the shelf's gain.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn section(self, g: f64, k: f64, a: f64) -> (f64, [f64; 3]) {
        match self {
            Self::Low => (g / a.sqrt(), [1.0, k * (a - 1.0), a * a - 1.0]),
            Self::High => (g * a.sqrt(), [a * a, k * (1.0 - a) * a, 1.0 - a * a]),
        }
    }
}

/// The weights of a peak with damping `k`, whose gain has the root `a`.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn peak_weights(k: f64, a: f64) -> [f64; 3] {
    [1.0, k * (a * a - 1.0), 0.0]
}

/// One band: its filter, and the weights of input, band and low output.
#[derive(Clone, Copy)]
pub(crate) struct EqBand {
    filter: Resonator,
    weights: [f64; 3],
}

/// 10^(dB / 40).
fn amplitude(db: f64) -> f64 {
    libm::exp10(db / 40.0)
}

impl EqBand {
    /// A peak at `freq` Hz with a gain in dB, at a rate in Hz.
    ///
    /// Real-time: hot.
    pub(crate) fn peak(freq: f64, q: f64, db: f64, rate: f64) -> Self {
        let a = amplitude(db);
        let filter = Resonator::new(freq, q * a, rate);
        Self {
            filter,
            weights: peak_weights(filter.k, a),
        }
    }

    /// A shelf whose slope has its middle at `freq` Hz, with a gain in dB, at a rate in Hz.
    ///
    /// Real-time: hot.
    pub(crate) fn shelf(side: EqShelf, freq: f64, db: f64, rate: f64) -> Self {
        let (a, k) = (amplitude(db), SQRT_2);
        let (g, weights) = side.section(integrator_gain(freq, rate), k, a);
        Self {
            filter: Resonator::from_gains(g, k),
            weights,
        }
    }

    /// One step. `state` has two numbers.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn tick(&self, state: &mut [f64], x: f64) -> f64 {
        let [low, mid] = self.filter.tick(state, x);
        let [m0, m1, m2] = self.weights;
        m0 * x + m1 * mid + m2 * low
    }

    /// Largest magnitude of a pole.
    pub(crate) fn pole_radius(self) -> f64 {
        self.filter.pole_radius()
    }
}
