//! `midi_filter`: passes the notes and messages of a channel, of a range of keys, of a range of velocities.
//!
//! A note passes as a whole: what is about a note that was left out is left out too. Messages about no single note
//! pass if their channel does and `messages` says so. Notes that are no MIDI messages have no channel; values and texts
//! always pass.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, events |
//! | parameters | `channel` 1 to 16, 0 is all; `low`, `high`, pitches; `min_velocity`, `max_velocity` 0 to 127; `messages` |
//! | latency, tail | none |

use super::key_table::{KeyAction, KeyTable, ended_channel, key_action};
use graph::{Kind, Param, PortSpec};
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, state,
};
use units::Pitch;

/// Notes without a key of which it is remembered that they were left out.
const MAX_LEFT_OUT: usize = 64;

pub(crate) fn kind() -> Kind {
    let velocity = |name, default| Param::number(name, (0.0, 127.0), default);
    Kind {
        inputs: vec![PortSpec::events("in")],
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::number("channel", (0.0, 16.0), 0.0)
                .doc("The only MIDI channel that passes, counted from 1; 0 is all."),
            Param::text("low").doc("The lowest pitch that passes: \"C3\" or \"48\"."),
            Param::text("high").doc("The highest pitch that passes."),
            velocity("min_velocity", 0.0).doc("The lowest velocity that passes, as in MIDI."),
            velocity("max_velocity", 127.0).doc("The highest velocity that passes, as in MIDI."),
            Param::choice("messages", &["all", "notes", "controllers"])
                .doc("What passes at all; controllers are all messages about no single note."),
        ],
        typical_ns: 30,
        ..Kind::new(
            "midi_filter",
            "Passes the notes of a channel, of a range of pitches or of velocities.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let pitches = (
        pitch(creation, "low", 0.0)?,
        pitch(creation, "high", 127.0)?,
    );
    let velocities = (
        creation.number("min_velocity")? as f32 / 127.0,
        creation.number("max_velocity")? as f32 / 127.0,
    );
    if pitches.0 > pitches.1 {
        return Err(MakeError::param("low", "`low` is above `high`"));
    }
    if velocities.0 > velocities.1 {
        let message = "`min_velocity` is above `max_velocity`";
        return Err(MakeError::param("min_velocity", message));
    }
    let messages = creation.choice("messages")?;
    Ok(Box::new(MidiFilter {
        channel: (creation.number("channel")? as usize).checked_sub(1),
        pitches,
        velocities,
        passes_notes: messages != 2,
        passes_others: messages != 1,
        passed: KeyTable::new(),
        left_out: LeftOut::default(),
    }))
}

fn pitch(creation: &MakeContext<'_>, key: &'static str, default: f32) -> Result<f32, MakeError> {
    match creation.node.text(key) {
        Some(text) => match text.parse::<Pitch>() {
            Ok(pitch) => Ok(pitch.key()),
            Err(error) => Err(MakeError::param(key, format!("`{key}`: {error}"))),
        },
        None => Ok(creation.node.number(key).map_or(default, |key| key as f32)),
    }
}

struct MidiFilter {
    channel: Option<usize>,
    pitches: (f32, f32),
    velocities: (f32, f32),
    passes_notes: bool,
    passes_others: bool,
    /// 1 for each key that sounds and has passed.
    passed: KeyTable,
    left_out: LeftOut,
}

/// The latest notes that were left out, by their ids.
#[derive(Clone, Copy, Debug)]
struct LeftOut {
    ids: [Option<u32>; MAX_LEFT_OUT],
    next: usize,
}

impl Default for LeftOut {
    fn default() -> Self {
        Self {
            ids: [None; MAX_LEFT_OUT],
            next: 0,
        }
    }
}

impl LeftOut {
    fn insert(&mut self, id: u32) {
        if !self.ids.contains(&Some(id)) {
            self.ids[self.next] = Some(id);
            self.next = (self.next + 1) % MAX_LEFT_OUT;
        }
    }

    /// Returns true if `id` was left out. Forgets it if it has ended.
    fn has(&mut self, id: u32, has_ended: bool) -> bool {
        let Some(found) = self.ids.iter_mut().find(|other| **other == Some(id)) else {
            return false;
        };
        if has_ended {
            *found = None;
        }
        true
    }
}

impl MidiFilter {
    fn has_range(&self, pitch: f32, velocity: f32) -> bool {
        let (low, high) = self.pitches;
        let (min, max) = self.velocities;
        (low..=high).contains(&pitch) && (min..=max).contains(&velocity)
    }

    fn passes(&mut self, body: EventBody) -> bool {
        match body {
            EventBody::Midi(message) => self.passes_message(message),
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } => {
                let passes = self.passes_notes && self.has_range(pitch, velocity);
                match passes {
                    true => {
                        self.left_out.has(id, true);
                    }
                    false => self.left_out.insert(id),
                }
                passes
            }
            EventBody::NoteOff { id, .. } | EventBody::NoteChoke { id } => {
                !self.left_out.has(id, true)
            }
            EventBody::NotePressure { id, .. }
            | EventBody::NoteBend { id, .. }
            | EventBody::NotePan { id, .. }
            | EventBody::NoteTimbre { id, .. } => !self.left_out.has(id, false),
            _ => true,
        }
    }

    fn passes_message(&mut self, message: [u8; 3]) -> bool {
        let channel = usize::from(message[0] & 0xf);
        let is_ours = self.channel.is_none_or(|only| only == channel);
        if let Some(channel) = ended_channel(message) {
            self.passed.clear_channel(channel);
            return is_ours;
        }
        let Some((channel, key, action)) = key_action(message) else {
            return is_ours && self.passes_others;
        };
        let velocity = f32::from(message[2]) / 127.0;
        let in_range = is_ours && self.passes_notes && self.has_range(key as f32, velocity);
        let passed = self.passed.key(channel, key);
        match action {
            // A key that is struck again, now out of range, still has to be released.
            KeyAction::On => {
                *passed |= u8::from(in_range);
                in_range
            }
            KeyAction::Off => std::mem::take(passed) == 1,
            KeyAction::Pressure => *passed == 1,
        }
    }
}

impl Processor for MidiFilter {
    fn setup(&mut self, _setup: &mut Setup<'_>) {
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for event in block.events().iter() {
            if self.passes(event.body) {
                block.send_event(0, event.frame, event.body);
            }
        }
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {
        self.passed.clear();
        self.left_out = LeftOut::default();
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.passed.save(bytes);
        let ids = self.left_out.ids.iter();
        state::put(bytes, ids.map(|id| id.map_or(0, |id| u64::from(id) + 1)));
        state::put(bytes, [self.left_out.next as u64]);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, KeyTable::STATE_WORDS + MAX_LEFT_OUT + 1)?;
        self.passed.load(words);
        let words = words.from(KeyTable::STATE_WORDS);
        for (index, id) in self.left_out.ids.iter_mut().enumerate() {
            *id = words.at(index).checked_sub(1).map(|id| id as u32);
        }
        self.left_out.next = words.at(MAX_LEFT_OUT) as usize % MAX_LEFT_OUT;
        Ok(())
    }
}
