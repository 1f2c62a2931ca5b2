//! [`LoadedZone`]: a zone with its sound, at the rate of the graph.

use super::cycle::Cycle;
use super::octaves::{Octaves, octave_of};
use super::zone::{LoopMode, Zone};
use media::Sound;
use std::sync::Arc;

/// Time in which a voice ends that must: 60 dB.
const CUT_S: f64 = 0.005;

/// A zone with its sound, all times and places in frames of the graph.
pub(super) struct LoadedZone {
    pub(super) zone: Zone,
    pub(super) sound: Arc<Sound>,
    pub(super) octaves: Arc<Octaves>,
    pub(super) rate: f64,
    pub(super) first: f64,
    pub(super) end: f64,
    /// The loop, if it has one.
    pub(super) cycle: Option<Cycle>,
    pub(super) gains: (f64, f64),
    /// Change of the level per frame while it rises.
    pub(super) rise: f64,
    pub(super) hold: u64,
    /// Factors of the level per frame.
    pub(super) decay: f64,
    pub(super) release: f64,
    pub(super) cut: f64,
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
        let fade = zone.loop_crossfade * rate;
        let factor = |seconds: f64| libm::exp(-6.907_755 / (seconds * rate).max(1e-3));
        Self {
            first: place(zone.offset),
            end,
            cycle: (repeats && length >= 1.0).then(|| Cycle::new(from, length, fade)),
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

    /// The loop, if voices never leave it: the copies of the sample go on with it.
    pub(super) fn endless_cycle(&self) -> Option<Cycle> {
        let is_left = self.zone.loop_mode() == LoopMode::Sustain;
        // What a crossfade replaces is there for those that leave.
        let ends = |cycle: &Cycle| cycle.end() >= self.end && !cycle.is_faded();
        self.cycle.filter(|cycle| !is_left || ends(cycle))
    }

    /// Number of copies that it needs for the notes that play it, bent by `bend` semitones at most.
    pub(super) fn octaves_needed(&self, bend: f64) -> usize {
        let (low, high) = self.zone.keys;
        let ends = [f64::from(low) - 0.5 - bend, f64::from(high) + 0.5 + bend];
        let octaves = ends.map(|pitch| octave_of(self.zone.step(pitch)));
        octaves[0].max(octaves[1])
    }
}
