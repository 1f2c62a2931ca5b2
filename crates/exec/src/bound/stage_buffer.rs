//! Buffers between the stages of a pipeline.
//!
//! Stages that are k cycles apart have k + 1 places between them. The block at position p, number b = p / block, lies
//! in place b modulo k + 1. In each cycle the sender writes the place of its block and the receiver reads the place of
//! its own, which is k blocks older: never the same place.
//!
//! ```text
//! k = 2    cycle     5     6     7
//!          send      2     0     1     place of block 5, 6, 7
//!          receive   0     1     2     place of block 3, 4, 5
//! ```

use super::ring::mapped_samples;
use plan::StageBuffer;
use std::cell::UnsafeCell;
use units::Frames;

/// Memory of one stage buffer.
pub(crate) struct StageBufferMemory {
    samples: Box<[UnsafeCell<f32>]>,
    /// By place and channel: true if the block is exactly silent.
    silent: Box<[UnsafeCell<bool>]>,
    places: u64,
    channels: usize,
    block: usize,
}

// SAFETY: reached only by the claimed steps of its sender and its receiver, which are at different places in every
// cycle; between cycles the executor's start and join order them.
unsafe impl Sync for StageBufferMemory {}

impl StageBufferMemory {
    pub(crate) fn new(buffer: &StageBuffer, block: Frames) -> Self {
        let (channels, block) = (buffer.channels.count(), block.count());
        let rows = channels * (buffer.lag as usize + 1);
        Self {
            samples: mapped_samples(rows * block),
            silent: (0..rows).map(|_| UnsafeCell::new(true)).collect(),
            places: u64::from(buffer.lag) + 1,
            channels,
            block,
        }
    }

    fn row(&self, position: u64, channel: usize) -> usize {
        let place = (position / self.block as u64) % self.places;
        place as usize * self.channels + channel.min(self.channels - 1)
    }

    /// Writes `channel` of the block at `position`.
    ///
    /// # Safety
    ///
    /// The caller has the claim on the sender, in the only cycle in which it processes this block.
    pub(crate) unsafe fn send(&self, position: u64, channel: usize, from: &[f32], silent: bool) {
        let row = self.row(position, channel);
        let samples = &self.samples[row * self.block..][..self.block];
        let count = from.len().min(self.block);
        // SAFETY: in this cycle the place belongs to the sender.
        unsafe {
            *self.silent[row].get() = silent;
            let to = UnsafeCell::raw_get(samples.as_ptr());
            to.copy_from_nonoverlapping(from.as_ptr(), count);
        }
    }

    /// `channel` of the block at `position`; `None` if it is silent.
    ///
    /// # Safety
    ///
    /// The caller has the claim on the receiver, in the cycle in which it processes this block, and keeps it as long as
    /// the slice.
    pub(crate) unsafe fn receive(&self, position: u64, channel: usize) -> Option<&[f32]> {
        let row = self.row(position, channel);
        let samples = &self.samples[row * self.block..][..self.block];
        // SAFETY: in this cycle the place belongs to the receiver, and no thread writes it.
        unsafe {
            let samples = std::slice::from_raw_parts(samples.as_ptr().cast(), self.block);
            (!*self.silent[row].get()).then_some(samples)
        }
    }
}
