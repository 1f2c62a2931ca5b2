//! [`CheckError`]: why a network cannot run for ever.

use crate::topology::{QueueId, Topology, WiringError};
use graph::NodeId;
use std::fmt;

/// Reason why a network cannot run for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckError {
    /// A port of this node has no queue: connect it.
    Unconnected(NodeId, WiringError),
    /// More frames are written to this queue than read, or fewer, at the rates that the rest of the network implies: change
    /// `produce` or `consume` at one of its ends.
    InconsistentRates {
        /// The queue.
        queue: QueueId,
        /// Name of the queue.
        name: String,
        /// Frames written for each `read` frames that are read.
        written: u128,
        /// Frames read.
        read: u128,
    },
    /// These nodes wait for each other's frames for ever: a queue of the cycle needs initial frames.
    Deadlock {
        /// Nodes of the cycle, each with the queue that it waits for.
        cycle: Vec<(NodeId, QueueId)>,
        /// The same as names.
        names: Vec<(String, String)>,
    },
    /// A queue is too small: give it a larger size, or none.
    QueueTooSmall {
        /// The queue.
        queue: QueueId,
        /// Name of the queue.
        name: String,
        /// Its size in frames.
        size: u64,
        /// Size that it needs at least.
        needed: u64,
    },
    /// One iteration has more firings than are simulated, and the even schedule gave no sizes: there is a cycle, or a size was
    /// set that may be too small.
    TooManyFirings {
        /// Firings of an iteration, or the largest number that can be counted.
        firings: u128,
    },
}

impl CheckError {
    pub(super) fn too_small(topology: &Topology, queue: QueueId, size: u64, needed: u64) -> Self {
        Self::QueueTooSmall {
            queue,
            name: topology.queue_name(queue),
            size,
            needed,
        }
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconnected(_, error) => error.fmt(f),
            Self::InconsistentRates {
                name,
                written,
                read,
                ..
            } => write!(
                f,
                "the rates contradict each other at `{name}`: {written} frames are written for each {read} that are read"
            ),
            Self::Deadlock { names, .. } => {
                write!(f, "these wait for each other for ever:")?;
                names.iter().enumerate().try_for_each(|(i, (node, queue))| {
                    let comma = if i == 0 { "" } else { "," };
                    write!(f, "{comma} `{node}` at `{queue}`")
                })
            }
            Self::QueueTooSmall {
                name, size, needed, ..
            } => write!(
                f,
                "`{name}` has {size} frames and would have to grow to {needed}"
            ),
            Self::TooManyFirings { firings } => {
                write!(
                    f,
                    "the rates meet again only after {firings} firings, too many to simulate"
                )
            }
        }
    }
}

impl std::error::Error for CheckError {}
