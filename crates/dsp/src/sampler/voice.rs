//! [`SampleVoice`]: one sample that sounds.

use super::cycle::Cycle;
use super::filter::{FilterState, Sections};
use super::loaded_zone::LoadedZone;
use super::octaves::{octave_of, read};
use super::zone::LoopMode;

/// Level at which a voice ends: -100 dB.
const SILENCE: f64 = 1e-5;

/// Part of a voice's envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum VoicePart {
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
    pub(super) part: VoicePart,
    /// True once the key is released, though a pedal may hold it.
    pub(super) is_released: bool,
    /// Frames of the hold that are left.
    pub(super) hold_left: u64,
    /// Frame of the sound that comes next.
    pub(super) place: f64,
    /// Pitch of the note and its bend, in semitones.
    pub(super) pitch: f64,
    pub(super) bend: f64,
    pub(super) step: f64,
    /// Copy of the sample that it reads, by its step; 0 for the sample itself.
    pub(super) octave: usize,
    /// True once it has passed the end of its loop.
    pub(super) has_wrapped: bool,
    /// True in the crossfade of its loop: if it ends there, it passes the end of the loop once more.
    pub(super) is_fading: bool,
    /// Factor of the note, and of the envelope.
    pub(super) gain: f64,
    pub(super) level: f64,
    /// In Hz; 0 where there is no filter.
    pub(super) cutoff: f64,
    pub(super) filter: Sections,
    pub(super) states: [FilterState; 2],
    /// Frames that the filter sounds behind the end of the sample.
    pub(super) ring_left: u64,
}

impl SampleVoice {
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

    pub(super) fn set_cutoff(&mut self, zone: &LoadedZone, cutoff: f64) {
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
        let again = zone.cycle.filter(|_| self.is_fading);
        let again = again.map_or(0.0, |cycle| cycle.length);
        let to_end = (zone.end - self.place + again).max(0.0) / self.step.max(1e-6);
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
        if let Some(cycle) = zone.cycle {
            self.follow_loop(cycle, zone.zone.loop_mode());
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

    /// Goes back to the begin of the loop where its end is reached.
    #[inline(always)]
    fn follow_loop(&mut self, cycle: Cycle, mode: LoopMode) {
        let is_leaving = mode != LoopMode::Continuous && self.is_ending();
        if is_leaving && !self.is_fading {
            return;
        }
        let Cycle { from, length, .. } = cycle;
        if self.place >= cycle.end() {
            // A fast voice may pass it more than once.
            let beyond = self.place - from;
            self.place = from + (beyond - length * libm::floor(beyond / length));
            (self.has_wrapped, self.is_fading) = (true, false);
        }
        if !is_leaving {
            self.is_fading = cycle.fades_at(self.place);
        }
    }

    /// Both sides of the sample at its place.
    #[inline(always)]
    fn read(&self, zone: &LoadedZone) -> [f64; 2] {
        let left = self.read_channel(zone, 0);
        match zone.sound.channels().count() {
            1 => [left; 2],
            _ => [left, self.read_channel(zone, 1)],
        }
    }

    #[inline(always)]
    fn read_channel(&self, zone: &LoadedZone, channel: usize) -> f64 {
        let at = |place: f64| match self.octave {
            0 => read(zone.sound.channel(channel), place),
            octave => {
                let copies = &zone.octaves;
                copies.read(octave, channel, place, self.has_wrapped)
            }
        };
        match zone.cycle {
            // Copies of an endless loop have its crossfade already.
            Some(cycle) if self.is_fading && (self.octave == 0 || !zone.octaves.go_on()) => {
                cycle.blend(self.place, at)
            }
            _ => at(self.place),
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
}
