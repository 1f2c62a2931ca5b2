//! [`GainComputer`]: the gain of a compressor for each level; `compressor` has the formulas.

use super::detector::{GainCurve, follow, gain_of, level_db, moving_gain};
use crate::kernel::decay_factor;

/// A reduction below this is none.
const NO_REDUCTION_DB: f64 = 1e-6;

/// What the parameters of a compressor come to.
#[derive(Clone, Copy)]
pub(crate) struct GainComputer {
    curve: GainCurve,
    /// What is left of a distance after a frame.
    attack: f64,
    release: f64,
    makeup_db: f64,
    makeup: f64,
    /// Level that is never reduced.
    quiet: f64,
}

impl GainComputer {
    /// With the times of attack and release in seconds and a gain behind it, at a rate in Hz.
    ///
    /// Real-time: hot.
    pub(crate) fn new(curve: GainCurve, times: [f64; 2], makeup_db: f64, rate: f64) -> Self {
        let [attack, release] = times.map(|time| decay_factor(time, rate));
        Self {
            curve,
            attack,
            release,
            makeup_db,
            makeup: gain_of(makeup_db),
            // A little below the knee, for the level's rounding.
            quiet: gain_of(curve.threshold_db - curve.knee_db / 2.0 - 0.001),
        }
    }

    /// The gain of a frame with a level, as a factor; `reduction` is the state, in dB.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn gain(&self, reduction: &mut f64, level: f64) -> f64 {
        let wanted = match level > self.quiet {
            true => self.curve.reduction_db(level_db(level)),
            false => 0.0,
        };
        let moved = follow(*reduction, wanted, self.attack, self.release);
        *reduction = if moved < NO_REDUCTION_DB { 0.0 } else { moved };
        match *reduction > 0.0 {
            true => moving_gain(self.makeup_db - *reduction),
            false => self.makeup,
        }
    }
}
