//! [`ResumableExecutor`]: a sequential executor that can go back to an earlier block, or on from another one's.
//!
//! Between two cycles the states of all its processors are saved in a [`Checkpoint`], which another executor of the same plan
//! can load. So two threads can play the same nodes, each with processors of its own, and hand over between blocks.

use super::sequential::Sequential;
use crate::bound::Binding;
use crate::checkpoint::Checkpoint;
use crate::errors::ErrorCounts;
use crate::executor::Executor;

/// Runs a plan in its order on the calling thread, and saves and loads the states of its processors between two cycles.
pub struct ResumableExecutor(Sequential);

impl ResumableExecutor {
    /// Real-time: setup.
    pub fn new(binding: Binding<'_>) -> Self {
        Self(Sequential::new(binding))
    }

    /// The executor.
    ///
    /// Real-time: hot.
    pub fn executor(&mut self) -> &mut dyn Executor {
        &mut self.0
    }

    /// As [`Executor::has_node`].
    ///
    /// Real-time: hot.
    pub fn has_node(&self, node: graph::NodeId) -> bool {
        self.0.has_node(node)
    }

    /// As [`Executor::error_counts`].
    ///
    /// Real-time: hot.
    pub fn errors(&self) -> ErrorCounts {
        self.0.error_counts()
    }

    /// Saves the states of the processors. Returns false if another executor owns the runtime, or a processor panicked.
    ///
    /// Real-time: hot if `into` has the room, and each processor is of a kind that can be duplicated.
    pub fn save(&mut self, into: &mut Checkpoint) -> bool {
        self.0.acquire() && self.0.idle().save_states(into)
    }

    /// Has the processors continue from states that an executor of the same plan has saved. Every step is awake then. A
    /// processor that refuses its state is silent from now on, and counted as a fault. Returns false if another executor owns
    /// the runtime.
    ///
    /// Real-time: hot, as [`save`](Self::save).
    pub fn load(&mut self, from: &Checkpoint) -> bool {
        if !self.0.acquire() {
            return false;
        }
        let mut idle = self.0.idle();
        idle.load_states(from);
        idle.wake_steps();
        true
    }

    /// Releases the runtime, with every step awake: another plan may take the processors over.
    ///
    /// Real-time: hot.
    pub fn release(&mut self) {
        if self.0.acquire() {
            self.0.idle().wake_steps();
        }
        self.0.try_release();
    }
}
