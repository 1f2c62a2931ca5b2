//! What every way of executing offers, and what it is told and tells each cycle.

use crate::hand::Facts;
use crate::watch::Watch;
use graph::NodeId;
use processor::Event;
use std::ops::Add;

/// What an executor is told at the beginning of a cycle.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// Frames played before this cycle.
    pub position: u64,
    /// The cycle's number; counts up by one.
    pub cycle: u64,
    /// Only blocks that begin at this frame or after it are played: the first one that this executor plays. It counts
    /// where the plan is a pipeline, whose later stages have nothing to do in the first cycles.
    pub first: u64,
    /// Only blocks that begin before this frame are played; `u64::MAX` for all. With [`position`](Self::position) a
    /// pipeline is drained: what is under way comes out and nothing new goes in.
    pub end: u64,
    /// The device's input channels, each a block long. Missing ones are silent.
    pub device: &'a [&'a [f32]],
    /// The stamp (`rt::stamp`) at which the cycle is given up; `u64::MAX` for never.
    pub give_up: u64,
    /// The stamp until which late deferred work is helped; `u64::MAX` offline.
    pub help_until: u64,
}

impl Now<'_> {
    pub(crate) fn facts(&self, traced: bool) -> Facts {
        Facts {
            position: self.position,
            first: self.first,
            end: self.end,
            cycle: self.cycle,
            give_up: self.give_up,
            help_until: self.help_until,
            traced,
        }
    }
}

/// How a cycle went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every step ran.
    Done,
    /// A step did not return in time: the cycle was given up, or one before it was and that step has not returned yet.
    Abandoned,
    /// Another executor of the same floor has not come to rest yet; nothing ran.
    Refused,
}

/// What an executor tells at the end of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it went.
    pub outcome: Outcome,
    /// How many workers were asked to wake up.
    pub wakes: u32,
    /// Takes from a queue that others may take from too; where all share one queue, also the times something was put
    /// there.
    pub acquisitions: u32,
}

/// What went wrong since the executor was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Deferred results that were not there in time and were replaced by silence.
    pub late: u64,
    /// Nodes that panicked or did not return; they are silent from then on.
    pub faults: u64,
    /// Samples at a sink that were not finite; they were replaced by silence.
    pub not_finite: u64,
    /// Events that found no room: more than 64 from one port or 256 for one node in a block.
    pub events_lost: u64,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            late: self.late + other.late,
            faults: self.faults + other.faults,
            not_finite: self.not_finite + other.not_finite,
            events_lost: self.events_lost + other.events_lost,
        }
    }
}

/// A plan that plays, one block a call. One file per way of doing it; all pass the same conformance suite.
pub trait Executor: Send {
    /// Plays one block. The calling thread is worker 0, and works.
    ///
    /// Real-time: hot, wakes.
    fn run(&mut self, now: &Now<'_>) -> Ran;

    /// By how many cycles the output lags behind: what is played in a cycle is heard so many cycles later.
    ///
    /// Real-time: hot.
    fn ahead(&self) -> u32;

    /// Adds the sound of output `channel` of the last block to `into`, which is as long as the block. Nothing is added
    /// after a cycle that was not done.
    ///
    /// Real-time: hot.
    fn output(&self, channel: u16, into: &mut [f32]);

    /// Gives `event` to `node` in the next block. Events must come in the order of their frames. It comes back where
    /// there is no such node, or no room (256 a node and block).
    ///
    /// # Errors
    ///
    /// The event itself: post it again for the block after.
    ///
    /// Real-time: hot.
    fn post(&mut self, node: NodeId, event: Event) -> Result<(), Event>;

    /// Whether `node` has a step here.
    ///
    /// Real-time: hot.
    fn knows(&self, node: NodeId) -> bool;

    /// Gives the floor to the next executor; whether that may play now. After that this one may be dropped, on a thread
    /// with time.
    ///
    /// Real-time: hot; after a cycle that was given up it calls the kernel once.
    fn rest(&mut self) -> bool;

    /// What went wrong so far.
    ///
    /// Real-time: hot.
    fn counts(&self) -> Counts;

    /// A look from outside, for a thread that has time: which node's step runs, for how long.
    ///
    /// Real-time: setup.
    fn watch(&self) -> Watch;
}
