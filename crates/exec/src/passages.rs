//! Passages: what one stage of a pipeline hands on to a later one, a few blocks of it at a time.
//!
//! Block b lies in place b modulo the number of places, which is one more than the stages are apart. In a cycle the
//! sender writes the place of its block and the receiver reads the one of its own, which is as many blocks older as the
//! stages are apart: never the same place.

use plan::StageBuffer;
use std::cell::UnsafeCell;
use units::Frames;

/// One passage's memory.
pub(crate) struct PassageMemory {
    samples: Box<[UnsafeCell<f32>]>,
    /// By place and channel: whether the block is exactly silent.
    silent: Box<[UnsafeCell<bool>]>,
    places: u64,
    channels: usize,
    block: usize,
}

// SAFETY: reached only by the two steps of the passage, at the places that the head of this file keeps apart; from cycle
// to cycle the executor's start and finish order them.
unsafe impl Sync for PassageMemory {}
// SAFETY: plain memory.
unsafe impl Send for PassageMemory {}

impl PassageMemory {
    pub(crate) fn new(passage: &StageBuffer, block: Frames) -> Self {
        let (channels, block) = (passage.channels.count(), block.count());
        let rows = channels * (passage.lag as usize + 1);
        let samples: Box<[_]> = (0..rows * block).map(|_| UnsafeCell::new(0.0)).collect();
        for page in samples.iter().step_by(1024) {
            // SAFETY: nobody else has it yet; volatile, so that the page is really touched and no fault comes later.
            unsafe { page.get().write_volatile(0.0) };
        }
        Self {
            samples,
            silent: (0..rows).map(|_| UnsafeCell::new(true)).collect(),
            places: u64::from(passage.lag) + 1,
            channels,
            block,
        }
    }

    fn row(&self, position: u64, channel: usize) -> usize {
        let place = (position / self.block as u64) % self.places;
        place as usize * self.channels + channel.min(self.channels - 1)
    }

    /// Hands on the block that begins at `position`.
    ///
    /// # Safety
    ///
    /// The caller is the passage's sender, in the only cycle in which it plays this block; `from` is a block long.
    pub(crate) unsafe fn send(&self, position: u64, channel: usize, from: &[f32], silent: bool) {
        let row = self.row(position, channel);
        let samples = &self.samples[row * self.block..][..self.block];
        let count = from.len().min(self.block);
        // SAFETY: the place is the sender's in this cycle.
        unsafe {
            *self.silent[row].get() = silent;
            let to = UnsafeCell::raw_get(samples.as_ptr());
            to.copy_from_nonoverlapping(from.as_ptr(), count);
        }
    }

    /// The block that begins at `position`; `None` where it is silent.
    ///
    /// # Safety
    ///
    /// The caller is the passage's receiver, in the cycle in which it plays this block, and keeps the slice no longer.
    pub(crate) unsafe fn receive(&self, position: u64, channel: usize) -> Option<&[f32]> {
        let row = self.row(position, channel);
        let samples = &self.samples[row * self.block..][..self.block];
        // SAFETY: the place is the receiver's in this cycle: nobody writes it.
        unsafe {
            let samples = std::slice::from_raw_parts(samples.as_ptr().cast(), self.block);
            (!*self.silent[row].get()).then_some(samples)
        }
    }
}
