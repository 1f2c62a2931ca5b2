//! [`ParentEnd`] and [`ChildEnd`]: the pipes between a patch and a sub-patch, which are rings.
//!
//! Room is the same on any number of workers: the parent counts what the sub-patch has read for certain when the block
//! begins, and the sub-patch has room for more blocks than the parent can be behind.

use super::frames::{FrameBuffer, FrameKind, HEADER, read_words};
use crate::control::{Symbol, Symbols, Value};
use crate::signal::BLOCK;
use rtrb::{Consumer, Producer, RingBuffer};
use std::collections::VecDeque;

/// Bytes of messages on the way to a sub-patch.
const ROOM: usize = 1 << 20;
/// Bytes of one message to it.
const MAX_MESSAGE: usize = 1 << 15;
/// Bytes of the messages and lines of one of its blocks.
const MAX_REPLY: usize = 1 << 18;
/// Blocks whose messages may be on the way back.
const REPLIES: usize = 4;
/// Words of a message.
pub(super) const MAX_WORDS: usize = 4096;

/// Size of the pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PipeSize {
    /// Channels to the sub-patch and from it.
    pub inputs: usize,
    pub outputs: usize,
    /// Blocks on the way, there and back; at least 1.
    pub fifo: usize,
}

/// The parent's end.
pub(super) struct ParentEnd {
    size: PipeSize,
    bytes_out: Producer<u8>,
    audio_out: Producer<f32>,
    replies: FrameReader,
    audio_in: Consumer<f32>,
    /// A message that is being written.
    frame: FrameBuffer,
    /// Bytes of the messages before each block that may be unread, the oldest first.
    unread: VecDeque<usize>,
    /// Bytes since the last block.
    current: usize,
}

/// The end of the sub-patch.
pub(super) struct ChildEnd {
    pub(super) requests: FrameReader,
    pub(super) audio: AudioReader,
    pub(super) replies: ReplyWriter,
}

/// Sound that has come.
pub(super) struct AudioReader(Consumer<f32>);

/// Answers to the parent.
pub(super) struct ReplyWriter {
    bytes: Producer<u8>,
    audio: Producer<f32>,
}

/// Frames that have come.
pub(super) struct FrameReader {
    bytes: Consumer<u8>,
    payload: Vec<u8>,
}

/// Both ends. `fifo` silent blocks are on their way to the sub-patch already.
///
/// Real-time: setup.
pub(super) fn pipe(size: PipeSize) -> (ParentEnd, ChildEnd) {
    let samples = |channels: usize, blocks: usize| RingBuffer::new(channels * blocks * BLOCK);
    let (bytes_out, bytes_there) = RingBuffer::new(ROOM + HEADER * (size.fifo + 2));
    let (audio_out, audio_there) = samples(size.inputs, size.fifo + 2);
    let (bytes_back, bytes_in) = RingBuffer::new(REPLIES * MAX_REPLY);
    let (audio_back, audio_in) = samples(size.outputs, REPLIES);
    let mut parent = ParentEnd {
        size,
        bytes_out,
        audio_out,
        replies: FrameReader::new(bytes_in, MAX_REPLY),
        audio_in,
        frame: FrameBuffer::new(MAX_MESSAGE),
        unread: VecDeque::with_capacity(size.fifo + 1),
        current: 0,
    };
    for _ in 0..size.fifo {
        for _ in 0..size.inputs {
            parent.write_channel(&[0.0; BLOCK]);
        }
        parent.end_block();
    }
    let child = ChildEnd {
        requests: FrameReader::new(bytes_there, MAX_MESSAGE),
        audio: AudioReader(audio_there),
        replies: ReplyWriter {
            bytes: bytes_back,
            audio: audio_back,
        },
    };
    (parent, child)
}

/// Room for what a sub-patch sends in a block.
///
/// Real-time: setup.
pub(super) fn reply_buffer() -> FrameBuffer {
    FrameBuffer::new(MAX_REPLY)
}

impl ParentEnd {
    /// Sends a message; false if it is too long, or too much is on the way.
    ///
    /// Real-time: hot.
    pub(super) fn send(&mut self, symbols: &Symbols, words: &[Value]) -> bool {
        self.frame.clear();
        if words.len() > MAX_WORDS || !self.frame.message(symbols, words) {
            return false;
        }
        let length = self.frame.bytes().len();
        let on_the_way = self.current + self.unread.iter().sum::<usize>();
        if on_the_way + length > ROOM {
            return false;
        }
        self.current += length;
        push(&mut self.bytes_out, self.frame.bytes())
    }

    /// Sends a block of one channel.
    pub(super) fn write_channel(&mut self, samples: &[f32]) {
        push(&mut self.audio_out, samples);
    }

    /// Ends a block.
    pub(super) fn end_block(&mut self) {
        self.frame.clear();
        self.frame.mark(FrameKind::Block);
        push(&mut self.bytes_out, self.frame.bytes());
        // What was sent `fifo` blocks ago has been read.
        if self.unread.len() >= self.size.fifo {
            self.unread.pop_front();
        }
        self.unread.push_back(std::mem::take(&mut self.current));
    }

    /// Reads a block of one channel; silence if there is none.
    pub(super) fn read_channel(&mut self, to: &mut [f32]) {
        pull(&mut self.audio_in, to);
    }

    /// The frames that have come.
    pub(super) fn replies(&mut self) -> &mut FrameReader {
        &mut self.replies
    }
}

impl AudioReader {
    /// Reads a block of one channel; silence if there is none.
    pub(super) fn read_channel(&mut self, to: &mut [f32]) {
        pull(&mut self.0, to);
    }
}

impl ReplyWriter {
    /// Sends a block of one channel.
    pub(super) fn write_channel(&mut self, samples: &[f32]) {
        push(&mut self.audio, samples);
    }

    /// Sends the frames of a block, with a mark behind them, and clears them.
    pub(super) fn end_block(&mut self, frames: &mut FrameBuffer, mark: FrameKind) {
        let lost = frames.take_lost();
        frames.mark(mark);
        push(&mut self.bytes, frames.bytes());
        frames.clear();
        if lost > 0 {
            // It is the first of the next block, for which there is room.
            frames.line(LOST_LINE);
        }
    }
}

/// Printed where a block had too much to send.
const LOST_LINE: &str = "error: messages and lines of a block are left out: more than 262144 bytes";

impl FrameReader {
    fn new(bytes: Consumer<u8>, longest: usize) -> Self {
        Self {
            bytes,
            payload: Vec::with_capacity(longest),
        }
    }

    /// Takes the next frame; `None` if there is none.
    ///
    /// Real-time: hot.
    pub(super) fn next(&mut self) -> Option<(FrameKind, &[u8])> {
        let mut header = [0; HEADER];
        if self.bytes.slots() < HEADER || !pull(&mut self.bytes, &mut header) {
            return None;
        }
        let (kind, length) = FrameKind::of(header);
        self.payload.clear();
        self.payload.resize(length.min(self.payload.capacity()), 0);
        pull(&mut self.bytes, &mut self.payload);
        Some((kind, &self.payload))
    }
}

/// Reads the words of a message.
///
/// Real-time: as interning them.
pub(super) fn words_of(payload: &[u8], symbols: &mut Symbols, words: &mut Vec<Value>) {
    let mut intern = |text: &str| -> Symbol { symbols.intern(text) };
    read_words(payload, &mut intern, words);
}

/// Writes a row as a whole; false if there is no room.
fn push<T: Copy + Default>(to: &mut Producer<T>, from: &[T]) -> bool {
    let Ok(mut chunk) = to.write_chunk(from.len()) else {
        return false;
    };
    let (first, second) = chunk.as_mut_slices();
    let (one, two) = from.split_at(first.len());
    first.copy_from_slice(one);
    second.copy_from_slice(two);
    chunk.commit_all();
    true
}

/// Reads a row as a whole; false, and nothing but zeros, if there is not enough.
fn pull<T: Copy + Default>(from: &mut Consumer<T>, to: &mut [T]) -> bool {
    let Ok(chunk) = from.read_chunk(to.len()) else {
        to.fill(T::default());
        return false;
    };
    let (first, second) = chunk.as_slices();
    to[..first.len()].copy_from_slice(first);
    to[first.len()..].copy_from_slice(second);
    chunk.commit_all();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_messages_come_in_their_order() {
        let size = PipeSize {
            inputs: 1,
            outputs: 2,
            fifo: 3,
        };
        let (mut parent, mut child) = pipe(size);
        let (mut from, mut to) = (Symbols::default(), Symbols::default());
        let words = [Value::Symbol(from.intern("foo"))];
        let mut found = Vec::with_capacity(8);
        for block in 0..50_u8 {
            assert!(parent.send(&from, &words));
            parent.write_channel(&[f32::from(block); BLOCK]);
            parent.end_block();
            let mut sound = [9.0; BLOCK];
            child.audio.read_channel(&mut sound);
            let expected = f32::from(block) - 3.0;
            assert_eq!(sound[5], expected.max(0.0));
            while let Some((FrameKind::Message, payload)) = child.requests.next() {
                assert!(block >= 3);
                words_of(payload, &mut to, &mut found);
                assert_eq!(to.text(to_symbol(&found)), "foo");
            }
        }
    }

    fn to_symbol(words: &[Value]) -> Symbol {
        match words {
            [Value::Symbol(symbol)] => *symbol,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn too_much_on_the_way_is_refused_at_the_same_message_each_time() {
        let size = PipeSize {
            inputs: 0,
            outputs: 0,
            fifo: 2,
        };
        let mut from = Symbols::default();
        let long = from.intern(&"x".repeat(MAX_MESSAGE - 20));
        let counts = [true, false].map(|reads| {
            let (mut parent, mut child) = pipe(size);
            let mut count = 0;
            for _ in 0..10 {
                while parent.send(&from, &[Value::Symbol(long)]) {
                    count += 1;
                    while reads && child.requests.next().is_some() {}
                }
                parent.end_block();
                while child.requests.next().is_some() {}
            }
            count
        });
        assert_eq!(counts[0], counts[1]);
        assert!(counts[0] > 32, "{counts:?}");
    }
}
