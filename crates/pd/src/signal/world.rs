//! What an object sees while it computes.

use crate::control::{Arrays, Clocks, Due, ObjectId, Symbol};
use std::collections::HashMap;

/// Number of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferId(pub u32);

/// The signals at an object's inlets, each one block long.
pub(crate) struct Inlets<'s> {
    pub buffers: &'s [Box<[f32]>],
    pub ids: &'s [BufferId],
}

impl Inlets<'_> {
    /// The signal at inlet `at`.
    pub(crate) fn get(&self, at: usize) -> &[f32] {
        &self.buffers[self.ids[at].0 as usize]
    }

    /// Number of inlets.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// A line of a `delwrite~`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelayLine {
    /// The line, and 4 frames more that repeat its end before its begin.
    pub samples: Vec<f32>,
    /// Index at which the next block is written.
    pub phase: usize,
    /// Tick in which it was written last.
    pub written: u64,
}

/// State that signal objects share by name, and the channels of the device.
#[derive(Debug, Default)]
pub(crate) struct SignalState {
    pub delays: HashMap<Symbol, DelayLine>,
    /// Blocks of `send~`.
    pub sends: HashMap<Symbol, Box<[f32]>>,
    /// Sums of `throw~`.
    pub throws: HashMap<Symbol, Box<[f32]>>,
    /// Channels of `dac~`, a block each.
    pub outputs: Vec<Box<[f32]>>,
    /// Channels of `adc~`, a block each.
    pub inputs: Vec<Box<[f32]>>,
    /// Number of the block.
    pub tick: u64,
}

/// Surroundings of an object while it computes.
pub(crate) struct SignalWorld<'w> {
    pub object: ObjectId,
    pub clocks: &'w mut Clocks,
    pub arrays: &'w mut Arrays,
    pub state: &'w mut SignalState,
    /// Sample rate in hertz.
    pub rate: f32,
}

impl SignalWorld<'_> {
    /// Sets one of the object's clocks.
    pub(crate) fn set_clock(&mut self, slot: u32, delay_ms: f64) {
        let object = self.object;
        self.clocks.set(Due { object, slot }, delay_ms);
    }
}
