//! The interface of all executors.

use crate::cycle::{CycleInfo, CycleResult, StateVisitor, Watchdog};
use crate::errors::ErrorCounts;
use graph::NodeId;
use processor::Event;

/// Runs a plan, one block per call. Each implementation is a file of `strategy/`; all pass the same conformance suite.
pub trait Executor: Send {
    /// Runs one cycle: every step of the plan, for one block. The calling thread takes part as worker 0.
    ///
    /// `inputs` are the device's input channels, each one block long. Missing channels are silent.
    ///
    /// Real-time: hot, wakes.
    fn run_cycle(&mut self, info: &CycleInfo, inputs: &[&[f32]]) -> CycleResult;

    /// Output latency of a pipelined plan, in blocks; 0 for other plans.
    ///
    /// Real-time: hot.
    fn latency_blocks(&self) -> u32;

    /// Adds output channel `channel` of the last block to `into`, which is one block long. Adds nothing after a cycle
    /// that was not completed.
    ///
    /// Real-time: hot.
    fn add_output(&self, channel: u16, into: &mut [f32]);

    /// Writes all output channels of the last block: the bits of [`add_output`](Self::add_output) to silence. Writes silence
    /// after a cycle that was not completed, and to channels that no sink has.
    ///
    /// Real-time: hot.
    fn write_outputs(&self, outputs: &mut [&mut [f32]]);

    /// Queues `event` for `node` in the next block. Events of a node must come in the order of their frames.
    ///
    /// # Errors
    ///
    /// Gives the event back if there is no such node or its queue is full (at least 16 events per parameter and block,
    /// 256 where the node has inputs for events). In the
    /// second case, queue it again for the block after.
    ///
    /// Real-time: hot.
    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event>;

    /// Returns true if `node` has a step in this plan.
    ///
    /// Real-time: hot.
    fn has_node(&self, node: NodeId) -> bool;

    /// Releases the [`SharedRuntime`](crate::SharedRuntime) to the next executor. Returns false if that is not possible
    /// yet: call it again before the next cycle. After true this executor may be dropped, on a thread that may free
    /// memory.
    ///
    /// Real-time: hot; after an abandoned cycle it makes one system call.
    fn try_release(&mut self) -> bool;

    /// Passes the events that wait here for nodes which do not run in every cycle to `next`, the executor that replaces
    /// this one: those of pipeline stages that lag by at most `cycles` cycles, whose blocks have all run when this one has
    /// run that often since it was replaced. To be called while no worker is in a step: after
    /// [`try_release`](Self::try_release) has returned true, or after a complete cycle.
    ///
    /// Real-time: hot.
    fn hand_over_events(&mut self, cycles: u32, next: &mut dyn Executor);

    /// As [`push_event`](Self::push_event), with an event that comes before all others of the node: it was kept by the
    /// executor before.
    ///
    /// # Errors
    ///
    /// As for [`push_event`](Self::push_event).
    ///
    /// Real-time: hot.
    fn push_kept_event(&mut self, node: NodeId, event: Event) -> Result<(), Event>;

    /// Shows `visitor` what the nodes hold, where the next block is at absolute frame `position`. Returns false if a worker
    /// may still be in a step, or another executor owns the runtime: then nothing was shown.
    ///
    /// Real-time: hot if the visitor is.
    fn visit_states(&mut self, visitor: &mut dyn StateVisitor, position: u64) -> bool;

    /// Errors since this executor was made.
    ///
    /// Real-time: hot.
    fn error_counts(&self) -> ErrorCounts;

    /// Observer for a control thread: finds steps that do not return.
    ///
    /// Real-time: setup.
    fn watchdog(&self) -> Watchdog;
}
