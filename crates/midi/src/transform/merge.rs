//! `merge`: several streams of events as one, so that none ends a note of another.
//!
//! A MIDI key that several inputs hold is released when the last of them releases it. A note whose id sounds already from
//! another input gets another id until it ends. Events of one frame come in the order of the inputs.
//!
//! | | |
//! |---|---|
//! | ports | `in` inputs, 1 to 64, and `out`; events |
//! | parameters | `in` |
//! | latency, tail | none |

use super::key_table::{KeyAction, KeyTable, ended_channel, key_action};
use graph::{Kind, PortCount, PortSignal, PortSpec};
use processor::{
    Block, EventBody, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, state,
};

/// Notes that can sound at once; beyond, the oldest is ended.
const MAX_NOTES: usize = 256;
/// Step from one id to the next that is tried: odd, so that all are reached.
const ID_STEP: u32 = 0x9e37_79b9;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec {
            name: "in",
            signal: PortSignal::Event,
            count: PortCount::Many {
                default: 2,
                min: 1,
                max: 64,
            },
        }],
        outputs: vec![PortSpec::events("out")],
        typical_ns: 40,
        ..Kind::new("merge", "Several streams of events as one.")
    }
}

pub(crate) fn make(_creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Merge {
        keys: KeyTable::new(),
        notes: Vec::with_capacity(MAX_NOTES),
    }))
}

struct Merge {
    /// Number of inputs that hold each key.
    keys: KeyTable,
    /// The notes that sound, the oldest first.
    notes: Vec<MergedNote>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct MergedNote {
    input: u16,
    id: u32,
    /// Its id at the output.
    out: u32,
}

impl Merge {
    /// Returns true if the message passes.
    fn passes(&mut self, message: [u8; 3]) -> bool {
        if let Some(channel) = ended_channel(message) {
            self.keys.clear_channel(channel);
        }
        let Some((channel, key, action)) = key_action(message) else {
            return true;
        };
        let held = self.keys.key(channel, key);
        match action {
            KeyAction::On => *held = held.saturating_add(1),
            KeyAction::Off => *held = held.saturating_sub(1),
            KeyAction::Pressure => {}
        }
        action != KeyAction::Off || *held == 0
    }

    /// The id of a note that begins; also that of a note that has to end for it.
    fn begin(&mut self, input: u16, id: u32) -> (u32, Option<u32>) {
        if let Some(note) = self.find(input, id) {
            return (self.notes[note].out, None);
        }
        let ended = match self.notes.len() {
            MAX_NOTES => Some(self.notes.remove(0).out),
            _ => None,
        };
        let mut out = id;
        // Ends: each note takes one id.
        while self.notes.iter().any(|note| note.out == out) {
            out = out.wrapping_add(ID_STEP);
        }
        self.notes.push(MergedNote { input, id, out });
        (out, ended)
    }

    fn find(&self, input: u16, id: u32) -> Option<usize> {
        self.notes
            .iter()
            .position(|note| (note.input, note.id) == (input, id))
    }

    /// The id at the output of a note that sounds. A note that is not known keeps its own, if no other has it.
    fn id(&mut self, input: u16, id: u32, has_ended: bool) -> Option<u32> {
        match self.find(input, id) {
            Some(note) if has_ended => Some(self.notes.remove(note).out),
            Some(note) => Some(self.notes[note].out),
            None => (!self.notes.iter().any(|note| note.out == id)).then_some(id),
        }
    }

    /// The event with the note's id at the output.
    fn renamed(&mut self, input: u16, body: EventBody) -> Option<EventBody> {
        let mut body = body;
        match &mut body {
            EventBody::NoteOff { id, .. } | EventBody::NoteChoke { id } => {
                *id = self.id(input, *id, true)?;
            }
            EventBody::NotePressure { id, .. }
            | EventBody::NoteBend { id, .. }
            | EventBody::NotePan { id, .. }
            | EventBody::NoteTimbre { id, .. } => *id = self.id(input, *id, false)?,
            _ => {}
        }
        Some(body)
    }
}

impl Processor for Merge {
    fn setup(&mut self, _setup: &mut Setup<'_>) {
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for event in block.events().iter() {
            let EventTarget::Input(input) = event.target else {
                continue;
            };
            let body = match event.body {
                EventBody::Midi(message) => self.passes(message).then_some(event.body),
                EventBody::NoteOn {
                    id,
                    pitch,
                    velocity,
                } => {
                    let (id, ended) = self.begin(input, id);
                    if let Some(id) = ended {
                        let velocity = 0.5;
                        let end = EventBody::NoteOff { id, velocity };
                        block.send_event(0, event.frame, end);
                    }
                    Some(EventBody::NoteOn {
                        id,
                        pitch,
                        velocity,
                    })
                }
                body => self.renamed(input, body),
            };
            if let Some(body) = body {
                block.send_event(0, event.frame, body);
            }
        }
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {
        self.keys.clear();
        self.notes.clear();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.keys.save(bytes);
        state::put(bytes, [self.notes.len() as u64]);
        for index in 0..MAX_NOTES {
            let words = self.notes.get(index).map_or([0; 2], |note| {
                [
                    u64::from(note.input),
                    u64::from(note.id) << 32 | u64::from(note.out),
                ]
            });
            state::put(bytes, words);
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, KeyTable::STATE_WORDS + 1 + 2 * MAX_NOTES)?;
        self.keys.load(words);
        let words = words.from(KeyTable::STATE_WORDS);
        self.notes.clear();
        for index in 0..words.at(0).min(MAX_NOTES as u64) as usize {
            let ids = words.at(2 + 2 * index);
            let note = MergedNote {
                input: words.at(1 + 2 * index) as u16,
                id: (ids >> 32) as u32,
                out: ids as u32,
            };
            // As of an output of its own.
            if !self.notes.iter().any(|other| other.out == note.out) {
                self.notes.push(note);
            }
        }
        Ok(())
    }
}
