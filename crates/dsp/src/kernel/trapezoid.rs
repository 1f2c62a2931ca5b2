//! Trapezoidal sections for kernels: one-pole and state-variable filters whose coefficients may change in each frame.
//!
//! Vadim Zavalishin, *The Art of VA Filter Design* (2012), chapters 3 and 4, and Andrew Simper, "Solving the continuous SVF
//! equations using trapezoidal integration and equivalent currents" (Cytomic, 2013). Trapezoidal integrators keep the
//! energy of their state below that of the analog filter, on every path of the frequency.

use std::f64::consts::PI;

/// tan(π freq / rate), with the frequency held within 0.49 of the rate.
///
/// Real-time: hot.
pub(crate) fn integrator_gain(freq: f64, rate: f64) -> f64 {
    libm::tan(PI * (freq / rate).clamp(1e-6, 0.49))
}

/// One step of a one-pole low-pass with integrator gain `g`.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn one_pole(state: &mut f64, g: f64, x: f64) -> f64 {
    let v = (x - *state) * (g / (1.0 + g));
    let low = v + *state;
    *state = low + v;
    low
}

/// Coefficients of a state-variable filter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resonator {
    /// Gain of an integrator.
    g: f64,
    /// Damping, 1 / q.
    pub(crate) k: f64,
    /// 1 / (1 + g (g + k)): the loop without a delay.
    a1: f64,
    /// What a state keeps of itself, of each.
    own: [f64; 2],
    /// Twice the gains of x in band and low.
    twice: [f64; 2],
}

impl Resonator {
    /// A filter of `freq` Hz and resonance `q`.
    ///
    /// Real-time: hot.
    pub(crate) fn new(freq: f64, q: f64, rate: f64) -> Self {
        Self::from_gains(integrator_gain(freq, rate), 1.0 / q)
    }

    /// A filter with this gain of an integrator and this damping.
    pub(crate) fn from_gains(g: f64, k: f64) -> Self {
        let a1 = 1.0 / (1.0 + g * (g + k));
        let (a2, a3) = (g * a1, g * g * a1);
        Self {
            g,
            k,
            a1,
            own: [2.0 * a1 - 1.0, 1.0 - 2.0 * a3],
            twice: [2.0 * a2, 2.0 * a3],
        }
    }

    /// One step: the low and the band output; the high one is x - k × band - low. `state` has two numbers.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn tick(self, state: &mut [f64], x: f64) -> [f64; 2] {
        let Self {
            g, a1, own, twice, ..
        } = self;
        let [s1, s2] = [state[0], state[1]];
        let v3 = x - s2;
        let band = a1 * (s1 + g * v3);
        let low = s2 + g * band;
        // 2 band - s1 and 2 low - s2, each as a sum of what is known before: shorter to wait for.
        state[0] = twice[0] * v3 + own[0] * s1;
        state[1] = (twice[1] * x + twice[0] * s1) + own[1] * s2;
        [low, band]
    }

    /// One step of the all-pass: x - 2 k × band.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn all_pass(self, state: &mut [f64], x: f64) -> f64 {
        x - 2.0 * self.k * self.tick(state, x)[1]
    }

    /// Largest magnitude of a pole.
    pub(crate) fn pole_radius(self) -> f64 {
        pole_radius(self.g, self.k)
    }
}

/// Largest magnitude of a pole of a state-variable filter with this gain of an integrator and this damping.
pub(crate) fn pole_radius(g: f64, k: f64) -> f64 {
    let a0 = 1.0 + g * (g + k);
    let (b, c) = (2.0 * (g * g - 1.0) / a0, (1.0 + g * (g - k)) / a0);
    let d = b * b / 4.0 - c;
    match d < 0.0 {
        true => c.sqrt(),
        false => b.abs() / 2.0 + d.sqrt(),
    }
}
