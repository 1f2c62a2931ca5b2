//! `arpeggiator`: plays the notes that are held one after the other, in time with the session.
//!
//! Steps are on the beats of the session: `rate` of them a beat. Each plays one of the held notes; in which order says `order`.
//! `octaves` repeats the order that many times, an octave higher each time. A note sounds for the part `gate` of its step.
//! A key that is pressed at the frame of a step plays in it. What comes in as MIDI leaves as MIDI on its channel,
//! and a note leaves as a note; messages and events about no single note pass. Key pressure, and events about a held
//! note, are left out.
//!
//! It follows the transport: while that is stopped no step begins, and where it stops or jumps the note that sounds ends.
//!
//! `random` depends on `seed` and on the number of the step alone, so a session sounds the same every time.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, events |
//! | parameters | `rate` 0.25 to 32 steps a beat; `gate` 0.01 to 1, live; `order`; `octaves` 1 to 4; `seed` |
//! | latency, tail | none |

use super::key_table::{KeyAction, ended_channel, key_action};
use crate::note_id::NoteIds;
use graph::{Kind, Param, PortSpec, TempoMap};
use processor::{
    Block, EventBody, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, Transport, TransportSegment, state,
};
use std::sync::Arc;
use units::{SampleRate, SplitMix64};

/// Notes that can be held; more are left out.
const MAX_HELD: usize = 64;
const GATE: (f64, f64) = (0.01, 1.0);
const ORDERS: [&str; 5] = ["up", "down", "updown", "played", "random"];

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("in")],
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::number("gate", GATE, 0.5)
                .doc("Length of a note, as a part of its step.")
                .live(),
            Param::number("rate", (0.25, 32.0), 4.0).doc("Steps a beat."),
            Param::choice("order", &ORDERS).doc("Order of the held notes."),
            Param::number("octaves", (1.0, 4.0), 1.0).doc("Octaves through which the order goes."),
            Param::number("seed", (0.0, 4_294_967_295.0), 0.0).doc("Begin of the random order."),
        ],
        duplicable: false,
        typical_ns: 60,
        ..Kind::new("arpeggiator", "Plays held notes one after the other.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let gate = creation.number("gate")?;
    Ok(Box::new(Arpeggiator {
        ids: NoteIds::of_node(&creation.node.name),
        tempo: creation.tempo.clone(),
        steps_a_beat: creation.number("rate")?,
        order: creation.choice("order")?,
        octaves: creation.number("octaves")? as u64,
        seed: creation.number("seed")? as u64,
        initial_gate: gate,
        gate,
        rate: None,
        held: Vec::with_capacity(MAX_HELD),
        played: 0,
        sounding: None,
        transport: Arc::default(),
    }))
}

/// A held note.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeldNote {
    source: NoteSource,
    pitch: f32,
    velocity: f32,
}

/// Origin of a held note, and the end of its hold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NoteSource {
    /// A key of a MIDI channel.
    Key(u8, u8),
    /// A note with this id.
    Id(u32),
}

struct Arpeggiator {
    ids: NoteIds,
    tempo: TempoMap,
    steps_a_beat: f64,
    order: usize,
    octaves: u64,
    seed: u64,
    initial_gate: f64,
    gate: f64,
    rate: Option<SampleRate>,
    /// In the order in which they were pressed.
    held: Vec<HeldNote>,
    /// Steps that were played since the first note was pressed.
    played: u64,
    /// The event that ends the note that sounds, and its frame of the piece.
    sounding: Option<(u64, EventBody)>,
    transport: Arc<Transport>,
}

impl Arpeggiator {
    /// First frame of a step.
    fn step_frame(&self, step: u64, rate: SampleRate) -> u64 {
        self.tempo.frame(step as f64 / self.steps_a_beat, rate)
    }

    /// The first step that does not begin before `frame`.
    fn step_from(&self, frame: u64, rate: SampleRate) -> u64 {
        let steps = self.tempo.beat_at(frame, rate) * self.steps_a_beat;
        let mut step = (steps as u64).saturating_sub(1);
        // A step begins at the nearest frame, so a few around it are looked at.
        for _ in 0..3 {
            if self.step_frame(step, rate) >= frame {
                break;
            }
            step += 1;
        }
        step
    }

    fn press(&mut self, note: HeldNote) {
        self.release(note.source);
        if self.held.is_empty() {
            self.played = 0;
        }
        if self.held.len() < MAX_HELD {
            self.held.push(note);
        }
    }

    fn release(&mut self, source: NoteSource) {
        self.held.retain(|note| note.source != source);
    }

    /// Takes an event in. Returns it if it passes.
    fn receive(&mut self, body: EventBody) -> Option<EventBody> {
        match body {
            EventBody::Midi(message) => {
                if let Some(ended) = ended_channel(message) {
                    let is_ended = |source| matches!(source, NoteSource::Key(channel, _) if usize::from(channel) == ended);
                    self.held.retain(|note| !is_ended(note.source));
                }
                let Some((channel, key, action)) = key_action(message) else {
                    return Some(body);
                };
                let source = NoteSource::Key(channel as u8, key as u8);
                match action {
                    KeyAction::On => self.press(HeldNote {
                        source,
                        pitch: key as f32,
                        velocity: f32::from(message[2]) / 127.0,
                    }),
                    KeyAction::Off => self.release(source),
                    KeyAction::Pressure => {}
                }
                None
            }
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } => {
                let source = NoteSource::Id(id);
                self.press(HeldNote {
                    source,
                    pitch,
                    velocity,
                });
                None
            }
            EventBody::NoteOff { id, .. } | EventBody::NoteChoke { id } => {
                self.release(NoteSource::Id(id));
                None
            }
            EventBody::Value(_) | EventBody::Glide(_) | EventBody::Text(_) => Some(body),
            _ => None,
        }
    }

    /// The note of a step. At least one is held.
    fn note_of(&self, step: u64) -> (HeldNote, u64) {
        let count = self.held.len() as u64;
        let all = count * self.octaves;
        let place = match ORDERS[self.order] {
            "down" => all - 1 - self.played % all,
            "updown" if all > 1 => {
                let place = self.played % (2 * all - 2);
                place.min(2 * all - 2 - place)
            }
            "random" => SplitMix64(self.seed ^ step.wrapping_mul(SplitMix64::STEP)).bits() % all,
            _ => self.played % all,
        };
        let (rank, octave) = ((place % count) as usize, place / count);
        let note = match ORDERS[self.order] {
            "played" => self.held[rank],
            _ => self.held[self.place_of_rank(rank)],
        };
        (note, octave)
    }

    /// Place in `held` of the note that has so many below it.
    fn place_of_rank(&self, rank: usize) -> usize {
        let below = |place: usize| {
            let pitch = self.held[place].pitch;
            let others = self.held.iter().enumerate();
            let is_below = |&(other, note): &(usize, &HeldNote)| {
                note.pitch < pitch || (note.pitch == pitch && other < place)
            };
            others.filter(is_below).count()
        };
        let place = (0..self.held.len()).find(|place| below(*place) == rank);
        place.unwrap_or(0)
    }

    /// The event that begins the note of a step, if one is held.
    fn begin_step(&mut self, step: u64, rate: SampleRate) -> Option<EventBody> {
        if self.held.is_empty() {
            return None;
        }
        let (note, octave) = self.note_of(step);
        self.played += 1;
        let pitch = note.pitch + 12.0 * octave as f32;
        let velocity = note.velocity;
        let (on, off) = match note.source {
            NoteSource::Key(channel, _) => {
                let key = pitch as u8;
                // Above the keys of MIDI there is nothing to play.
                if key > 127 {
                    return None;
                }
                let strength = (velocity * 127.0).round() as u8;
                (
                    EventBody::Midi([0x90 | channel, key, strength]),
                    EventBody::Midi([0x80 | channel, key, 64]),
                )
            }
            NoteSource::Id(_) => {
                let id = self.ids.id(step as u32);
                (
                    EventBody::NoteOn {
                        id,
                        pitch,
                        velocity,
                    },
                    EventBody::NoteOff { id, velocity: 0.5 },
                )
            }
        };
        let begin = self.step_frame(step, rate);
        let length = (self.step_frame(step + 1, rate) - begin) as f64 * self.gate;
        self.sounding = Some((begin + (length as u64).max(1), off));
        Some(on)
    }

    /// Sends what happens in the frames `from..to` of the engine.
    fn play(&mut self, block: &mut Block<'_>, (from, to): (u64, u64), rate: SampleRate) {
        let transport = self.transport.clone();
        for segment in transport.segments(from, to) {
            let frame = (segment.frames.start - block.position()) as u32;
            if segment.cut_at.is_some()
                && let Some((_, off)) = self.sounding.take()
            {
                block.send_event(0, frame, off);
            }
            if segment.state.is_rolling {
                self.play_segment(block, &segment, rate);
            }
        }
    }

    /// Sends what happens in a segment in which the transport rolls.
    fn play_segment(
        &mut self,
        block: &mut Block<'_>,
        segment: &TransportSegment,
        rate: SampleRate,
    ) {
        let base = block.position();
        let positions = segment.positions();
        let from = positions.start.ceil() as u64;
        let is_due = |at: u64| (at as f64) < positions.end;
        let frame = |at: u64| (segment.frame_of(at as f64) - base) as u32;
        let mut step = self.step_from(from, rate);
        loop {
            let begin = self.step_frame(step, rate);
            // A note ends before the next one begins.
            let end = self.sounding.map(|(at, _)| at.clamp(from, begin.max(from)));
            if let Some((at, (_, off))) = end.zip(self.sounding).filter(|(at, _)| is_due(*at)) {
                block.send_event(0, frame(at), off);
                self.sounding = None;
            }
            if !is_due(begin) {
                return;
            }
            if let Some(on) = self.begin_step(step, rate) {
                block.send_event(0, frame(begin), on);
            }
            step += 1;
        }
    }
}

impl Processor for Arpeggiator {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.transport = setup.services.transport();
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let Some(rate) = self.rate else {
            return ProcessStatus::Sleep;
        };
        let base = block.position();
        let mut now = base;
        for event in block.events().iter() {
            let frame = base + u64::from(event.frame);
            // What comes in at the frame of a step is part of it.
            self.play(block, (now, frame), rate);
            now = now.max(frame);
            match (event.target, event.body) {
                (EventTarget::Param(0), EventBody::Value(value) | EventBody::Glide(value))
                    if !value.is_nan() =>
                {
                    self.gate = f64::from(value).clamp(GATE.0, GATE.1);
                }
                (EventTarget::Param(_), _) => {}
                (_, body) => {
                    if let Some(body) = self.receive(body) {
                        block.send_event(0, event.frame, body);
                    }
                }
            }
        }
        self.play(block, (now, base + block.frames() as u64), rate);
        match self.held.is_empty() && self.sounding.is_none() {
            true => ProcessStatus::Sleep,
            false => ProcessStatus::Continue,
        }
    }

    fn reset(&mut self) {
        self.gate = self.initial_gate;
        self.held.clear();
        self.played = 0;
        self.sounding = None;
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let gates = [self.initial_gate, self.gate].map(f64::to_bits);
        state::put(bytes, gates);
        state::put(bytes, [self.played]);
        state::put(bytes, sounding_words(self.sounding));
        state::put(bytes, [self.held.len() as u64]);
        for index in 0..MAX_HELD {
            let words = self.held.get(index).map_or([0; 2], |note| {
                let source = match note.source {
                    NoteSource::Key(channel, key) => {
                        1 << 32 | u64::from(channel) << 8 | u64::from(key)
                    }
                    NoteSource::Id(id) => u64::from(id),
                };
                let [pitch, velocity] = [note.pitch, note.velocity].map(f32::to_bits);
                [source, u64::from(pitch) << 32 | u64::from(velocity)]
            });
            state::put(bytes, words);
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 7 + 2 * MAX_HELD)?;
        let [initial, gate] = words.numbers(0)?;
        if initial == self.initial_gate {
            self.gate = gate.clamp(GATE.0, GATE.1);
        }
        self.played = words.at(2) & (u64::MAX >> 1);
        self.sounding = sounding_of([3, 4, 5].map(|word| words.at(word)));
        self.held.clear();
        for index in 0..words.at(6).min(MAX_HELD as u64) as usize {
            let (source, values) = (words.at(7 + 2 * index), words.at(8 + 2 * index));
            let source = match source >> 32 {
                0 => NoteSource::Id(source as u32),
                _ => NoteSource::Key((source >> 8) as u8 & 15, source as u8 & 127),
            };
            let [pitch, velocity] = [(values >> 32) as u32, values as u32].map(f32::from_bits);
            if pitch.is_finite() && velocity.is_finite() {
                self.held.push(HeldNote {
                    source,
                    pitch,
                    velocity,
                });
            }
        }
        Ok(())
    }
}

/// The end of the sounding note, as words: its frame; 1 for MIDI, 2 for a note; message or id.
fn sounding_words(sounding: Option<(u64, EventBody)>) -> [u64; 3] {
    match sounding {
        Some((frame, EventBody::Midi([status, key, velocity]))) => {
            let bytes = [status, key, velocity, 0, 0, 0, 0, 0];
            [frame, 1, u64::from_le_bytes(bytes)]
        }
        Some((frame, EventBody::NoteOff { id, .. })) => [frame, 2, u64::from(id)],
        _ => [0; 3],
    }
}

fn sounding_of([frame, kind, what]: [u64; 3]) -> Option<(u64, EventBody)> {
    let [status, key, velocity, ..] = what.to_le_bytes();
    let body = match kind {
        1 => EventBody::Midi([0x80 | status & 15, key & 127, velocity & 127]),
        2 => EventBody::NoteOff {
            id: what as u32,
            velocity: 0.5,
        },
        _ => return None,
    };
    Some((frame, body))
}
