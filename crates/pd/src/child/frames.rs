//! [`FrameBuffer`]: messages, lines and marks as bytes, in memory of fixed size.

use crate::control::{Symbol, Symbols, Value};

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Words.
    Message,
    /// A line for the console.
    Line,
    /// The messages of a block end here.
    Block,
    /// The sub-patch has ended itself.
    End,
}

/// Bytes before the payload of a frame: kind and length.
pub(super) const HEADER: usize = 5;

impl FrameKind {
    /// The kind and the length of the payload behind a header.
    pub(super) fn of(header: [u8; HEADER]) -> (Self, usize) {
        let [kind, length @ ..] = header;
        let kind = match kind {
            0 => Self::Message,
            1 => Self::Line,
            2 => Self::Block,
            _ => Self::End,
        };
        (kind, u32::from_le_bytes(length) as usize)
    }
}

/// Marks of words.
const NUMBER: u8 = 0;
const TEXT: u8 = 1;

/// Frames, one behind the other.
#[derive(Debug)]
pub(crate) struct FrameBuffer {
    bytes: Vec<u8>,
    /// Messages and lines that found no room.
    lost: u64,
}

impl FrameBuffer {
    /// Room for `bytes`, and for the marks of a block.
    ///
    /// Real-time: setup.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            lost: 0,
        }
    }

    /// Adds a message; false if there is no room.
    ///
    /// Real-time: hot.
    pub(crate) fn message(&mut self, symbols: &Symbols, words: &[Value]) -> bool {
        self.frame(FrameKind::Message, |bytes| {
            words.iter().all(|word| match word {
                Value::Float(number) => add(bytes, &[&[NUMBER], &number.to_le_bytes()]),
                Value::Symbol(symbol) => {
                    let text = symbols.text(*symbol);
                    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                    add(bytes, &[&[TEXT], &length.to_le_bytes(), text.as_bytes()])
                }
                // Another patch has other data.
                Value::Pointer(_) => add(bytes, &[&[NUMBER], &0.0_f32.to_le_bytes()]),
            })
        })
    }

    /// Adds a line; false if there is no room.
    ///
    /// Real-time: hot.
    pub(super) fn line(&mut self, line: &str) -> bool {
        self.frame(FrameKind::Line, |bytes| add(bytes, &[line.as_bytes()]))
    }

    /// Adds a mark. There is always room for it.
    ///
    /// Real-time: hot.
    pub(super) fn mark(&mut self, kind: FrameKind) {
        let from = self.bytes.len().min(self.bytes.capacity() - HEADER);
        self.bytes.truncate(from);
        self.frame(kind, |_| true);
    }

    /// Adds a frame whose payload `write` adds, if it finds room. Room for a mark is kept.
    fn frame(&mut self, kind: FrameKind, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let from = self.bytes.len();
        let is_written =
            add(&mut self.bytes, &[&[kind as u8, 0, 0, 0, 0]]) && write(&mut self.bytes);
        let keeps_room = matches!(kind, FrameKind::Block | FrameKind::End)
            || self.bytes.capacity() - self.bytes.len() >= HEADER;
        if !(is_written && keeps_room) {
            self.bytes.truncate(from);
            self.lost += 1;
            return false;
        }
        let length = self.bytes.len() - from - HEADER;
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        self.bytes[from + 1..from + HEADER].copy_from_slice(&length);
        true
    }

    /// Takes the number of what found no room.
    pub(super) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// All frames.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets all frames.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Adds parts if there is room for them.
fn add(bytes: &mut Vec<u8>, parts: &[&[u8]]) -> bool {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if bytes.capacity() - bytes.len() < length {
        return false;
    }
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    true
}

/// Reads the words of a message into `words`, as many as they have room for.
///
/// Real-time: hot, but for texts that are not known and find no room among the symbols.
pub(super) fn read_words(
    mut payload: &[u8],
    intern: &mut dyn FnMut(&str) -> Symbol,
    words: &mut Vec<Value>,
) {
    words.clear();
    while words.len() < words.capacity() {
        let word = match payload {
            [NUMBER, a, b, c, d, rest @ ..] => {
                payload = rest;
                Value::Float(f32::from_le_bytes([*a, *b, *c, *d]))
            }
            [TEXT, a, b, c, d, rest @ ..] => {
                let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                let (text, rest) = rest.split_at(length.min(rest.len()));
                payload = rest;
                Value::Symbol(intern(std::str::from_utf8(text).unwrap_or_default()))
            }
            _ => return,
        };
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_as_they_were_written() {
        let (mut from, mut to) = (Symbols::default(), Symbols::default());
        let words = [
            Value::Symbol(from.intern("foo")),
            Value::Float(-0.1),
            Value::Symbol(from.intern("a word 7")),
        ];
        let mut buffer = FrameBuffer::new(100);
        assert!(buffer.message(&from, &words));
        let header = buffer.bytes()[..HEADER].try_into().expect("5 bytes");
        let (kind, length) = FrameKind::of(header);
        assert_eq!(
            (kind, length),
            (FrameKind::Message, buffer.bytes().len() - HEADER)
        );
        let mut found = Vec::with_capacity(9);
        read_words(
            &buffer.bytes()[HEADER..],
            &mut |text| to.intern(text),
            &mut found,
        );
        let texts = Vec::from_iter(found.iter().map(|word| word.text(&to)));
        assert_eq!(texts, ["foo", "-0.1", "a word 7"]);
    }

    #[test]
    fn what_finds_no_room_is_counted_and_marks_always_do() {
        let mut buffer = FrameBuffer::new(20);
        assert!(buffer.line("0123456789") && !buffer.line(""));
        buffer.mark(FrameKind::Block);
        assert_eq!((buffer.take_lost(), buffer.bytes().len()), (1, 20));
    }
}
