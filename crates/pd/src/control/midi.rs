//! MIDI into a patch and out of it, as Pd's `s_midi.c` and `x_midi.c` do it.
//!
//! What comes in goes to names (`#notein`, …) as lists, which the boxes receive; so a patch can send them itself, as in Pd.

use super::symbol::{Symbol, words};
use super::value::Value;

/// A message of MIDI that a patch has sent: its port from 0, its bytes and their number.
pub(crate) type MidiMessage = (u8, [u8; 3], usize);

/// Messages that wait to be taken.
const ROOM: usize = 1024;

/// Messages that a patch has sent.
#[derive(Debug)]
pub(crate) struct MidiOutput {
    /// With the patch of each.
    messages: Vec<(u16, MidiMessage)>,
    /// The patch whose object is called.
    pub(super) patch: u16,
    lost: u64,
}

impl Default for MidiOutput {
    fn default() -> Self {
        Self {
            messages: Vec::with_capacity(ROOM),
            patch: 0,
            lost: 0,
        }
    }
}

impl MidiOutput {
    /// Adds a message; one that finds no room is counted.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, message: MidiMessage) {
        match self.messages.len() < self.messages.capacity() {
            true => self.messages.push((self.patch, message)),
            false => self.lost += 1,
        }
    }

    /// Returns true if there is no message, and none was lost.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.lost == 0
    }

    /// Gives every message to `take`, and returns the number of those that found no room.
    ///
    /// Real-time: as `take`.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(u16, u8, &[u8])) -> u64 {
        if !self.messages.is_empty() {
            for (patch, (port, bytes, count)) in self.messages.drain(..) {
                take(patch, port, &bytes[..count]);
            }
        }
        std::mem::take(&mut self.lost)
    }
}

/// Bytes of MIDI on their way to messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MidiParser {
    status: u8,
    first: Option<u8>,
}

/// A list for a name.
pub(super) type Named = (Symbol, [Value; 3], usize);

/// The list of a byte and the number of its port, which Pd counts from 0 here.
fn of_byte(name: Symbol, byte: u8, port: u8) -> Named {
    let values = [byte, port, 0].map(|number| Value::Float(f32::from(number)));
    (name, values, 2)
}

impl crate::state::Held for MidiParser {
    crate::state::held!(status, first);
}

impl MidiParser {
    /// Takes a byte that came at `port`; gives what it means to `send`.
    ///
    /// Real-time: as `send`.
    pub(super) fn byte(&mut self, port: u8, byte: u8, mut send: impl FnMut(Named)) {
        if byte >= 0xf8 {
            let values = [port, byte, 0].map(|number| Value::Float(f32::from(number)));
            return send((words::MIDIREALTIMEIN, values, 2));
        }
        send(of_byte(words::MIDIIN, byte, port));
        if byte >= 0x80 {
            if byte == 0xf0 || byte == 0xf7 {
                send(of_byte(words::SYSEXIN, byte, port));
            }
            let ends = matches!(byte, 0xf4..=0xf7);
            self.status = if ends { 0 } else { byte };
            self.first = None;
            return;
        }
        if self.status == 0xf0 {
            return send(of_byte(words::SYSEXIN, byte, port));
        }
        let kind = self.status & 0xf0;
        let channel = f32::from(self.status & 0x0f) + 16.0 * f32::from(port) + 1.0;
        let value = f32::from(byte);
        if matches!(kind, 0xc0 | 0xd0) {
            let (name, value) = match kind {
                0xc0 => (words::PGMIN, value + 1.0),
                _ => (words::TOUCHIN, value),
            };
            return send((name, [value, channel, 0.0].map(Value::Float), 2));
        }
        if !matches!(kind, 0x80..=0xb0 | 0xe0) {
            return;
        }
        let Some(first) = self.first.take() else {
            self.first = Some(byte);
            return;
        };
        let first = f32::from(first);
        let (name, values, count) = match kind {
            0x80 => (words::NOTEIN, [first, 0.0, channel], 3),
            0x90 => (words::NOTEIN, [first, value, channel], 3),
            0xa0 => (words::POLYTOUCHIN, [first, value, channel], 3),
            0xb0 => (words::CTLIN, [first, value, channel], 3),
            _ => (words::BENDIN, [value * 128.0 + first, channel, 0.0], 2),
        };
        send((name, values.map(Value::Float), count));
    }
}

/// The name under which a MIDI box receives.
pub(super) fn name_of(class: &str) -> Option<Symbol> {
    Some(match class {
        "notein" => words::NOTEIN,
        "ctlin" => words::CTLIN,
        "pgmin" => words::PGMIN,
        "bendin" => words::BENDIN,
        "touchin" => words::TOUCHIN,
        "polytouchin" => words::POLYTOUCHIN,
        "midiin" => words::MIDIIN,
        "sysexin" => words::SYSEXIN,
        "midirealtimein" => words::MIDIREALTIMEIN,
        _ => return None,
    })
}
