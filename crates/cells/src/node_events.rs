//! Events on both sides of a cell's node: what a new process must be told again, and what is released when a cell is lost.
//!
//! | what was lost | then |
//! |---|---|
//! | a number that came while there was no process, or no room | the newest one of each control input goes first to the next process |
//! | the end of a note | the last [`ENDS`] of them too, or those after the checkpoint from which the process continues |
//! | a note that began | to a process that continues from a checkpoint before it |
//! | MIDI | what [`MidiMemory`] holds |
//! | a note that the cell began, and whose end it cannot send | it is released, and MIDI keys and pedals are |

use crate::events::{PortEvent, read, write};
use crate::midi_memory::{MESSAGES, MidiMemory};
use crate::status::CellStatus;
use graph::{Port, Signal};
use processor::{Block, EventBody, HeldNotes};
use std::sync::atomic::Ordering;

/// Begins and ends of notes that are kept. Older ones are in the checkpoint.
const ENDS: usize = 64;
/// Notes of the cell that are followed.
const HELD: usize = 128;

/// The events of a cell's node.
pub(crate) struct NodeEvents {
    /// The newest number of each input; `None` for other inputs and before the first.
    newest: Vec<Option<f32>>,
    is_control: Vec<bool>,
    /// Begins and ends of notes: input, event and frame of the block, the newest last.
    notes: Vec<(usize, EventBody, u64)>,
    midi: MidiMemory,
    /// The process does not know the newest numbers.
    is_behind: bool,
    /// Frame from which it continues, if it does.
    from: Option<u64>,
    /// Room for what is told first.
    first: Vec<PortEvent>,
    /// What came, with its output.
    received: Vec<(usize, PortEvent)>,
    /// Outputs and ids of notes that sound, and keys that are down.
    held: Vec<(usize, u32)>,
    keys: Vec<HeldNotes>,
}

impl NodeEvents {
    pub(crate) fn new(inputs: &[Port], outputs: &[Port]) -> Self {
        let is_control = |port: &Port| port.signal == Signal::Control;
        Self {
            newest: vec![None; inputs.len()],
            is_control: inputs.iter().map(is_control).collect(),
            notes: Vec::with_capacity(ENDS),
            midi: MidiMemory::default(),
            is_behind: false,
            from: None,
            first: Vec::with_capacity(ENDS + MESSAGES + 1),
            received: Vec::new(),
            held: Vec::with_capacity(HELD),
            keys: vec![HeldNotes::default(); outputs.len()],
        }
    }

    /// Takes memory for blocks of `frames`.
    pub(crate) fn setup(&mut self, frames: usize) {
        let ports = self.keys.len();
        self.received = Vec::with_capacity(ports * crate::events::room(frames));
    }

    /// A process has come, or has missed a block. `from`: the frame from which it continues.
    pub(crate) fn set_behind(&mut self, from: Option<u64>) {
        // One that has missed its first blocks too still continues from there.
        self.from = from.or(self.from.filter(|_| self.is_behind));
        self.is_behind = true;
    }

    /// The block was sent: the process knows all.
    pub(crate) fn set_sent(&mut self) {
        self.is_behind = false;
    }

    /// Follows the events of input `port` in this block, whether they are sent or not.
    /// `is_lost`: the process has not answered.
    pub(crate) fn follow(
        &mut self,
        block: &Block<'_>,
        port: usize,
        (position, is_lost): (u64, bool),
    ) {
        for (_, body) in crate::border::port_events(block, port) {
            match body {
                EventBody::Value(value) | EventBody::Glide(value) if self.is_control[port] => {
                    self.newest[port] = Some(value);
                }
                EventBody::NoteOn { .. } => self.keep((port, body, position)),
                EventBody::NoteOff { id, .. } | EventBody::NoteChoke { id } => {
                    let begins = |body: &EventBody| matches!(body, EventBody::NoteOn { id: its, .. } if *its == id);
                    (self.notes).retain(|(other, body, _)| *other != port || !begins(body));
                    self.keep((port, body, position));
                }
                EventBody::Midi(message) => {
                    self.midi.follow(port as u16, message, (position, is_lost));
                }
                _ => {}
            }
        }
    }

    fn keep(&mut self, note: (usize, EventBody, u64)) {
        if self.notes.len() == ENDS {
            self.notes.remove(0);
        }
        self.notes.push(note);
    }

    /// Writes the events of input `port` into its words, behind what the process must be told first. To be called before
    /// [`follow`](Self::follow) of the port.
    pub(crate) fn write(&mut self, block: &Block<'_>, port: usize, to: &mut [u32]) -> u64 {
        self.first.clear();
        if self.is_behind {
            let newest = self.newest[port].map(EventBody::Value);
            let from = self.from;
            let is_told = |body: &EventBody, position: u64| match from {
                Some(from) => position >= from,
                None => !matches!(body, EventBody::NoteOn { .. }),
            };
            let notes = self.notes.iter();
            let notes =
                notes.filter(|(other, body, position)| *other == port && is_told(body, *position));
            let midi = self.midi.told(from);
            let midi = midi.filter(|(other, _)| usize::from(*other) == port);
            let midi = midi.map(|(_, message)| EventBody::Midi(message));
            let all = notes.map(|(_, body, _)| *body).chain(midi).chain(newest);
            self.first.extend(all.map(|body| (0, body)));
        }
        let first = self.first.iter().copied();
        write(first.chain(crate::border::port_events(block, port)), to)
    }

    /// Reads the events of output `port`, for a block of `frames`.
    pub(crate) fn receive(&mut self, from: &[u32], port: usize, frames: usize) -> u64 {
        let received = &mut self.received;
        read(from, frames, |event| {
            if received.len() < received.capacity() {
                received.push((port, event));
            }
        })
    }

    /// Sends on what was received, and follows the notes in it.
    pub(crate) fn send(&mut self, block: &mut Block<'_>) {
        for (port, (frame, body)) in self.received.drain(..) {
            match body {
                EventBody::NoteOn { id, .. } if self.held.len() < HELD => {
                    self.held.push((port, id));
                }
                EventBody::NoteOff { id, .. } | EventBody::NoteChoke { id } => {
                    self.held.retain(|it| *it != (port, id));
                }
                EventBody::Midi(message) => self.keys[port].follow(message),
                _ => {}
            }
            block.send_event(port, frame, body);
        }
    }

    /// Releases what the cell holds: it is lost.
    pub(crate) fn release(&mut self, block: &mut Block<'_>) {
        self.received.clear();
        for (port, id) in self.held.drain(..) {
            block.send_event(port, 0, EventBody::NoteOff { id, velocity: 0.5 });
        }
        for (port, keys) in self.keys.iter_mut().enumerate() {
            keys.release(|message| block.send_event(port, 0, EventBody::Midi(message)));
        }
    }
}

/// Counts events that did not cross.
pub(crate) fn count_lost(status: &CellStatus, lost: u64) {
    if lost > 0 {
        status.lost_events.fetch_add(lost, Ordering::Relaxed);
    }
}
