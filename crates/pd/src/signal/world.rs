//! What an object sees while it computes.

use super::BLOCK;
use super::shared::{Grants, SharedName, SharedSamples};
use crate::control::UNITS_PER_MS;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Number of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BufferId(pub u32);

/// The signals at an object's inlets, each one block long.
pub(crate) struct Inlets<'s> {
    /// The blocks before that of the outlet, and those behind it: nobody reads the one that is written.
    pub(super) before: &'s [Box<[f32]>],
    pub(super) behind: &'s [Box<[f32]>],
    /// Number of the block at each inlet; those of `behind` are counted from 0, with [`Inlets::BEHIND`].
    pub(super) at: &'s [u32],
    /// Inlets that are numbers, each with the block that is filled with it.
    pub(super) numbers: &'s [(usize, u32)],
}

impl Inlets<'_> {
    /// Marks a block behind that of the outlet.
    pub(super) const BEHIND: u32 = 1 << 31;

    /// The signal at inlet `at`.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> &[f32] {
        let block = self.at[at];
        match block & Self::BEHIND {
            0 => &self.before[block as usize],
            _ => &self.behind[(block ^ Self::BEHIND) as usize],
        }
    }

    /// The number at inlet `at`, if it is one in this block: no signal is connected to it.
    #[inline]
    pub(crate) fn number(&self, at: usize) -> Option<f32> {
        let is_number = self.numbers.iter().any(|(inlet, _)| *inlet == at);
        is_number.then(|| self.get(at).first().copied())?
    }

    /// Number of inlets.
    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }
}

/// Number of the block, and logical time at its end: written by the messages, read by all steps after them.
#[derive(Debug, Default)]
pub(crate) struct BlockTime {
    tick: AtomicU64,
    now: AtomicU64,
    /// Number of the block among those of a batch, and how many these are beside the first.
    part: AtomicUsize,
    others: AtomicUsize,
    /// True while an object computes the blocks of a batch one after the other.
    is_cut: AtomicBool,
}

/// Tells the signals the time of blocks whose messages come late.
pub(crate) struct BlockTimer {
    time: Arc<BlockTime>,
    /// Length of a block, in units of logical time.
    length: f64,
}

impl BlockTimer {
    pub(super) fn new(time: Arc<BlockTime>, length: f64) -> Self {
        Self { time, length }
    }

    /// Begins a block without messages.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(&self) {
        let now = f64::from_bits(self.time.now.load(Ordering::Relaxed));
        self.time.begin(now + self.length);
    }
}

impl BlockTime {
    /// Begins a block that ends at `now`, in units of logical time.
    pub(super) fn begin(&self, now: f64) {
        // Relaxed, here and below: the plan orders the steps after the messages, and the executor makes writes visible.
        let tick = self.tick.load(Ordering::Relaxed);
        self.tick.store(tick + 1, Ordering::Relaxed);
        self.now.store(now.to_bits(), Ordering::Relaxed);
    }

    /// Sets the time of a block that a message causes.
    pub(super) fn set_now(&self, now: f64) {
        self.now.store(now.to_bits(), Ordering::Relaxed);
    }

    /// Begins the block `part` of a batch, whose number and time these are.
    ///
    /// Real-time: hot.
    pub(super) fn begin_part(&self, part: usize, tick: u64, now: f64) {
        self.part.store(part, Ordering::Relaxed);
        self.is_cut.store(true, Ordering::Relaxed);
        self.restore(tick, now);
    }

    /// Ends the blocks of a batch, whose last one has this number and time.
    ///
    /// Real-time: hot.
    pub(super) fn end_parts(&self, tick: u64, now: f64) {
        self.part.store(0, Ordering::Relaxed);
        self.is_cut.store(false, Ordering::Relaxed);
        self.restore(tick, now);
    }

    /// Begins a batch of so many blocks, or ends it, with 1.
    pub(super) fn set_parts(&self, count: usize) {
        self.others.store(count - 1, Ordering::Relaxed);
    }

    /// Returns true in the last block of a batch, and where an object computes all of them at once.
    fn is_last(&self) -> bool {
        let is_cut = self.is_cut.load(Ordering::Relaxed);
        let part = self.part.load(Ordering::Relaxed);
        !is_cut || part == self.others.load(Ordering::Relaxed)
    }

    /// Number of blocks that have begun, and logical time.
    pub(super) fn state(&self) -> (u64, f64) {
        (self.tick(), self.now())
    }

    /// Goes on from another time.
    pub(super) fn restore(&self, tick: u64, now: f64) {
        self.tick.store(tick, Ordering::Relaxed);
        self.set_now(now);
    }

    /// Number of blocks that have begun.
    pub(super) fn tick(&self) -> u64 {
        self.tick.load(Ordering::Relaxed)
    }

    fn now(&self) -> f64 {
        f64::from_bits(self.now.load(Ordering::Relaxed))
    }
}

/// Surroundings of an object while it computes.
pub(crate) struct SignalWorld<'w> {
    /// Clocks that it sets: they are due from the next messages on.
    pub(super) clocks: &'w mut Vec<(u32, f64)>,
    pub(super) grants: &'w Grants,
    pub(super) surroundings: Surroundings<'w>,
}

/// Surroundings that all objects of a row share.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'w> {
    pub(super) time: &'w BlockTime,
    /// Sample rate in hertz.
    pub(super) rate: f32,
    /// Frames of a block of the canvas: signals are longer where several blocks are computed at once.
    pub(super) frames: usize,
}

impl SignalWorld<'_> {
    /// Sample rate in hertz.
    pub(crate) fn rate(&self) -> f32 {
        self.surroundings.rate
    }

    /// Frames of a block of the canvas. Signals are longer where an object has allowed that ([`Object::joins`]).
    ///
    /// [`Object::joins`]: crate::control::Object::joins
    pub(crate) fn frames(&self) -> usize {
        self.surroundings.frames
    }

    /// Frames of a bus that belong to a signal of `count` frames; `None` for a canvas with blocks of its own, which passes nothing.
    pub(crate) fn bus_frames(&self, count: usize) -> Option<Range<usize>> {
        if self.surroundings.frames != BLOCK {
            return None;
        }
        let from = self.surroundings.time.part.load(Ordering::Relaxed) * BLOCK;
        Some(from..from + count)
    }

    /// Sets one of the object's clocks. The object must declare that it does.
    pub(crate) fn set_clock(&mut self, slot: u32, delay_ms: f64) {
        debug_assert!(self.surroundings.time.is_last(), "a batch ends here");
        self.clocks.retain(|(other, _)| *other != slot);
        if self.clocks.len() < self.clocks.capacity() {
            self.clocks.push((slot, delay_ms));
        }
    }

    /// Logical time at the end of the block, in units.
    pub(crate) fn now(&self) -> f64 {
        self.surroundings.time.now()
    }

    /// Milliseconds from `then` to the end of the block.
    pub(crate) fn ms_since(&self, then: f64) -> f64 {
        (self.now() - then) / UNITS_PER_MS
    }

    /// Returns true if the thing's writer has computed this block already.
    pub(crate) fn is_written(&self, name: SharedName) -> bool {
        self.grants.is_written(name)
    }

    /// Claims a shared thing that the object has declared, to read it; `None` if there is none of the name.
    pub(crate) fn read(&self, name: SharedName) -> Option<impl Deref<Target = SharedSamples>> {
        self.grants.read(name)
    }

    /// Claims a shared thing that the object has declared, to change it; `None` if there is none of the name.
    pub(crate) fn write(&self, name: SharedName) -> Option<impl DerefMut<Target = SharedSamples>> {
        self.grants.write(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_of_a_batch_is_the_only_one_that_sets_clocks() {
        let time = BlockTime::default();
        assert!(time.is_last(), "one block");
        time.set_parts(3);
        assert!(time.is_last(), "all of them at once");
        for (part, is_last) in [(0, false), (1, false), (2, true)] {
            time.begin_part(part, part as u64, 0.0);
            assert_eq!(time.is_last(), is_last, "block {part}");
        }
        time.end_parts(2, 0.0);
        assert!(time.is_last(), "all of them at once");
    }
}
