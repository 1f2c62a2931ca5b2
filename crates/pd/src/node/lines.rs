//! Lines of text between the audio thread and others, without allocation.

use processor::WordsRoom;
use rtrb::{Consumer, Producer, RingBuffer};

/// Bytes that wait, at most.
const CAPACITY: usize = 1 << 16;
/// Bytes of a line, at most; a longer one is refused.
const MAX_LINE: usize = 4096;

/// The writing end.
pub(super) struct LineWriter(Producer<u8>);

/// The reading end.
pub(super) struct LineReader {
    bytes: Consumer<u8>,
    line: Vec<u8>,
}

/// Both ends.
///
/// Real-time: setup.
pub(super) fn lines() -> (LineWriter, LineReader) {
    let (producer, bytes) = RingBuffer::new(CAPACITY);
    let line = Vec::with_capacity(2 * MAX_LINE);
    (LineWriter(producer), LineReader { bytes, line })
}

impl LineWriter {
    /// Room for lines.
    ///
    /// Real-time: hot.
    pub(super) fn room(&self) -> WordsRoom {
        WordsRoom {
            longest: MAX_LINE,
            whole: CAPACITY,
            free: self.0.slots(),
        }
    }

    /// Writes a line; false, and nothing is written, if there is no room or it is longer than 4096 bytes.
    ///
    /// Real-time: hot.
    pub(super) fn write(&mut self, text: &str) -> bool {
        if text.len() > MAX_LINE {
            return false;
        }
        let bytes = text.as_bytes().iter();
        let bytes = bytes.map(|byte| if *byte == b'\n' { b' ' } else { *byte });
        match self.0.write_chunk_uninit(text.len() + 1) {
            Ok(chunk) => {
                chunk.fill_from_iter(bytes.chain([b'\n']));
                true
            }
            Err(_) => false,
        }
    }
}

impl LineReader {
    /// Reads a line; `None` if there is none.
    ///
    /// Real-time: hot.
    #[inline]
    pub(super) fn read(&mut self) -> Option<&str> {
        match self.is_empty() {
            true => None,
            false => self.read_waiting(),
        }
    }

    /// Returns true if there is no line.
    ///
    /// Real-time: hot.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn read_waiting(&mut self) -> Option<&str> {
        let chunk = self.bytes.read_chunk(self.bytes.slots()).ok()?;
        let (first, second) = chunk.as_slices();
        let length = first.iter().chain(second).position(|byte| *byte == b'\n')?;
        self.line.clear();
        let from_first = length.min(first.len());
        self.line.extend_from_slice(&first[..from_first]);
        self.line.extend_from_slice(&second[..length - from_first]);
        chunk.commit(length + 1);
        // A line was written as a whole, so it is a text.
        Some(std::str::from_utf8(&self.line).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_as_they_were_written() {
        let (mut writer, mut reader) = lines();
        for round in 0..10_000 {
            let text = format!("freq {round} 440.5");
            assert!(writer.write(&text) && writer.write("a\nb"));
            assert_eq!(reader.read(), Some(text.as_str()));
            assert_eq!(reader.read(), Some("a b"));
            assert_eq!(reader.read(), None);
        }
    }

    #[test]
    fn a_full_ring_refuses_a_line() {
        let (mut writer, mut reader) = lines();
        let long = "x".repeat(MAX_LINE);
        let count = (0..).take_while(|_| writer.write(&long)).count();
        assert_eq!(count, CAPACITY / (MAX_LINE + 1));
        assert_eq!(reader.read(), Some(long.as_str()));
    }

    #[test]
    fn letters_of_several_bytes_survive_the_end_of_the_ring() {
        let (mut writer, mut reader) = lines();
        let text = "Größe ".repeat(9);
        for _ in 0..2 * CAPACITY {
            assert!(writer.write(&text));
            assert_eq!(reader.read(), Some(text.as_str()));
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_not_cut() {
        let (mut writer, mut reader) = lines();
        assert!(!writer.write(&"x".repeat(MAX_LINE + 1)));
        assert_eq!(reader.read(), None);
    }
}
