//! [`PatchInbox`]: messages in words on their way to a patch, and what has become of them on the way back.

use super::lines::{LineReader, LineWriter, lines};
use processor::{Inbox, TakenWords, WordsRoom};
use rtrb::{Consumer, Producer, RingBuffer};

/// Answers that wait, at most; further ones are lost.
const ROOM: usize = 4096;

/// The sending end.
pub(super) struct PatchInbox {
    lines: LineWriter,
    taken: Consumer<TakenWords>,
}

/// The end of the messages of a patch.
pub(super) struct WordsReader {
    lines: LineReader,
    taken: Producer<TakenWords>,
    count: u64,
}

/// Both ends.
///
/// Real-time: setup.
pub(super) fn inbox() -> (PatchInbox, WordsReader) {
    let (writer, reader) = lines();
    let (producer, taken) = RingBuffer::new(ROOM);
    let sender = PatchInbox {
        lines: writer,
        taken,
    };
    let receiver = WordsReader {
        lines: reader,
        taken: producer,
        count: 0,
    };
    (sender, receiver)
}

impl Inbox for PatchInbox {
    fn send(&mut self, text: &str) -> bool {
        self.lines.write(text)
    }

    fn room(&self) -> WordsRoom {
        self.lines.room()
    }

    fn taken(&mut self) -> Option<TakenWords> {
        self.taken.pop().ok()
    }
}

impl WordsReader {
    /// Returns true if no message waits.
    ///
    /// Real-time: hot.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Gives each message that waits to `take`, which returns true if something receives it, in the block at `frame`.
    ///
    /// Real-time: as `take`.
    #[inline]
    pub(super) fn read(&mut self, frame: u64, mut take: impl FnMut(&str) -> bool) {
        while let Some(text) = self.lines.read() {
            self.count += 1;
            let taken = TakenWords {
                number: self.count,
                frame,
                is_received: take(text),
            };
            // Nobody has asked for so long that it does not matter.
            let _ = self.taken.push(taken);
        }
    }
}
