//! [`Timeline`]: the events of a MIDI file that a node plays, each with its exact time.
//!
//! Times are whole numbers of a unit that every tick is a multiple of, so tempo changes add up without rounding: a beat of
//! `n` ticks at `t` microseconds has `n t` units of `1 / (1e6 n)` seconds. A time is rounded once, to the nearest frame. At the
//! session's tempo a unit is a tick, and the session's tempo map gives the frame.

use super::smf::{FileEvent, FileEventBody, MidiFile, MidiTrack, TickUnit};
use graph::TempoMap;
use processor::{EventBody, TextId};
use std::collections::HashMap;
use units::SampleRate;

/// Tempo until a file states one: 120 beats a minute, in microseconds a beat.
const DEFAULT_TEMPO: u32 = 500_000;

/// An event and its time, in units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimedEvent {
    pub(super) at: u128,
    pub(super) body: EventBody,
}

/// Part of a file that is played.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Selection {
    /// Index of the only track; `None` for all.
    pub(super) track: Option<usize>,
    /// The only channel, from 0; `None` for all.
    pub(super) channel: Option<u8>,
    /// Position at which it begins, in seconds.
    pub(super) start: f64,
}

/// Events by time.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    pub(super) events: Vec<TimedEvent>,
    /// Time of the end.
    pub(super) end: u128,
    scale: TimeScale,
}

/// From units to frames.
#[derive(Clone, Debug)]
enum TimeScale {
    /// Units a second.
    Second(u128),
    /// Units a beat, of this tempo.
    Beat(u16, TempoMap),
}

impl Timeline {
    /// The selected events of `file`, from `start` on. Controllers, programs and bends that were set before `start` come
    /// first; notes and pedals that are still down at the end are released there. With `tempo` the tempo is that one and not
    /// the file's. `None` if the file's time has no beats then.
    ///
    /// Real-time: setup.
    pub(super) fn new(
        file: &MidiFile,
        selection: Selection,
        tempo: Option<&TempoMap>,
    ) -> Option<Self> {
        let scale = match (file.unit, tempo) {
            (TickUnit::Beat(ticks), Some(tempo)) => TimeScale::Beat(ticks, tempo.clone()),
            (TickUnit::Second(..), Some(_)) => return None,
            (TickUnit::Beat(ticks), None) => TimeScale::Second(1_000_000 * u128::from(ticks)),
            (TickUnit::Second(_, denominator), None) => TimeScale::Second(denominator.into()),
        };
        let mut timeline = Self {
            events: Vec::new(),
            end: 0,
            scale,
        };
        let tracks: Vec<_> = file.tracks.iter().enumerate().collect();
        if file.is_sequence {
            let is_selected = |index| selection.track.is_none_or(|track| track == index);
            for track in tracks.into_iter().filter(|(index, _)| is_selected(*index)) {
                timeline.append(file.unit, &[track], selection);
            }
        } else {
            timeline.append(file.unit, &tracks, selection);
        }
        let start = timeline.units(selection.start);
        timeline.begin_at(start);
        timeline.release_at_end();
        Some(timeline)
    }

    /// Appends tracks that play together.
    fn append(&mut self, unit: TickUnit, tracks: &[(usize, &MidiTrack)], selection: Selection) {
        let clock = match self.scale {
            TimeScale::Second(_) => TickClock::new(unit, tracks),
            TimeScale::Beat(..) => TickClock::ticks(1),
        };
        let is_selected = |index| selection.track.is_none_or(|track| track == index);
        let played = tracks.iter().filter(|(index, _)| is_selected(*index));
        let mut events: Vec<_> = played
            .flat_map(|(_, track)| &track.events)
            .filter_map(|event| Some((event.tick, body(event, selection.channel)?)))
            .collect();
        // Stable: within a track the order stays.
        events.sort_by_key(|(tick, _)| *tick);
        let offset = self.end;
        self.events
            .extend(events.into_iter().map(|(tick, body)| TimedEvent {
                at: offset + clock.time(tick),
                body,
            }));
        let last = tracks.iter().map(|(_, track)| track.ticks).max();
        self.end = offset + clock.time(last.unwrap_or(0));
    }

    /// Moves the begin to `start`.
    fn begin_at(&mut self, start: u128) {
        if start == 0 {
            return;
        }
        let first = self.events.partition_point(|event| event.at < start);
        let rest = self.events.split_off(first);
        let mut last_of = HashMap::new();
        for (index, event) in self.events.iter().enumerate() {
            if let Some(setting) = setting(event.body) {
                last_of.insert(setting, index);
            }
        }
        let mut kept: Vec<usize> = last_of.into_values().collect();
        kept.sort_unstable();
        let chased = kept.into_iter().map(|index| TimedEvent {
            at: 0,
            body: self.events[index].body,
        });
        let rest = rest.into_iter().map(|event| TimedEvent {
            at: event.at - start,
            ..event
        });
        self.events = chased.chain(rest).collect();
        self.end = self.end.saturating_sub(start);
    }

    /// Releases at the end what is still down there.
    fn release_at_end(&mut self) {
        let mut down = [0_u16; (128 + PEDALS.len()) * 16];
        for event in &self.events {
            if let EventBody::Midi(message) = event.body
                && let Some((place, is_down)) = held_place(message)
            {
                match (is_down, place < 128 * 16) {
                    // A key that is struck twice is released twice.
                    (true, true) => down[place] = down[place].saturating_add(1),
                    (true, false) => down[place] = 1,
                    (false, _) => down[place] = down[place].saturating_sub(1),
                }
            }
        }
        for (place, count) in down.into_iter().enumerate() {
            let (number, channel) = (place / 16, (place % 16) as u8);
            let message = match number.checked_sub(128) {
                None => [0x80 | channel, number as u8, 0],
                Some(pedal) => [0xb0 | channel, PEDALS[pedal], 0],
            };
            for _ in 0..count {
                self.events.push(TimedEvent {
                    at: self.end,
                    body: EventBody::Midi(message),
                });
            }
        }
    }

    /// The frame nearest to the time `at`.
    ///
    /// Real-time: hot.
    pub(super) fn frame(&self, at: u128, rate: SampleRate) -> u64 {
        match &self.scale {
            TimeScale::Second(units) => {
                let twice = at.saturating_mul(2 * u128::from(rate.hz()));
                u64::try_from(twice.saturating_add(*units) / (2 * units)).unwrap_or(u64::MAX)
            }
            TimeScale::Beat(units, tempo) => tempo.frame(at as f64 / f64::from(*units), rate),
        }
    }

    /// The time of a frame, rounded down.
    ///
    /// Real-time: hot.
    pub(super) fn time(&self, frame: u64, rate: SampleRate) -> u128 {
        match &self.scale {
            TimeScale::Second(units) => {
                u128::from(frame).saturating_mul(*units) / u128::from(rate.hz())
            }
            TimeScale::Beat(units, tempo) => {
                (tempo.beat_at(frame, rate) * f64::from(*units)) as u128
            }
        }
    }

    /// Time of so many seconds.
    fn units(&self, seconds: f64) -> u128 {
        match &self.scale {
            TimeScale::Second(units) => (seconds * *units as f64) as u128,
            TimeScale::Beat(units, tempo) => (tempo.beat(seconds) * f64::from(*units)) as u128,
        }
    }

    /// Length in seconds.
    pub(super) fn seconds(&self) -> f64 {
        match &self.scale {
            TimeScale::Second(units) => self.end as f64 / *units as f64,
            TimeScale::Beat(units, tempo) => tempo.seconds(self.end as f64 / f64::from(*units)),
        }
    }
}

/// Controllers that hold notes: sustain, sostenuto, hold 2.
const PEDALS: [u8; 3] = [64, 66, 69];

/// The place of the key or pedal that `message` moves, and true if it is down then.
fn held_place([status, a, b]: [u8; 3]) -> Option<(usize, bool)> {
    let channel = usize::from(status & 0xf);
    match status & 0xf0 {
        0x80 => Some((usize::from(a) * 16 + channel, false)),
        0x90 => Some((usize::from(a) * 16 + channel, b > 0)),
        0xb0 => {
            let pedal = PEDALS.iter().position(|pedal| *pedal == a)?;
            Some(((128 + pedal) * 16 + channel, b >= 64))
        }
        _ => None,
    }
}

/// The state that a message sets until the next one of its kind: its status byte, and the number of a controller.
pub(super) fn setting(body: EventBody) -> Option<(u8, u8)> {
    let EventBody::Midi([status, a, _]) = body else {
        return None;
    };
    match status & 0xf0 {
        0xb0 => Some((status, a)),
        0xc0 | 0xd0 | 0xe0 => Some((status, 0)),
        _ => None,
    }
}

/// The event as nodes know it; `None` for a tempo and for another channel.
fn body(event: &FileEvent, channel: Option<u8>) -> Option<EventBody> {
    match &event.body {
        FileEventBody::Message(message) => {
            let is_played = channel.is_none_or(|channel| channel == message[0] & 0xf);
            is_played.then_some(EventBody::Midi(*message))
        }
        FileEventBody::Text(text) => TextId::new(text).map(EventBody::Text),
        FileEventBody::Tempo(_) => None,
    }
}

/// From ticks to units.
struct TickClock {
    /// First tick, its time, and units a tick, of each tempo.
    tempos: Vec<(u64, u128, u32)>,
}

impl TickClock {
    fn new(unit: TickUnit, tracks: &[(usize, &MidiTrack)]) -> Self {
        if let TickUnit::Second(numerator, _) = unit {
            return Self::ticks(numerator);
        }
        let events = tracks.iter().flat_map(|(_, track)| &track.events);
        let mut changes: Vec<(u64, u32)> = events
            .filter_map(|event| match event.body {
                FileEventBody::Tempo(tempo) => Some((event.tick, tempo)),
                _ => None,
            })
            .collect();
        changes.sort_by_key(|(tick, _)| *tick);
        let mut tempos = vec![(0, 0, DEFAULT_TEMPO)];
        for (tick, tempo) in changes {
            let (before, time, units) = tempos[tempos.len() - 1];
            let time = time + u128::from(tick - before) * u128::from(units);
            tempos.push((tick, time, tempo));
        }
        Self { tempos }
    }

    /// Ticks of so many units each.
    fn ticks(units: u32) -> Self {
        let tempos = vec![(0, 0, units)];
        Self { tempos }
    }

    fn time(&self, tick: u64) -> u128 {
        let after = self.tempos.partition_point(|(first, ..)| *first <= tick);
        let (first, time, units) = self.tempos[after - 1];
        time + u128::from(tick - first) * u128::from(units)
    }
}
