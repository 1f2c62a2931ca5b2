//! Peaks to fundamentals: each peak votes for those frequencies of which it may be a partial.
//!
//! Votes go into a table of 48 steps an octave. The highest steps are fundamentals, if enough of the power belongs to their partials.

use super::spectrum::LoudPeak;
use super::to_pitch;

/// Steps of an octave.
const STEPS: f32 = 48.0;
/// Step of the lowest frequency, four bins.
const FIRST: f32 = 2.0 * STEPS;
/// Partials for which a peak votes.
const PARTIALS: usize = 16;
/// Most pitches.
pub(super) const MAX_PITCHES: usize = 3;
/// Steps of the largest table: eleven octaves.
const MAX_STEPS: usize = 11 * 48;
/// Distance of a partial from a multiple, as a part of it: a quarter of a semitone and more.
const MAX_DEVIATION: f32 = 0.023;
/// Least width of a peak, in bins.
const MIN_WIDTH: f32 = 0.03;
/// Votes of a further fundamental against those of the best one that is left out, at least.
const MIN_VOTES: f32 = 0.88;
/// Lowest fundamental, in bins: two and a half periods of the window.
const MIN_FREQUENCY: f32 = 5.0;
/// Decibels that are taken off from those of bins.
pub(super) const DB_OFFSET: f32 = 30.8;
/// Decibels of a natural logarithm.
pub(super) const DB: f32 = 4.342_944_8;

/// A fundamental.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// In semitones.
    pub pitch: f32,
    pub db: f32,
}

/// The sound, and how it is analysed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sound {
    pub points: usize,
    pub rate: f32,
    /// Power of all bins.
    pub total: f32,
    /// The partial that counts half as much as the first.
    pub half_partial: f32,
    pub max_pitches: usize,
}

/// The table of votes.
pub(super) struct Votes {
    all: Box<[f32; MAX_STEPS]>,
    offsets: [f32; PARTIALS],
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}

fn log(x: f32) -> f32 {
    narrow(libm::log(f64::from(x)))
}

/// Natural logarithm to steps.
fn steps_of(log: f32) -> f32 {
    log * narrow(f64::from(STEPS) / std::f64::consts::LN_2)
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn whole(x: f32) -> i64 {
    x as i64
}

#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn number(x: usize) -> f32 {
    x as f32
}

impl Default for Votes {
    fn default() -> Self {
        let partial = |at: usize| f64::from(STEPS) * libm::log2(f64::from(number(at + 1)));
        Self {
            all: Box::new([0.0; MAX_STEPS]),
            offsets: std::array::from_fn(|at| narrow(partial(at))),
        }
    }
}

impl Votes {
    /// Writes the fundamentals of these peaks, the best first; gives their number.
    pub(super) fn find(
        &mut self,
        peaks: &[LoudPeak],
        sound: &Sound,
        found: &mut [Found; MAX_PITCHES],
    ) -> usize {
        let octaves = sound.points.ilog2().saturating_sub(2) as usize;
        let steps = (octaves * 48).min(MAX_STEPS);
        self.cast(peaks, sound, steps);
        let (mut candidates, mut count) = ([0; MAX_PITCHES], 0);
        while count < sound.max_pitches.min(MAX_PITCHES) {
            let Some(step) = self.best(steps, &candidates[..count]) else {
                break;
            };
            candidates[count] = step;
            count += 1;
        }
        let mut kept = 0;
        for step in &candidates[..count] {
            if let Some(fundamental) = measured(*step, peaks, sound) {
                found[kept] = fundamental;
                kept += 1;
            }
        }
        kept
    }

    fn cast(&mut self, peaks: &[LoudPeak], sound: &Sound, steps: usize) {
        self.all[..steps].fill(0.0);
        let loudness = sound.total.sqrt().sqrt();
        for peak in peaks {
            let place = steps_of(log(peak.frequency)) - FIRST;
            // Four widths, in steps.
            let width = 275.002_96 * peak.width / peak.frequency;
            let weight = 4.0 * peak.loudness / loudness;
            for (at, offset) in self.offsets.iter().enumerate() {
                let step = place - offset;
                if step >= number(steps) {
                    continue;
                }
                let score = 30.0 * weight / ((number(at) + sound.half_partial) * width.max(1.0));
                if !vote(&mut self.all[..steps], step, width.max(2.0), score) {
                    break;
                }
            }
        }
    }

    /// The step with most votes that is neither one of these nor a partial of one, and has none as a partial. `None` if one of those
    /// that are left out has clearly more votes: found by asking Pd, in whose place the rule is not known.
    fn best(&self, steps: usize, taken: &[usize]) -> Option<usize> {
        let (mut best, mut left_out, mut found) = (0.0, 0.0_f32, None);
        for step in 1..steps - 1 {
            let votes = self.all[step];
            let stands_out =
                taken.is_empty() || votes > self.all[step - 1] && votes > self.all[step + 1];
            if !stands_out || taken.contains(&step) {
                continue;
            }
            if taken.iter().any(|it| is_partial_of(*it, step)) {
                left_out = left_out.max(votes);
            } else if votes > best {
                (best, found) = (votes, Some(step));
            }
        }
        found.filter(|_| best > MIN_VOTES * left_out)
    }
}

/// Steps from a fundamental to its partials, rounded.
const PARTIAL_STEPS: [usize; PARTIALS] = [
    0, 48, 76, 96, 111, 124, 135, 144, 152, 159, 166, 172, 178, 183, 188, 192,
];

/// Returns true if one of two steps is a partial of the other.
fn is_partial_of(a: usize, b: usize) -> bool {
    PARTIAL_STEPS.contains(&a.abs_diff(b))
}

/// Adds a parabola to the votes around a step; false below the table.
fn vote(all: &mut [f32], step: f32, width: f32, score: f32) -> bool {
    let first = whole(step + 0.5 - 0.5 * width);
    let last = whole(step + 0.5 + 0.5 * width);
    if first < -5 {
        return false;
    }
    let curve = 1.0 / (width * width);
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let mut distance = first as f32 - step;
    for at in first..=last.min(first + 1024) {
        let to = usize::try_from(at).ok().and_then(|at| all.get_mut(at));
        if let Some(to) = to {
            *to += score * (1.0 - curve * distance * distance);
        }
        distance += 1.0;
    }
    true
}

/// The fundamental at a step, from those peaks that are partials of it; `None` if it has too little power or lies too low.
fn measured(step: usize, peaks: &[LoudPeak], sound: &Sound) -> Option<Found> {
    let rough = libm::exp(f64::from((number(step) + FIRST) / steps_of(1.0)));
    let rough = narrow(rough);
    let (mut power, mut loudness, mut above, mut below) = (0.0, 0.0, 0.0, 0.0);
    let (mut partials, mut low_partials) = (0, 0);
    for peak in peaks {
        let ratio = peak.frequency / rough;
        let partial = whole(ratio + 0.5);
        if !(1..=16).contains(&partial) {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 16")]
        let partial = partial as f32;
        let deviation = 1.0 - ratio / partial;
        if deviation.abs() >= MAX_DEVIATION {
            continue;
        }
        partials += 1;
        low_partials += i32::from(partial < 8.0);
        power += peak.power;
        loudness += peak.power.sqrt().sqrt();
        let width = peak.width.max(MIN_WIDTH) * partial;
        let weight = 1.0 / (width * width);
        below += weight;
        above += weight * peak.frequency / partial;
    }
    let is_rich = low_partials >= 4 && partials >= 7;
    let frequency = above / below;
    if !is_rich && power < 0.01 * sound.total || frequency.is_nan() || frequency < MIN_FREQUENCY {
        return None;
    }
    let points = number(sound.points);
    let square = loudness * loudness;
    Some(Found {
        pitch: to_pitch(sound.rate / (2.0 * points) * frequency),
        db: (100.0 - DB_OFFSET) + DB * log(square * square / points),
    })
}
