//! `transpose`: moves notes up or down.
//!
//! A note keeps the key at which it began until it ends, also when `semitones` changes meanwhile. A MIDI key moves by whole
//! semitones, the nearest; one that leaves the range of MIDI is left out. Everything else passes as it is.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, events |
//! | parameters | `semitones`, -127 to 127, live |
//! | latency, tail | none |

use super::key_table::{KeyAction, KeyTable, ended_channel, key_action};
use graph::{Kind, Param, PortSpec};
use processor::{
    Block, EventBody, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, state,
};

const RANGE: (f64, f64) = (-127.0, 127.0);
/// Marks a key that sounds, and one that was left out.
const SOUNDS: u8 = 0x80;
const LEFT_OUT: u8 = 0x7f;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("in")],
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::number("semitones", RANGE, 0.0)
                .doc("Distance by which notes move up.")
                .live(),
        ],
        typical_ns: 30,
        ..Kind::new("transpose", "Moves notes up or down.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let semitones = creation.number("semitones")?;
    Ok(Box::new(Transpose {
        initial: semitones,
        semitones,
        keys: KeyTable::new(),
    }))
}

struct Transpose {
    initial: f64,
    semitones: f64,
    /// For each sounding key the one that it moved to, with [`SOUNDS`]; [`LEFT_OUT`]; or 0.
    keys: KeyTable,
}

impl Transpose {
    fn message(&mut self, message: [u8; 3], mut send: impl FnMut([u8; 3])) {
        if let Some(channel) = ended_channel(message) {
            self.keys.clear_channel(channel);
        }
        let Some((channel, key, action)) = key_action(message) else {
            return send(message);
        };
        let moved = key as i64 + self.semitones.round() as i64;
        let moved = u8::try_from(moved).ok().filter(|key| *key < 128);
        let held = self.keys.key(channel, key);
        let old = match *held {
            0 => moved,
            LEFT_OUT => None,
            key => Some(key & 127),
        };
        let [status, _, value] = message;
        match action {
            KeyAction::On => {
                // Struck again at another pitch: the first note would never end.
                if let Some(old) = old.filter(|old| *held != 0 && Some(*old) != moved) {
                    send([0x80 | channel as u8, old, 64]);
                }
                *held = moved.map_or(LEFT_OUT, |key| SOUNDS | key);
                if let Some(key) = moved {
                    send([status, key, value]);
                }
            }
            KeyAction::Off => {
                *held = 0;
                if let Some(key) = old {
                    send([status, key, value]);
                }
            }
            KeyAction::Pressure => {
                if let Some(key) = old {
                    send([status, key, value]);
                }
            }
        }
    }
}

impl Processor for Transpose {
    fn setup(&mut self, _setup: &mut Setup<'_>) {
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for event in block.events().iter() {
            match (event.target, event.body) {
                (EventTarget::Param(0), EventBody::Value(value) | EventBody::Glide(value))
                    if !value.is_nan() =>
                {
                    self.semitones = f64::from(value).clamp(RANGE.0, RANGE.1);
                }
                (EventTarget::Param(_), _) => {}
                (_, EventBody::Midi(message)) => self.message(message, |message| {
                    block.send_event(0, event.frame, EventBody::Midi(message));
                }),
                (
                    _,
                    EventBody::NoteOn {
                        id,
                        pitch,
                        velocity,
                    },
                ) => {
                    let pitch = pitch + self.semitones as f32;
                    let body = EventBody::NoteOn {
                        id,
                        pitch,
                        velocity,
                    };
                    block.send_event(0, event.frame, body);
                }
                (_, body) => block.send_event(0, event.frame, body),
            }
        }
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {
        self.semitones = self.initial;
        self.keys.clear();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.initial.to_bits(), self.semitones.to_bits()]);
        self.keys.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2 + KeyTable::STATE_WORDS)?;
        let [initial, semitones] = words.numbers(0)?;
        self.keys.load(words.from(2));
        if initial == self.initial {
            self.semitones = semitones.clamp(RANGE.0, RANGE.1);
        }
        Ok(())
    }
}
