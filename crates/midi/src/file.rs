//! Standard MIDI files, in and out.
//!
//! | file | holds |
//! |---|---|
//! | `contain.rs` | a parser's panics, contained |
//! | `smf.rs` | a file, read from hostile bytes |
//! | `smf_bytes.rs` | the bytes of a file that is written |
//! | `timeline.rs` | the events of a file that a node plays, with their exact times |
//! | `chase.rs` | what controllers are set to at a place of a file |
//! | `player.rs` | `midi_file` |
//! | `notes_to_midi.rs` | notes as channel messages |
//! | `writer.rs` | `midi_writer` |

mod chase;
mod contain;
mod notes_to_midi;
mod player;
mod smf;
mod smf_bytes;
mod timeline;
mod writer;

pub use notes_to_midi::NotesToMidi;
pub use smf::{FileEvent, FileEventBody, MAX_BYTES, MidiFile, MidiFileError, MidiTrack, TickUnit};

use processor::{EventBody, Registry};
use timeline::{Selection, Timeline};
use units::SampleRate;

/// The channel messages of a file with their frames, in order. Notes that are down at the end are released there.
///
/// Real-time: setup.
pub fn timed_messages(file: &MidiFile, rate: SampleRate) -> Vec<(u64, [u8; 3])> {
    let Some(timeline) = Timeline::new(file, Selection::default(), None) else {
        return Vec::new();
    };
    let messages = timeline.events.iter().filter_map(|event| match event.body {
        EventBody::Midi(message) => Some((timeline.frame(event.at, rate), message)),
        _ => None,
    });
    messages.collect()
}

pub(crate) fn register(registry: &mut Registry) {
    registry.add(player::kind(), player::make);
    registry.add(writer::kind(), writer::make);
}
