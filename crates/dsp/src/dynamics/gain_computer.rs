//! [`GainComputer`]: the gain of a compressor for each level; `compressor` has the formulas.

use super::detector::{GainCurve, gain_of, level_db, moving_gain, sample_db};
use crate::filters::lanes::{Eight, LANES, Number};
use crate::kernel::{FRAMES, decay_factor};
use crate::sample::larger;

/// A reduction below this is none.
const NO_REDUCTION_DB: f64 = 1e-6;

/// What the parameters of a compressor come to.
#[derive(Clone, Copy)]
pub(crate) struct GainComputer {
    curve: GainCurve,
    /// Shares of a distance that are left after a frame, and covered by it.
    attack: [f64; 2],
    release: [f64; 2],
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
        let shares = |left: f64| [left, 1.0 - left];
        let [attack, release] = times.map(|time| shares(decay_factor(time, rate)));
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
        *reduction = self.next(*reduction, wanted);
        match *reduction > 0.0 {
            true => moving_gain(self.makeup_db - *reduction),
            false => self.makeup,
        }
    }

    /// The reduction behind `state`, on the way to `wanted`. Both ways are computed, since a comparison would be waited for: the
    /// faster one upwards is the larger of both wherever `wanted` is, and the smaller one if it is the slower.
    #[inline(always)]
    fn next(&self, state: f64, wanted: f64) -> f64 {
        match self.attack[0] <= self.release[0] {
            true => self.step(state, wanted, larger),
            false => self.step(state, wanted, lesser),
        }
    }

    #[inline(always)]
    fn step(&self, state: f64, wanted: f64, pick: impl Fn(f64, f64) -> f64) -> f64 {
        let [up, down] = [self.attack, self.release].map(|[left, covered]| {
            // Of a reduction that counts as none, and of any other.
            [wanted * covered, wanted * covered + state * left]
        });
        let [begun, moved] = [pick(up[0], down[0]), pick(up[1], down[1])];
        if state < NO_REDUCTION_DB {
            begun
        } else {
            moved
        }
    }

    /// Goes from frame to frame: what is wanted makes way for the reduction. A function of its own, since the compiler would take the
    /// wide comparisons of the vectors around it, for which each frame waits longer.
    ///
    /// Real-time: hot.
    #[inline(never)]
    fn follow(&self, mut state: f64, wanted: &mut [f64]) -> f64 {
        // Not behind the reference, and the way to pick known before the loop.
        let of = *self;
        match of.attack[0] <= of.release[0] {
            true => wanted.iter_mut().for_each(|wanted| {
                state = of.step(state, *wanted, larger);
                *wanted = state;
            }),
            false => wanted.iter_mut().for_each(|wanted| {
                state = of.step(state, *wanted, lesser);
                *wanted = state;
            }),
        }
        state
    }

    /// As [`gain`](Self::gain), for frames in a row: levels become gains. Only the state goes frame by frame; levels in dB, the
    /// curve and the gains run in vectors.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn gains(&self, reduction: &mut f64, levels: &[f32], gains: &mut [f64]) {
        self.wanted(levels, gains);
        *reduction = self.follow(*reduction, gains);
        self.factors(gains);
    }

    /// Returns true if the state may be followed in a lane: upwards the way is the faster one.
    pub(super) fn fits_lane(&self) -> bool {
        self.attack[0] <= self.release[0]
    }

    /// The reductions that levels ask for.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn wanted(&self, levels: &[f32], wanted: &mut [f64]) {
        for (wanted, level) in wanted.iter_mut().zip(levels) {
            let reduction = self.curve.reduction_db(sample_db(*level));
            *wanted = if f64::from(*level) > self.quiet {
                reduction
            } else {
                0.0
            };
        }
    }

    /// Makes gains of reductions.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn factors(&self, gains: &mut [f64]) {
        for gain in gains {
            let moving = moving_gain(self.makeup_db - *gain);
            *gain = if *gain > 0.0 { moving } else { self.makeup };
        }
    }
}

/// The states of several compressors, each in a lane of vectors.
pub(super) struct FollowLanes {
    attack: [Eight; 2],
    release: [Eight; 2],
    state: Eight,
}

impl Default for FollowLanes {
    fn default() -> Self {
        let zero = Eight::of(0.0);
        Self {
            attack: [zero; 2],
            release: [zero; 2],
            state: zero,
        }
    }
}

impl FollowLanes {
    /// Sets the numbers of a lane.
    pub(super) fn set(&mut self, lane: usize, of: &GainComputer, state: f64) {
        for at in 0..2 {
            self.attack[at].0[lane] = of.attack[at];
            self.release[at].0[lane] = of.release[at];
        }
        self.state.0[lane] = state;
    }

    /// As [`GainComputer::follow`], for the first `count` frames of all lanes. Returns the states behind them.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn run(self, wanted: &mut [[f64; FRAMES]; LANES], count: usize) -> [f64; LANES] {
        let mut rows = [Eight::of(0.0); FRAMES];
        let [a, b, c, d, e, f, g, h] = &*wanted;
        for (at, row) in rows.iter_mut().enumerate() {
            *row = Eight([a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at]]);
        }
        let Self {
            attack,
            release,
            mut state,
        } = self;
        for row in &mut rows[..count] {
            let [begun_up, begun_down] = [*row * attack[1], *row * release[1]];
            let (up, down) = (
                begun_up + state * attack[0],
                begun_down + state * release[0],
            );
            let (begun, moved) = (begun_up.or_larger(begun_down), up.or_larger(down));
            state = state.choose_below(NO_REDUCTION_DB, begun, moved);
            *row = state;
        }
        for (lane, to) in wanted.iter_mut().enumerate() {
            for (to, row) in to.iter_mut().zip(&rows) {
                *to = row.0[lane];
            }
        }
        state.0
    }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_in_a_row_have_the_gains_of_one_after_the_other() {
        for (knee_db, makeup_db) in [(6.0, 0.0), (0.0, 3.0), (20.0, -1.0)] {
            let curve = GainCurve {
                threshold_db: -20.0,
                slope: 0.75,
                knee_db,
            };
            let computer = GainComputer::new(curve, [0.001, 0.01], makeup_db, 48_000.0);
            let (mut row, mut single) = (0.0, 0.0);
            for part in 0..200u32 {
                let levels: Vec<f32> = (0..64u32)
                    .map(|i| {
                        let noise = (part * 64 + i).wrapping_mul(2_654_435_761) >> 8;
                        let level = noise as f32 / 16_777_216.0;
                        if part % 7 < 2 { level * 0.001 } else { level }
                    })
                    .collect();
                let mut gains = vec![0.0; levels.len()];
                computer.gains(&mut row, &levels, &mut gains);
                for (gain, level) in gains.iter().zip(&levels) {
                    let wanted = computer.gain(&mut single, f64::from(*level));
                    assert_eq!(gain.to_bits(), wanted.to_bits());
                }
            }
        }
    }
}
