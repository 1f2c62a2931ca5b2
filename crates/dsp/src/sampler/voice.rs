//! [`Voice`]: one sample that sounds.

use super::zone::{LoopMode, Zone};
use crate::kernel::cubic;
use media::Sound;
use processor::StateError;
use processor::state::StateWords;
use std::sync::Arc;

/// Level at which a voice ends: -100 dB.
const SILENCE: f64 = 1e-5;
/// Time in which a voice ends that must: 60 dB.
const CUT_S: f64 = 0.005;
/// Largest frame of a saved voice.
const MAX_PLACE: f64 = 1e12;

/// A zone with its sound, all times and places in frames of the graph.
pub(super) struct LoadedZone {
    pub(super) zone: Zone,
    pub(super) sound: Arc<Sound>,
    first: f64,
    end: f64,
    /// Begin and length of the loop, if it has one.
    cycle: Option<(f64, f64)>,
    gains: (f64, f64),
    /// Change of the level per frame while it rises.
    rise: f64,
    hold: u64,
    /// Factors of the level per frame.
    decay: f64,
    release: f64,
    cut: f64,
}

impl LoadedZone {
    /// `scale` is the number of the sound's frames in one of the file.
    ///
    /// Real-time: setup.
    pub(super) fn new(zone: Zone, sound: Arc<Sound>, scale: f64, rate: f64) -> Self {
        let frames = sound.frames() as f64;
        let place = |frame: u64| (frame as f64 * scale).min(frames);
        let end = zone.end.map_or(frames, place);
        let loop_end = zone.loop_end.map_or(end, place).min(end);
        let (from, length) = (place(zone.loop_start), loop_end - place(zone.loop_start));
        let repeats = matches!(zone.loop_mode, LoopMode::Continuous | LoopMode::Sustain);
        let factor = |seconds: f64| libm::exp(-6.907_755 / (seconds * rate).max(1e-3));
        Self {
            first: place(zone.offset),
            end,
            cycle: (repeats && length >= 1.0).then_some((from, length)),
            gains: ((1.0 - zone.pan).min(1.0), (1.0 + zone.pan).min(1.0)),
            rise: 1.0 / (zone.attack * rate).max(1.0),
            hold: (zone.hold * rate) as u64,
            decay: factor(zone.decay),
            release: factor(zone.release),
            cut: factor(CUT_S),
            zone,
            sound,
        }
    }
}

/// Part of a voice's envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum VoicePart {
    #[default]
    Idle,
    Attack,
    Hold,
    Decay,
    Release,
    Cut,
}

/// One sample that sounds, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Voice {
    pub(super) zone: usize,
    /// The note that it plays.
    pub(super) note: u64,
    /// Number of the note, counted from the first: the smallest is the oldest.
    pub(super) number: u64,
    part: VoicePart,
    /// True once the key is released, though a pedal may hold it.
    pub(super) is_released: bool,
    /// Frames of the hold that are left.
    hold_left: u64,
    /// Frame of the sound that comes next.
    place: f64,
    /// Pitch of the note and its bend, in semitones.
    pitch: f64,
    bend: f64,
    step: f64,
    /// Factor of the note, and of the envelope.
    gain: f64,
    level: f64,
}

impl Voice {
    /// Words of a saved voice.
    pub(super) const STATE_WORDS: usize = 12;

    /// Begins a note.
    ///
    /// Real-time: hot.
    pub(super) fn new(
        index: usize,
        zone: &LoadedZone,
        (note, number): (u64, u64),
        (pitch, bend): (f64, f64),
        velocity: f64,
    ) -> Self {
        Self {
            zone: index,
            note,
            number,
            part: VoicePart::Attack,
            is_released: false,
            hold_left: zone.hold,
            place: zone.first,
            pitch,
            bend,
            step: zone.zone.step(pitch + bend),
            gain: zone.zone.level(velocity),
            level: 0.0,
        }
    }

    /// Real-time: hot.
    pub(super) fn is_idle(&self) -> bool {
        self.part == VoicePart::Idle
    }

    /// Returns true if it ends by itself soon, or is no voice.
    ///
    /// Real-time: hot.
    pub(super) fn is_ending(&self) -> bool {
        matches!(
            self.part,
            VoicePart::Idle | VoicePart::Release | VoicePart::Cut
        )
    }

    /// Returns true if it must end within milliseconds.
    ///
    /// Real-time: hot.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self.part, VoicePart::Idle | VoicePart::Cut)
    }

    /// Bends it by so many semitones.
    ///
    /// Real-time: hot.
    pub(super) fn bend(&mut self, zone: &LoadedZone, semitones: f64) {
        self.bend = semitones;
        self.step = zone.zone.step(self.pitch + self.bend);
    }

    /// Begins its release, where its zone has one.
    ///
    /// Real-time: hot.
    pub(super) fn release(&mut self, zone: &LoadedZone) {
        if !self.is_ending() && zone.zone.loop_mode != LoopMode::OneShot {
            self.part = VoicePart::Release;
        }
    }

    /// Ends it within milliseconds.
    ///
    /// Real-time: hot.
    pub(super) fn cut(&mut self) {
        if !self.is_idle() {
            self.part = VoicePart::Cut;
        }
    }

    /// Frames until it is silent, if nothing happens to it; `None` if it never is.
    ///
    /// Real-time: hot.
    pub(super) fn frames_left(&self, zone: &LoadedZone) -> Option<u64> {
        let repeats =
            zone.cycle.is_some() && !(self.is_ending() && zone.zone.loop_mode == LoopMode::Sustain);
        let to_end = (zone.end - self.place).max(0.0) / self.step.max(1e-6);
        // 100 dB, where a release is for 60.
        let fades = match self.part {
            VoicePart::Idle => 0.0,
            VoicePart::Cut => 11.6 / -libm::log(zone.cut),
            VoicePart::Release => 11.6 / -libm::log(zone.release),
            _ if repeats => return None,
            _ => f64::MAX,
        };
        let sounds = if repeats { f64::MAX } else { to_end };
        Some(fades.min(sounds) as u64 + 2)
    }

    /// Adds its next frame to both sides.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn add(&mut self, zone: &LoadedZone, sides: &mut [f64; 2]) {
        self.move_level(zone);
        if let Some((from, length)) = zone.cycle
            && (zone.zone.loop_mode == LoopMode::Continuous || !self.is_ending())
            && self.place >= from + length
        {
            // A fast voice may pass it more than once.
            let beyond = self.place - from;
            self.place = from + (beyond - length * libm::floor(beyond / length));
        }
        if self.place >= zone.end {
            self.part = VoicePart::Idle;
            return;
        }
        let level = self.level * self.gain;
        let left = read(zone.sound.channel(0), self.place);
        let right = match zone.sound.channels().count() {
            1 => left,
            _ => read(zone.sound.channel(1), self.place),
        };
        sides[0] += left * level * zone.gains.0;
        sides[1] += right * level * zone.gains.1;
        self.place += self.step;
    }

    #[inline(always)]
    fn move_level(&mut self, zone: &LoadedZone) {
        match self.part {
            VoicePart::Idle => {}
            VoicePart::Attack => {
                self.level += zone.rise;
                if self.level >= 1.0 {
                    (self.level, self.part) = (1.0, VoicePart::Hold);
                }
            }
            VoicePart::Hold => match self.hold_left {
                0 => self.part = VoicePart::Decay,
                _ => self.hold_left -= 1,
            },
            VoicePart::Decay => {
                let sustain = zone.zone.sustain;
                self.level = sustain + (self.level - sustain) * zone.decay;
            }
            VoicePart::Release => self.fade(zone.release),
            VoicePart::Cut => self.fade(zone.cut),
        }
    }

    #[inline(always)]
    fn fade(&mut self, factor: f64) {
        self.level *= factor;
        if self.level < SILENCE {
            (self.level, self.part) = (0.0, VoicePart::Idle);
        }
    }

    pub(super) fn words(&self) -> [u64; Self::STATE_WORDS] {
        let [place, pitch, bend, step, gain, level] = [
            self.place, self.pitch, self.bend, self.step, self.gain, self.level,
        ]
        .map(f64::to_bits);
        let (zone, released) = (self.zone as u64, u64::from(self.is_released));
        [
            place,
            pitch,
            bend,
            step,
            gain,
            level,
            zone,
            self.note,
            self.number,
            self.part as u64,
            released,
            self.hold_left,
        ]
    }

    /// A saved voice, of which zone and place are there.
    pub(super) fn from_words(
        words: StateWords<'_>,
        zones: &[LoadedZone],
    ) -> Result<Self, StateError> {
        let [place, pitch, bend, step, gain, level] = words.numbers(0)?;
        let is_sound = (0.0..=MAX_PLACE).contains(&place)
            && (0.0..=MAX_PLACE).contains(&step)
            && pitch.abs().max(bend.abs()) <= 1e4
            && (0.0..=1e6).contains(&gain)
            && (0.0..=1.0).contains(&level);
        if !is_sound {
            return Err(StateError("a saved voice is outside its range".into()));
        }
        let voice = Self {
            zone: words.at(6) as usize,
            note: words.at(7),
            number: words.at(8),
            part: match words.at(9) {
                1 => VoicePart::Attack,
                2 => VoicePart::Hold,
                3 => VoicePart::Decay,
                4 => VoicePart::Release,
                5 => VoicePart::Cut,
                _ => VoicePart::Idle,
            },
            is_released: words.at(10) != 0,
            hold_left: words.at(11),
            place,
            pitch,
            bend,
            step,
            gain,
            level,
        };
        // The file may have fewer zones by now.
        Ok(match voice.zone < zones.len() {
            true => voice,
            false => Self::default(),
        })
    }
}

/// The value of `samples` at a place between frames; silence outside.
#[inline(always)]
fn read(samples: &[f32], place: f64) -> f64 {
    let whole = place as usize;
    let at = |index: Option<usize>| {
        let sample = index.and_then(|index| samples.get(index));
        f64::from(sample.copied().unwrap_or(0.0))
    };
    let frames = [
        at(whole.checked_sub(1)),
        at(Some(whole)),
        at(whole.checked_add(1)),
        at(whole.checked_add(2)),
    ];
    cubic(frames, place - whole as f64)
}
