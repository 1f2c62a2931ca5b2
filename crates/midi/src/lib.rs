//! Notes and time: scores, sequencers, curves, voices and MIDI files, each a kind of node.
//!
//! Takes a [`Registry`], gives it every kind with what makes it ([`register`]).
//! May: allocate in makers and in `setup`. May not: know sound beyond control signals, own a thread, use `unsafe`, trust a
//! byte of a file.
//!
//! | file | holds |
//! |---|---|
//! | `file` | standard MIDI files, in and out |
//! | `port` | live MIDI ports |
//! | `score` | scores, sequencers and curves in time |
//! | `voice` | voices, and the signals of a note |
//! | `transform` | events in, events out: transpose, filter, map channels, merge, arpeggiate |
//! | `translate.rs` | MIDI messages as events of notes |
//! | `note_id.rs` | ids of notes |
#![forbid(unsafe_code)]

mod file;
mod note_id;
mod port;
mod score;
mod transform;
mod translate;
mod voice;

pub use file::{
    FileEvent, FileEventBody, MAX_BYTES, MidiFile, MidiFileError, MidiTrack, NotesToMidi, TickUnit,
    timed_messages,
};
pub use port::port_names;

use processor::Registry;

/// Adds every kind of this library to `registry`.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    file::register(registry);
    port::register(registry);
    score::register(registry);
    voice::register(registry);
    transform::register(registry);
}

/// Every kind of this library, for readers that make nothing.
///
/// Real-time: setup.
pub fn catalogue() -> graph::Catalogue {
    let mut registry = Registry::default();
    register(&mut registry);
    registry.catalogue().clone()
}
