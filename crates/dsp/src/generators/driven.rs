//! [`DrivenFrames`]: the phases of an oscillator whose frequency or level is driven at audio rate.
//!
//! ```text
//! step[n]  = freq[n] / rate, in units of 2^-32 cycles; 0 while a driven level is 0
//! phase[n] = phase[n-1] + step[n-1]
//! y[n]     = level[n] × wave(phase[n]); 0 while a driven frequency is 0
//! ```
//!
//! So an oscillator that is driven by silence is silent, changes no state and may sleep, and it goes on where it stopped.

use crate::generators::osc::{FREQ, OscillatorCore, VOLUME};
use crate::generators::sine::Phase;
use crate::sample::clamp_sample;
use crate::whole::of_narrow;
use processor::{Block, MakeContext};
use std::ops::Range;
use units::SampleRate;

/// Frames that are computed at once: those of a block step.
const FRAMES: usize = 64;
/// Largest step: the number below half a cycle.
const MAX_STEP: f32 = 2_147_483_520.0;

/// Phase that a frame moves on at `freq` Hz, in units of 2^-32 cycles.
#[inline(always)]
fn step(freq: f32, rate: SampleRate) -> u32 {
    let per_hz = (2f64.powi(32) / f64::from(rate.hz())) as f32;
    let step = freq * per_hz;
    // What is negative or no number is none.
    of_narrow(if step > MAX_STEP { MAX_STEP } else { step })
}

/// A step as [`DrivenFrames`] has it. It fits a signed number, which converts in vectors.
#[inline(always)]
fn size(step: u32) -> f32 {
    (step as i32 as f32).max(1.0)
}

/// Steps that are summed at once.
const ROW: usize = 8;

/// The sum of each number and all before it: of pairs, then of four, then of eight.
#[inline(always)]
fn sums(row: [u32; ROW]) -> [u32; ROW] {
    let pairs = added(row, later::<1>(row));
    let fours = added(pairs, later::<2>(pairs));
    added(fours, later::<4>(fours))
}

/// The numbers that lie `BY` places before, or 0.
#[inline(always)]
fn later<const BY: usize>(row: [u32; ROW]) -> [u32; ROW] {
    std::array::from_fn(|i| if i >= BY { row[i - BY] } else { 0 })
}

#[inline(always)]
fn added(a: [u32; ROW], b: [u32; ROW]) -> [u32; ROW] {
    std::array::from_fn(|i| a[i].wrapping_add(b[i]))
}

/// Returns true if `freq` or `volume` is driven at audio rate.
pub(crate) fn is_driven(creation: &MakeContext<'_>) -> bool {
    creation.is_driven(FREQ.index) || creation.is_driven(VOLUME.index)
}

/// Returns true if what drives `freq` or `volume` is silent, and with it the oscillator, in all of `block`.
///
/// Real-time: hot.
pub(crate) fn is_stopped(block: &Block<'_>) -> bool {
    block.is_param_zero(FREQ.index) || block.is_param_zero(VOLUME.index)
}

/// Phases, steps and levels of at most 64 frames.
pub(crate) struct DrivenFrames<'a> {
    phases: [u32; FRAMES],
    /// At least 1, in units of 2^-32 cycles.
    steps: [f32; FRAMES],
    freq: Option<&'a [f32]>,
    level: Option<&'a [f32]>,
}

impl<'a> DrivenFrames<'a> {
    /// The frames of `range` of `block`; the phase of `core` moves on with them.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn new(core: &mut OscillatorCore, block: &Block<'a>, range: Range<usize>) -> Self {
        let signal = |index| {
            block
                .param_signal(index)
                .map(|values| &values[range.clone()])
        };
        let mut frames = Self {
            phases: [0; FRAMES],
            steps: [1.0; FRAMES],
            freq: signal(FREQ.index),
            level: signal(VOLUME.index),
        };
        let is_held = block.param_constant(FREQ.index).is_some();
        match (frames.freq, core.rate) {
            (Some(freq), Some(rate)) if is_held && frames.level.is_none() => {
                frames.hold(&mut core.phase, (freq[0], freq.len()), rate);
            }
            (Some(freq), Some(rate)) => frames.follow(&mut core.phase, freq, rate),
            _ => frames.run(&mut core.phase, range.len()),
        }
        frames
    }

    /// Phases with one frequency: those that `follow` gives for it.
    #[inline(always)]
    fn hold(&mut self, phase: &mut Phase, (freq, frames): (f32, usize), rate: SampleRate) {
        let step = step(freq, rate);
        self.steps.fill(size(step));
        let at = (phase.at >> 32) as u32;
        for (to, frame) in self.phases.iter_mut().zip(0..) {
            *to = at.wrapping_add(step.wrapping_mul(frame));
        }
        let at = at.wrapping_add(step.wrapping_mul(frames as u32));
        phase.at = u64::from(at) << 32 | phase.at & 0xffff_ffff;
    }

    /// Phases with the frequency of each frame.
    #[inline(always)]
    fn follow(&mut self, phase: &mut Phase, freq: &[f32], rate: SampleRate) {
        for ((to, phase), freq) in self.steps.iter_mut().zip(&mut self.phases).zip(freq) {
            let x = step(*freq, rate);
            (*to, *phase) = (size(x), x);
        }
        for (phase, level) in self.phases.iter_mut().zip(self.level.unwrap_or_default()) {
            *phase = if *level == 0.0 { 0 } else { *phase };
        }
        // From steps to their sums; those behind the last frame are 0.
        let mut at = (phase.at >> 32) as u32;
        for row in self.phases.as_chunks_mut::<ROW>().0 {
            let ends = sums(*row);
            *row = added([at; ROW], later::<1>(ends));
            at = at.wrapping_add(ends[ROW - 1]);
        }
        phase.at = u64::from(at) << 32 | phase.at & 0xffff_ffff;
    }

    /// Phases with the frequency of the oscillator.
    #[inline(always)]
    fn run(&mut self, phase: &mut Phase, frames: usize) {
        self.steps.fill(((phase.step >> 32) as f32).max(1.0));
        let level = self.level.unwrap_or(&[1.0; FRAMES]);
        for (to, level) in self.phases[..frames].iter_mut().zip(level) {
            *to = (phase.at >> 32) as u32;
            let step = if *level == 0.0 { 0 } else { phase.step };
            phase.at = phase.at.wrapping_add(step);
        }
    }

    /// Largest step of the frames.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn max_step(&self) -> f32 {
        self.steps.iter().fold(1.0, |max, step| step.max(max))
    }

    /// Writes `wave` of the phase and the step of each frame; silence while a driven frequency is 0.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn write(&self, to: &mut [f32], wave: impl Fn(u32, f32) -> f32) {
        for ((y, phase), step) in to.iter_mut().zip(&self.phases).zip(&self.steps) {
            *y = wave(*phase, *step);
        }
        for (y, freq) in to.iter_mut().zip(self.freq.unwrap_or_default()) {
            *y = if *freq == 0.0 { 0.0 } else { *y };
        }
    }

    /// Multiplies by the level of each frame; that of `core` moves on with them if it is not driven.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn apply_level(&self, core: &mut OscillatorCore, to: &mut [f32]) {
        match self.level {
            None => core.volume.apply(to),
            Some(level) => {
                for (y, level) in to.iter_mut().zip(level) {
                    *y = clamp_sample(*y * level);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_all_before() {
        let row = [1, 20, 300, u32::MAX, 50, 6, 70, 8];
        let mut sum = 0u32;
        for (row, found) in row.into_iter().zip(sums(row)) {
            sum = sum.wrapping_add(row);
            assert_eq!(found, sum);
        }
        assert_eq!(later::<2>(row), [0, 0, 1, 20, 300, u32::MAX, 50, 6]);
    }
}
