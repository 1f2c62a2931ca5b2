//! [`Ring`]: makes or opens the memory, and gives out its two ends.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use units::Nanos;

use super::bell::Bell;
use super::ends::{Consumer, Producer};
use super::header::Header;
use super::layout::RingLayout;
use super::liveness::LivenessLock;
use super::mapping::Mapping;
use super::memory::{self, PageSize};
use super::shared::{RingMemory, header};
use super::{Pod, RingError};
use crate::fence::AsymmetricFence;
use crate::sync::Arc;
use crate::wake::kernel::WordWait;

/// A ring that a process left with counts that cannot be.
const CONTRADICTION: RingError = RingError::Incompatible("its counts contradict each other");

/// A ring of frames with one item of `T` on each channel.
pub struct Ring<T> {
    shared: Arc<RingMemory>,
    items: PhantomData<T>,
}

/// The two ends of a ring for at least `frames` frames of one channel, between two threads.
///
/// Real-time: setup.
pub fn channel<T: Pod>(frames: usize) -> Result<(Producer<T>, Consumer<T>), RingError> {
    let ring = Ring::new(1, frames, PageSize::Default)?;
    Ok((ring.producer()?, ring.consumer()?))
}

impl<T: Pod> Ring<T> {
    /// Longest sleep before an end that waits looks if the other process is alive.
    pub const LIVENESS_INTERVAL: Nanos = super::untyped_end::LIVENESS_INTERVAL;

    /// A ring of `channels` x at least `frames` items for threads of this process; each channel is rounded up to whole
    /// pages.
    ///
    /// Real-time: setup.
    pub fn new(channels: usize, frames: usize, pages: PageSize) -> Result<Self, RingError> {
        Self::new_in(memory::create, channels, frames, pages)
    }

    /// As [`Ring::new`], in memory that `create` makes.
    pub(super) fn new_in(
        create: impl FnOnce(usize, PageSize) -> Result<OwnedFd, RingError>,
        channels: usize,
        frames: usize,
        pages: PageSize,
    ) -> Result<Self, RingError> {
        let layout = RingLayout::new(frames, channels, size_of::<T>(), memory::page(pages))?;
        let file = create(layout.memory(), pages)?;
        let mut ring = Self::lay_out(
            layout,
            file,
            AsymmetricFence::within_process(),
            WordWait::new(),
        )?;
        if let Some(shared) = Arc::get_mut(&mut ring.shared) {
            shared.file = None;
        }
        Ok(ring)
    }

    /// As [`Ring::new`], for one end in this process and one in another, which gets [`Ring::file`].
    ///
    /// Real-time: setup.
    pub fn shared(channels: usize, frames: usize, pages: PageSize) -> Result<Self, RingError> {
        let layout = RingLayout::new(frames, channels, size_of::<T>(), memory::page(pages))?;
        let file = memory::create(layout.memory(), pages)?;
        memory::seal(&file)?;
        Self::lay_out(
            layout,
            file,
            AsymmetricFence::across_processes(),
            WordWait::shared(),
        )
    }

    /// Opens the ring of another process. Everything in it is checked, its sizes and its counts.
    ///
    /// Real-time: setup.
    pub fn open(file: OwnedFd) -> Result<Self, RingError> {
        let (bytes, page) = memory::measure(&file)?;
        let claim = {
            let head = Mapping::head(file.as_fd(), page)?;
            header(&head).description.read(T::TAG)
        };
        let claim = claim.map_err(RingError::Incompatible)?;
        let layout = RingLayout::new(claim.frames, claim.channels, size_of::<T>(), page)?;
        let is_exact = layout.frames == claim.frames && layout.memory() == bytes;
        if !is_exact || claim.page != page || claim.item != size_of::<T>() {
            return Err(RingError::Incompatible("its sizes contradict each other"));
        }
        Ok(Self {
            shared: Arc::new(RingMemory {
                mapping: Mapping::new(file.as_fd(), &layout)?,
                layout,
                fences: AsymmetricFence::across_processes(),
                kernel: WordWait::shared(),
                file: Some(file),
            }),
            items: PhantomData,
        })
    }

    fn lay_out(
        layout: RingLayout,
        file: OwnedFd,
        fences: AsymmetricFence,
        kernel: WordWait,
    ) -> Result<Self, RingError> {
        let mapping = Mapping::new(file.as_fd(), &layout)?;
        // SAFETY: the first page of the mapping is aligned, large enough for a header, and nobody else has it yet.
        unsafe { mapping.start().cast::<Header>().write(Header::new()) };
        header(&mapping).description.write(&layout, T::TAG);
        Ok(Self {
            shared: Arc::new(RingMemory {
                mapping,
                layout,
                fences,
                kernel,
                file: Some(file),
            }),
            items: PhantomData,
        })
    }

    /// The writing end; only once.
    ///
    /// Real-time: setup.
    pub fn producer(&self) -> Result<Producer<T>, RingError> {
        let liveness = self.liveness_lock(LivenessLock::PRODUCER)?;
        match self.shared.header().producer.take() {
            true => Ok(Producer::new(self.shared.clone(), liveness)),
            false => Err(RingError::Taken),
        }
    }

    /// The reading end; only once.
    ///
    /// Real-time: setup.
    pub fn consumer(&self) -> Result<Consumer<T>, RingError> {
        let liveness = self.liveness_lock(LivenessLock::CONSUMER)?;
        match self.shared.header().consumer.take() {
            true => Ok(Consumer::new(self.shared.clone(), liveness)),
            false => Err(RingError::Taken),
        }
    }

    /// The writing end of a process that has ended, from where that process left it. What it had not committed is lost.
    ///
    /// # Errors
    ///
    /// [`RingError::Taken`] while that process lives or if it never took the end, and counts that contradict each other.
    ///
    /// Real-time: setup.
    pub fn resume_producer(&self) -> Result<Producer<T>, RingError> {
        let bell = &self.shared.header().producer;
        let lock = self.left_lock(bell, LivenessLock::PRODUCER)?;
        Producer::resume(self.shared.clone(), lock).map_err(|_| CONTRADICTION)
    }

    /// The reading end of a process that has ended, from where that process left it. What it had not released is read again.
    ///
    /// # Errors
    ///
    /// As for [`resume_producer`](Self::resume_producer).
    ///
    /// Real-time: setup.
    pub fn resume_consumer(&self) -> Result<Consumer<T>, RingError> {
        let bell = &self.shared.header().consumer;
        let lock = self.left_lock(bell, LivenessLock::CONSUMER)?;
        Consumer::resume(self.shared.clone(), lock).map_err(|_| CONTRADICTION)
    }

    /// The lock of an end that a process took and left by its death.
    fn left_lock(&self, bell: &Bell, end: i64) -> Result<LivenessLock, RingError> {
        match (bell.is_taken(), bell.is_closed()) {
            (true, false) => self.liveness_lock(end)?.ok_or(RingError::Taken),
            _ => Err(RingError::Taken),
        }
    }

    fn liveness_lock(&self, end: i64) -> Result<Option<LivenessLock>, RingError> {
        let file = self.shared.file.as_ref();
        file.map(|file| LivenessLock::acquire(file.as_fd(), end))
            .transpose()
    }

    /// Descriptor for another process, which calls [`Ring::open`]; `None` for a ring between threads.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.shared.file.as_ref().map(AsFd::as_fd)
    }

    /// Capacity in frames, rounded up to pages.
    pub fn capacity(&self) -> usize {
        self.shared.layout.frames
    }

    /// Number of channels: items per frame.
    pub fn channels(&self) -> usize {
        self.shared.layout.channels
    }
}
