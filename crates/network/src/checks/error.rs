//! [`CheckError`]: a network that cannot run for ever, with the reason.

use crate::topology::{QueueId, Topology, WiringError};
use graph::NodeId;

/// Reason why a network cannot run for ever.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A port of this node has no queue: connect it.
    #[error("{1}")]
    Unconnected(NodeId, WiringError),
    /// More frames are written to this queue than read, or fewer, at the rates that the rest of the network implies: change
    /// `produce` or `consume` at one of its ends.
    #[error(
        "the rates contradict each other at `{name}`: {written} frames are written for each {read} that are read"
    )]
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
    #[error("these wait for each other for ever:{}", waiting_nodes(.names))]
    Deadlock {
        /// Nodes of the cycle, each with the queue that it waits for.
        cycle: Vec<(NodeId, QueueId)>,
        /// The same as names.
        names: Vec<(String, String)>,
    },
    /// A queue is too small: give it a larger size, or none.
    #[error("`{name}` has {size} frames and would have to grow to {needed}")]
    QueueTooSmall {
        /// The queue.
        queue: QueueId,
        /// Name of the queue.
        name: String,
        /// Its size in frames.
        size: u64,
        /// Smallest size that is known to be enough.
        needed: u64,
    },
    /// One iteration has more firings than are simulated, and the even schedule gave no sizes: there is a cycle, or a size was
    /// set that may be too small.
    #[error("the rates meet again only after {firings} firings, too many to simulate")]
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

/// Nodes that wait for each other, each with its queue, as a text.
pub(crate) fn waiting_nodes(cycle: &[(String, String)]) -> String {
    let places = cycle
        .iter()
        .map(|(node, queue)| format!(" `{node}` at `{queue}`"));
    places.collect::<Vec<_>>().join(",")
}
