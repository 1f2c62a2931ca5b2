//! [`SampleVoice`]: one sample that sounds.

use super::filter::{FilterState, Sections};
use super::octaves::{Cycle, Octaves, octave_of, read};
use super::zone::{LoopMode, Zone};
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
/// Largest state of a filter of a saved voice.
const MAX_STATE: f64 = 1e9;

/// A zone with its sound, all times and places in frames of the graph.
pub(super) struct LoadedZone {
    pub(super) zone: Zone,
    pub(super) sound: Arc<Sound>,
    pub(super) octaves: Arc<Octaves>,
    rate: f64,
    first: f64,
    end: f64,
    /// Begin and length of the loop, if it has one.
    cycle: Option<Cycle>,
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
        let from = place(zone.loop_start.unwrap_or(0));
        let length = loop_end - from;
        let repeats = matches!(zone.loop_mode(), LoopMode::Continuous | LoopMode::Sustain);
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
            octaves: Arc::default(),
            rate,
            zone,
            sound,
        }
    }

    /// The loop, if voices never leave it.
    pub(super) fn endless_cycle(&self) -> Option<Cycle> {
        let is_left = self.zone.loop_mode() == LoopMode::Sustain;
        let ends = |(from, length): &Cycle| from + length >= self.end;
        self.cycle.filter(|cycle| !is_left || ends(cycle))
    }

    /// Number of copies that it needs for the notes that play it, bent by `bend` semitones at most.
    pub(super) fn octaves_needed(&self, bend: f64) -> usize {
        let (low, high) = self.zone.keys;
        let ends = [f64::from(low) - 0.5 - bend, f64::from(high) + 0.5 + bend];
        let octaves = ends.map(|pitch| octave_of(self.zone.step(pitch)));
        octaves[0].max(octaves[1])
    }

    /// The sample of a channel at a place.
    #[inline(always)]
    fn read(&self, voice: &SampleVoice, channel: usize) -> f64 {
        match voice.octave {
            0 => read(self.sound.channel(channel), voice.place),
            octave => self
                .octaves
                .read(octave, channel, voice.place, voice.has_wrapped),
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
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleVoice {
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
    /// Copy of the sample that it reads, by its step; 0 for the sample itself.
    octave: usize,
    /// True once it has passed the end of its loop.
    has_wrapped: bool,
    /// Factor of the note, and of the envelope.
    gain: f64,
    level: f64,
    /// In Hz; 0 where there is no filter.
    cutoff: f64,
    filter: Sections,
    states: [FilterState; 2],
    /// Frames that the filter sounds behind the end of the sample.
    ring_left: u64,
}

impl SampleVoice {
    /// Words of a saved voice.
    pub(super) const STATE_WORDS: usize = 22;

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
        let mut voice = Self {
            zone: index,
            note,
            number,
            part: VoicePart::Attack,
            is_released: false,
            hold_left: zone.hold,
            place: zone.first,
            pitch,
            gain: zone.zone.level(pitch, velocity),
            ..Self::default()
        };
        voice.bend(zone, bend);
        if let Some(cutoff) = zone.zone.filter.cutoff_of(pitch, velocity) {
            voice.set_cutoff(zone, cutoff);
            voice.ring_left = zone.zone.filter.ring(voice.filter, zone.rate);
        }
        voice
    }

    fn set_cutoff(&mut self, zone: &LoadedZone, cutoff: f64) {
        self.cutoff = cutoff;
        self.filter = zone.zone.filter.at(cutoff, zone.rate);
    }

    /// Lowers its level by so many dB.
    ///
    /// Real-time: hot.
    pub(super) fn lower(&mut self, db: f64) {
        self.gain *= libm::exp10(-db / 20.0);
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
        self.octave = octave_of(self.step).min(zone.octaves.count());
    }

    /// Begins its release, where its zone has one.
    ///
    /// Real-time: hot.
    pub(super) fn release(&mut self, zone: &LoadedZone) {
        if !self.is_ending() && zone.zone.loop_mode() != LoopMode::OneShot {
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
        let repeats = zone.cycle.is_some()
            && !(self.is_ending() && zone.zone.loop_mode() == LoopMode::Sustain);
        let to_end = (zone.end - self.place).max(0.0) / self.step.max(1e-6);
        let to_end = to_end + self.ring_left as f64;
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
            && (zone.zone.loop_mode() == LoopMode::Continuous || !self.is_ending())
            && self.place >= from + length
        {
            // A fast voice may pass it more than once.
            let beyond = self.place - from;
            self.place = from + (beyond - length * libm::floor(beyond / length));
            self.has_wrapped = true;
        }
        let is_over = self.place >= zone.end;
        if is_over && self.ring_left == 0 {
            self.part = VoicePart::Idle;
            return;
        }
        let [left, right] = match is_over {
            true => [0.0; 2],
            false => self.read(zone),
        };
        self.ring_left -= u64::from(is_over);
        let [left, right] = match self.cutoff > 0.0 {
            true => self.filtered(zone, [left, right]),
            false => [left, right],
        };
        let level = self.level * self.gain;
        sides[0] += left * level * zone.gains.0;
        sides[1] += right * level * zone.gains.1;
        self.place += self.step;
    }

    /// Both sides of the sample at its place.
    #[inline(always)]
    fn read(&self, zone: &LoadedZone) -> [f64; 2] {
        let left = zone.read(self, 0);
        match zone.sound.channels().count() {
            1 => [left; 2],
            _ => [left, zone.read(self, 1)],
        }
    }

    #[inline(always)]
    fn filtered(&mut self, zone: &LoadedZone, [left, right]: [f64; 2]) -> [f64; 2] {
        let filter = zone.zone.filter;
        let [state, other] = &mut self.states;
        let left = filter.tick(self.filter, state, left);
        match zone.sound.channels().count() {
            1 => [left; 2],
            _ => [left, filter.tick(self.filter, other, right)],
        }
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
        let [[a, b, c, d], [e, f, g, h]] = self.states;
        let [place, pitch, bend, step, gain, level] = [
            self.place, self.pitch, self.bend, self.step, self.gain, self.level,
        ]
        .map(f64::to_bits);
        let [a, b, c, d, e, f, g, h] = [a, b, c, d, e, f, g, h].map(f64::to_bits);
        let flags = u64::from(self.is_released) | u64::from(self.has_wrapped) << 1;
        [
            place,
            pitch,
            bend,
            step,
            gain,
            level,
            self.zone as u64,
            self.note,
            self.number,
            self.part as u64,
            flags,
            self.hold_left,
            self.cutoff.to_bits(),
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            self.ring_left,
        ]
    }

    /// A saved voice, of which zone and place are there.
    pub(super) fn from_words(
        words: StateWords<'_>,
        zones: &[LoadedZone],
    ) -> Result<Self, StateError> {
        let [place, pitch, bend, step, gain, level] = words.numbers(0)?;
        let [cutoff] = words.numbers(12)?;
        let states: [FilterState; 2] = [words.numbers(13)?, words.numbers(17)?];
        let is_sound = (0.0..=MAX_PLACE).contains(&place)
            && (0.0..=1e6).contains(&cutoff)
            && states.as_flattened().iter().all(|it| it.abs() <= MAX_STATE)
            && (0.0..=MAX_PLACE).contains(&step)
            && pitch.abs().max(bend.abs()) <= 1e4
            && (0.0..=1e6).contains(&gain)
            && (0.0..=1.0).contains(&level);
        if !is_sound {
            return Err(StateError("a saved voice is outside its range".into()));
        }
        let mut voice = Self {
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
            is_released: words.at(10) & 1 != 0,
            has_wrapped: words.at(10) & 2 != 0,
            hold_left: words.at(11),
            place,
            pitch,
            bend,
            step,
            gain,
            level,
            states,
            ring_left: words.at(21),
            ..Self::default()
        };
        // The file may have fewer zones by now.
        let Some(zone) = zones.get(voice.zone) else {
            return Ok(Self::default());
        };
        voice.octave = octave_of(step).min(zone.octaves.count());
        if cutoff > 0.0 {
            voice.set_cutoff(zone, cutoff);
        }
        Ok(voice)
    }
}
