//! What the audio thread and the control thread tell each other. All of it goes through rings and boxes that never make
//! the audio thread wait.

use exec::{CycleStatus, ErrorCounts, Executor};
use graph::NodeId;
use processor::Event;

/// To the audio thread: play on with this. It comes back when it has been replaced in its turn, to be dropped.
pub(crate) type Letter = Box<dyn Executor>;

/// To the audio thread: an event for a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub(crate) node: NodeId,
    pub(crate) event: Event,
}

/// From the audio thread, once a cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub(crate) cycle: u64,
    pub(crate) took_ns: u64,
    pub(crate) what: What,
    pub(crate) wakes: u32,
    pub(crate) acquisitions: u32,
    /// The first cycle of another executor.
    pub(crate) swapped: bool,
    /// Times that sound was lost on the device's side.
    pub(crate) xruns: u32,
    /// What went wrong so far, in executors that have been replaced too.
    pub(crate) counts: ErrorCounts,
}

/// How a cycle went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// In time.
    Played,
    /// After its deadline.
    Missed,
    /// It was given up, or nothing could run.
    Abandoned,
    /// The first of those that are left out after too many misses.
    FellSilent,
    /// Another one.
    Silent,
}

impl What {
    pub(crate) fn of(outcome: CycleStatus, missed: bool) -> Self {
        match outcome {
            CycleStatus::Complete if missed => Self::Missed,
            CycleStatus::Complete => Self::Played,
            _ => Self::Abandoned,
        }
    }
}
