//! [`Producer`] and [`Consumer`], and what they lend: [`Room`] and [`Window`].

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use units::Nanos;

use super::life::Life;
use super::reach::Reach;
use super::ring::Shared;
use super::{Plain, Refusal};
use crate::sync::Arc;

/// The end that writes.
pub struct Producer<T> {
    reach: Reach<true>,
    items: PhantomData<T>,
}

/// The end that reads.
pub struct Consumer<T> {
    reach: Reach<false>,
    items: PhantomData<T>,
}

/// Frames to write in place; as a slice, those of channel 0. What was there before is still there. Dropped without
/// [`Room::commit`], nothing is given away.
pub struct Room<'a, T> {
    producer: &'a mut Producer<T>,
    frames: usize,
}

/// Frames to read in place; as a slice, those of channel 0. Dropped without [`Window::release`], it can be had again.
pub struct Window<'a, T> {
    consumer: &'a mut Consumer<T>,
    frames: usize,
}

impl<T: Plain> Producer<T> {
    pub(super) fn new(shared: Arc<Shared>, life: Option<Life>) -> Self {
        Self {
            reach: Reach::new(shared, life),
            items: PhantomData,
        }
    }

    /// Room for `frames` frames.
    ///
    /// Real-time: hot. Between processes, where there is too little room, one system call that does not wait asks
    /// whether the other one still is.
    #[inline]
    pub fn room(&mut self, frames: usize) -> Result<Room<'_, T>, Refusal> {
        self.reach.reach(frames)?;
        Ok(Room {
            producer: self,
            frames,
        })
    }

    /// As [`Producer::room`], waiting for it; [`Refusal::Short`] when `limit` is over.
    ///
    /// Real-time: waits, on the consumer, for `limit`, or without limit.
    pub fn wait_room(
        &mut self,
        frames: usize,
        limit: Option<Nanos>,
    ) -> Result<Room<'_, T>, Refusal> {
        self.reach.wait(frames, limit)?;
        Ok(Room {
            producer: self,
            frames,
        })
    }

    /// Frames there is room for.
    ///
    /// Real-time: hot.
    pub fn available(&mut self) -> usize {
        self.reach.available()
    }

    /// Whether the consumer has closed: nobody will read what is written.
    ///
    /// Real-time: hot.
    pub fn is_closed(&self) -> bool {
        self.reach.is_closed()
    }

    /// Whether the consumer's process is gone without having closed. A call that finds room does not ask; what is left
    /// of the ring can be filled for nobody, and then it is told.
    ///
    /// Real-time: hot between threads, and never; between processes one system call that does not wait.
    pub fn is_dead(&self) -> bool {
        self.reach.is_dead()
    }

    /// Frames that fit.
    ///
    /// Real-time: hot.
    pub fn capacity(&self) -> usize {
        self.reach.shared.layout.frames
    }

    /// Items a frame.
    ///
    /// Real-time: hot.
    pub fn channels(&self) -> usize {
        self.reach.shared.layout.channels
    }
}

impl<T: Plain> Consumer<T> {
    pub(super) fn new(shared: Arc<Shared>, life: Option<Life>) -> Self {
        Self {
            reach: Reach::new(shared, life),
            items: PhantomData,
        }
    }

    /// The oldest `frames` frames.
    ///
    /// Real-time: hot. Between processes, where there are too few, one system call that does not wait asks whether the
    /// other one still is.
    #[inline]
    pub fn window(&mut self, frames: usize) -> Result<Window<'_, T>, Refusal> {
        self.reach.reach(frames)?;
        Ok(Window {
            consumer: self,
            frames,
        })
    }

    /// As [`Consumer::window`], waiting for it; [`Refusal::Short`] when `limit` is over.
    ///
    /// Real-time: waits, on the producer, for `limit`, or without limit.
    pub fn wait_window(
        &mut self,
        frames: usize,
        limit: Option<Nanos>,
    ) -> Result<Window<'_, T>, Refusal> {
        self.reach.wait(frames, limit)?;
        Ok(Window {
            consumer: self,
            frames,
        })
    }

    /// Frames there are.
    ///
    /// Real-time: hot.
    pub fn available(&mut self) -> usize {
        self.reach.available()
    }

    /// Whether the producer has closed: what is in the ring is all that will come.
    ///
    /// Real-time: hot.
    pub fn is_closed(&self) -> bool {
        self.reach.is_closed()
    }

    /// Whether the producer's process is gone without having closed. A call that finds its window does not ask: what was
    /// given before is still good, and when too little of it is left, it is told.
    ///
    /// Real-time: hot between threads, and never; between processes one system call that does not wait.
    pub fn is_dead(&self) -> bool {
        self.reach.is_dead()
    }

    /// Frames that fit.
    ///
    /// Real-time: hot.
    pub fn capacity(&self) -> usize {
        self.reach.shared.layout.frames
    }

    /// Items a frame.
    ///
    /// Real-time: hot.
    pub fn channels(&self) -> usize {
        self.reach.shared.layout.channels
    }
}

impl<T: Plain> Room<'_, T> {
    /// The frames of one channel, of those that the ring has.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&mut self, channel: usize) -> &mut [T] {
        let reach = &self.producer.reach;
        let first = reach.shared.channel(channel).cast::<T>();
        // SAFETY: the position is less than the capacity and there are at most as many frames as that, so all lie in
        // the two mappings of the channel, aligned like a page; the protocol gives them to the producer alone, which
        // this borrows; and any bits are a `T`.
        unsafe { std::slice::from_raw_parts_mut(first.add(reach.position()).as_ptr(), self.frames) }
    }

    /// Gives the first `frames` frames to the consumer, on all channels; all of them if there are fewer.
    ///
    /// Real-time: hot, wakes.
    #[inline]
    pub fn commit(self, frames: usize) {
        debug_assert!(frames <= self.frames, "no more than was lent");
        self.producer.reach.advance(frames.min(self.frames));
    }
}

impl<T: Plain> Window<'_, T> {
    /// The frames of one channel, of those that the ring has.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&self, channel: usize) -> &[T] {
        let reach = &self.consumer.reach;
        let first = reach.shared.channel(channel).cast::<T>();
        // SAFETY: as in `Room::channel`; the protocol gives these frames to the consumer alone, which this borrows. A
        // process that breaks the protocol changes values, which stay values.
        unsafe { std::slice::from_raw_parts(first.add(reach.position()).as_ptr(), self.frames) }
    }

    /// Gives the first `frames` frames back, on all channels; all of them if there are fewer.
    ///
    /// Real-time: hot, wakes.
    #[inline]
    pub fn release(self, frames: usize) {
        debug_assert!(frames <= self.frames, "no more than was lent");
        self.consumer.reach.advance(frames.min(self.frames));
    }
}

impl<T: Plain> Deref for Room<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let reach = &self.producer.reach;
        let first = reach.shared.channel(0).cast::<T>();
        // SAFETY: as in `Room::channel`.
        unsafe { std::slice::from_raw_parts(first.add(reach.position()).as_ptr(), self.frames) }
    }
}

impl<T: Plain> DerefMut for Room<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.channel(0)
    }
}

impl<T: Plain> Deref for Window<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.channel(0)
    }
}
