//! [`KeyTable`]: a number for each key of each MIDI channel, for kinds that must remember what they did with a note.

use processor::state::{self, StateWords};

/// Keys of 16 channels.
const KEYS: usize = 16 * 128;

/// A byte for each key, 0 at first.
#[derive(Clone, Debug)]
pub(super) struct KeyTable(Box<[u8; KEYS]>);

/// Change of a key by a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAction {
    On,
    Off,
    Pressure,
}

/// The key that a message is about: its channel, from 0, its number, and what happens to it. `None` for other messages.
///
/// Real-time: hot.
pub(super) fn key_action([status, key, value]: [u8; 3]) -> Option<(usize, usize, KeyAction)> {
    let action = match status & 0xf0 {
        0x90 if value > 0 => KeyAction::On,
        0x80 | 0x90 => KeyAction::Off,
        0xa0 => KeyAction::Pressure,
        _ => return None,
    };
    Some((usize::from(status & 0xf), usize::from(key & 127), action))
}

/// The channel whose notes all end with this message: all sound off, or all notes off.
///
/// Real-time: hot.
pub(super) fn ended_channel([status, controller, _]: [u8; 3]) -> Option<usize> {
    let ends = status & 0xf0 == 0xb0 && matches!(controller, 120 | 123..=127);
    ends.then_some(usize::from(status & 0xf))
}

impl KeyTable {
    /// Number of words of a saved state.
    pub(super) const STATE_WORDS: usize = KEYS / 8;

    pub(super) fn new() -> Self {
        Self(Box::new([0; KEYS]))
    }

    /// The number of a key.
    ///
    /// Real-time: hot.
    pub(super) fn key(&mut self, channel: usize, key: usize) -> &mut u8 {
        &mut self.0[channel << 7 | key]
    }

    /// Sets all keys of a channel to 0.
    ///
    /// Real-time: hot.
    pub(super) fn clear_channel(&mut self, channel: usize) {
        self.0[channel << 7..(channel + 1) << 7].fill(0);
    }

    /// Sets every key to 0.
    ///
    /// Real-time: hot.
    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Appends the state.
    pub(super) fn save(&self, bytes: &mut Vec<u8>) {
        let words = self.0.as_chunks().0.iter();
        state::put(bytes, words.map(|eight| u64::from_le_bytes(*eight)));
    }

    /// Continues from a saved state.
    ///
    /// Real-time: hot.
    pub(super) fn load(&mut self, words: StateWords<'_>) {
        for (index, eight) in self.0.as_chunks_mut().0.iter_mut().enumerate() {
            *eight = words.at(index).to_le_bytes();
        }
    }
}
