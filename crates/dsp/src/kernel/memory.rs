//! [`Memory`]: the state of one lane of a unit, which can be saved, loaded, cleaned and found silent.

use super::{SILENT_STATE, Samples};
use crate::sample::copy_samples;
use crate::state::{self, StateWords};
use processor::StateError;
use std::ops::Range;

/// Bound of a number's magnitude: beyond it the numbers are reset.
const MAX_NUMBER: f64 = 1e60;

/// Numbers of values that a lane keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemorySize {
    /// Numbers that decay to 0 in silence.
    pub(crate) numbers: usize,
    /// Whole numbers that say nothing of sound: positions, phases.
    pub(crate) counts: usize,
    /// Samples of a delay line, or of several.
    pub(crate) line: usize,
}

/// The state of one lane; all zeros at the start.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// Index of the lane.
    pub(crate) lane: usize,
    /// Numbers that decay to 0 in silence.
    pub(crate) numbers: Box<[f64]>,
    /// Positions and phases. After a load they may have any value.
    pub(crate) counts: Box<[u64]>,
    line: Box<[f32]>,
    /// Frames since something other than 0 was written to the line.
    quiet_frames: usize,
    has_written: bool,
}

/// `x` as a sample of a line: 0 where it is silent or not a number, within the range of finite samples.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn line_sample(x: f64) -> f32 {
    // All but the first step with narrow numbers, of which a vector has twice as many.
    let x = x as f32;
    let finite = x.clamp(-f32::MAX, f32::MAX);
    if x.abs() >= SILENT_STATE as f32 {
        finite
    } else {
        0.0
    }
}

/// Copies samples of which none is -0.0. Returns true if one is not 0.
#[inline(always)]
fn copy_sounding(from: &[f32], to: &mut [f32]) -> bool {
    let mut bits = 0;
    for (to, x) in to.iter_mut().zip(from) {
        *to = *x;
        bits |= x.to_bits();
    }
    bits != 0
}

impl Memory {
    pub(crate) fn new(lane: usize, size: MemorySize) -> Self {
        Self {
            lane,
            numbers: vec![0.0; size.numbers].into(),
            counts: vec![0; size.counts].into(),
            line: vec![0.0; size.line].into(),
            quiet_frames: size.line,
            has_written: false,
        }
    }

    /// Becomes as new.
    pub(super) fn reset(&mut self) {
        self.numbers.fill(0.0);
        self.counts.fill(0);
        self.line.fill(0.0);
        self.quiet_frames = self.line.len();
        self.has_written = false;
    }

    /// Sample `index` of the line.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read(&self, index: usize) -> f64 {
        f64::from(self.line[index])
    }

    /// Samples of the line.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn samples(&self, range: Range<usize>) -> &[f32] {
        &self.line[range]
    }

    /// Writes sample `index` of the line, silence as 0 and never NaN.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn write(&mut self, index: usize, x: f64) {
        let x = line_sample(x);
        self.has_written |= x != 0.0;
        self.line[index] = x;
    }

    /// Writes samples of the line from `first` on, each of them from [`line_sample`].
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn write_samples(&mut self, first: usize, from: &[f32]) {
        let to = &mut self.line[first..first + from.len()];
        if self.has_written {
            copy_samples(from, to);
            return;
        }
        // Samples of a whole step are known to be as many.
        let whole = <&mut Samples>::try_from(&mut *to);
        self.has_written = match (<&Samples>::try_from(from), whole) {
            (Ok(from), Ok(to)) => copy_sounding(from, to),
            _ => copy_sounding(from, to),
        };
    }

    /// Hands out samples of the line from `first` on, for others in their places, each of them from [`line_sample`]. `exchange` returns
    /// true if one of these is not 0.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, first: usize, exchange: impl FnOnce(&mut Samples) -> bool) {
        let samples = self.line[first..].first_chunk_mut();
        debug_assert!(samples.is_some(), "a whole step is behind `first`");
        if let Some(samples) = samples {
            self.has_written |= exchange(samples);
        }
    }

    /// Notes that `frames` frames have passed.
    pub(super) fn advance(&mut self, frames: usize) {
        self.quiet_frames = match std::mem::take(&mut self.has_written) {
            true => 0,
            false => self.quiet_frames.saturating_add(frames),
        };
    }

    /// Sets numbers to zero that have decayed to silence, that are not finite or that have grown beyond all bounds.
    pub(super) fn clean_up(&mut self) {
        let is_silent = self.numbers.iter().all(|x| x.abs() < SILENT_STATE);
        let is_sound = self.numbers.iter().all(|x| x.abs() < MAX_NUMBER);
        if is_silent || !is_sound {
            self.numbers.fill(0.0);
        }
    }

    /// Returns true if all numbers are 0 and the line has run empty.
    pub(super) fn is_silent(&self) -> bool {
        self.quiet_frames >= self.line.len() && self.numbers.iter().all(|x| *x == 0.0)
    }

    /// Number of words of a saved memory.
    pub(super) fn state_words(&self) -> usize {
        self.numbers.len() + self.counts.len() + self.line.len().div_ceil(2)
    }

    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.numbers.iter().map(|x| x.to_bits()));
        state::put(bytes, self.counts.iter().copied());
        let half = |x: Option<&f32>| u64::from(x.map_or(0, |x| x.to_bits()));
        let pair = |pair: &[f32]| half(pair.first()) | half(pair.get(1)) << 32;
        state::put(bytes, self.line.chunks(2).map(pair));
    }

    /// Checks that a saved memory can be loaded.
    pub(super) fn check(&self, words: StateWords<'_>) -> Result<(), StateError> {
        for index in 0..self.numbers.len() {
            words.number(index)?;
        }
        let first = self.numbers.len() + self.counts.len();
        for index in 0..self.line.len().div_ceil(2) {
            let word = words.at(first + index);
            let is_finite = |bits: u32| f32::from_bits(bits).is_finite();
            if !is_finite(word as u32) || !is_finite((word >> 32) as u32) {
                return Err(StateError("a saved sample is not finite".into()));
            }
        }
        Ok(())
    }

    /// Continues from a saved memory that was checked.
    pub(super) fn load(&mut self, words: StateWords<'_>) {
        for (index, number) in self.numbers.iter_mut().enumerate() {
            *number = f64::from_bits(words.at(index));
        }
        let first = self.numbers.len();
        for (index, count) in self.counts.iter_mut().enumerate() {
            *count = words.at(first + index);
        }
        let first = first + self.counts.len();
        for (index, pair) in self.line.chunks_mut(2).enumerate() {
            let word = words.at(first + index);
            for (x, bits) in pair.iter_mut().zip([word as u32, (word >> 32) as u32]) {
                *x = f32::from_bits(bits);
            }
        }
        self.quiet_frames = 0;
        self.has_written = false;
    }
}
