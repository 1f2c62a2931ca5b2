//! [`Producer`] and [`Consumer`], and the chunks that they lend: [`WriteChunk`] and [`ReadChunk`].

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use units::Nanos;

use super::liveness::LivenessLock;
use super::shared::RingMemory;
use super::untyped_end::UntypedEnd;
use super::{ChunkError, Pod};
use crate::sync::Arc;

/// One end of a ring: a [`Producer`] or a [`Consumer`].
pub struct RingEnd<T, const IS_PRODUCER: bool> {
    end: UntypedEnd<IS_PRODUCER>,
    items: PhantomData<T>,
}

/// The writing end.
pub type Producer<T> = RingEnd<T, true>;

/// The reading end.
pub type Consumer<T> = RingEnd<T, false>;

/// Frames to write in place: channels x frames; as a slice, those of channel 0. They hold what was there before.
/// Dropped without [`WriteChunk::commit`], nothing is given to the consumer.
pub struct WriteChunk<'a, T> {
    producer: &'a mut Producer<T>,
    frames: usize,
}

/// Frames to read in place: channels x frames; as a slice, those of channel 0. Dropped without [`ReadChunk::release`],
/// the same frames are in the next chunk.
pub struct ReadChunk<'a, T> {
    consumer: &'a mut Consumer<T>,
    frames: usize,
}

impl<T: Pod, const IS_PRODUCER: bool> RingEnd<T, IS_PRODUCER> {
    pub(super) fn new(shared: Arc<RingMemory>, liveness: Option<LivenessLock>) -> Self {
        Self {
            end: UntypedEnd::new(shared, liveness),
            items: PhantomData,
        }
    }

    pub(super) fn resume(
        shared: Arc<RingMemory>,
        liveness: LivenessLock,
    ) -> Result<Self, ChunkError> {
        Ok(Self {
            end: UntypedEnd::resume(shared, liveness)?,
            items: PhantomData,
        })
    }

    /// Number of frames that this end can have in a chunk: of the producer free ones, of the consumer those to read.
    ///
    /// Real-time: hot.
    pub fn available(&mut self) -> usize {
        self.end.available()
    }

    /// Returns true if the other end has closed: no more frames are read, or no more follow those in the ring.
    ///
    /// Real-time: hot.
    pub fn is_closed(&self) -> bool {
        self.end.is_closed()
    }

    /// Capacity in frames.
    ///
    /// Real-time: hot.
    pub fn capacity(&self) -> usize {
        self.end.shared.layout.frames
    }

    /// Number of channels: items per frame.
    ///
    /// Real-time: hot.
    pub fn channels(&self) -> usize {
        self.end.shared.layout.channels
    }
}

impl<T: Pod> Producer<T> {
    /// Lends room for `frames` frames.
    ///
    /// Real-time: hot. Between processes, where there is too little room, one system call that does not wait asks
    /// if the other one is still alive.
    #[inline]
    pub fn write_chunk(&mut self, frames: usize) -> Result<WriteChunk<'_, T>, ChunkError> {
        self.end.require(frames)?;
        Ok(WriteChunk {
            producer: self,
            frames,
        })
    }

    /// As [`Producer::write_chunk`], waiting for it; [`ChunkError::TooFewFrames`] when `limit` is over.
    ///
    /// Real-time: waits, on the consumer, for `limit`, or without limit.
    pub fn wait_write_chunk(
        &mut self,
        frames: usize,
        limit: Option<Nanos>,
    ) -> Result<WriteChunk<'_, T>, ChunkError> {
        self.end.wait(frames, limit)?;
        Ok(WriteChunk {
            producer: self,
            frames,
        })
    }
}

impl<T: Pod> Consumer<T> {
    /// Lends the oldest `frames` frames.
    ///
    /// Real-time: hot. Between processes, where there are too few frames, one system call that does not wait asks if
    /// the other one is still alive.
    #[inline]
    pub fn read_chunk(&mut self, frames: usize) -> Result<ReadChunk<'_, T>, ChunkError> {
        self.end.require(frames)?;
        Ok(ReadChunk {
            consumer: self,
            frames,
        })
    }

    /// As [`Consumer::read_chunk`], waiting for it; [`ChunkError::TooFewFrames`] when `limit` is over.
    ///
    /// Real-time: waits, on the producer, for `limit`, or without limit.
    pub fn wait_read_chunk(
        &mut self,
        frames: usize,
        limit: Option<Nanos>,
    ) -> Result<ReadChunk<'_, T>, ChunkError> {
        self.end.wait(frames, limit)?;
        Ok(ReadChunk {
            consumer: self,
            frames,
        })
    }
}

impl<T: Pod> WriteChunk<'_, T> {
    /// The frames of one channel, counted from 0.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&mut self, channel: usize) -> &mut [T] {
        let end = &self.producer.end;
        let first = end.shared.channel(channel).cast::<T>();
        // SAFETY: the position is less than the capacity and there are at most as many frames as that, so all lie in
        // the two mappings of the channel, aligned like a page; the protocol gives them to the producer alone, which
        // this borrows; and any bits are a `T`.
        unsafe { std::slice::from_raw_parts_mut(first.add(end.position()).as_ptr(), self.frames) }
    }

    /// Gives the first `frames` frames to the consumer, on all channels; all of them if the chunk has fewer.
    ///
    /// Real-time: hot, wakes.
    #[inline]
    pub fn commit(self, frames: usize) {
        debug_assert!(frames <= self.frames, "no more frames than the chunk has");
        self.producer.end.advance(frames.min(self.frames));
    }
}

impl<T: Pod> ReadChunk<'_, T> {
    /// The frames of one channel, counted from 0.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&self, channel: usize) -> &[T] {
        let end = &self.consumer.end;
        let first = end.shared.channel(channel).cast::<T>();
        // SAFETY: as in `WriteChunk::channel`; the protocol gives these frames to the consumer alone, which this
        // borrows. A process that breaks the protocol changes values, which stay values.
        unsafe { std::slice::from_raw_parts(first.add(end.position()).as_ptr(), self.frames) }
    }

    /// Gives the first `frames` frames back to the producer, on all channels; all of them if the chunk has fewer.
    ///
    /// Real-time: hot, wakes.
    #[inline]
    pub fn release(self, frames: usize) {
        debug_assert!(frames <= self.frames, "no more frames than the chunk has");
        self.consumer.end.advance(frames.min(self.frames));
    }
}

impl<T: Pod> Deref for WriteChunk<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let end = &self.producer.end;
        let first = end.shared.channel(0).cast::<T>();
        // SAFETY: as in `WriteChunk::channel`.
        unsafe { std::slice::from_raw_parts(first.add(end.position()).as_ptr(), self.frames) }
    }
}

impl<T: Pod> DerefMut for WriteChunk<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.channel(0)
    }
}

impl<T: Pod> Deref for ReadChunk<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.channel(0)
    }
}
