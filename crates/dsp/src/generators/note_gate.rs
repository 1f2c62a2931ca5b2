//! [`NoteGate`]: the gate of an envelope, which a signal, a value or a note holds open.
//!
//! The gate is open while the audio input is above 0.5, or while an event holds it open: a value above 0.5 until one that is
//! not, or a note (a MIDI message too) until its end. A second note opens it again. A note that is choked shuts it at once.

use processor::EventBody;

/// Event that holds the gate open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Held {
    #[default]
    Nothing,
    Value,
    /// A key of a MIDI message.
    Key(u8),
    /// The note with this id.
    Note(u32),
}

/// Change of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GateChange {
    Opens,
    Shuts,
}

/// A gate, shut at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoteGate {
    held: Held,
    /// Level of the note that opened it, from 0 to 1.
    pub(crate) peak: f32,
    /// True if it was open in the last frame.
    pub(crate) is_open: bool,
}

impl Default for NoteGate {
    fn default() -> Self {
        Self {
            held: Held::Nothing,
            peak: 1.0,
            is_open: false,
        }
    }
}

impl NoteGate {
    /// Words of a saved gate.
    pub(crate) const STATE_WORDS: usize = 3;

    /// Returns true if an event holds it open.
    ///
    /// Real-time: hot.
    pub(crate) fn is_held(&self) -> bool {
        self.held != Held::Nothing
    }

    /// Takes the next frame of the audio input.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn next(&mut self, gate: f32) -> Option<GateChange> {
        let is_open = gate > 0.5 || self.is_held();
        if is_open == self.is_open {
            return None;
        }
        self.is_open = is_open;
        Some(match is_open {
            true => GateChange::Opens,
            false => GateChange::Shuts,
        })
    }

    /// Opens or shuts it as a value or a note says. `amount` is the share of the velocity in the level. Returns true if the
    /// note that held it is choked.
    ///
    /// Real-time: hot.
    pub(crate) fn handle(&mut self, body: EventBody, amount: f32) -> bool {
        match body {
            EventBody::Value(value) if value > 0.5 => self.open(Held::Value, 1.0),
            EventBody::Value(_) => self.held = Held::Nothing,
            EventBody::Midi([status, key, velocity]) => match status & 0xf0 {
                0x90 if velocity > 0 => {
                    let velocity = f32::from(velocity.min(127)) / 127.0;
                    self.open(Held::Key(key), 1.0 - amount * (1.0 - velocity));
                }
                0x80 | 0x90 => self.shut(Held::Key(key)),
                _ => {}
            },
            EventBody::NoteOn { id, velocity, .. } => {
                let velocity = if velocity.is_nan() {
                    0.0
                } else {
                    velocity.clamp(0.0, 1.0)
                };
                self.open(Held::Note(id), 1.0 - amount * (1.0 - velocity));
            }
            EventBody::NoteOff { id, .. } => self.shut(Held::Note(id)),
            EventBody::NoteChoke { id }
                if self.held == Held::Note(id) || self.held == Held::Nothing =>
            {
                self.held = Held::Nothing;
                return true;
            }
            _ => {}
        }
        false
    }

    fn open(&mut self, held: Held, peak: f32) {
        (self.held, self.peak) = (held, peak);
        // It opens again, even if it is open.
        self.is_open = false;
    }

    fn shut(&mut self, held: Held) {
        if self.held == held {
            self.held = Held::Nothing;
        }
    }

    /// What holds it, its level, and whether it is open, as words.
    pub(crate) fn state_words(&self) -> [u64; Self::STATE_WORDS] {
        let held = match self.held {
            Held::Nothing => 0,
            Held::Value => 1,
            Held::Key(key) => 2 | u64::from(key) << 32,
            Held::Note(id) => 3 | u64::from(id) << 32,
        };
        [
            held,
            u64::from(self.peak.to_bits()),
            u64::from(self.is_open),
        ]
    }

    /// The gate of saved words; `None` if its level is not from 0 to 1.
    pub(crate) fn from_words([held, peak, is_open]: [u64; Self::STATE_WORDS]) -> Option<Self> {
        let peak = f32::from_bits(peak as u32);
        (0.0..=1.0).contains(&peak).then_some(Self {
            held: match (held as u32, (held >> 32) as u32) {
                (1, _) => Held::Value,
                (2, key) => Held::Key(key as u8),
                (3, id) => Held::Note(id),
                _ => Held::Nothing,
            },
            peak,
            is_open: is_open != 0,
        })
    }
}
