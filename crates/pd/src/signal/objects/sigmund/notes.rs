//! [`NoteFinder`]: pitches and powers of successive windows to beginnings of notes.

use super::spectrum::narrow;
use crate::state::{Held, held};
use std::f64::consts::{LN_2, LN_10};

/// Windows that are remembered.
const HISTORY: usize = 100;

/// What makes a note.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoteRules {
    /// Semitones by which a steady note may go up and down.
    pub vibrato: f32,
    /// Windows for which a note is steady.
    pub windows: usize,
    /// Lowest power of a note.
    pub power: f32,
    /// Decibels of growth that begin a note anew.
    pub growth: f32,
}

/// Finds where notes begin.
#[derive(Debug)]
pub(super) struct NoteFinder {
    age: usize,
    high: f32,
    low: f32,
    is_past_peak: bool,
    /// Frequency and power of each window.
    history: [(f32, f32); HISTORY],
    now: usize,
}

impl Default for NoteFinder {
    fn default() -> Self {
        Self {
            age: 0,
            high: 0.0,
            low: 0.0,
            is_past_peak: false,
            history: [(0.0, 0.0); HISTORY],
            now: 0,
        }
    }
}

impl Held for NoteFinder {
    held!(age, high, low, is_past_peak, history, now; check |it| it.now < HISTORY && it.age < 1 << 62);
}

impl NoteFinder {
    /// What was `windows` before the present window.
    fn before(&self, windows: usize) -> (f32, f32) {
        self.history[(self.now + HISTORY - windows) % HISTORY]
    }

    fn begin(&mut self, frequency: f32) -> Option<f32> {
        (self.high, self.low, self.age, self.is_past_peak) = (frequency, frequency, 0, false);
        (frequency > 0.0).then_some(frequency)
    }

    fn forget(&mut self) {
        (self.high, self.low, self.age) = (0.0, 0.0, 0);
    }

    /// Takes a window. Gives the frequency of a note that has begun.
    pub(super) fn push(&mut self, frequency: f32, power: f32, rules: &NoteRules) -> Option<f32> {
        let windows = rules.windows.clamp(1, HISTORY - 1);
        let range = narrow(libm::exp((2.0 * LN_2 / 12.0) * f64::from(rules.vibrato)));
        self.now = (self.now + 1) % HISTORY;
        self.history[self.now] = (frequency, power);
        self.age += 1;
        if self.high <= 0.0
            && self.age > windows
            && let Some(short) = self.short_note(power, range, windows, rules)
        {
            return self.begin(short);
        }
        if self.high > 0.0 {
            self.stay_or_leave(frequency, range, windows);
        }
        let (_, old_power) = self.before(windows);
        if self.high > 0.0 && self.is_past_peak {
            let grown = f64::from(old_power) * libm::exp((LN_10 * 0.1) * f64::from(rules.growth));
            if frequency > 0.0 && power > rules.power && f64::from(power) > grown {
                self.is_past_peak = false;
                self.forget();
            }
        } else if !self.is_past_peak {
            self.is_past_peak = old_power > rules.power && old_power > power;
        }
        if frequency >= 0.0
            && (self.high <= 0.0 || frequency > self.high || frequency < self.low)
            && let Some(note) = self.steady_note(range, windows, rules)
        {
            return self.begin(note);
        }
        None
    }

    /// A note shorter than the time of a steady one: power rises and falls while the pitch holds.
    fn short_note(&self, power: f32, range: f32, windows: usize, rules: &NoteRules) -> Option<f32> {
        let (mut max, mut loudest) = (0.0, 0.0);
        let (mut high, mut low) = (-1e20_f32, 1e20_f32);
        let (_, first_power) = self.before(windows - 1);
        for at in (0..windows).rev() {
            let (frequency, window_power) = self.before(at);
            if frequency <= 0.0 {
                return None;
            }
            if window_power > max {
                (max, loudest) = (window_power, frequency);
            }
            high = high.max(frequency);
            low = low.min(frequency);
            if high > low * range {
                return None;
            }
            let is_peak = max > power * rules.growth && max > first_power * rules.growth;
            if is_peak && high < range * low && loudest > 0.0 && max > rules.power {
                return Some(loudest);
            }
        }
        None
    }

    /// Widens the range of the note, or ends it if half of the last windows were beyond.
    fn stay_or_leave(&mut self, frequency: f32, range: f32, windows: usize) {
        if frequency * range >= self.high && self.low * range >= frequency {
            self.high = self.high.max(frequency);
            self.low = self.low.min(frequency);
        } else if self.age > windows {
            let is_beyond = |at: &usize| {
                let (frequency, _) = self.before(*at);
                frequency * range <= self.high || self.low * range <= frequency
            };
            let beyond = (1..=windows + 1).filter(is_beyond).count();
            if 2 * beyond > windows {
                self.forget();
            }
        }
    }

    /// A note that holds its pitch.
    fn steady_note(&self, range: f32, windows: usize, rules: &NoteRules) -> Option<f32> {
        let (frequency, power) = self.before(0);
        let (mut high, mut low, mut max) = (frequency, frequency, power);
        for at in 1..windows {
            let (frequency, power) = self.before(at);
            high = high.max(frequency);
            low = low.min(frequency);
            max = max.max(power);
        }
        if !(low > 0.0 && high <= range * low && max > rules.power) {
            return None;
        }
        let (mut sum, mut weights) = (0.0_f32, 0.0_f32);
        for at in 0..windows {
            let (frequency, power) = self.before(at);
            weights += power;
            sum += power * frequency;
        }
        Some(if weights > 0.0 { sum / weights } else { 0.0 })
    }
}
