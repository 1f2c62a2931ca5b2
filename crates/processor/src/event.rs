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
    /// A part of a system exclusive message.
    SysEx(SysExPart),
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

/// Up to 11 bytes of a system exclusive message. The first part begins with 0xF0, the last one ends with 0xF7, and the
/// parts of a message follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SysExPart {
    len: u8,
    bytes: [u8; Self::MAX_BYTES],
}

impl SysExPart {
    /// Most bytes in a part.
    pub const MAX_BYTES: usize = 11;

    /// The parts of `message`.
    ///
    /// Real-time: hot.
    pub fn split(message: &[u8]) -> impl Iterator<Item = Self> + Clone + '_ {
        message.chunks(Self::MAX_BYTES).map(|chunk| {
            let mut part = Self {
                len: chunk.len() as u8,
                bytes: [0; Self::MAX_BYTES],
            };
            part.bytes[..chunk.len()].copy_from_slice(chunk);
            part
        })
    }

    /// Its bytes.
    ///
    /// Real-time: hot.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
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
#[derive(Clone, Copy, Debug, Default)]
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
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Frame of the first event that is left.
    #[inline]
    pub(crate) fn first_frame(&self) -> Option<usize> {
        let first = self.events.first();
        first.map(|event| (event.frame - self.offset) as usize)
    }

    /// Takes the first event if its frame is at most `at`.
    #[inline]
    pub(crate) fn next_until(&mut self, at: usize) -> Option<Event> {
        let (first, rest) = self.events.split_first()?;
        let frame = first.frame - self.offset;
        if frame as usize > at {
            return None;
        }
        self.events = rest;
        Some(Event { frame, ..*first })
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
    fn the_parts_of_a_system_exclusive_message_are_its_bytes_and_make_no_event_larger() {
        let message: Vec<u8> = [0xf0].into_iter().chain(1..40).chain([0xf7]).collect();
        let parts: Vec<_> = SysExPart::split(&message).collect();
        let joined: Vec<u8> = parts
            .iter()
            .flat_map(|part| part.bytes())
            .copied()
            .collect();
        assert_eq!((parts.len(), joined), (4, message));
        assert_eq!(size_of::<EventBody>(), 16);
    }

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
