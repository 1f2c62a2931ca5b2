//! Why a network did not run to its end, and what became of one that did.

use crate::shape::WiringError;
use rt::mirror::RingError;
use std::fmt;

/// Why a network did not run to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// It is not whole: connect what is named.
    Wiring(WiringError),
    /// A node panicked.
    Panicked {
        /// Its name.
        node: String,
        /// What it said.
        message: String,
    },
    /// A node gave up.
    Failed {
        /// Its name.
        node: String,
        /// Its reason.
        message: String,
    },
    /// Some nodes wait for each other's frames in a circle, for ever: give a queue of it something to begin with.
    Deadlock {
        /// Each node of the circle, with the queue that it waits at.
        cycle: Vec<(String, String)>,
    },
    /// A queue must grow, and there is no more memory for it: allow more, or change what needs so long a queue.
    Memory {
        /// The queue.
        queue: String,
        /// Bytes that all queues would have.
        bytes: usize,
        /// Bytes that they may have.
        limit: usize,
    },
    /// The system refused a queue.
    Ring {
        /// The queue.
        queue: String,
        /// What it said.
        source: RingError,
    },
    /// The system refused a thread.
    Thread(std::io::Error),
    /// It was told to stop.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wiring(error) => error.fmt(f),
            Self::Panicked { node, message } => write!(f, "`{node}` panicked: {message}"),
            Self::Failed { node, message } => write!(f, "`{node}` failed: {message}"),
            Self::Deadlock { cycle } => {
                write!(f, "these wait for each other for ever:")?;
                let circle = cycle.iter().enumerate();
                circle.into_iter().try_for_each(|(i, (node, queue))| {
                    let comma = if i == 0 { "" } else { "," };
                    write!(f, "{comma} `{node}` at `{queue}`")
                })
            }
            Self::Memory {
                queue,
                bytes,
                limit,
            } => write!(
                f,
                "`{queue}` must grow: all queues would have {bytes} bytes and may have {limit}"
            ),
            Self::Ring { queue, .. } => write!(f, "no memory for `{queue}`"),
            Self::Thread(_) => write!(f, "a node has no thread"),
            Self::Interrupted => write!(f, "interrupted"),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Ring { source, .. } => Some(source),
            Self::Thread(source) => Some(source),
            _ => None,
        }
    }
}

impl From<WiringError> for RunError {
    fn from(error: WiringError) -> Self {
        Self::Wiring(error)
    }
}

/// A queue that had to grow, since all nodes waited and one of them for room in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueGrowth {
    /// The queue.
    pub queue: String,
    /// Frames it had.
    pub from: usize,
    /// Frames it has.
    pub to: usize,
}

/// What became of a network that ran to its end: until all its nodes had ended, or all those without outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// How often each node fired, in the network's order.
    pub firings: Vec<u64>,
    /// Frames that each queue had in the end.
    pub sizes: Vec<usize>,
    /// Which queues grew, in order.
    pub growths: Vec<QueueGrowth>,
    /// How many workers of a crew were woken meanwhile, counted each time.
    pub wakes: u64,
}

/// What a network may use, and how it is stopped.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Bytes that the rings of all queues may have together.
    pub memory: usize,
    /// How often a node may fire before another one has its turn, where nodes share threads.
    pub quantum: u32,
    /// Set, the network stops between two firings.
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
    /// Whether it was told to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        // Relaxed: nothing travels by it.
        let is_set = |stop: &std::sync::Arc<std::sync::atomic::AtomicBool>| {
            stop.load(std::sync::atomic::Ordering::Relaxed)
        };
        self.stop.as_ref().is_some_and(is_set)
    }
}
