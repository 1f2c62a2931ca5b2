//! [`InnerEvents`]: parameters, numbers, MIDI and words for nodes inside a cell, on their way from the supervisor's engine.
//!
//! The engine gives them to the cell's node as events for its parameters: index k means the k-th [`Slot`] of the part. So
//! ramps, frames and transactions are those of every other node. They go to the process behind the samples of a request:
//!
//! | word | holds |
//! |---|---|
//! | 0 | number of events |
//! | 1 | bytes of a message in words; 0 for none |
//! | 2 | number of that message; 0 for one whose fate nobody asks for |
//! | 3 … | [`TEXT_WORDS`]: number of its node, then its bytes |
//! | then, 6k | frame, slot, kind and three numbers of event k |
//!
//! # What the process believes
//!
//! | of an area | then |
//! |---|---|
//! | more events than there is room for | the first ones are read |
//! | a frame behind the block, or before that of the event before | the next frame that can be |
//! | an unknown slot or kind, a number that is not finite, bytes that are no text | it is left out |
//!
//! # What a new process is told again
//!
//! The newest number of each slot that was ever set, and what [`MidiMemory`] holds for the frame from which it continues. As many as find room in a block; the rest
//! goes with the next ones.

use crate::events::{PortEvent, decode, encode, room};
use crate::midi_memory::MidiMemory;
use crate::slots::{KeptSlots, Slot};
use graph::NodeId;
use processor::{Block, Event, EventBody, EventTarget};

/// Words of an event.
const WORDS: usize = 6;
/// Words for a message in words.
const TEXT_WORDS: usize = 128;
/// Longest message in words, in bytes.
pub(crate) const MAX_TEXT: usize = 4 * (TEXT_WORDS - 1);
/// Messages in words that wait.
pub(crate) const TEXTS: usize = 256;
/// Words before the events.
const FIRST_EVENT: usize = FIRST_TEXT + TEXT_WORDS;
/// Words before that message.
const FIRST_TEXT: usize = 3;

/// Words of the area in a request for a block of `frames`.
pub(crate) const fn inner_words(frames: usize) -> usize {
    FIRST_EVENT + WORDS * room(frames)
}

/// A message in words for a node inside.
#[derive(Clone, Copy)]
pub(crate) struct InnerText {
    node: NodeId,
    /// By which its fate is told; 0 where nobody asks.
    number: u32,
    len: usize,
    bytes: [u8; MAX_TEXT],
}

impl InnerText {
    /// `None` for one that is too long.
    pub(crate) fn new(node: NodeId, number: u32, text: &str) -> Option<Self> {
        let (len, mut bytes) = (text.len(), [0; MAX_TEXT]);
        bytes.get_mut(..len)?.copy_from_slice(text.as_bytes());
        Some(Self {
            node,
            number,
            len,
            bytes,
        })
    }

    /// The number by which its fate is told.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Its node, and its text.
    pub(crate) fn read(&self) -> (NodeId, &str) {
        let text = self.bytes.get(..self.len).unwrap_or_default();
        (self.node, std::str::from_utf8(text).unwrap_or_default())
    }

    fn write(&self, to: &mut [u32]) {
        to[0] = self.node.0;
        let (words, _) = self.bytes.as_chunks::<4>();
        let used = self.len.div_ceil(4);
        let used = words.iter().take(used);
        (to[1..].iter_mut().zip(used)).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
    }
}

/// Events for nodes inside.
pub(crate) struct InnerEvents {
    kept: KeptSlots,
    /// Number of each slot that was ever set.
    newest: Vec<Option<f32>>,
    /// Slots whose number the process is still to be told, and how many these are.
    due: Vec<bool>,
    due_count: usize,
    midi: MidiMemory,
    is_midi_due: bool,
    /// Frame from which the process continues, if it does.
    from: Option<u64>,
    texts: rtrb::Consumer<InnerText>,
    /// The area has the first of them.
    has_text: bool,
}

impl InnerEvents {
    /// `told` are numbers that each process is told, since its session has others.
    pub(crate) fn new(
        kept: KeptSlots,
        texts: rtrb::Consumer<InnerText>,
        told: &[(u16, f32)],
    ) -> Self {
        let count = kept.len();
        let mut newest = vec![None; count];
        for (slot, value) in told {
            if let Some(place) = newest.get_mut(usize::from(*slot)) {
                *place = Some(*value);
            }
        }
        Self {
            kept,
            newest,
            due: vec![false; count],
            due_count: 0,
            midi: MidiMemory::default(),
            is_midi_due: false,
            from: None,
            texts,
            has_text: false,
        }
    }

    /// A process has come, or has missed a block. `from`: the frame from which it continues.
    pub(crate) fn set_behind(&mut self, from: Option<u64>) {
        self.from = from.or(self.from);
        self.due_count = 0;
        for (due, newest) in self.due.iter_mut().zip(&self.newest) {
            *due = newest.is_some();
            self.due_count += usize::from(*due);
        }
        self.is_midi_due = true;
    }

    /// Follows the events of this block, whether they are sent or not. `at`: its frame, and true if the process has not answered.
    pub(crate) fn follow(&mut self, block: &Block<'_>, at: (u64, bool)) {
        for (slot, (_, body)) in inner_events(block) {
            match body {
                EventBody::Value(value) | EventBody::Glide(value) if self.is_kept(slot) => {
                    self.newest[usize::from(slot)] = Some(value);
                }
                EventBody::Midi(message) => self.midi.follow(slot, message, at),
                _ => {}
            }
        }
    }

    fn is_kept(&self, slot: u16) -> bool {
        self.kept.has(slot)
    }

    /// Writes what is due and the events of this block into an area. To be called before [`follow`](Self::follow). Returns
    /// the number of those that find no room.
    pub(crate) fn write(&mut self, block: &Block<'_>, to: &mut [u32]) -> u64 {
        let Some((head, rest)) = to.split_at_mut_checked(FIRST_EVENT) else {
            return 0;
        };
        (head[1], self.has_text) = (0, false);
        if let Ok(text) = self.texts.peek() {
            self.has_text = true;
            text.write(&mut head[FIRST_TEXT..]);
            (head[1], head[2]) = (text.len as u32, text.number);
        }
        let (places, _) = rest.as_chunks_mut::<WORDS>();
        let (mut written, mut lost) = (0, 0);
        let mut put = |slot: u16, (frame, body): PortEvent| {
            let place = places.get_mut(written).zip(encode(body));
            let Some((place, [kind, a, b, c])) = place else {
                return false;
            };
            *place = [frame, slot.into(), kind, a, b, c];
            written += 1;
            true
        };
        if self.due_count > 0 {
            for (slot, (due, newest)) in (0..).zip(self.due.iter_mut().zip(&self.newest)) {
                if let (true, Some(value)) = (*due, newest)
                    && put(slot, (0, EventBody::Value(*value)))
                {
                    *due = false;
                    self.due_count -= 1;
                }
            }
        }
        if std::mem::take(&mut self.is_midi_due) {
            for (slot, message) in self.midi.told(self.from) {
                lost += u64::from(!put(slot, (0, EventBody::Midi(message))));
            }
        }
        for (slot, event) in inner_events(block) {
            if put(slot, event) {
                continue;
            }
            // A number that stays is told with the next block.
            match self.kept.has(slot) {
                true => {
                    let due = &mut self.due[usize::from(slot)];
                    self.due_count += usize::from(!*due);
                    *due = true;
                }
                false => lost += 1,
            }
        }
        head[0] = written as u32;
        lost
    }

    /// The block was sent.
    pub(crate) fn set_sent(&mut self) {
        self.from = None;
        if std::mem::take(&mut self.has_text) {
            let _ = self.texts.pop();
        }
    }
}

/// The events of the block for nodes inside, each behind its slot.
fn inner_events<'a>(block: &Block<'a>) -> impl Iterator<Item = (u16, PortEvent)> + use<'a> {
    block.events().iter().filter_map(|it| match it.target {
        EventTarget::Param(slot) => Some((slot, (it.frame, it.body))),
        EventTarget::Input(_) => None,
    })
}

/// Copies an area, as far as it is used: each word is read once.
///
/// Real-time: hot.
pub(crate) fn copy_inner(from: &[u32], to: &mut [u32]) {
    let (Some([count, text, ..]), true) = (
        from.first_chunk::<2>(),
        from.len() == to.len() && from.len() > FIRST_EVENT,
    ) else {
        return to.fill(0);
    };
    let (count, text) = (*count, *text);
    let places = (from.len().saturating_sub(FIRST_EVENT)) / WORDS;
    let used = FIRST_EVENT + WORDS * places.min(count as usize);
    match text {
        0 => to[FIRST_EVENT..used].copy_from_slice(&from[FIRST_EVENT..used]),
        _ => to[2..used].copy_from_slice(&from[2..used]),
    }
    (to[0], to[1]) = (count, text);
}

/// Passes the events of an area, for a block of `frames`, to `give`, and a message in words to `say`. Each word is read once.
///
/// Real-time: hot, if both are.
pub(crate) fn read_inner(
    (from, frames): (&[u32], usize),
    slots: &[Slot],
    mut give: impl FnMut(NodeId, Event),
    mut say: impl FnMut(NodeId, u32, &str),
) {
    let Some((head, rest)) = from.split_at_checked(FIRST_EVENT) else {
        return;
    };
    let (count, text_len) = (head[0] as usize, head[1] as usize);
    if text_len > 0 && text_len <= MAX_TEXT {
        let mut bytes = [0; MAX_TEXT];
        let (places, _) = bytes.as_chunks_mut::<4>();
        let words = &head[FIRST_TEXT + 1..];
        (places.iter_mut().zip(words)).for_each(|(to, word)| *to = word.to_le_bytes());
        if let Ok(text) = std::str::from_utf8(&bytes[..text_len]) {
            say(NodeId(head[FIRST_TEXT]), head[2], text);
        }
    }
    let last = frames.saturating_sub(1) as u32;
    let mut earliest = 0;
    let (places, _) = rest.as_chunks::<WORDS>();
    for [frame, slot, kind, a, b, c] in places.iter().take(count) {
        earliest = (*frame).clamp(earliest, last);
        let slot = slots.get(*slot as usize);
        if let Some((slot, body)) = slot.zip(decode(*kind, [*a, *b, *c])) {
            give(
                slot.node,
                Event {
                    frame: earliest,
                    target: slot.target,
                    body,
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(node: u32, target: EventTarget, is_kept: bool) -> Slot {
        let node = NodeId(node);
        Slot {
            node,
            target,
            is_kept,
        }
    }

    #[test]
    fn whatever_is_in_an_area_only_what_is_there_is_given() {
        let slots = [
            slot(3, EventTarget::Param(1), true),
            slot(9, EventTarget::Input(0), false),
        ];
        let frames = 64;
        let mut state = 1u32;
        let mut words = vec![0; inner_words(frames)];
        let (mut given, mut said) = (0, 0);
        for round in 0..20_000 {
            for word in &mut words {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *word = state >> (state >> 28);
            }
            if round % 2 == 0 {
                words[0] %= 300;
                words[1] %= 600;
                for place in words[FIRST_EVENT..].chunks_mut(WORDS) {
                    (place[1], place[2]) = (place[1] % 4, place[2] % 14);
                }
            }
            let mut earliest = 0;
            read_inner(
                (&words, frames),
                &slots,
                |node, event| {
                    assert!(
                        slots
                            .iter()
                            .any(|it| (it.node, it.target) == (node, event.target))
                    );
                    assert!(event.frame >= earliest && event.frame < frames as u32);
                    earliest = event.frame;
                    given += 1;
                    if let EventBody::Value(value) = event.body {
                        assert!(value.is_finite());
                    }
                },
                |_, _, text| {
                    assert!(!text.is_empty() && text.len() <= MAX_TEXT);
                    said += 1;
                },
            );
        }
        assert!(given > 10_000, "{given}");
        read_inner((&[], frames), &slots, |_, _| panic!(), |_, _, _| panic!());
        println!("{given} events, {said} texts");
    }

    #[test]
    fn words_come_as_they_were_written_and_long_ones_not_at_all() {
        let mut words = vec![7; inner_words(64)];
        (words[0], words[1]) = (0, 0);
        let text = "freq 440 é".repeat(3);
        let written = InnerText::new(NodeId(5), 77, &text).unwrap();
        written.write(&mut words[FIRST_TEXT..FIRST_EVENT]);
        (words[1], words[2]) = (written.len as u32, written.number);
        let mut said = Vec::new();
        read_inner(
            (&words, 64),
            &[],
            |_, _| panic!(),
            |node, number, text| said.push((node, number, text.to_owned())),
        );
        assert_eq!(said, [(NodeId(5), 77, text)]);
        assert!(InnerText::new(NodeId(0), 0, &"x".repeat(MAX_TEXT)).is_some());
        assert!(InnerText::new(NodeId(0), 0, &"x".repeat(MAX_TEXT + 1)).is_none());
    }
}
