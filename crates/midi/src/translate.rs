//! [`MidiTranslator`]: MIDI channel messages as events of notes.
//!
//! | message | events |
//! |---|---|
//! | note on, note off | `NoteOn`, `NoteOff`; a key that is struck again ends its note first |
//! | key pressure, channel pressure | `NotePressure` for the key, or for each held key of the channel |
//! | pitch bend | `NoteBend` for each held key, in semitones: ±2, or as RPN 0 says; ±48 on a member channel of an MPE zone |
//! | controller 74 | `NoteTimbre` for each held key |
//! | controller 64 | a `NoteOff` while the pedal is down waits until it is up |
//! | controllers 120, 121, 123 to 127 | all notes choked; controllers reset; all notes off |
//! | RPN 6 on channel 1 or 16 | an MPE zone with so many member channels |
//!
//! In an MPE zone bend, pressure, timbre and pedal of the master channel hold for all channels of the zone; its bend is added to
//! theirs. All else is left out.

use crate::note_id::NoteIds;
use processor::state::{self, StateWords};
use processor::{EventBody, StateError};

/// MIDI channel messages become events of notes, as the module's table says.
#[derive(Clone, Debug)]
pub(crate) struct MidiTranslator {
    ids: NoteIds,
    channels: [MidiChannel; 16],
    /// Number of member channels of the lower zone (master: channel 1) and of the upper one (master: channel 16).
    zones: [u8; 2],
    initial_zones: [u8; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct MidiChannel {
    /// A bit for each key that sounds.
    sounding: u128,
    /// A bit for each key that was released and sounds on by the pedal.
    sustained: u128,
    pedal: bool,
    /// From -8192 to 8191.
    bend: i16,
    /// In cents.
    bend_range: u16,
    pressure: u8,
    timbre: u8,
    /// The registered parameter that data entry sets; 0x3fff for none.
    rpn: u16,
}

/// Bend range of a channel, and of a member channel of an MPE zone, in cents.
const BEND_RANGE: u16 = 200;
const MEMBER_BEND_RANGE: u16 = 4800;
/// Timbre before controller 74 is moved.
const TIMBRE: u8 = 64;
const NO_RPN: u16 = 0x3fff;

impl Default for MidiChannel {
    fn default() -> Self {
        Self {
            sounding: 0,
            sustained: 0,
            pedal: false,
            bend: 0,
            bend_range: BEND_RANGE,
            pressure: 0,
            timbre: TIMBRE,
            rpn: NO_RPN,
        }
    }
}

/// Seven bits as a number from 0 to 1.
fn unit(value: u8) -> f32 {
    f32::from(value & 127) / 127.0
}

/// The keys whose bits are set.
fn keys(bits: u128) -> impl Iterator<Item = usize> {
    (0..128).filter(move |key| bits >> key & 1 == 1)
}

impl MidiTranslator {
    /// A translator for the notes of the node `ids`. `mpe_members` is the number of member channels of an MPE zone whose
    /// master is channel 1; 0 for no zone.
    pub(crate) fn new(ids: NoteIds, mpe_members: u8) -> Self {
        let mut new = Self {
            ids,
            channels: [MidiChannel::default(); 16],
            zones: [0; 2],
            initial_zones: [mpe_members.min(15), 0],
        };
        new.reset();
        new
    }

    /// Becomes as new; sends nothing.
    ///
    /// Real-time: hot.
    pub(crate) fn reset(&mut self) {
        self.channels = [MidiChannel::default(); 16];
        self.zones = [0; 2];
        let [lower, _] = self.initial_zones;
        self.set_zone(0, lower);
    }

    /// Sends the events of `message`: status and two data bytes.
    ///
    /// Real-time: hot.
    pub(crate) fn translate(&mut self, message: [u8; 3], mut send: impl FnMut(EventBody)) {
        let send: &mut dyn FnMut(EventBody) = &mut send;
        let [status, a, b] = message;
        let (channel, a, b) = (usize::from(status & 15), a & 127, b & 127);
        let key = usize::from(a);
        match status & 0xf0 {
            0x90 if b > 0 => self.note_on(channel, key, b, send),
            0x80 | 0x90 => self.note_off(channel, key, if status < 0x90 { b } else { 64 }, send),
            0xa0 => self.key_pressure(channel, key, b, send),
            0xb0 => self.controller(channel, a, b, send),
            0xd0 => self.pressure(channel, a, send),
            0xe0 => self.bend(channel, (i16::from(b) << 7 | i16::from(a)) - 8192, send),
            _ => {}
        }
    }

    fn note_on(&mut self, c: usize, key: usize, velocity: u8, send: &mut dyn FnMut(EventBody)) {
        let id = self.ids.of_key(c, key);
        if self.channels[c].sounding >> key & 1 == 1 {
            send(EventBody::NoteOff { id, velocity: 0.5 });
        }
        let channel = &mut self.channels[c];
        channel.sounding |= 1 << key;
        channel.sustained &= !(1 << key);
        let (pressure, timbre) = (unit(channel.pressure), channel.timbre);
        send(EventBody::NoteOn {
            id,
            pitch: key as f32,
            velocity: unit(velocity),
        });
        let semitones = self.semitones(c);
        if semitones != 0.0 {
            send(EventBody::NoteBend { id, semitones });
        }
        if pressure > 0.0 {
            let value = pressure;
            send(EventBody::NotePressure { id, value });
        }
        if timbre != TIMBRE {
            let value = unit(timbre);
            send(EventBody::NoteTimbre { id, value });
        }
    }

    fn note_off(&mut self, c: usize, key: usize, velocity: u8, send: &mut dyn FnMut(EventBody)) {
        let pedal = self.has_pedal(c);
        let channel = &mut self.channels[c];
        if channel.sounding >> key & 1 == 0 {
            return;
        }
        if pedal {
            channel.sustained |= 1 << key;
            return;
        }
        channel.sounding &= !(1 << key);
        let id = self.ids.of_key(c, key);
        let velocity = unit(velocity);
        send(EventBody::NoteOff { id, velocity });
    }

    fn key_pressure(&mut self, c: usize, key: usize, value: u8, send: &mut dyn FnMut(EventBody)) {
        if self.channels[c].sounding >> key & 1 == 1 {
            let (id, value) = (self.ids.of_key(c, key), unit(value));
            send(EventBody::NotePressure { id, value });
        }
    }

    fn pressure(&mut self, c: usize, value: u8, send: &mut dyn FnMut(EventBody)) {
        for c in self.zone_of(c) {
            self.channels[c].pressure = value;
            let value = unit(value);
            self.for_each_key(c, &mut |id| send(EventBody::NotePressure { id, value }));
        }
    }

    fn timbre(&mut self, c: usize, value: u8, send: &mut dyn FnMut(EventBody)) {
        for c in self.zone_of(c) {
            self.channels[c].timbre = value;
            let value = unit(value);
            self.for_each_key(c, &mut |id| send(EventBody::NoteTimbre { id, value }));
        }
    }

    fn bend(&mut self, c: usize, bend: i16, send: &mut dyn FnMut(EventBody)) {
        self.channels[c].bend = bend;
        for c in self.zone_of(c) {
            let semitones = self.semitones(c);
            self.for_each_key(c, &mut |id| send(EventBody::NoteBend { id, semitones }));
        }
    }

    fn controller(&mut self, c: usize, number: u8, value: u8, send: &mut dyn FnMut(EventBody)) {
        match number {
            6 | 38 => self.data_entry(c, number == 6, value, send),
            64 => self.pedal(c, value >= 64, send),
            74 => self.timbre(c, value, send),
            98 | 99 => self.channels[c].rpn = NO_RPN,
            100 => self.channels[c].rpn = self.channels[c].rpn & 0x3f80 | u16::from(value),
            101 => self.channels[c].rpn = self.channels[c].rpn & 0x7f | u16::from(value) << 7,
            120 => self.end_notes(c, send, &|id| EventBody::NoteChoke { id }),
            121 => self.reset_controllers(c, send),
            123..=127 => self.end_notes(c, send, &|id| EventBody::NoteOff { id, velocity: 0.5 }),
            _ => {}
        }
    }

    fn data_entry(
        &mut self,
        c: usize,
        is_coarse: bool,
        value: u8,
        send: &mut dyn FnMut(EventBody),
    ) {
        let range = self.channels[c].bend_range;
        match (self.channels[c].rpn, is_coarse) {
            (0, true) => self.channels[c].bend_range = u16::from(value) * 100 + range % 100,
            (0, false) => {
                self.channels[c].bend_range = range / 100 * 100 + u16::from(value.min(99))
            }
            (6, true) if c == 0 || c == 15 => return self.change_zone(c / 15, value.min(15), send),
            _ => return,
        }
        // The members of a zone have one range.
        if let Some(master) = self.master_of(c) {
            let range = self.channels[c].bend_range;
            for member in self.zone_of(master).filter(|member| *member != master) {
                self.channels[member].bend_range = range;
            }
        }
        let bend = self.channels[c].bend;
        self.bend(c, bend, send);
    }

    fn pedal(&mut self, c: usize, is_down: bool, send: &mut dyn FnMut(EventBody)) {
        self.channels[c].pedal = is_down;
        if is_down {
            return;
        }
        for c in self.zone_of(c) {
            self.end_sustained(c, send);
        }
    }

    /// Ends the notes of a channel that sound on by a pedal, unless one is down.
    fn end_sustained(&mut self, c: usize, send: &mut dyn FnMut(EventBody)) {
        if self.has_pedal(c) {
            return;
        }
        let ended = std::mem::take(&mut self.channels[c].sustained);
        self.channels[c].sounding &= !ended;
        for key in keys(ended) {
            let id = self.ids.of_key(c, key);
            send(EventBody::NoteOff { id, velocity: 0.5 });
        }
    }

    /// Returns true if a pedal holds the notes of a channel: its own, or that of its master.
    fn has_pedal(&self, c: usize) -> bool {
        self.channels[c].pedal || self.master_of(c).is_some_and(|m| self.channels[m].pedal)
    }

    fn end_notes(
        &mut self,
        c: usize,
        send: &mut dyn FnMut(EventBody),
        end: &dyn Fn(u32) -> EventBody,
    ) {
        for c in self.zone_of(c) {
            self.for_each_key(c, &mut |id| send(end(id)));
            (self.channels[c].sounding, self.channels[c].sustained) = (0, 0);
        }
    }

    fn reset_controllers(&mut self, c: usize, send: &mut dyn FnMut(EventBody)) {
        self.pedal(c, false, send);
        self.bend(c, 0, send);
        self.pressure(c, 0, send);
        self.timbre(c, TIMBRE, send);
        self.channels[c].rpn = NO_RPN;
    }

    fn for_each_key(&self, c: usize, act: &mut dyn FnMut(u32)) {
        keys(self.channels[c].sounding).for_each(|key| act(self.ids.of_key(c, key)));
    }

    /// Bend of the notes of a channel.
    fn semitones(&self, c: usize) -> f32 {
        let own = |c: usize| {
            let MidiChannel {
                bend, bend_range, ..
            } = self.channels[c];
            f32::from(bend) / 8192.0 * (f32::from(bend_range) / 100.0)
        };
        own(c) + self.master_of(c).map_or(0.0, own)
    }

    /// Makes an MPE zone while it plays. Notes that the pedal of a master held end, since that pedal may hold for them no more.
    fn change_zone(&mut self, zone: usize, members: u8, send: &mut dyn FnMut(EventBody)) {
        self.set_zone(zone, members);
        for c in 0..16 {
            self.end_sustained(c, send);
        }
    }

    /// Makes an MPE zone with its default bend ranges: zone 0 from channel 1 up, zone 1 from channel 16 down. The other
    /// zone keeps the channels that are left.
    fn set_zone(&mut self, zone: usize, members: u8) {
        self.zones[zone] = members;
        let other = &mut self.zones[1 - zone];
        *other = (*other).min(14_u8.saturating_sub(members));
        let master = zone * 15;
        for c in self.zone_of(master) {
            let is_member = c != master;
            let range = if is_member {
                MEMBER_BEND_RANGE
            } else {
                BEND_RANGE
            };
            self.channels[c].bend_range = range;
        }
    }

    /// The master of the zone in which a channel is a member.
    fn master_of(&self, c: usize) -> Option<usize> {
        let [lower, upper] = self.zones.map(usize::from);
        if (1..=lower).contains(&c) {
            return Some(0);
        }
        (15 - upper..15).contains(&c).then_some(15)
    }

    /// The channels for which a message on channel `c` holds: a master's for its whole zone.
    fn zone_of(&self, c: usize) -> std::ops::RangeInclusive<usize> {
        let [lower, upper] = self.zones.map(usize::from);
        match c {
            0 => 0..=lower,
            15 => 15 - upper..=15,
            c => c..=c,
        }
    }

    /// Number of words of a saved state.
    pub(crate) const STATE_WORDS: usize = 16 * 6 + 1;

    /// Appends the state.
    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        for channel in &self.channels {
            let half = |bits: u128| [bits as u64, (bits >> 64) as u64];
            state::put(bytes, half(channel.sounding));
            state::put(bytes, half(channel.sustained));
            let wheel = u64::from(channel.bend as u16) << 16 | u64::from(channel.bend_range);
            let rest = u64::from(channel.rpn) << 24
                | u64::from(channel.timbre) << 16
                | u64::from(channel.pressure) << 8;
            state::put(bytes, [wheel, rest | u64::from(channel.pedal)]);
        }
        let [lower, upper] = self.zones.map(u64::from);
        state::put(bytes, [upper << 8 | lower]);
    }

    /// Continues from a saved state, held within the ranges of MIDI.
    ///
    /// Real-time: hot.
    pub(crate) fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError> {
        for (c, channel) in self.channels.iter_mut().enumerate() {
            let at = |i| words.at(c * 6 + i);
            let bits = |i| u128::from(at(i)) | u128::from(at(i + 1)) << 64;
            *channel = MidiChannel {
                sounding: bits(0),
                sustained: bits(2) & bits(0),
                pedal: at(5) & 1 == 1,
                bend: ((at(4) >> 16) as u16 as i16).clamp(-8192, 8191),
                bend_range: (at(4) as u16).min(12_799),
                pressure: (at(5) >> 8) as u8 & 127,
                timbre: (at(5) >> 16) as u8 & 127,
                rpn: (at(5) >> 24) as u16 & NO_RPN,
            };
        }
        let zones = words.at(16 * 6);
        let lower = (zones as u8).min(15);
        self.zones = [lower, ((zones >> 8) as u8).min(14_u8.saturating_sub(lower))];
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translator(members: u8) -> MidiTranslator {
        MidiTranslator::new(NoteIds::of_node("keys"), members)
    }

    fn all(midi: &mut MidiTranslator, messages: &[[u8; 3]]) -> Vec<EventBody> {
        let mut sent = Vec::new();
        for message in messages {
            midi.translate(*message, |body| sent.push(body));
        }
        sent
    }

    fn id(channel: usize, key: usize) -> u32 {
        NoteIds::of_node("keys").of_key(channel, key)
    }

    #[test]
    fn a_key_that_is_struck_again_ends_its_note_first() {
        let sent = all(
            &mut translator(0),
            &[[0x90, 60, 127], [0x90, 60, 127], [0x80, 60, 127]],
        );
        let id = id(0, 60);
        let on = EventBody::NoteOn {
            id,
            pitch: 60.0,
            velocity: 1.0,
        };
        let off = |velocity| EventBody::NoteOff { id, velocity };
        assert_eq!(sent, [on, off(0.5), on, off(1.0)]);
    }

    #[test]
    fn the_pedal_holds_notes_until_it_is_up() {
        let mut midi = translator(0);
        let sent = all(
            &mut midi,
            &[[0x90, 60, 1], [0xb0, 64, 127], [0x80, 60, 0], [0x80, 61, 0]],
        );
        assert_eq!(sent.len(), 1);
        let sent = all(&mut midi, &[[0xb0, 64, 0], [0xb0, 64, 0]]);
        let off = EventBody::NoteOff {
            id: id(0, 60),
            velocity: 0.5,
        };
        assert_eq!(sent, [off]);
    }

    #[test]
    fn the_bend_range_is_as_rpn_0_says() {
        let mut midi = translator(0);
        let range = [[0xb0, 101, 0], [0xb0, 100, 0], [0xb0, 6, 12]];
        assert_eq!(all(&mut midi, &range), []);
        let sent = all(&mut midi, &[[0xe0, 0, 0], [0x90, 60, 1]]);
        let bend = EventBody::NoteBend {
            id: id(0, 60),
            semitones: -12.0,
        };
        assert_eq!(sent[1], bend);
    }

    #[test]
    fn in_an_mpe_zone_each_channel_bends_alone_and_the_master_all() {
        let mut midi = translator(0);
        // RPN 6 on channel 1: three members.
        all(&mut midi, &[[0xb0, 101, 0], [0xb0, 100, 6], [0xb0, 6, 3]]);
        all(&mut midi, &[[0x91, 60, 1], [0x92, 64, 1], [0x94, 67, 1]]);
        let sent = all(&mut midi, &[[0xe1, 0, 96]]);
        let bend = |c, key, semitones| EventBody::NoteBend {
            id: id(c, key),
            semitones,
        };
        assert_eq!(sent, [bend(1, 60, 24.0)]);
        let sent = all(&mut midi, &[[0xe0, 0, 0]]);
        assert_eq!(sent, [bend(1, 60, 22.0), bend(2, 64, -2.0)]);
    }

    #[test]
    fn a_zone_that_goes_leaves_no_note_that_its_pedal_held() {
        let mut midi = translator(3);
        let sent = all(&mut midi, &[[0x91, 60, 1], [0xb0, 64, 127], [0x81, 60, 0]]);
        assert_eq!(sent.len(), 1);
        let sent = all(&mut midi, &[[0xb0, 101, 0], [0xb0, 100, 6], [0xb0, 6, 0]]);
        let (id, velocity) = (id(1, 60), 0.5);
        assert_eq!(sent, [EventBody::NoteOff { id, velocity }]);
    }

    #[test]
    fn any_bytes_are_survived() {
        let mut midi = translator(4);
        let mut seed = 1_u32;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [a, b, c, _] = seed.to_be_bytes();
            midi.translate([a, b, c], |body| {
                if let EventBody::NoteBend { semitones, .. } = body {
                    assert!(semitones.abs() <= 256.0);
                }
            });
        }
    }
}
