//! The two ends of a queue, as its nodes hold them: whether a firing can have its windows, and the windows themselves.
//!
//! ```text
//!            ┌───────────────────── ring: whole pages ─────────────────────┐
//!            │ frames in the queue      │ room of the queue  │  slack        │
//!            └──────────────────────────┴────────────────────┴───────────────┘
//!             InputEnd reads here        OutputEnd writes here  is never written
//!            └──────────────── size of the queue ────────────┘
//! ```
//!
//! The producer keeps the slack free: it asks the ring for that many more frames than its window has. So a queue blocks at
//! its size, whatever the size of a page.

use crate::actor::{InputWindow, OutputWindow, WindowSource, WindowTarget};
use crate::topology::{EndOfStream, InputPort, OutputPort, QueueId};
use rt::mirror::{ChunkError, Consumer, Producer};

/// The end that a node reads from.
pub(crate) struct InputEnd {
    pub(crate) queue: QueueId,
    port: InputPort,
    consumer: Consumer<f32>,
    /// True on a cycle, of a node with other inputs: this input carries what the node itself caused, and does not keep it
    /// alive.
    pub(crate) is_feedback: bool,
    /// Last window of the stream: the frames that are left, padded with silence.
    padded: Box<[Box<[f32]>]>,
    is_padded: bool,
}

/// State of an input with regard to a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputState {
    /// A window with new frames.
    Ready,
    /// A window of silence: the stream has ended, and the input is extended.
    Silent,
    /// Too few frames yet.
    TooFew,
    /// Too few frames, and no more will come.
    Ended,
}

/// The end that a node writes to.
pub(crate) struct OutputEnd {
    pub(crate) queue: QueueId,
    port: OutputPort,
    producer: Producer<f32>,
    /// Size of the queue in frames, at most the ring's.
    size: usize,
    /// Window to write to once the reader has ended.
    discarded: Box<[Box<[f32]>]>,
    is_discarding: bool,
}

/// State of an output with regard to a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputState {
    /// Room for a window.
    Ready,
    /// Too little room yet.
    Full,
    /// The reader has ended.
    Closed,
}

impl InputEnd {
    /// The reading end of `queue`.
    pub(crate) fn new(queue: QueueId, port: InputPort, consumer: Consumer<f32>) -> Self {
        Self {
            queue,
            port,
            consumer,
            is_feedback: false,
            padded: Box::default(),
            is_padded: false,
        }
    }

    /// Looks for a window. Allocates at the end of a stream, for a padded one.
    #[inline]
    pub(crate) fn state(&mut self) -> InputState {
        match self.consumer.read_chunk(self.port.window) {
            Ok(_) => {
                self.is_padded = false;
                InputState::Ready
            }
            Err(ChunkError::TooFewFrames { .. }) => InputState::TooFew,
            Err(_) => self.state_at_end(),
        }
    }

    /// The state if the writer has ended, or the window is larger than the ring.
    #[cold]
    fn state_at_end(&mut self) -> InputState {
        // Asked before the frames are counted: then the count has all frames that were ever produced.
        let is_closed = self.consumer.is_closed();
        let left = self.consumer.available();
        let seen = match self.port.at_end {
            EndOfStream::Flush => 0,
            _ => self.port.overlap(),
        };
        let has_new = left > seen;
        match self.port.at_end {
            // The window is larger than the ring, which will grow.
            _ if !is_closed => return InputState::TooFew,
            EndOfStream::Drop => return InputState::Ended,
            EndOfStream::Pad | EndOfStream::Flush if !has_new => return InputState::Ended,
            EndOfStream::Pad | EndOfStream::Flush | EndOfStream::Extend => self.pad(left),
        }
        match has_new {
            true => InputState::Ready,
            false => InputState::Silent,
        }
    }

    /// Prepares a window of the `left` frames that are left, padded with silence.
    fn pad(&mut self, left: usize) {
        let InputPort {
            window, channels, ..
        } = self.port;
        let Ok(chunk) = self.consumer.read_chunk(left) else {
            return;
        };
        let padded = (0..channels).map(|channel| {
            let mut frames = vec![0.0; window].into_boxed_slice();
            frames[..left].copy_from_slice(chunk.channel(channel));
            frames
        });
        self.padded = padded.collect();
        self.is_padded = true;
    }

    /// The window that [`InputEnd::state`] has found.
    #[inline]
    pub(crate) fn window(&mut self) -> InputWindow<'_> {
        if self.is_padded {
            return InputWindow(WindowSource::Padded(&self.padded));
        }
        let chunk = self.consumer.read_chunk(self.port.window);
        InputWindow(WindowSource::Ring(
            chunk.expect("`state` has found it, and no one else consumes"),
        ))
    }

    /// Consumes what a firing consumes.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let frames = match self.is_padded {
            true => self.port.consume.min(self.consumer.available()),
            false => self.port.consume,
        };
        if let Ok(chunk) = self.consumer.read_chunk(frames) {
            chunk.release(frames);
        }
    }

    /// Consumes the oldest `frames` frames, and passes them to `read`, channel by channel. Returns false if there are fewer.
    ///
    /// Real-time: hot.
    pub(crate) fn pull(&mut self, frames: usize, mut read: impl FnMut(usize, &[f32])) -> bool {
        let Ok(chunk) = self.consumer.read_chunk(frames) else {
            return false;
        };
        (0..self.port.channels).for_each(|channel| read(channel, chunk.channel(channel)));
        chunk.release(frames);
        true
    }

    /// Removes all frames.
    ///
    /// Real-time: hot.
    pub(crate) fn clear(&mut self) {
        let frames = self.consumer.available();
        self.pull(frames, |_, _| {});
    }

    /// Shows all frames to `read`, channel by channel, and leaves them.
    ///
    /// Real-time: hot.
    pub(crate) fn show(&mut self, mut read: impl FnMut(&[f32])) {
        let frames = self.consumer.available();
        if let Ok(chunk) = self.consumer.read_chunk(frames) {
            (0..self.port.channels).for_each(|channel| read(chunk.channel(channel)));
        }
    }

    /// Number of frames in the queue.
    pub(crate) fn fill(&mut self) -> usize {
        self.consumer.available()
    }

    /// Copy of all frames, channel by channel.
    pub(crate) fn content(&mut self) -> Vec<Vec<f32>> {
        let frames = self.consumer.available();
        let Ok(chunk) = self.consumer.read_chunk(frames) else {
            return Vec::new();
        };
        let channels = 0..self.port.channels;
        channels
            .map(|channel| chunk.channel(channel).to_vec())
            .collect()
    }

    /// Reads from another ring from now on.
    pub(crate) fn move_to(&mut self, consumer: Consumer<f32>) {
        self.consumer = consumer;
    }
}

impl OutputEnd {
    /// The writing end of `queue`, whose size is `size`.
    pub(crate) fn new(
        queue: QueueId,
        port: OutputPort,
        producer: Producer<f32>,
        size: usize,
    ) -> Self {
        Self {
            queue,
            port,
            producer,
            size,
            discarded: Box::default(),
            is_discarding: false,
        }
    }

    /// Frames of the ring beyond the queue's size.
    #[inline]
    fn slack(&self) -> usize {
        self.producer.capacity() - self.size
    }

    /// Looks for room for a window.
    #[inline]
    pub(crate) fn state(&mut self) -> OutputState {
        if self.is_discarding {
            return OutputState::Closed;
        }
        match self.producer.write_chunk(self.port.window + self.slack()) {
            Ok(_) => return OutputState::Ready,
            Err(ChunkError::TooFewFrames { .. }) => return OutputState::Full,
            Err(_) => {}
        }
        match self.producer.is_closed() {
            true => {
                discard_window(&self.port, &mut self.discarded, &mut self.is_discarding);
                OutputState::Closed
            }
            // The window is larger than the queue, which will grow.
            false => OutputState::Full,
        }
    }

    /// The window that [`OutputEnd::state`] has found; one whose content is discarded if the reader has ended, be it since
    /// then.
    #[inline]
    pub(crate) fn window_mut(&mut self) -> OutputWindow<'_> {
        let chunk = match self.is_discarding {
            false => self.producer.write_chunk(self.port.window),
            true => Err(ChunkError::Closed { left: 0 }),
        };
        OutputWindow(match chunk {
            Ok(chunk) => WindowTarget::Ring(chunk),
            Err(_) => WindowTarget::Discarded(discard_window(
                &self.port,
                &mut self.discarded,
                &mut self.is_discarding,
            )),
        })
    }

    /// Produces what a firing produces, or `frames` frames if these are fewer.
    #[inline]
    pub(crate) fn advance(&mut self, frames: usize) {
        let frames = frames.min(self.port.produce);
        if let Ok(chunk) = self.producer.write_chunk(frames) {
            chunk.commit(frames);
        }
    }

    /// Frames for which the queue has room.
    ///
    /// Real-time: hot.
    pub(crate) fn free(&mut self) -> usize {
        self.producer.available().saturating_sub(self.slack())
    }

    /// Produces `frames` frames that `write` writes, channel by channel. Returns false if there is too little room.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, frames: usize, mut write: impl FnMut(usize, &mut [f32])) -> bool {
        let Ok(mut chunk) = self.producer.write_chunk(frames) else {
            return false;
        };
        (0..self.port.channels).for_each(|channel| write(channel, chunk.channel(channel)));
        chunk.commit(frames);
        true
    }

    /// Fills all room of the ring with silence, and produces `frames` frames of it.
    ///
    /// Real-time: hot.
    pub(crate) fn push_silence(&mut self, frames: usize) {
        let room = self.producer.available();
        if let Ok(mut chunk) = self.producer.write_chunk(room) {
            (0..self.port.channels).for_each(|channel| chunk.channel(channel).fill(0.0));
            chunk.commit(frames);
        }
    }

    /// Channels of the queue, and frames that a firing writes behind those that it produces.
    pub(crate) fn shape(&self) -> (usize, usize) {
        let OutputPort {
            channels,
            window,
            produce,
            ..
        } = self.port;
        (channels, window - produce)
    }

    /// Shows the memory of the `frames` frames behind those that were produced to `see`, channel by channel.
    ///
    /// Real-time: hot.
    pub(crate) fn show_pending(&mut self, frames: usize, mut see: impl FnMut(&mut [f32])) {
        if let Ok(mut chunk) = self.producer.write_chunk(frames) {
            (0..self.port.channels).for_each(|channel| see(chunk.channel(channel)));
        }
    }

    /// Frames of a window.
    pub(crate) fn window_len(&self) -> usize {
        self.port.window
    }

    /// Size of the queue, in frames.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Capacity of the ring, in frames.
    pub(crate) fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    /// Copy of what firings have written behind the frames that they produced, channel by channel.
    pub(crate) fn pending(&mut self) -> Vec<Vec<f32>> {
        let frames = (self.port.window - self.port.produce).min(self.producer.available());
        let Ok(mut chunk) = self.producer.write_chunk(frames) else {
            return Vec::new();
        };
        let channels = 0..self.port.channels;
        channels
            .map(|channel| chunk.channel(channel).to_vec())
            .collect()
    }

    /// Sets the queue's size, at most the ring's capacity.
    pub(crate) fn set_size(&mut self, size: usize) {
        self.size = size.min(self.producer.capacity());
    }

    /// Writes to another ring from now on. The queue has all of it until [`set_size`](Self::set_size).
    pub(crate) fn move_to(&mut self, producer: Producer<f32>) {
        self.producer = producer;
        self.size = self.producer.capacity();
    }
}

/// The window whose content is discarded; allocated when it is first needed.
#[cold]
fn discard_window<'a>(
    port: &OutputPort,
    discarded: &'a mut Box<[Box<[f32]>]>,
    is_discarding: &mut bool,
) -> &'a mut [Box<[f32]>] {
    if !std::mem::replace(is_discarding, true) {
        *discarded = vec![vec![0.0; port.window].into_boxed_slice(); port.channels].into();
    }
    discarded
}
