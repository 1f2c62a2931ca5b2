//! [`PitchJob`]: the pitch of a window of sound, in pieces.
//!
//! ```text
//! n(τ) = 2 Σ x[j] x[j + τ] / Σ (x[j]² + x[j + τ]²)          j from 0 to the window's length - τ
//! ```
//!
//! The normalized square difference of P. McLeod and G. Wyvill, "A smarter way to find pitch", ICMC 2005. It is computed on the sound
//! at about 12 kHz first. The first maximum between two zero crossings that reaches 0.9 of the largest is the period; it is
//! found exactly on the whole sound around there, on a parabola through three lags.

use super::words::{put_numbers, put_samples, read_numbers, read_samples};
use processor::WordJob;
use rt::deferred::PiecewiseJob;

/// Rate of the first look, in Hz.
const LOW_RATE: f64 = 12_000.0;
/// Frames of the window at that rate.
const LOW_FRAMES: usize = 512;
/// Lowest and highest pitch, in Hz.
const RANGE_HZ: (f64, f64) = (50.0, 1500.0);
/// Share of the largest maximum that a period reaches.
const SHARE: f64 = 0.9;
/// Mean power of silence: -80 dB.
const SILENT_POWER: f64 = 1e-8;
/// Lags of a piece of the first look, and of the second one.
const LOW_LAGS: usize = 16;
const LAGS: usize = 3;

/// What was found in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PitchResult {
    /// In Hz; 0 if there is none.
    pub(super) hz: f64,
    /// Likeness of one period to the next, up to 1.
    pub(super) clarity: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum PitchPiece {
    #[default]
    Begin,
    Low(usize),
    Choose,
    Whole(usize),
}

/// The work on one window.
#[derive(Default)]
pub(super) struct PitchJob {
    rate: f64,
    /// Frames of the sound in one of the first look.
    divisor: usize,
    pub(super) window: Vec<f32>,
    low: Vec<f32>,
    /// Sums of the squares before each frame, of the first look and of the whole sound.
    low_powers: Vec<f64>,
    powers: Vec<f64>,
    /// n(τ) of the first look, and around its period.
    low_likeness: Vec<f64>,
    likeness: Vec<f64>,
    /// First lag of the second look.
    first: usize,
    next: PitchPiece,
    pub(super) result: PitchResult,
}

/// Sum of x[j] x[j + lag], in four sums that are independent of each other.
fn product(x: &[f32], lag: usize) -> f64 {
    let (a, b) = (&x[..x.len() - lag], &x[lag..]);
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0f64; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += f64::from(a[k]) * f64::from(b[k]);
        }
    }
    let rest = a_rest
        .iter()
        .zip(b_rest)
        .map(|(a, b)| f64::from(*a) * f64::from(*b));
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.sum::<f64>()
}

/// n(lag), where `powers` are the sums of the squares before each frame.
fn likeness(x: &[f32], powers: &[f64], lag: usize) -> f64 {
    let length = x.len();
    let power = powers[length - lag] + (powers[length] - powers[lag]);
    if power > 0.0 {
        2.0 * product(x, lag) / power
    } else {
        0.0
    }
}

fn sum_powers(x: &[f32], powers: &mut [f64]) {
    let mut sum = 0.0;
    powers[0] = 0.0;
    for (x, power) in x.iter().zip(&mut powers[1..]) {
        sum += f64::from(*x) * f64::from(*x);
        *power = sum;
    }
}

impl PitchJob {
    /// For sounds at a rate in Hz.
    ///
    /// Real-time: setup.
    pub(super) fn new(rate: f64) -> Self {
        let divisor = ((rate / LOW_RATE + 0.5) as usize).max(1);
        let frames = LOW_FRAMES * divisor;
        let lags = (rate / divisor as f64 / RANGE_HZ.0) as usize;
        Self {
            rate,
            divisor,
            window: vec![0.0; frames],
            low: vec![0.0; LOW_FRAMES],
            low_powers: vec![0.0; LOW_FRAMES + 1],
            powers: vec![0.0; frames + 1],
            low_likeness: vec![0.0; lags.min(LOW_FRAMES - 1)],
            likeness: vec![0.0; 2 * divisor + 3],
            ..Self::default()
        }
    }

    /// Begins with the window as it is.
    ///
    /// Real-time: hot.
    pub(super) fn begin(&mut self) {
        (self.next, self.result) = (PitchPiece::Begin, PitchResult::default());
    }

    /// Brings the sound to the lower rate. Returns false if it is silent.
    fn lower(&mut self) -> bool {
        for (low, frames) in self.low.iter_mut().zip(self.window.chunks(self.divisor)) {
            // In f64: the sum of two largest samples is finite.
            let sum: f64 = frames.iter().map(|x| f64::from(*x)).sum();
            *low = (sum / self.divisor as f64) as f32;
        }
        sum_powers(&self.low, &mut self.low_powers);
        sum_powers(&self.window, &mut self.powers);
        self.low_powers[LOW_FRAMES] > SILENT_POWER * LOW_FRAMES as f64
    }

    /// The first maximum that reaches its share of the largest, as a lag of the first look.
    fn period(&self) -> Option<usize> {
        let likeness = &self.low_likeness;
        let low_rate = self.rate / self.divisor as f64;
        let shortest = (low_rate / RANGE_HZ.1) as usize;
        let maxima = Maxima { likeness, at: 0 };
        let is_in_range = |lag: &usize| *lag >= shortest.max(1) && *lag + 1 < likeness.len();
        // Between two lags it may be larger.
        let height = |lag: usize| Peak::of(likeness, lag).height;
        let largest = maxima.clone().filter(is_in_range).map(height);
        let bar = SHARE * largest.fold(0.0, f64::max);
        maxima
            .filter(is_in_range)
            .find(|lag| height(*lag) >= bar && bar > 0.0)
    }

    /// The result of the second look.
    fn conclude(&mut self) {
        let all = &self.likeness;
        let at = (1..all.len() - 1).fold(1, |best, at| if all[at] > all[best] { at } else { best });
        let peak = Peak::of(all, at);
        self.result = PitchResult {
            hz: self.rate / (self.first as f64 + peak.at),
            clarity: peak.height.clamp(0.0, 1.0),
        };
    }
}

/// The top of the parabola through three values.
pub(super) struct Peak {
    pub(super) at: f64,
    height: f64,
}

impl Peak {
    /// Around `at`, which is neither the first nor the last.
    pub(super) fn of(values: &[f64], at: usize) -> Self {
        let [before, here, after] = [values[at - 1], values[at], values[at + 1]];
        let bend = before - 2.0 * here + after;
        let off = match bend < 0.0 {
            true => (0.5 * (before - after) / bend).clamp(-0.5, 0.5),
            false => 0.0,
        };
        Self {
            at: at as f64 + off,
            height: here - 0.25 * (before - after) * off,
        }
    }
}

fn is_positive(x: f64) -> bool {
    x > 0.0
}

/// The lags of the largest values between two zero crossings.
#[derive(Clone)]
struct Maxima<'a> {
    likeness: &'a [f64],
    at: usize,
}

impl Iterator for Maxima<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let all = self.likeness;
        // The way down from lag 0, or from the last maximum, leads below 0.
        while is_positive(*all.get(self.at)?) {
            self.at += 1;
        }
        // Written so that it moves on whatever the values are.
        while !is_positive(*all.get(self.at)?) {
            self.at += 1;
        }
        let mut best = self.at;
        while all
            .get(self.at)
            .is_some_and(|likeness| is_positive(*likeness))
        {
            if all[self.at] > all[best] {
                best = self.at;
            }
            self.at += 1;
        }
        Some(best)
    }
}

impl WordJob for PitchJob {
    fn words(&self) -> (usize, usize) {
        (self.window.len(), 4)
    }

    fn write_request(&self, words: &mut [u32]) {
        put_samples(words, &self.window);
    }

    fn read_request(&mut self, words: &[u32]) {
        read_samples(words, &mut self.window);
        self.begin();
    }

    fn write_reply(&self, words: &mut [u32]) {
        put_numbers(words, &[self.result.hz, self.result.clarity]);
    }

    fn read_reply(&mut self, words: &[u32]) -> bool {
        let Some([hz, clarity]) = read_numbers(words) else {
            return false;
        };
        // Of what is interpolated, both may lie somewhat outside of what they mean.
        let is_possible = (0.0..=1e6).contains(&hz) && (-16.0..=16.0).contains(&clarity);
        if is_possible {
            self.result = PitchResult { hz, clarity };
        }
        is_possible
    }
}

impl PiecewiseJob for PitchJob {
    fn run_piece(&mut self) -> bool {
        match self.next {
            PitchPiece::Begin => {
                if !self.lower() {
                    return true;
                }
                self.next = PitchPiece::Low(0);
            }
            PitchPiece::Low(first) => {
                let end = (first + LOW_LAGS).min(self.low_likeness.len());
                for lag in first..end {
                    self.low_likeness[lag] = likeness(&self.low, &self.low_powers, lag);
                }
                self.next = match end < self.low_likeness.len() {
                    true => PitchPiece::Low(end),
                    false => PitchPiece::Choose,
                };
            }
            PitchPiece::Choose => {
                let Some(lag) = self.period() else {
                    return true;
                };
                self.first = (lag * self.divisor).saturating_sub(self.divisor + 1);
                self.next = PitchPiece::Whole(0);
            }
            PitchPiece::Whole(first) => {
                let end = (first + LAGS).min(self.likeness.len());
                for index in first..end {
                    let lag = (self.first + index).min(self.window.len() - 1);
                    self.likeness[index] = likeness(&self.window, &self.powers, lag);
                }
                if end == self.likeness.len() {
                    self.conclude();
                    return true;
                }
                self.next = PitchPiece::Whole(end);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rate: f64, sound: impl Fn(f64) -> f64) -> PitchResult {
        let mut job = PitchJob::new(rate);
        for (n, x) in job.window.iter_mut().enumerate() {
            *x = sound(n as f64 / rate) as f32;
        }
        job.begin();
        while !job.run_piece() {}
        job.result
    }

    #[test]
    fn the_pitch_of_a_sound_is_found_within_a_few_cents() {
        let turn = std::f64::consts::TAU;
        // A parabola through three frames is coarse where a period has six.
        for (rate, bound) in [
            (8000.0, 10.0),
            (44_100.0, 4.0),
            (48_000.0, 4.0),
            (96_000.0, 4.0),
        ] {
            for hz in [55.0, 82.4, 110.0, 196.0, 440.0, 659.3, 1046.5, 1396.9] {
                let rich = |t: f64| {
                    (1..6)
                        .map(|h| (turn * hz * f64::from(h) * t).sin() / f64::from(h))
                        .sum::<f64>()
                };
                // At 8 kHz a fifth harmonic would be beyond half the rate.
                for result in [
                    found(rate, |t| (turn * hz * t).sin()),
                    found(rate.max(44_100.0), rich),
                ] {
                    let cents = 1200.0 * (result.hz / hz).log2();
                    assert!(
                        cents.abs() < bound && result.clarity > 0.9,
                        "{rate} {hz}: {result:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn silence_and_noise_have_no_clear_pitch() {
        assert_eq!(found(48_000.0, |_| 0.0), PitchResult::default());
        assert_eq!(found(48_000.0, |_| 0.5).hz, 0.0);
        let numbers = std::cell::RefCell::new(units::SplitMix64(1));
        let noise = found(48_000.0, |_| f64::from(numbers.borrow_mut().sample()));
        assert!(noise.clarity < 0.5, "{noise:?}");
    }
}
