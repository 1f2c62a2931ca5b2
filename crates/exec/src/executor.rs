//! What every way of executing offers, and what it is told and tells each cycle.

use crate::hand::Facts;
use crate::watch::Watchdog;
use graph::NodeId;
use processor::Event;
use std::ops::Add;

/// What an executor is told at the beginning of a cycle.
#[derive(Clone, Copy)]
pub struct CycleInfo<'a> {
    /// Frames played before this cycle.
    pub position: u64,
    /// The cycle's number; counts up by one.
    pub cycle: u64,
    /// Only blocks that begin at this frame or after it are played: the first one that this executor plays. It counts
    /// where the plan is a pipeline, whose later stages have nothing to do in the first cycles.
    pub first_frame: u64,
    /// Only blocks that begin before this frame are played; `u64::MAX` for all. With [`position`](Self::position) a
    /// pipeline is drained: what is under way comes out and nothing new goes in.
    pub end_frame: u64,
    /// The device's input channels, each a block long. Missing ones are silent.
    pub inputs: &'a [&'a [f32]],
    /// The stamp (`rt::stamp`) at which the cycle is given up; `u64::MAX` for never.
    pub abandon_at: u64,
    /// The stamp until which late deferred work is helped; `u64::MAX` offline.
    pub help_until: u64,
}

impl CycleInfo<'_> {
    pub(crate) fn facts(&self, traced: bool) -> Facts {
        Facts {
            position: self.position,
            first: self.first_frame,
            end: self.end_frame,
            cycle: self.cycle,
            give_up: self.abandon_at,
            help_until: self.help_until,
            traced,
        }
    }
}

/// How a cycle went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleStatus {
    /// Every step ran.
    Complete,
    /// A step did not return in time: the cycle was given up, or one before it was and that step has not returned yet.
    Abandoned,
    /// Another executor of the same floor has not come to rest yet; nothing ran.
    Refused,
}

/// What an executor tells at the end of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleResult {
    /// How it went.
    pub status: CycleStatus,
    /// How many workers were asked to wake up.
    pub wakes: u32,
    /// Takes from a queue that others may take from too; where all share one queue, also the times something was put
    /// there.
    pub acquisitions: u32,
}

/// What went wrong since the executor was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Deferred results that were not there in time and were replaced by silence.
    pub late_results: u64,
    /// Nodes that panicked or did not return; they are silent from then on.
    pub node_faults: u64,
    /// Samples at a sink that were not finite; they were replaced by silence.
    pub non_finite_samples: u64,
    /// Events that found no room: more than 64 from one port or 256 for one node in a block.
    pub lost_events: u64,
}

impl Add for ErrorCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            late_results: self.late_results + other.late_results,
            node_faults: self.node_faults + other.node_faults,
            non_finite_samples: self.non_finite_samples + other.non_finite_samples,
            lost_events: self.lost_events + other.lost_events,
        }
    }
}

/// A plan that plays, one block a call. One file per way of doing it; all pass the same conformance suite.
pub trait Executor: Send {
    /// Plays one block. The calling thread is worker 0, and works.
    ///
    /// Real-time: hot, wakes.
    fn run_cycle(&mut self, now: &CycleInfo<'_>) -> CycleResult;

    /// By how many cycles the output lags behind: what is played in a cycle is heard so many cycles later.
    ///
    /// Real-time: hot.
    fn latency_blocks(&self) -> u32;

    /// Adds the sound of output `channel` of the last block to `into`, which is as long as the block. Nothing is added
    /// after a cycle that was not done.
    ///
    /// Real-time: hot.
    fn add_output(&self, channel: u16, into: &mut [f32]);

    /// Gives `event` to `node` in the next block. Events must come in the order of their frames. It comes back where
    /// there is no such node, or no room (256 a node and block).
    ///
    /// # Errors
    ///
    /// The event itself: post it again for the block after.
    ///
    /// Real-time: hot.
    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event>;

    /// Whether `node` has a step here.
    ///
    /// Real-time: hot.
    fn has_node(&self, node: NodeId) -> bool;

    /// Gives the floor to the next executor; whether that may play now. After that this one may be dropped, on a thread
    /// with time.
    ///
    /// Real-time: hot; after a cycle that was given up it calls the kernel once.
    fn try_release(&mut self) -> bool;

    /// What went wrong so far.
    ///
    /// Real-time: hot.
    fn error_counts(&self) -> ErrorCounts;

    /// A look from outside, for a thread that has time: which node's step runs, for how long.
    ///
    /// Real-time: setup.
    fn watchdog(&self) -> Watchdog;
}
