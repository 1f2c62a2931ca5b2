//! `voices`: gives each note a voice.
//!
//! A note takes the free voice that has been free for longest; else a released one; else one is stolen. After the end of its
//! note a voice sounds on for `release` seconds. Then it is free, and its output sends the note's choke, by which `note` and
//! `envelope` become silent, so that an idle voice costs nothing. `release` should be no shorter than the envelopes'
//! release times 5/3, in which they fall by 100 dB.
//!
//! With `unison` a note takes several voices, `detune` cents apart from first to last, spread over the width `spread`.
//! Without it the voices themselves are spread, the first on the left.
//!
//! | | |
//! |---|---|
//! | ports | `in`, events: notes, and MIDI messages ([`translate`](crate::translate), with pedal, bend and MPE zones); `voice1`, `voice2`, …: the notes of a voice. All else is left out |
//! | parameters | `out`, number of voices; `steal`; `release`; `unison`, `detune`, `spread`; `mpe`: member channels of an MPE zone from channel 1 |
//! | latency | none |
//! | tail | `release`, endless while a note is held |

use super::table::{StealPolicy, VoiceTable, VoiceUse};
use crate::note_id::NoteIds;
use crate::translate::MidiTranslator;
use graph::{Kind, Param, PortCount, PortSignal, PortSpec};
use processor::state;
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use units::Frames;

const STEAL: &[&str] = &["oldest", "quietest", "never"];
/// Largest number of voices.
const MAX_VOICES: u16 = 1024;

pub(crate) fn kind() -> Kind {
    let voices = PortSpec {
        name: "voice",
        signal: PortSignal::Event,
        count: PortCount::Many {
            default: 8,
            min: 1,
            max: MAX_VOICES,
        },
    };
    Kind {
        inputs: vec![PortSpec::events("in")],
        outputs: vec![voices],
        params: vec![
            Param::choice("steal", STEAL).doc("Voice that a note takes where none is free."),
            Param::number("release", (0.0, 60.0), 2.0)
                .unit("s")
                .doc("Time for which a voice sounds on after its note."),
            Param::number("unison", (1.0, 16.0), 1.0).doc("Voices that each note takes."),
            Param::number("detune", (0.0, 1200.0), 20.0)
                .unit("cents")
                .doc("Distance between the first and the last voice of a note."),
            Param::number("spread", (0.0, 1.0), 0.0).doc(
                "Width over which voices are spread: 0 all in the centre, 1 from left to right.",
            ),
            Param::number("mpe", (0.0, 15.0), 0.0)
                .doc("Member channels of an MPE zone whose master is channel 1; 0: no zone."),
        ],
        typical_ns: 60,
        ..Kind::new("voices", "Gives each note a voice of its own.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let voices = creation.node.outputs.len();
    let ids = NoteIds::of_node(&creation.node.name);
    let mpe = creation.number("mpe")? as u8;
    Ok(Box::new(Voices {
        translator: MidiTranslator::new(ids, mpe),
        release_s: creation.number("release")?,
        allocator: Allocator {
            table: VoiceTable::new(voices),
            policy: match creation.choice("steal")? {
                0 => StealPolicy::Oldest,
                1 => StealPolicy::Quietest,
                _ => StealPolicy::Never,
            },
            release: 0,
            unison: (creation.number("unison")? as usize).min(voices),
            detune: creation.number("detune")? as f32 / 100.0,
            spread: creation.number("spread")? as f32,
        },
    }))
}

struct Voices {
    translator: MidiTranslator,
    release_s: f64,
    allocator: Allocator,
}

/// Sends notes to voices.
struct Allocator {
    table: VoiceTable,
    policy: StealPolicy,
    /// In frames.
    release: u64,
    unison: usize,
    /// In semitones.
    detune: f32,
    spread: f32,
}

/// Place of the `k`-th of `n` from -1 to 1; the centre if there is one.
fn place(k: usize, n: usize) -> f32 {
    match n {
        0 | 1 => 0.0,
        n => 2.0 * k as f32 / (n - 1) as f32 - 1.0,
    }
}

impl Allocator {
    fn handle(&mut self, block: &mut Block<'_>, frame: u32, body: EventBody) {
        let end = block.position() + u64::from(frame) + self.release;
        match body {
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } if !velocity.is_nan() => {
                self.begin(block, frame, (id, pitch, velocity.clamp(0.0, 1.0)))
            }
            EventBody::NoteOff { id, .. } => self.table.for_each_held(id, |voice, state| {
                *state = VoiceUse::Released(end);
                block.send_event(voice, frame, body);
            }),
            EventBody::NoteChoke { id } => self.table.for_each_held(id, |voice, state| {
                *state = VoiceUse::Free;
                block.send_event(voice, frame, body);
            }),
            EventBody::NotePressure { id, .. }
            | EventBody::NoteBend { id, .. }
            | EventBody::NoteTimbre { id, .. }
            | EventBody::NotePan { id, .. } => self.table.for_each_held(id, |voice, _| {
                block.send_event(voice, frame, body);
            }),
            _ => {}
        }
    }

    fn begin(&mut self, block: &mut Block<'_>, frame: u32, (id, pitch, velocity): (u32, f32, f32)) {
        let voices = self.table.voices().len();
        for k in 0..self.unison {
            let Some((voice, before)) = self.table.take((id, velocity), self.policy) else {
                return;
            };
            if before.state == VoiceUse::Held {
                let id = before.id;
                block.send_event(voice, frame, EventBody::NoteOff { id, velocity: 0.5 });
            }
            let pitch = pitch + self.detune / 2.0 * place(k, self.unison);
            let on = EventBody::NoteOn {
                id,
                pitch,
                velocity,
            };
            block.send_event(voice, frame, on);
            let value = match self.unison {
                1 => self.spread * place(voice, voices),
                unison => self.spread * place(k, unison),
            };
            if value != 0.0 {
                block.send_event(voice, frame, EventBody::NotePan { id, value });
            }
        }
    }

    /// Frees the voices that end before frame `to` of the block.
    fn free_ended(&mut self, block: &mut Block<'_>, to: usize) {
        let from = block.position();
        self.table.free_ended(from + to as u64, |voice, id, end| {
            let frame = end.saturating_sub(from) as u32;
            block.send_event(voice, frame, EventBody::NoteChoke { id });
        });
    }
}

impl Processor for Voices {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let release = Frames::from_seconds_ceil(self.release_s, setup.rate);
        self.allocator.release = u64::from(release.0);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for event in block.events().iter() {
            let frame = event.frame;
            self.allocator.free_ended(block, frame as usize + 1);
            match event.body {
                EventBody::Midi(message) => {
                    let allocator = &mut self.allocator;
                    self.translator
                        .translate(message, |body| allocator.handle(block, frame, body));
                }
                body => self.allocator.handle(block, frame, body),
            }
        }
        self.allocator.free_ended(block, block.frames());
        match self.allocator.table.has_released() {
            true => ProcessStatus::Continue,
            false => ProcessStatus::Sleep,
        }
    }

    fn reset(&mut self) {
        self.translator.reset();
        self.allocator.table.reset();
    }

    fn tail(&self) -> Tail {
        let is_held = |voice: &super::table::VoiceEntry| voice.state == VoiceUse::Held;
        match self.allocator.table.voices().iter().any(is_held) {
            true => Tail::Infinite,
            false => Tail::Frames(self.allocator.release + 1),
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.translator.save(bytes);
        self.allocator.table.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let table = &mut self.allocator.table;
        let count = MidiTranslator::STATE_WORDS + table.state_words();
        let words = state::words(bytes, count)?;
        table.load(words.from(MidiTranslator::STATE_WORDS))?;
        self.translator.load(words)
    }
}
