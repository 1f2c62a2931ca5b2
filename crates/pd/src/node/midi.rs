//! MIDI between the events of a node and the bytes of a patch.
//!
//! All that comes in a block is there before its first message, as in Pd. Ports of Pd are channels from 17 on: what leaves on any of
//! them leaves the node.

use super::outside::Outside;
use crate::control::Machine;
use crate::signal::MessageStep;
use midi::NotesToMidi;
use processor::{Block, EventBody, EventTarget, Events, Gauge, Setup, SysExPart};

/// Both directions of MIDI at a node.
pub(super) struct MidiExchange {
    /// Notes of scores and the like, which are no bytes yet.
    notes: NotesToMidi,
    bytes: ByteReader,
    /// The node's output.
    output: usize,
    /// Messages that are lost, and as many as the gauge shows.
    lost: u64,
    shown: u64,
    gauge: Gauge,
}

/// The node's input.
const INPUT: u16 = 0;

impl MidiExchange {
    /// An exchange whose messages leave at `output`.
    pub(super) fn new(output: usize) -> Self {
        Self {
            notes: NotesToMidi::new(false),
            bytes: ByteReader::default(),
            output,
            lost: 0,
            shown: 0,
            gauge: Gauge::default(),
        }
    }

    /// Lets its messages leave at another output.
    ///
    /// Real-time: setup.
    pub(super) fn leave_at(&mut self, output: usize) {
        self.output = output;
    }

    /// Real-time: setup.
    pub(super) fn setup(&mut self, setup: &mut Setup<'_>) {
        (self.gauge, self.shown) = (setup.services.gauge("lost"), 0);
    }

    /// Gives the messages of a block to the boxes that receive them.
    ///
    /// Real-time: as [`Machine::midi`].
    pub(super) fn receive(&mut self, patch: u16, events: Events<'_>, machine: &mut Machine) {
        let before = self.notes.lost();
        for event in events.iter() {
            if event.target != EventTarget::Input(INPUT) {
                continue;
            }
            match event.body {
                EventBody::SysEx(part) => machine.midi_in(patch, 0, part.bytes()),
                EventBody::Text(_) | EventBody::Value(_) | EventBody::Glide(_) => self.lost += 1,
                body => self.notes.translate(body, |message| {
                    machine.midi_in(patch, 0, &message[..length(message[0])]);
                }),
            }
        }
        self.lost += self.notes.lost() - before;
    }

    /// Sends what patches have sent in this block.
    ///
    /// Real-time: hot.
    pub(super) fn send(all: &mut [Outside], step: &mut MessageStep, block: &mut Block<'_>) {
        let lost = step.drain_midi(|patch, _, bytes| {
            let midi = &mut all[usize::from(patch)].midi;
            let output = midi.output;
            midi.bytes
                .read(bytes, |body| block.send_event(output, 0, body));
        });
        all[0].midi.lost += lost;
        for Outside { midi, .. } in all {
            midi.lost += std::mem::take(&mut midi.bytes.lost);
            if midi.lost != midi.shown {
                midi.show_lost();
            }
        }
    }
}

impl MidiExchange {
    #[cold]
    fn show_lost(&mut self) {
        self.shown = self.lost;
        #[expect(clippy::cast_precision_loss, reason = "a number to be shown")]
        let lost = self.lost as f32;
        self.gauge.set(lost);
    }
}

/// Bytes of a channel message.
fn length(status: u8) -> usize {
    match status & 0xf0 {
        0xc0 | 0xd0 => 2,
        _ => 3,
    }
}

/// Bytes to messages: `midiout` sends one byte after the other.
#[derive(Default)]
struct ByteReader {
    /// The message, or the part of a system exclusive one, so far.
    bytes: [u8; SysExPart::MAX_BYTES],
    count: usize,
    /// Status that holds for data without one; 0 for none.
    status: u8,
    is_exclusive: bool,
    /// Bytes that belong to no message.
    lost: u64,
}

impl ByteReader {
    /// Gives every message that `bytes` end to `send`.
    fn read(&mut self, bytes: &[u8], mut send: impl FnMut(EventBody)) {
        if let [status, ..] = *bytes
            && bytes.len() > 1
        {
            let mut message = [status, 0, 0];
            message[1..bytes.len()].copy_from_slice(&bytes[1..]);
            return send(EventBody::Midi(message));
        }
        for byte in bytes {
            self.byte(*byte, &mut send);
        }
    }

    fn byte(&mut self, byte: u8, send: &mut impl FnMut(EventBody)) {
        match byte {
            0xf0 => {
                self.end_exclusive(send);
                (self.is_exclusive, self.count, self.status) = (true, 0, 0);
                self.add_exclusive(byte, send);
            }
            0xf7 if self.is_exclusive => {
                self.add_exclusive(byte, send);
                self.end_exclusive(send);
            }
            // Clocks and the like are no messages of notes.
            0xf1.. => self.lost += 1,
            0x80..0xf0 => {
                self.end_exclusive(send);
                (self.status, self.count) = (byte, 0);
            }
            _ if self.is_exclusive => self.add_exclusive(byte, send),
            _ => self.data(byte, send),
        }
    }

    fn data(&mut self, byte: u8, send: &mut impl FnMut(EventBody)) {
        if self.status == 0 {
            self.lost += 1;
            return;
        }
        self.bytes[self.count] = byte;
        self.count += 1;
        if self.count + 1 == length(self.status) {
            let second = if self.count > 1 { self.bytes[1] } else { 0 };
            send(EventBody::Midi([self.status, self.bytes[0], second]));
            self.count = 0;
        }
    }

    fn add_exclusive(&mut self, byte: u8, send: &mut impl FnMut(EventBody)) {
        if self.count == self.bytes.len() {
            self.send_part(send);
        }
        self.bytes[self.count] = byte;
        self.count += 1;
    }

    fn end_exclusive(&mut self, send: &mut impl FnMut(EventBody)) {
        if std::mem::take(&mut self.is_exclusive) {
            self.send_part(send);
        }
    }

    fn send_part(&mut self, send: &mut impl FnMut(EventBody)) {
        SysExPart::split(&self.bytes[..self.count]).for_each(|part| send(EventBody::SysEx(part)));
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(all: &[&[u8]]) -> (Vec<Vec<u8>>, u64) {
        let mut reader = ByteReader::default();
        let mut found = Vec::new();
        for bytes in all {
            reader.read(bytes, |body| {
                found.push(match body {
                    EventBody::Midi(message) => message.to_vec(),
                    EventBody::SysEx(part) => part.bytes().to_vec(),
                    _ => Vec::new(),
                });
            });
        }
        (found, reader.lost)
    }

    #[test]
    fn single_bytes_become_messages_with_a_running_status() {
        let bytes = [0x90, 60, 100, 61, 0, 0xc3, 5, 0xf8, 6];
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let expected = vec![
            vec![0x90, 60, 100],
            vec![0x90, 61, 0],
            vec![0xc3, 5, 0],
            vec![0xc3, 6, 0],
        ];
        assert_eq!(read(&single), (expected, 1));
        assert_eq!(read(&[&[5], &[0xb0, 7, 1]]), (vec![vec![0xb0, 7, 1]], 1));
    }

    #[test]
    fn exclusive_messages_come_in_parts_and_any_status_ends_them() {
        let mut bytes = vec![0xf0];
        bytes.extend(1..20);
        bytes.push(0xf7);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let (found, lost) = read(&single);
        assert_eq!((found.concat(), lost), (bytes, 0));
        assert_eq!(found.len(), 2);
        let cut = read(&[&[0xf0], &[1], &[0x80], &[60], &[0]]);
        assert_eq!(cut, (vec![vec![0xf0, 1], vec![0x80, 60, 0]], 0));
    }
}
