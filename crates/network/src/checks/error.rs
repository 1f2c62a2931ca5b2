//! Why a network cannot go on for ever, as far as can be told before it runs.

use crate::shape::{NodeId, QueueId, Topology, WiringError};
use std::fmt;

/// Why a network cannot go on for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckError {
    /// It is not whole: connect what is named.
    Unconnected(NodeId, WiringError),
    /// Along this queue more is written than read, or less, for as long as the rest of the network keeps its rates:
    /// change an amount at one of its ends.
    InconsistentRates {
        /// The queue.
        queue: QueueId,
        /// Its name.
        name: String,
        /// Frames written, in the time in which `read` are read.
        written: u128,
        /// Frames read.
        read: u128,
    },
    /// These nodes wait for each other's frames for ever: a queue of the circle must begin with something.
    Deadlock {
        /// The nodes, each with the queue that it waits at.
        cycle: Vec<(NodeId, QueueId)>,
        /// The same by name.
        names: Vec<(String, String)>,
    },
    /// A queue is too small for the network to go on.
    QueueTooSmall {
        /// The queue.
        queue: QueueId,
        /// Its name.
        name: String,
        /// Frames it has.
        size: u64,
        /// Frames it needs at least.
        needed: u64,
    },
    /// The rates meet again only after more firings than can be looked at, and no sizes were found otherwise: there is a
    /// circle, or a size was asked for that perhaps would do.
    TooManyFirings {
        /// Firings until they meet, or as many as can be counted.
        firings: u128,
    },
}

impl CheckError {
    pub(super) fn too_small(shape: &Topology, queue: QueueId, size: u64, needed: u64) -> Self {
        Self::QueueTooSmall {
            queue,
            name: shape.queue_name(queue),
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
                    "the rates meet again only after {firings} firings, which is too long to look at"
                )
            }
        }
    }
}

impl std::error::Error for CheckError {}
