//! Fundamentals of successive windows to tracks, notes and attacks.

use super::pitch::{Found, MAX_PITCHES};
use crate::state::{Held, held};

/// Windows that are remembered.
const PAST: usize = 20;
/// Largest step of a track between two windows, in semitones.
const MAX_GLISS: f32 = 0.7;

/// Limits of notes and attacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Below it there are no pitches.
    pub low_db: f32,
    /// Above it there are notes and attacks.
    pub high_db: f32,
    /// Windows over which a pitch must be steady.
    pub steady_windows: usize,
    /// Largest distance from its mean, in semitones.
    pub vibrato: f32,
    /// Windows with whose power an attack is compared.
    pub attack_windows: usize,
    /// Rise of an attack, in decibels.
    pub attack_db: f32,
}

/// Windows of a duration, as many as there is room for.
pub(super) fn windows(number: f32) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and below 0 is 0"
    )]
    let windows = number as usize;
    windows.min(PAST - 1)
}

/// A pitch that goes on.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    pitches: [f32; PAST],
    dbs: [f32; PAST],
    age: usize,
    /// Pitch of the note that sounds, 0 if none does.
    noted: f32,
    /// Pitch of the note that begins, 0 if none does.
    begins: f32,
}

impl Held for Track {
    held!(pitches, dbs, age, noted, begins);
}

impl Held for Tracks {
    held!(tracks, dbs, now, is_open, is_attack);
}

impl Track {
    fn stop(&mut self, now: usize) {
        (self.pitches[now], self.dbs[now]) = (0.0, 0.0);
        self.age = 0;
    }

    /// Begins a note if the pitch is steady, and ends one that is left.
    fn follow_note(&mut self, now: usize, rules: &Rules) {
        let is_off = |x: f32, from: f32| x - from > rules.vibrato || from - x > rules.vibrato;
        if self.noted != 0.0 {
            if is_off(self.pitches[now], self.noted) {
                self.noted = 0.0;
            }
            return;
        }
        let count = rules.steady_windows;
        if count == 0 || self.age < count || self.dbs[now] <= rules.high_db {
            return;
        }
        let last = (0..count).map(|back| self.pitches[(now + PAST - back) % PAST]);
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let mean = last.clone().fold(0.0, |sum, x| sum + x) / count as f32;
        if last.into_iter().any(|x| is_off(x, mean)) {
            return;
        }
        (self.begins, self.noted) = (mean, mean);
    }
}

/// All that is remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    tracks: [Track; MAX_PITCHES],
    dbs: [f32; PAST],
    now: usize,
    /// True where an attack may come: the power has fallen since the last.
    is_open: bool,
    pub is_attack: bool,
}

impl Tracks {
    /// Returns true if its fields can be true together.
    pub(super) fn is_sound(&self) -> bool {
        self.now < PAST && self.tracks.iter().all(|track| track.age < 1 << 32)
    }

    /// Begins a window of this power.
    pub(super) fn begin(&mut self, db: f32) {
        self.now = (self.now + 1) % PAST;
        self.dbs[self.now] = db;
        self.is_attack = false;
    }

    /// Goes on without pitches: the power is too low.
    pub(super) fn pass_silence(&mut self) {
        let now = self.now;
        for track in &mut self.tracks {
            track.stop(now);
            (track.noted, track.begins) = (0.0, 0.0);
        }
        self.is_open = true;
    }

    /// Goes on with these fundamentals.
    pub(super) fn push(&mut self, found: &[Found], count: usize, rules: &Rules) {
        let tracks = &mut self.tracks[..count];
        let mut from = [None; MAX_PITCHES];
        let mut is_taken = [false; MAX_PITCHES];
        for (track, from) in tracks.iter_mut().zip(&mut from) {
            track.begins = 0.0;
            let last = track.pitches[(self.now + PAST - 1) % PAST];
            if last == 0.0 {
                continue;
            }
            for (at, new) in found.iter().enumerate() {
                if (new.pitch - last).abs() < MAX_GLISS {
                    (*from, is_taken[at]) = (Some(at), true);
                }
            }
        }
        for at in (0..found.len()).filter(|at| !is_taken[*at]) {
            let free = from[..tracks.len()].iter().position(Option::is_none);
            if let Some(free) = free {
                from[free] = Some(at);
                (tracks[free].age, tracks[free].noted) = (0, 0.0);
            }
        }
        for (track, from) in tracks.iter_mut().zip(from) {
            match from.and_then(|at| found.get(at)) {
                Some(new) => {
                    (track.pitches[self.now], track.dbs[self.now]) = (new.pitch, new.db);
                    track.age += 1;
                }
                None => track.stop(self.now),
            }
        }
        self.find_attack(rules);
        for track in &mut self.tracks[..count] {
            track.follow_note(self.now, rules);
        }
    }

    fn find_attack(&mut self, rules: &Rules) {
        let (db, now) = (self.dbs[self.now], self.now);
        let before = self.dbs[(now + PAST - rules.attack_windows) % PAST];
        if !self.is_open {
            self.is_open = db < before;
        } else if db > rules.high_db && db > before + rules.attack_db {
            (self.is_attack, self.is_open) = (true, false);
        }
    }

    /// Pitch and decibels of a track.
    pub(super) fn raw(&self, track: usize) -> (f32, f32) {
        let track = &self.tracks[track];
        (track.pitches[self.now], track.dbs[self.now])
    }

    /// Pitch of a note that begins.
    pub(super) fn note(&self, track: usize) -> Option<f32> {
        let begins = self.tracks[track].begins;
        (begins != 0.0).then_some(begins)
    }

    /// Decibels of the last window.
    pub(super) fn db(&self) -> f32 {
        self.dbs[self.now]
    }
}
