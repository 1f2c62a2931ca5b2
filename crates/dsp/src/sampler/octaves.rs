//! [`Octaves`]: copies of a sample with half its band, a quarter and so on, for notes far above its root.
//!
//! ```text
//!                 band      frames      read where a frame of the output has
//! the sample      1/2       1           up to 4/3 of its frames
//! copy 1          1/4       1           4/3 to 8/3
//! copy 2          1/8       1/2         8/3 to 16/3             … each has twice the frames that its band needs
//! ```
//!
//! What is read folds to above 2/3 of half the rate, so at 48 kHz no harmonic of the sample is an alias below 16 kHz; all
//! below 13.9 kHz is there. Each copy is the one before it through the same half-band filter (a sinc of 193 taps under a
//! Kaiser window, 100 dB), at half the rate; what the quintic through six frames leaves of a saw was 60 dB down. All copies
//! take less than twice the memory of the sample.
//!
//! A filter near the end of a loop reads what is behind it. So the copies of a sample whose voices never leave the loop go on
//! with the loop instead, and a voice that has passed the end once reads where the loop is on both sides of it:
//!
//! ```text
//! sample  ──┤ loop ├── rest          copies  ──┤ loop ├ loop ┤ … ┤ loop ├ loop ┤
//!                                               first          then: `shift` frames later
//! ```

use super::cycle::Cycle;
use crate::kernel::{cubic, dot, kaiser_sinc};
use media::Sound;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Most copies: the last is for notes eight octaves above the root.
const MAX_COPIES: usize = 8;
/// Taps on each side of the middle one, and of all with those that are 0, for vectors.
const HALF: usize = 96;
const TAPS: usize = 200;
const BETA: f64 = 10.06;
/// Middle of the transition, relative to half the rate: it ends at half of that.
const CUTOFF: f64 = 0.466;

/// Copies of a sample, the one of the widest band first.
#[derive(Debug, Default)]
pub(super) struct Octaves {
    /// Channels of each copy.
    copies: Vec<Vec<Box<[f32]>>>,
    /// Frames of the sample from a frame of the loop to the same one with the loop on both sides.
    shift: f64,
    /// What it was made of.
    sound: Option<Arc<Sound>>,
    cycle: Option<Cycle>,
}

/// All copies that some node still holds.
static MADE: Mutex<Vec<Weak<Octaves>>> = Mutex::new(Vec::new());

/// Number of the copy that is read at `step` frames in a frame of the output; 0 for the sample itself.
///
/// Real-time: hot.
pub(super) fn octave_of(step: f64) -> usize {
    let octave = libm::ceil(libm::log2(step * 0.75));
    // A number below 0, or none, is 0.
    (octave as usize).min(MAX_COPIES)
}

/// Most samples of `count` copies of a sound, on all channels.
pub(super) fn samples_of_copies(sound: &Sound, cycle: Option<Cycle>, count: usize) -> u64 {
    let unrolled = cycle.map_or(0.0, |cycle| cycle.length + 2.0 * reach(count));
    let frames = sound.frames() as u64 + unrolled as u64;
    match count {
        0 => 0,
        _ => 2 * frames * sound.channels().count() as u64,
    }
}

/// Frames of the sample on each side that a frame of the last copy depends on, at most.
fn reach(count: usize) -> f64 {
    (HALF << count) as f64
}

impl Octaves {
    /// `count` copies of a sound. All that hold the same copies at the same time share their memory.
    ///
    /// Real-time: setup; waits on other threads that make copies.
    pub(super) fn shared(sound: &Arc<Sound>, cycle: Option<Cycle>, count: usize) -> Arc<Self> {
        if count == 0 {
            return Arc::default();
        }
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|octaves| octaves.strong_count() > 0);
        let is_same = |octaves: &Arc<Self>| {
            let is_of = |of: &Arc<Sound>| Arc::ptr_eq(of, sound);
            octaves.sound.as_ref().is_some_and(is_of)
                && octaves.cycle == cycle
                && octaves.count() == count.min(MAX_COPIES)
        };
        let found = made.iter().filter_map(Weak::upgrade).find(is_same);
        found.unwrap_or_else(|| {
            let octaves = Arc::new(Self::new(sound, cycle, count));
            made.push(Arc::downgrade(&octaves));
            octaves
        })
    }

    fn new(sound: &Arc<Sound>, cycle: Option<Cycle>, count: usize) -> Self {
        let count = count.min(MAX_COPIES);
        let taps = half_band();
        let length = cycle.map_or(1.0, |cycle| cycle.length);
        let repeats = cycle.map_or(0.0, |_| libm::ceil(reach(count) / length));
        let shift = repeats * length;
        let mut copies: Vec<Vec<Box<[f32]>>> = Vec::new();
        for _ in 0..count {
            let channels = (0..sound.channels().count()).map(|channel| {
                let wider = match (copies.last(), cycle) {
                    (Some(before), _) => before[channel].iter().copied().step_by(2).collect(),
                    (None, None) => sound.channel(channel).to_vec(),
                    (None, Some(cycle)) => {
                        unrolled(sound.channel(channel), cycle, shift + reach(count))
                    }
                };
                filtered(&taps, &wider)
            });
            let copy = channels.collect();
            copies.push(copy);
        }
        Self {
            copies,
            shift,
            sound: Some(sound.clone()),
            cycle,
        }
    }

    /// Number of copies.
    ///
    /// Real-time: hot.
    pub(super) fn count(&self) -> usize {
        self.copies.len()
    }

    /// Returns true if they go on with the loop, its crossfade included.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn go_on(&self) -> bool {
        self.cycle.is_some()
    }

    /// Sample of channel `channel` at a place in the sample, from copy `number`, which is 1 or more. `has_wrapped` says that
    /// the voice has passed the end of its loop.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn read(&self, number: usize, channel: usize, place: f64, has_wrapped: bool) -> f64 {
        let place = if has_wrapped {
            place + self.shift
        } else {
            place
        };
        let frames_in_one = 1.0 / f64::from(1u32 << (number - 1));
        read_quintic(&self.copies[number - 1][channel], place * frames_in_one)
    }
}

/// Taps of the filter, symmetric about that at `HALF`; their sum is 1.
fn half_band() -> [f32; TAPS] {
    let half = HALF as f64 + 1.0;
    let tap = |k: usize| kaiser_sinc(k as f64 - HALF as f64, half, CUTOFF, BETA);
    let sum: f64 = (0..=2 * HALF).map(tap).sum();
    std::array::from_fn(|k| (tap(k) / sum) as f32)
}

/// `samples` up to the end of the loop, and then the loop for `frames` frames and a little more.
fn unrolled(samples: &[f32], cycle: Cycle, frames: f64) -> Vec<f32> {
    let Cycle { from, length, .. } = cycle;
    let at = |frame: usize| {
        let place = frame as f64;
        let beyond = place - from;
        let place = match beyond < length {
            true => place,
            false => from + beyond - length * libm::floor(beyond / length),
        };
        match (cycle.fades_at(place), samples.get(frame)) {
            (true, _) => cycle.blend(place, |at| read(samples, at)) as f32,
            (false, Some(sample)) if beyond < length => *sample,
            (false, _) => read(samples, place) as f32,
        }
    };
    (0..(cycle.end() + frames) as usize + 4).map(at).collect()
}

/// `samples` through the filter, without a delay; silence is around them.
fn filtered(taps: &[f32; TAPS], samples: &[f32]) -> Box<[f32]> {
    let mut padded = vec![0.0; samples.len() + TAPS];
    padded[HALF..HALF + samples.len()].copy_from_slice(samples);
    padded
        .windows(TAPS)
        .take(samples.len())
        .map(|around| dot(taps, around))
        .collect()
}

/// The value of `samples` at a place between frames, on the cubic through four; silence outside.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn read(samples: &[f32], place: f64) -> f64 {
    let whole = place as usize;
    let frames = std::array::from_fn(|i| sample(samples, whole.wrapping_add(i).wrapping_sub(1)));
    cubic(frames, place - whole as f64)
}

/// The same on the quintic through six (Lagrange): a copy has few frames for its band in comparison.
#[inline(always)]
fn read_quintic(samples: &[f32], place: f64) -> f64 {
    let whole = place as usize;
    let x: [f64; 6] =
        std::array::from_fn(|i| sample(samples, whole.wrapping_add(i).wrapping_sub(2)));
    let d = place - whole as f64;
    let [p, q, r, s, t] = [d + 2.0, d + 1.0, d - 1.0, d - 2.0, d - 3.0];
    let outer = x[5] * p * q * d * r * s - x[0] * q * d * r * s * t;
    let inner = x[1] * p * d * r * s * t - x[4] * p * q * d * r * t;
    let middle = x[3] * p * q * d * s * t - x[2] * p * q * r * s * t;
    outer / 120.0 + inner / 24.0 + middle / 12.0
}

#[inline(always)]
fn sample(samples: &[f32], at: usize) -> f64 {
    f64::from(samples.get(at).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_keeps_three_sevenths_of_the_band_and_stops_half_of_it() {
        let taps = half_band();
        let level_db = |f: f64| {
            let terms = (0..TAPS).map(|k| {
                let angle = std::f64::consts::TAU * f * (k as f64 - HALF as f64);
                f64::from(taps[k]) * libm::cos(angle)
            });
            20.0 * libm::log10(terms.sum::<f64>().abs() + 1e-12)
        };
        for i in 0..=100 {
            let (pass, stop) = (
                0.215 * f64::from(i) / 100.0,
                0.25 + 0.25 * f64::from(i) / 100.0,
            );
            assert!(level_db(pass).abs() < 0.001, "{pass}: {}", level_db(pass));
            assert!(level_db(stop) < -98.0, "{stop}: {}", level_db(stop));
        }
    }

    #[test]
    fn the_quintic_is_exact_for_polynomials_of_its_degree() {
        let at = |x: f64| ((((0.5 * x - 1.0) * x + 2.0) * x - 3.0) * x + 1.0) * x - 7.0;
        let samples: Vec<f32> = (0..8).map(|i| at(f64::from(i) - 3.0) as f32).collect();
        for place in [2.0, 2.25, 2.5, 3.0, 3.9, 4.125] {
            assert!((read_quintic(&samples, place) - at(place - 3.0)).abs() < 1e-3);
        }
        assert_eq!(read_quintic(&samples, 20.5), 0.0);
    }

    #[test]
    fn a_loop_goes_on_as_a_loop() {
        let samples = [9.0, 1.0, 2.0, 3.0, 7.0, 7.0];
        let long = unrolled(&samples, Cycle::new(1.0, 3.0, 0.0), 6.0);
        assert_eq!(
            long[..10],
            [9.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
        );
        let short = unrolled(&[5.0], Cycle::new(0.0, 1.0, 0.0), 3.0);
        assert!(short.iter().all(|x| *x == 5.0));
        // The second frame of a fade over two frames is half the one before the loop.
        let faded = unrolled(&samples, Cycle::new(2.0, 2.0, 2.0), 4.0);
        assert_eq!(faded[..8], [9.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn the_copy_goes_by_the_frames_that_are_passed() {
        for (step, octave) in [
            (0.0, 0),
            (1.0, 0),
            (1.333, 0),
            (1.334, 1),
            (2.666, 1),
            (2.667, 2),
            (16.0, 4),
            (1e9, MAX_COPIES),
            (f64::NAN, 0),
        ] {
            assert_eq!(octave_of(step), octave, "{step}");
        }
    }
}
