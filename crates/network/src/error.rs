//! [`RunError`]: why a network did not run to its end; [`RunSummary`]: what happened in one that did.

use crate::checks::waiting_nodes;
use crate::topology::WiringError;
use rt::mirror::RingError;

/// Reason why a network did not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A port has no queue: connect it.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// A node's actor panicked.
    #[error("`{node}` panicked: {message}")]
    Panicked {
        /// Name of the node.
        node: String,
        /// Message of the panic.
        message: String,
    },
    /// A node's actor failed.
    #[error("`{node}` failed: {message}")]
    Failed {
        /// Name of the node.
        node: String,
        /// Reason that it gave.
        message: String,
    },
    /// Nodes wait for each other's frames for ever: give a queue of the cycle initial frames.
    #[error("these wait for each other for ever:{}", waiting_nodes(.cycle))]
    Deadlock {
        /// Nodes of the cycle, each with the queue that it waits for.
        cycle: Vec<(String, String)>,
    },
    /// A queue would need more memory than is allowed: allow more, or change what needs so large a queue.
    #[error("`{queue}` must grow: all queues would have {bytes} bytes and may have {limit}")]
    Memory {
        /// The queue.
        queue: String,
        /// Memory that all queues would need, in bytes.
        bytes: usize,
        /// Memory that they may have, in bytes.
        limit: usize,
    },
    /// The system refused the memory of a queue.
    #[error("no memory for `{queue}`")]
    Ring {
        /// The queue.
        queue: String,
        /// The system's error.
        source: RingError,
    },
    /// It was stopped by [`RunOptions::stop`].
    #[error("interrupted")]
    Interrupted,
}

/// Growth of a queue: all nodes waited, and one of them for room in this queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueGrowth {
    /// Name of the queue.
    pub queue: String,
    /// Size before, in frames.
    pub from: usize,
    /// Size after, in frames.
    pub to: usize,
}

/// Record of a network that ran to its end: until all nodes without outputs had ended, or all nodes if each has outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Firings of each node, in the network's order.
    pub firings: Vec<u64>,
    /// Size of each queue at the end, in frames.
    pub sizes: Vec<usize>,
    /// Growths of queues, in their order.
    pub growths: Vec<QueueGrowth>,
    /// Number of times that a sleeping worker was woken; 0 without workers.
    pub wakes: u64,
}

/// Limits of a run, and how to stop it.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Largest memory of all queues' rings, in bytes.
    pub memory: usize,
    /// Firings of a node after which a worker turns to other nodes.
    pub quantum: u32,
    /// Stop request: once it is true, the network stops between two firings.
    pub stop: Option<std::sync::Arc<std::sync::atomic::AtomicBool>>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            quantum: 64,
            stop: None,
        }
    }
}

impl RunOptions {
    /// Returns true if the run is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        // Relaxed: nothing else travels with the flag.
        let is_set = |stop: &std::sync::Arc<std::sync::atomic::AtomicBool>| {
            stop.load(std::sync::atomic::Ordering::Relaxed)
        };
        self.stop.as_ref().is_some_and(is_set)
    }
}
