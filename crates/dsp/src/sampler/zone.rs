//! [`Zone`]: a sample, the notes that play it, and how.

use std::path::PathBuf;

/// What a zone does at the end of its loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LoopMode {
    /// Plays to its end, or to the end of the release.
    #[default]
    None,
    /// Plays to its end, whatever the key does.
    OneShot,
    /// Repeats until the voice ends.
    Continuous,
    /// Repeats until the key is released.
    Sustain,
}

/// A sample, the notes that play it, and how. Frames are those of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Zone {
    pub(super) sample: PathBuf,
    /// Lowest and highest key.
    pub(super) keys: (u8, u8),
    /// Lowest and highest velocity, from 0 to 127.
    pub(super) velocities: (u8, u8),
    /// Key that plays the sample as it is.
    pub(super) root: f64,
    /// Change of the pitch from key to key, in cents.
    pub(super) keytrack: f64,
    /// Shifts of the pitch, in semitones: they add up.
    pub(super) tune: f64,
    pub(super) transpose: f64,
    pub(super) volume_db: f64,
    /// From -1 (left) to 1 (right).
    pub(super) pan: f64,
    /// Share of the velocity in the level, from -1 to 1.
    pub(super) veltrack: f64,
    /// First frame, and the one behind the last.
    pub(super) offset: u64,
    pub(super) end: Option<u64>,
    pub(super) loop_mode: LoopMode,
    /// First frame of the loop, and the one behind its last.
    pub(super) loop_start: u64,
    pub(super) loop_end: Option<u64>,
    /// In seconds; `sustain` is a factor.
    pub(super) attack: f64,
    pub(super) hold: f64,
    pub(super) decay: f64,
    pub(super) sustain: f64,
    pub(super) release: f64,
    /// Each `turns`th note plays it, the first time as the `turn`th.
    pub(super) turns: u32,
    pub(super) turn: u32,
    /// Its group; voices whose `off_by` names it end when it begins.
    pub(super) group: Option<i64>,
    pub(super) off_by: Option<i64>,
}

impl Default for Zone {
    fn default() -> Self {
        Self {
            sample: PathBuf::new(),
            keys: (0, 127),
            velocities: (0, 127),
            root: 60.0,
            keytrack: 100.0,
            tune: 0.0,
            transpose: 0.0,
            volume_db: 0.0,
            pan: 0.0,
            veltrack: 1.0,
            offset: 0,
            end: None,
            loop_mode: LoopMode::None,
            loop_start: 0,
            loop_end: None,
            attack: 0.0,
            hold: 0.0,
            decay: 0.0,
            sustain: 1.0,
            release: 0.001,
            turns: 1,
            turn: 1,
            group: None,
            off_by: None,
        }
    }
}

impl Zone {
    /// Returns true if a note of this pitch and velocity plays it.
    ///
    /// Real-time: hot.
    pub(super) fn takes(&self, pitch: f64, velocity: f64) -> bool {
        let key = libm::floor(pitch + 0.5);
        let velocity = libm::floor(velocity * 127.0 + 0.5);
        let within = |x: f64, (low, high): (u8, u8)| f64::from(low) <= x && x <= f64::from(high);
        within(key, self.keys) && within(velocity, self.velocities)
    }

    /// Frames of the sample in a frame of the output, for a note of this pitch.
    ///
    /// Real-time: hot.
    pub(super) fn step(&self, pitch: f64) -> f64 {
        let semitones = (pitch - self.root) * self.keytrack / 100.0 + self.tune + self.transpose;
        libm::exp2((semitones / 12.0).clamp(-16.0, 16.0))
    }

    /// Factor of a note of this velocity: the square of it, as MIDI's recommended practice has it.
    ///
    /// Real-time: hot.
    pub(super) fn level(&self, velocity: f64) -> f64 {
        let curve = velocity * velocity;
        let share = match self.veltrack >= 0.0 {
            true => 1.0 - self.veltrack * (1.0 - curve),
            false => 1.0 + self.veltrack * curve,
        };
        share * libm::exp10(self.volume_db / 20.0)
    }
}
