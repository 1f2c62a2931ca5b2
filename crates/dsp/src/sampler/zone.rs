//! [`Zone`]: a sample, the notes that play it, and how.

use super::crossfade::Crossfades;
use super::filter::ZoneFilter;
use media::SampleInfo;
use std::path::PathBuf;

/// The event that begins a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A note.
    #[default]
    Attack,
    /// The end of a note: of the key, or of the pedal that holds it.
    Release,
    /// The end of a key, whatever the pedal does.
    ReleaseKey,
}

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
    pub(super) trigger: Trigger,
    /// Lowest and highest key.
    pub(super) keys: (u8, u8),
    /// True if no key begins it, whatever the keys are.
    pub(super) has_no_keys: bool,
    /// Lowest and highest velocity, from 0 to 127.
    pub(super) velocities: (u8, u8),
    /// Key that plays the sample as it is.
    pub(super) root: f64,
    /// True if the sample's file says what its root is.
    pub(super) takes_root_of_sample: bool,
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
    /// Where it is not said, a sample with a loop of its own is repeated.
    pub(super) loop_mode: Option<LoopMode>,
    /// First frame of the loop, and the one behind its last.
    pub(super) loop_start: Option<u64>,
    pub(super) loop_end: Option<u64>,
    /// Length of the crossfade before its end, in seconds.
    pub(super) loop_crossfade: f64,
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
    pub(super) fades: Crossfades,
    pub(super) filter: ZoneFilter,
    /// Fall of the level of a release for each second that the note has lasted, in dB.
    pub(super) decay_db: f64,
}

impl Default for Zone {
    fn default() -> Self {
        Self {
            sample: PathBuf::new(),
            trigger: Trigger::Attack,
            keys: (0, 127),
            has_no_keys: false,
            velocities: (0, 127),
            root: 60.0,
            takes_root_of_sample: false,
            keytrack: 100.0,
            tune: 0.0,
            transpose: 0.0,
            volume_db: 0.0,
            pan: 0.0,
            veltrack: 1.0,
            offset: 0,
            end: None,
            loop_mode: None,
            loop_start: None,
            loop_end: None,
            loop_crossfade: 0.0,
            attack: 0.0,
            hold: 0.0,
            decay: 0.0,
            sustain: 1.0,
            release: 0.001,
            turns: 1,
            turn: 1,
            group: None,
            off_by: None,
            fades: Crossfades::default(),
            filter: ZoneFilter::default(),
            decay_db: 0.0,
        }
    }
}

impl Zone {
    /// Takes from the sample's file what it has not said itself. `frames` is the length of the sample, if it is known.
    pub(super) fn complete(&mut self, info: SampleInfo, frames: Option<u64>) {
        if let (true, Some(key)) = (self.takes_root_of_sample, info.key) {
            self.root = key;
        }
        // Release samples have no end that would end a loop.
        if self.trigger != Trigger::Attack {
            self.loop_mode = Some(LoopMode::OneShot);
        }
        let within = |(first, end): (u64, u64)| {
            let end = end.min(frames.unwrap_or(u64::MAX));
            (first < end).then_some((first, end))
        };
        if let Some((first, end)) = info.cycle.and_then(within) {
            self.loop_mode.get_or_insert(LoopMode::Continuous);
            self.loop_start.get_or_insert(first);
            self.loop_end.get_or_insert(end);
        }
    }

    /// Returns true if some note plays it.
    pub(super) fn is_playable(&self) -> bool {
        let ((low, high), (quiet, loud)) = (self.keys, self.velocities);
        !self.has_no_keys && low <= high && quiet <= loud && self.turn <= self.turns
    }

    /// What it does at the end of its loop.
    pub(super) fn loop_mode(&self) -> LoopMode {
        self.loop_mode.unwrap_or_default()
    }

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

    /// Factor of a note of this pitch and velocity: the square of the velocity, as MIDI's recommended practice has it.
    ///
    /// Real-time: hot.
    pub(super) fn level(&self, pitch: f64, velocity: f64) -> f64 {
        let curve = velocity * velocity;
        let share = match self.veltrack >= 0.0 {
            true => 1.0 - self.veltrack * (1.0 - curve),
            false => 1.0 + self.veltrack * curve,
        };
        let fade = self.fades.level(pitch, velocity * 127.0);
        share * fade * libm::exp10(self.volume_db / 20.0)
    }
}
