//! Standard MIDI files, in and out.
//!
//! | file | holds |
//! |---|---|
//! | `contain.rs` | a parser's panics, contained |
//! | `smf.rs` | a file, read from hostile bytes |
//! | `smf_bytes.rs` | the bytes of a file that is written |
//! | `timeline.rs` | the events of a file that a node plays, with their exact times |
//! | `player.rs` | `midi_file` |
//! | `notes_to_midi.rs` | notes as channel messages |
//! | `writer.rs` | `midi_writer` |

mod contain;
mod notes_to_midi;
mod player;
mod smf;
mod smf_bytes;
mod timeline;
mod writer;

pub(crate) use notes_to_midi::NotesToMidi;
pub use smf::{FileEvent, FileEventBody, MAX_BYTES, MidiFile, MidiFileError, MidiTrack, TickUnit};

use processor::Registry;

pub(crate) fn register(registry: &mut Registry) {
    registry.add(player::kind(), player::make);
    registry.add(writer::kind(), writer::make);
}
