//! Delay lines: rings that outlive a plan, one a delay node; and those that make up for latencies, one an output.

use crate::aligners::Aligners;
use graph::NodeId;
use plan::{DelayLine, DelayedEdge, FadeState, Plan};
use processor::RawDelayLine;
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use units::Frames;

/// One line's memory.
pub(crate) struct LineMemory {
    samples: Box<[UnsafeCell<f32>]>,
    capacity: u32,
    channels: u32,
}

// SAFETY: reached only by steps of the executor that has the floor's turn; the plan orders or separates its reads and
// writes (`plan::DelayLine`).
unsafe impl Sync for LineMemory {}
// SAFETY: plain memory.
unsafe impl Send for LineMemory {}

impl LineMemory {
    pub(crate) fn new(channels: u32, capacity: u32) -> Self {
        let samples = channels as usize * capacity as usize;
        let line = Self {
            samples: (0..samples).map(|_| UnsafeCell::new(0.0)).collect(),
            capacity,
            channels,
        };
        for page in line.samples.iter().step_by(1024) {
            // SAFETY: nobody else has it yet; volatile, so that the page is really touched and no fault comes later.
            unsafe { page.get().write_volatile(0.0) };
        }
        line
    }

    /// The line as `line` of a plan sees it.
    pub(crate) fn raw(&self, line: &DelayLine) -> RawDelayLine {
        RawDelayLine {
            data: UnsafeCell::raw_get(self.samples.as_ptr()),
            capacity: self.capacity,
            channels: self.channels,
            min_delay: line.min.0,
            max_delay: line.max.0,
        }
    }

    /// The ring, all of which may be read.
    pub(crate) fn ring(&self) -> RawDelayLine {
        RawDelayLine {
            data: UnsafeCell::raw_get(self.samples.as_ptr()),
            capacity: self.capacity,
            channels: self.channels,
            min_delay: 0,
            max_delay: self.capacity,
        }
    }
}

/// How many frames a ring has that holds `most` beside the block that is being written.
pub(crate) fn capacity(most: Frames, block: Frames) -> u32 {
    let frames = most.0.saturating_add(block.0).max(2);
    frames.checked_next_power_of_two().unwrap_or(1 << 31)
}

/// The lines of one engine, by node. A plan that names a line of the same size takes it over with what is in it.
#[derive(Default)]
pub struct DelayLines {
    delays: HashMap<NodeId, Weak<LineMemory>>,
    pub(crate) aligners: Aligners,
}

impl DelayLines {
    /// How far an edge that `plan` delays, which plays, has gone over when `position` is played.
    ///
    /// Real-time: setup.
    pub fn fade_state(&self, plan: &Plan, it: &DelayedEdge, position: u64) -> FadeState {
        self.aligners.gone(plan, it, position)
    }

    /// The memory for `line` in a plan of `block` frames.
    pub(crate) fn memory(&mut self, line: &DelayLine, block: Frames) -> Arc<LineMemory> {
        let capacity = capacity(line.max, block);
        let channels = u32::from(line.channels.0);
        let there = self.delays.get(&line.node).and_then(Weak::upgrade);
        if let Some(there) = there.filter(|l| (l.capacity, l.channels) == (capacity, channels)) {
            return there;
        }
        let memory = Arc::new(LineMemory::new(channels, capacity));
        self.delays.insert(line.node, Arc::downgrade(&memory));
        memory
    }
}

/// Writes the frames of `from` to channel `channel` of `line`, the first one at absolute frame `position`.
///
/// # Safety
///
/// `line` points to a line, and nobody reads or writes these frames of it now.
pub(crate) unsafe fn write(line: &RawDelayLine, channel: usize, position: u64, from: &[f32]) {
    let mask = line.capacity as usize - 1;
    let start = position as usize & mask;
    let first = from.len().min(line.capacity as usize - start);
    // SAFETY: both stretches lie within channel `channel`'s ring, which the caller keeps others out of.
    unsafe {
        let ring = line.data.add(channel * line.capacity as usize);
        ring.add(start)
            .copy_from_nonoverlapping(from.as_ptr(), first);
        ring.copy_from_nonoverlapping(from[first..].as_ptr(), from.len() - first);
    }
}

/// Reads frames of channel `channel` of `line` into `to`, the first one from absolute frame `position`.
///
/// # Safety
///
/// `line` points to a line, and nobody writes these frames of it now.
pub(crate) unsafe fn read(line: &RawDelayLine, channel: usize, position: u64, to: &mut [f32]) {
    let mask = line.capacity as usize - 1;
    let start = position as usize & mask;
    let first = to.len().min(line.capacity as usize - start);
    let rest = to.len() - first;
    // SAFETY: both stretches lie within channel `channel`'s ring, where nobody writes, says the caller.
    unsafe {
        let ring = line.data.add(channel * line.capacity as usize);
        to.as_mut_ptr()
            .copy_from_nonoverlapping(ring.add(start), first);
        to.as_mut_ptr()
            .add(first)
            .copy_from_nonoverlapping(ring, rest);
    }
}
