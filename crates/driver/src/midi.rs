//! MIDI between a driver and its callback, and [`MidiParser`], which makes whole messages of bytes that nobody has checked.

use std::sync::atomic::{AtomicU64, Ordering};

/// A message at a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MidiEvent<'a> {
    /// Index of its port in [`DriverConfig::midi_inputs`](crate::DriverConfig::midi_inputs) or `midi_outputs`.
    pub port: u16,
    /// Frame, counted from the start of a block.
    pub frame: u32,
    /// One whole message with its status byte: of a channel, system exclusive from 0xF0 to 0xF7, or another of the
    /// system.
    pub message: &'a [u8],
}

/// Numbers of MIDI messages that a driver left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MidiLosses {
    /// Messages of other programs that are longer than [`MAX_SYSEX_BYTES`].
    pub too_long: u64,
    /// Messages that found no room: in a ring of ours, in a buffer of the server, or in that of a port.
    pub no_room: u64,
}

/// Counts of what was left out. Relaxed throughout: each is a count by itself.
#[derive(Debug, Default)]
pub(crate) struct MidiLossCounts {
    too_long: AtomicU64,
    no_room: AtomicU64,
}

impl MidiLossCounts {
    /// Counts messages that were too long.
    ///
    /// Real-time: hot.
    pub(crate) fn add_too_long(&self, count: u64) {
        if count > 0 {
            self.too_long.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Counts a message that found no room.
    ///
    /// Real-time: hot.
    pub(crate) fn add_no_room(&self) {
        self.no_room.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts.
    ///
    /// Real-time: hot.
    pub(crate) fn get(&self) -> MidiLosses {
        MidiLosses {
            too_long: self.too_long.load(Ordering::Relaxed),
            no_room: self.no_room.load(Ordering::Relaxed),
        }
    }
}

/// Largest system exclusive message, in bytes. A larger one is left out and counted.
pub const MAX_SYSEX_BYTES: usize = 1024;

/// The bytes of one MIDI stream, as whole messages: with running status, real-time messages anywhere, and system
/// exclusive messages in pieces.
#[derive(Debug)]
pub struct MidiParser {
    /// Status of the message that is being read; 0 if data bytes mean nothing now.
    status: u8,
    data: [u8; 2],
    count: usize,
    sysex: Vec<u8>,
    is_too_long: bool,
    left_out: u64,
}

impl Default for MidiParser {
    fn default() -> Self {
        Self {
            status: 0,
            data: [0; 2],
            count: 0,
            sysex: Vec::with_capacity(MAX_SYSEX_BYTES),
            is_too_long: false,
            left_out: 0,
        }
    }
}

impl MidiParser {
    /// Passes each message that `bytes` complete to `send`.
    ///
    /// Real-time: hot, if `send` is.
    pub fn parse(&mut self, bytes: &[u8], mut send: impl FnMut(&[u8])) {
        for byte in bytes {
            match *byte {
                // Undefined.
                0xf9 | 0xfd => {}
                byte @ 0xf8.. => send(&[byte]),
                0xf7 => self.end_sysex(&mut send),
                byte @ 0x80.. => self.begin(byte, &mut send),
                byte => self.add(byte, &mut send),
            }
        }
    }

    /// As [`parse`](Self::parse), and counts messages that are too long.
    ///
    /// Real-time: hot, if `send` is.
    pub(crate) fn parse_counted(
        &mut self,
        bytes: &[u8],
        losses: &MidiLossCounts,
        send: impl FnMut(&[u8]),
    ) {
        let before = self.left_out;
        self.parse(bytes, send);
        losses.add_too_long(self.left_out - before);
    }

    /// Number of messages that were too long.
    ///
    /// Real-time: hot.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn begin(&mut self, status: u8, send: &mut impl FnMut(&[u8])) {
        // Any status but a real-time message ends a system exclusive message, which then lacks its end.
        self.sysex.clear();
        self.is_too_long = false;
        (self.status, self.count) = (status, 0);
        match status {
            0xf0 => self.sysex.push(status),
            0xf6 => {
                self.status = 0;
                send(&[status]);
            }
            0xf4 | 0xf5 => self.status = 0,
            _ => {}
        }
    }

    fn add(&mut self, byte: u8, send: &mut impl FnMut(&[u8])) {
        if self.status == 0xf0 {
            // One byte stays free for the end.
            match self.sysex.len() < MAX_SYSEX_BYTES - 1 {
                true => self.sysex.push(byte),
                false => self.is_too_long = true,
            }
            return;
        }
        let wanted = match self.status {
            0 => return,
            0xc0..0xe0 | 0xf1 | 0xf3 => 1,
            _ => 2,
        };
        self.data[self.count] = byte;
        self.count += 1;
        if self.count == wanted {
            self.count = 0;
            let message = [self.status, self.data[0], self.data[1]];
            send(&message[..=wanted]);
            if self.status >= 0xf0 {
                self.status = 0;
            }
        }
    }

    fn end_sysex(&mut self, send: &mut impl FnMut(&[u8])) {
        if self.status == 0xf0 {
            self.left_out += u64::from(self.is_too_long);
            if !self.is_too_long {
                self.sysex.push(0xf7);
                send(&self.sysex);
            }
        }
        self.sysex.clear();
        (self.status, self.count, self.is_too_long) = (0, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(parser: &mut MidiParser, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        parser.parse(bytes, |message| all.push(message.to_vec()));
        all
    }

    #[test]
    fn running_status_and_real_time_messages_within_others_are_read() {
        let bytes = [0x90, 60, 0xf8, 100, 61, 90, 0xc1, 5, 6, 0xf2, 1, 2, 3];
        let wanted: [&[u8]; 6] = [
            &[0xf8],
            &[0x90, 60, 100],
            &[0x90, 61, 90],
            &[0xc1, 5],
            &[0xc1, 6],
            &[0xf2, 1, 2],
        ];
        assert_eq!(messages(&mut MidiParser::default(), &bytes), wanted);
    }

    #[test]
    fn a_system_exclusive_message_may_come_in_pieces_and_one_that_is_too_long_is_counted() {
        let mut parser = MidiParser::default();
        assert!(messages(&mut parser, &[0xf0, 1, 2]).is_empty());
        let rest = messages(&mut parser, &[0xfe, 3, 0xf7]);
        assert_eq!(rest, [vec![0xfe], vec![0xf0, 1, 2, 3, 0xf7]]);
        let mut long = vec![5; MAX_SYSEX_BYTES];
        long[0] = 0xf0;
        assert!(messages(&mut parser, &long).is_empty());
        assert!(messages(&mut parser, &[0xf7]).is_empty());
        assert_eq!(parser.left_out(), 1);
        long.truncate(MAX_SYSEX_BYTES - 1);
        long.push(0xf7);
        assert_eq!(messages(&mut parser, &long), [long]);
    }

    #[test]
    fn any_bytes_give_whole_messages_only() {
        let (mut parser, mut seed) = (MidiParser::default(), 1_u32);
        let mut count = 0;
        for _ in 0..400_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [byte, kind, ..] = seed.to_be_bytes();
            let byte = if kind < 200 { byte & 127 } else { byte };
            parser.parse(&[byte], |message| {
                count += 1;
                let (status, data) = message.split_first().unwrap();
                let data = match *status {
                    0xf0 => data.strip_suffix(&[0xf7]).unwrap(),
                    _ => {
                        assert!(data.len() < 3);
                        data
                    }
                };
                assert!(*status >= 0x80 && data.iter().all(|byte| *byte < 0x80));
                assert!(message.len() <= MAX_SYSEX_BYTES);
            });
        }
        assert!(count > 10_000);
    }
}
