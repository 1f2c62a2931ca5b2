//! The state of a [`SampleVoice`] in words.

use super::cycle::Cycle;
use super::filter::FilterState;
use super::loaded_zone::LoadedZone;
use super::octaves::octave_of;
use super::voice::{SampleVoice, VoicePart};
use processor::StateError;
use processor::state::StateWords;

/// Largest frame of a saved voice.
const MAX_PLACE: f64 = 1e12;
/// Largest state of a filter of a saved voice.
const MAX_STATE: f64 = 1e9;

impl SampleVoice {
    /// Words of a saved voice.
    pub(super) const STATE_WORDS: usize = 26;

    /// Real-time: hot.
    pub(super) fn words(&self) -> [u64; Self::STATE_WORDS] {
        let [place, pitch, bend, step, gain, level] = [
            self.place, self.pitch, self.bend, self.step, self.gain, self.level,
        ]
        .map(f64::to_bits);
        let flags = [self.is_released, self.has_wrapped, self.is_fading].map(u64::from);
        let flags = flags[0] | flags[1] << 1 | flags[2] << 2;
        let [a, b, c, d, e, f] = self.states[0].map(f64::to_bits);
        let [g, h, i, j, k, l] = self.states[1].map(f64::to_bits);
        let (zone, part, cutoff) = (self.zone as u64, self.part as u64, self.cutoff.to_bits());
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
            part,
            flags,
            self.hold_left,
            cutoff,
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
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
        let states: [FilterState; 2] = [words.numbers(13)?, words.numbers(19)?];
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
            ring_left: words.at(25),
            ..Self::default()
        };
        // The file may have fewer zones by now.
        let Some(zone) = zones.get(voice.zone) else {
            return Ok(Self::default());
        };
        let is_in_fade = |cycle: Cycle| cycle.fades_at(place);
        voice.is_fading = words.at(10) & 4 != 0 && zone.cycle.is_some_and(is_in_fade);
        voice.octave = octave_of(step).min(zone.octaves.count());
        if cutoff > 0.0 {
            voice.set_cutoff(zone, cutoff);
        }
        Ok(voice)
    }
}
