//! Events: parameter changes, control values, notes, texts and MIDI messages, each at a frame of the block.

use crate::TextId;

/// Receiver of an event within a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTarget {
    /// The parameter with this index in the node's [`Kind`](graph::Kind).
    Param(u16),
    /// The event or control input with this port number, counted from 0 among all inputs.
    Input(u16),
}

/// Content of an event.
///
/// A note has an `id` that no other sounding note of its stream has; what follows it (release, pressure, bend) names that
/// id, as in MIDI 2.0 and MPE.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventBody {
    /// A number, in the target's unit.
    Value(f32),
    /// A number that the target reaches in a straight line in [`MODULATION_INTERVAL`] frames.
    Glide(f32),
    /// A text.
    Text(TextId),
    /// A MIDI channel message; unused bytes are 0.
    Midi([u8; 3]),
    /// A note begins.
    NoteOn {
        /// The note.
        id: u32,
        /// Key number as in MIDI, with a fraction: 69 is 440 Hz, and 12 are an octave.
        pitch: f32,
        /// From 0 to 1.
        velocity: f32,
    },
    /// A note is released.
    NoteOff {
        /// The note.
        id: u32,
        /// Velocity of the release, from 0 to 1.
        velocity: f32,
    },
    /// A note is cut off: what plays it becomes silent at once.
    NoteChoke {
        /// The note.
        id: u32,
    },
    /// The pressure on a note changes.
    NotePressure {
        /// The note.
        id: u32,
        /// From 0 to 1.
        value: f32,
    },
    /// A note is bent.
    NoteBend {
        /// The note.
        id: u32,
        /// Difference to its pitch, in semitones.
        semitones: f32,
    },
    /// A note moves between the speakers.
    NotePan {
        /// The note.
        id: u32,
        /// From -1 (left) to 1 (right).
        value: f32,
    },
    /// The third dimension of a note changes: the slide of MPE, controller 74.
    NoteTimbre {
        /// The note.
        id: u32,
        /// From 0 to 1.
        value: f32,
    },
}

/// Frames between two values of a parameter that is driven but not at audio rate, and length of an
/// [`EventBody::Glide`].
pub const MODULATION_INTERVAL: u32 = 16;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Frame at which it takes effect, from the start of the block.
    pub frame: u32,
    /// Its receiver within the node.
    pub target: EventTarget,
    /// Its content.
    pub body: EventBody,
}

/// The events of one block, or of one part of a block, in the order of their frames.
#[derive(Clone, Copy, Debug)]
pub struct Events<'a> {
    events: &'a [Event],
    offset: u32,
}

impl<'a> Events<'a> {
    /// The events of `sorted` that fall into the `frames` frames from `offset` on.
    ///
    /// Real-time: hot.
    pub fn in_range(sorted: &'a [Event], offset: u32, frames: u32) -> Self {
        let from = sorted.partition_point(|e| e.frame < offset);
        let to = sorted.partition_point(|e| e.frame < offset.saturating_add(frames));
        Self {
            events: &sorted[from..to],
            offset,
        }
    }

    /// Returns true if there is no event.
    ///
    /// Real-time: hot.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Each event, with its frame counted from the first frame of the [`Block`](crate::Block).
    ///
    /// Real-time: hot.
    pub fn iter(&self) -> impl Iterator<Item = Event> + use<'a> {
        let offset = self.offset;
        self.events.iter().map(move |e| Event {
            frame: e.frame - offset,
            ..*e
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_block_has_its_own_events_from_its_own_start() {
        let at = |frame| Event {
            frame,
            target: EventTarget::Param(0),
            body: EventBody::Value(frame as f32),
        };
        let all = [at(0), at(3), at(4), at(7)];
        let frames = |offset, n| -> Vec<u32> {
            let events = Events::in_range(&all, offset, n);
            events.iter().map(|e| e.frame).collect()
        };
        assert_eq!(frames(0, 4), [0, 3]);
        assert_eq!(frames(4, 4), [0, 3]);
        assert!(frames(5, 2).is_empty());
    }
}
