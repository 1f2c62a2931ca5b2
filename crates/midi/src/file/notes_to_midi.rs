//! [`NotesToMidi`]: events of notes as MIDI channel messages, for files and live ports.
//!
//! On one channel, or with MPE: then each note has a channel of its own among 2 to 16, so that it can be bent, pressed and
//! brightened alone, and a pitch between two keys is a bend.

use processor::EventBody;
use std::collections::HashMap;

/// Bend range of a member channel of an MPE zone, in semitones.
const MPE_BEND_RANGE: f32 = 48.0;
/// Channels of an MPE zone whose master is channel 1.
const MEMBERS: usize = 15;
/// Notes that sound at one time; more are left out.
const MAX_NOTES: usize = 1024;
/// Channels for notes without MPE.
const PLAIN_CHANNEL: u8 = 0;
/// Difference of a pitch to its key, in semitones, from which on it is a loss to write it without a bend.
const AUDIBLE: f32 = 0.005;

/// Notes become channel messages.
#[derive(Debug)]
pub struct NotesToMidi {
    has_mpe: bool,
    /// The notes that sound, each with channel, key and difference of its pitch to the key.
    notes: HashMap<u32, SoundingNote>,
    /// Number of sounding notes of each member channel.
    members: [u32; MEMBERS],
    /// The member channel that was taken last.
    last: usize,
    /// Events that MIDI cannot say as they are.
    lost: u64,
}

#[derive(Clone, Copy, Debug)]
struct SoundingNote {
    channel: u8,
    key: u8,
    detune: f32,
}

impl NotesToMidi {
    /// No notes yet; with `has_mpe` each has a channel of its own.
    ///
    /// Real-time: setup.
    pub fn new(has_mpe: bool) -> Self {
        Self {
            has_mpe,
            // Twice the room, so that a table in which notes come and go never grows.
            notes: HashMap::with_capacity(2 * MAX_NOTES),
            members: [0; MEMBERS],
            last: MEMBERS - 1,
            lost: 0,
        }
    }

    /// Forgets all notes.
    ///
    /// Real-time: hot.
    pub fn clear(&mut self) {
        self.notes.clear();
        (self.members, self.last, self.lost) = ([0; MEMBERS], MEMBERS - 1, 0);
    }

    /// Messages at the begin of a file: with MPE the size of the zone.
    ///
    /// Real-time: hot.
    pub fn preamble(&self) -> &'static [[u8; 3]] {
        const MPE: [[u8; 3]; 3] = [[0xb0, 101, 0], [0xb0, 100, 6], [0xb0, 6, MEMBERS as u8]];
        match self.has_mpe {
            true => &MPE,
            false => &[],
        }
    }

    /// Number of events that no message says, or only roughly.
    ///
    /// Real-time: hot.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Sends the messages of `body`, which is no text.
    ///
    /// Real-time: hot, if `send` is.
    pub fn translate(&mut self, body: EventBody, mut send: impl FnMut([u8; 3])) {
        match body {
            EventBody::Midi([status @ 0x80..0xf0, a, b]) => send([status, a & 127, b & 127]),
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } => self.note_on(id, pitch, velocity, &mut send),
            EventBody::NoteOff { id, velocity } => {
                if let Some(note) = self.end(id) {
                    send([0x80 | note.channel, note.key, seven_bits(velocity)]);
                }
            }
            EventBody::NoteChoke { id } => {
                if let Some(note) = self.end(id) {
                    send([0x80 | note.channel, note.key, 127]);
                }
            }
            EventBody::NotePressure { id, value } => {
                let Some(note) = self.notes.get(&id) else {
                    return;
                };
                match self.has_mpe {
                    true => send([0xd0 | note.channel, seven_bits(value), 0]),
                    false => send([0xa0 | note.channel, note.key, seven_bits(value)]),
                }
            }
            EventBody::NoteBend { id, semitones } => match self.notes.get(&id) {
                Some(note) if self.has_mpe => {
                    send(bend_message(note.channel, note.detune + semitones));
                }
                Some(_) if semitones.abs() >= AUDIBLE => self.lost += 1,
                _ => {}
            },
            EventBody::NotePan { id, value } => match self.notes.get(&id) {
                Some(note) if self.has_mpe => {
                    send([0xb0 | note.channel, 10, seven_bits(value / 2.0 + 0.5)]);
                }
                Some(_) => self.lost += 1,
                None => {}
            },
            EventBody::NoteTimbre { id, value } => match self.notes.get(&id) {
                Some(note) if self.has_mpe => {
                    send([0xb0 | note.channel, 74, seven_bits(value)]);
                }
                Some(_) => self.lost += 1,
                None => {}
            },
            _ => self.lost += 1,
        }
    }

    fn note_on(&mut self, id: u32, pitch: f32, velocity: f32, send: &mut dyn FnMut([u8; 3])) {
        if let Some(note) = self.end(id) {
            send([0x80 | note.channel, note.key, 64]);
        }
        if self.notes.len() == MAX_NOTES {
            self.lost += 1;
            return;
        }
        let key = pitch.round().clamp(0.0, 127.0);
        let detune = pitch - key;
        let channel = match self.has_mpe {
            true => self.take_member(),
            false => PLAIN_CHANNEL,
        };
        let note = SoundingNote {
            channel,
            key: key as u8,
            detune,
        };
        if self.has_mpe {
            send(bend_message(channel, detune));
        } else if detune.abs() >= AUDIBLE {
            self.lost += 1;
        }
        send([0x90 | channel, note.key, seven_bits(velocity).max(1)]);
        self.notes.insert(id, note);
    }

    /// The next member channel with the fewest notes.
    fn take_member(&mut self) -> u8 {
        let after = (1..=MEMBERS).map(|step| (self.last + step) % MEMBERS);
        let member = after.min_by_key(|member| self.members[*member]);
        self.last = member.unwrap_or(0);
        self.members[self.last] += 1;
        self.last as u8 + 1
    }

    fn end(&mut self, id: u32) -> Option<SoundingNote> {
        let note = self.notes.remove(&id)?;
        if self.has_mpe {
            let member = &mut self.members[usize::from(note.channel) - 1];
            *member = member.saturating_sub(1);
        }
        Some(note)
    }
}

/// A value from 0 to 1 in seven bits.
fn seven_bits(value: f32) -> u8 {
    // `as` turns NaN into 0.
    (value * 127.0).round().clamp(0.0, 127.0) as u8
}

fn bend_message(channel: u8, semitones: f32) -> [u8; 3] {
    let bend = (semitones / MPE_BEND_RANGE * 8192.0).round();
    let bits = (bend.clamp(-8192.0, 8191.0) as i32 + 8192) as u16;
    [0xe0 | channel, (bits & 127) as u8, (bits >> 7) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(notes: &mut NotesToMidi, bodies: &[EventBody]) -> Vec<[u8; 3]> {
        let mut sent = Vec::new();
        for body in bodies {
            notes.translate(*body, |message| sent.push(message));
        }
        sent
    }

    fn on(id: u32, pitch: f32) -> EventBody {
        let velocity = 1.0;
        EventBody::NoteOn {
            id,
            pitch,
            velocity,
        }
    }

    #[test]
    fn without_mpe_a_bend_is_counted_as_lost_and_a_plain_note_is_not() {
        let mut notes = NotesToMidi::new(false);
        let off = EventBody::NoteOff {
            id: 7,
            velocity: 0.0,
        };
        assert_eq!(
            all(&mut notes, &[on(7, 60.0), off]),
            [[0x90, 60, 127], [0x80, 60, 0]]
        );
        assert_eq!(notes.lost(), 0);
        let semitones = 1.0;
        all(
            &mut notes,
            &[on(8, 60.5), EventBody::NoteBend { id: 8, semitones }],
        );
        assert_eq!(notes.lost(), 2);
    }

    #[test]
    fn with_mpe_each_note_has_its_channel_and_its_bend() {
        let mut notes = NotesToMidi::new(true);
        let semitones = 12.0;
        let sent = all(
            &mut notes,
            &[
                on(1, 60.0),
                on(2, 60.0),
                EventBody::NoteBend { id: 2, semitones },
            ],
        );
        let expected = [
            [0xe1, 0, 64],
            [0x91, 60, 127],
            [0xe2, 0, 64],
            [0x92, 60, 127],
            [0xe2, 0, 80],
        ];
        assert_eq!(sent, expected);
        assert_eq!(notes.lost(), 0);
    }
}
