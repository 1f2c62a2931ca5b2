//! The two ends of a queue as its nodes hold them: whether a firing can have what it asks for, and how it gets it.
//!
//! A ring has whole pages; a queue has the frames it was given. Its producer keeps the difference to itself: it asks the
//! ring for so many frames more than it lends.

use crate::fire::{InputWindow, Lent, OutputWindow, Seen};
use crate::shape::{EndOfStream, InputPort, OutputPort, QueueId};
use rt::mirror::{ChunkError, Consumer, Producer};
use units::Nanos;

/// The end that a node reads from.
pub(crate) struct InEnd {
    pub(crate) queue: QueueId,
    want: InputPort,
    consumer: Consumer<f32>,
    /// What comes is what the node gave, by a circle: it does not keep the node going.
    pub(crate) goes_round: bool,
    /// The last window, where silence was put behind the frames that are left.
    padded: Box<[Box<[f32]>]>,
    is_padded: bool,
}

/// What an input has for a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Supply {
    /// A window with frames that have not been seen.
    Ready,
    /// Nothing but silence ever again, which will do.
    Silent,
    /// Not yet enough.
    Short,
    /// Never enough again.
    Over,
}

/// The end that a node writes to.
pub(crate) struct OutEnd {
    pub(crate) queue: QueueId,
    want: OutputPort,
    producer: Producer<f32>,
    /// Frames that the queue has, at most the ring's.
    limit: usize,
    /// Where is written what nobody will read.
    scrap: Box<[Box<[f32]>]>,
    is_scrap: bool,
}

/// What an output has for a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The room.
    Ready,
    /// Not yet enough.
    Full,
    /// Nobody reads any more.
    Unheard,
}

impl InEnd {
    pub(crate) fn new(queue: QueueId, want: InputPort, consumer: Consumer<f32>) -> Self {
        Self {
            queue,
            want,
            consumer,
            goes_round: false,
            padded: Box::default(),
            is_padded: false,
        }
    }

    /// Whether there is a window. At the end of the stream it allocates.
    #[inline]
    pub(crate) fn supply(&mut self) -> Supply {
        match self.consumer.read_chunk(self.want.window) {
            Ok(_) => {
                self.is_padded = false;
                Supply::Ready
            }
            Err(ChunkError::TooFewFrames { .. }) => Supply::Short,
            Err(_) => self.at_the_end(),
        }
    }

    #[cold]
    fn at_the_end(&mut self) -> Supply {
        // Asked before the frames are counted: all that was ever given is counted then.
        let is_closed = self.consumer.is_closed();
        let left = self.consumer.available();
        let seen = match self.want.at_end {
            EndOfStream::Flush => 0,
            _ => self.want.overlap(),
        };
        let has_new = left > seen;
        match self.want.at_end {
            // A window larger than the ring, which will grow.
            _ if !is_closed => return Supply::Short,
            EndOfStream::Drop => return Supply::Over,
            EndOfStream::Pad | EndOfStream::Flush if !has_new => return Supply::Over,
            EndOfStream::Pad | EndOfStream::Flush | EndOfStream::Extend => self.pad(left),
        }
        match has_new {
            true => Supply::Ready,
            false => Supply::Silent,
        }
    }

    /// Makes a window of what is left, with silence behind.
    fn pad(&mut self, left: usize) {
        let InputPort {
            window, channels, ..
        } = self.want;
        let Ok(rest) = self.consumer.read_chunk(left) else {
            return;
        };
        let padded = (0..channels).map(|channel| {
            let mut frames = vec![0.0; window].into_boxed_slice();
            frames[..left].copy_from_slice(rest.channel(channel));
            frames
        });
        self.padded = padded.collect();
        self.is_padded = true;
    }

    /// The window, after [`InEnd::supply`] has found one.
    #[inline]
    pub(crate) fn view(&mut self) -> InputWindow<'_> {
        if self.is_padded {
            return InputWindow(Seen::Padded(&self.padded));
        }
        let window = self.consumer.read_chunk(self.want.window);
        InputWindow(Seen::Ring(
            window.expect("it was there, and only this takes from it"),
        ))
    }

    /// Takes what a firing takes.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let frames = match self.is_padded {
            true => self.want.consume.min(self.consumer.available()),
            false => self.want.consume,
        };
        if let Ok(window) = self.consumer.read_chunk(frames) {
            window.release(frames);
        }
    }

    /// Waits for a window, or the end of the stream.
    ///
    /// Real-time: waits, on the producer, for `limit`.
    pub(crate) fn wait(&mut self, limit: Nanos) {
        // Whoever waited looks at the supply.
        let _ = self.consumer.wait_read_chunk(self.want.window, Some(limit));
    }

    /// Hands the oldest `frames` frames of each channel to `take`, and they are gone; whether there were so many.
    ///
    /// Real-time: hot.
    pub(crate) fn pull(&mut self, frames: usize, mut take: impl FnMut(usize, &[f32])) -> bool {
        let Ok(window) = self.consumer.read_chunk(frames) else {
            return false;
        };
        (0..self.want.channels).for_each(|channel| take(channel, window.channel(channel)));
        window.release(frames);
        true
    }

    /// Forgets all that is in it.
    ///
    /// Real-time: hot.
    pub(crate) fn clear(&mut self) {
        let frames = self.consumer.available();
        self.pull(frames, |_, _| {});
    }

    /// Frames there are.
    pub(crate) fn fill(&mut self) -> usize {
        self.consumer.available()
    }

    /// What is in it, a channel after the other.
    pub(crate) fn content(&mut self) -> Vec<Vec<f32>> {
        let frames = self.consumer.available();
        let Ok(window) = self.consumer.read_chunk(frames) else {
            return Vec::new();
        };
        let channels = 0..self.want.channels;
        channels
            .map(|channel| window.channel(channel).to_vec())
            .collect()
    }

    /// Reads from another ring from now on.
    pub(crate) fn move_to(&mut self, consumer: Consumer<f32>) {
        self.consumer = consumer;
    }
}

impl OutEnd {
    pub(crate) fn new(
        queue: QueueId,
        want: OutputPort,
        producer: Producer<f32>,
        limit: usize,
    ) -> Self {
        Self {
            queue,
            want,
            producer,
            limit,
            scrap: Box::default(),
            is_scrap: false,
        }
    }

    /// Frames of the ring that the queue does not have.
    #[inline]
    fn slack(&self) -> usize {
        self.producer.capacity() - self.limit
    }

    /// Whether there is room.
    #[inline]
    pub(crate) fn space(&mut self) -> Space {
        if self.is_scrap {
            return Space::Unheard;
        }
        let asked = self.want.window + self.slack();
        match self.producer.write_chunk(asked) {
            Ok(_) => return Space::Ready,
            Err(ChunkError::TooFewFrames { .. }) => return Space::Full,
            Err(_) => {}
        }
        match self.producer.is_closed() {
            true => {
                write_for_nobody(&self.want, &mut self.scrap, &mut self.is_scrap);
                Space::Unheard
            }
            // More than the queue has, which will grow.
            false => Space::Full,
        }
    }

    /// The room, after [`OutEnd::space`] has found one. Where the reader is gone, be it since a moment ago, it is scrap.
    #[inline]
    pub(crate) fn lend(&mut self) -> OutputWindow<'_> {
        let room = match self.is_scrap {
            false => self.producer.write_chunk(self.want.window),
            true => Err(ChunkError::Closed { left: 0 }),
        };
        match room {
            Ok(room) => OutputWindow(Lent::Ring(room)),
            Err(_) => OutputWindow(Lent::Scrap(write_for_nobody(
                &self.want,
                &mut self.scrap,
                &mut self.is_scrap,
            ))),
        }
    }

    /// Gives away what a firing gives, or `frames` if these are fewer.
    #[inline]
    pub(crate) fn advance(&mut self, frames: usize) {
        let frames = frames.min(self.want.produce);
        if let Ok(room) = self.producer.write_chunk(frames) {
            room.commit(frames);
        }
    }

    /// Waits for room, or for the reader to end.
    ///
    /// Real-time: waits, on the consumer, for `limit`.
    pub(crate) fn wait(&mut self, limit: Nanos) {
        // Whoever waited looks at the space.
        let asked = self.want.window + self.slack();
        let _ = self.producer.wait_write_chunk(asked, Some(limit));
    }

    /// Frames there is room for, in the queue and not only in the ring.
    ///
    /// Real-time: hot.
    pub(crate) fn free(&mut self) -> usize {
        self.producer.available().saturating_sub(self.slack())
    }

    /// Has `give` write `frames` frames of each channel, and gives them away; whether there was room.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, frames: usize, mut give: impl FnMut(usize, &mut [f32])) -> bool {
        let Ok(mut room) = self.producer.write_chunk(frames) else {
            return false;
        };
        (0..self.want.channels).for_each(|channel| give(channel, room.channel(channel)));
        room.commit(frames);
        true
    }

    /// Writes silence wherever there is room, in the whole ring, and gives `frames` of it away.
    ///
    /// Real-time: hot.
    pub(crate) fn silence(&mut self, frames: usize) {
        let all = self.producer.available();
        if let Ok(mut room) = self.producer.write_chunk(all) {
            (0..self.want.channels).for_each(|channel| room.channel(channel).fill(0.0));
            room.commit(frames);
        }
    }

    /// Frames it asks for at once.
    pub(crate) fn room(&self) -> usize {
        self.want.window
    }

    /// Samples a frame.
    pub(crate) fn channels(&self) -> usize {
        self.want.channels
    }

    /// Frames that the queue has.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Frames that the ring has.
    pub(crate) fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    /// What firings have written behind what they gave away, a channel after the other.
    pub(crate) fn pending(&mut self) -> Vec<Vec<f32>> {
        let frames = (self.want.window - self.want.produce).min(self.producer.available());
        let Ok(mut room) = self.producer.write_chunk(frames) else {
            return Vec::new();
        };
        let channels = 0..self.want.channels;
        channels
            .map(|channel| room.channel(channel).to_vec())
            .collect()
    }

    /// Has so many frames from now on, of the ring it has.
    pub(crate) fn widen(&mut self, limit: usize) {
        self.limit = limit.min(self.producer.capacity());
    }

    /// Writes to another ring from now on, all of which the queue has until it is told otherwise.
    pub(crate) fn move_to(&mut self, producer: Producer<f32>) {
        self.producer = producer;
        self.limit = self.producer.capacity();
    }
}

/// Where to write when nobody reads.
#[cold]
fn write_for_nobody<'a>(
    want: &OutputPort,
    scrap: &'a mut Box<[Box<[f32]>]>,
    is_scrap: &mut bool,
) -> &'a mut [Box<[f32]>] {
    if !std::mem::replace(is_scrap, true) {
        *scrap = vec![vec![0.0; want.window].into_boxed_slice(); want.channels].into();
    }
    scrap
}
