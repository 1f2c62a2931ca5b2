//! Deferred work of nodes, done in the process of a cell: `work = ["pitch"]`.
//!
//! ```text
//!   supervisor: node ── request ──▶ lane in shared memory ──▶ a thread of the cell: NodeWork
//!               node ◀── reply ──── the same lane ◀───────────────┘
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `lane` | both ends of one node's lane: the protocol |
//! | `links` | [`WorkLinks`]: the lanes of a supervisor, and who has taken each |
//! | `server` | [`WorkServer`]: the threads of a cell's process |
//! | `check` | [`work_mistakes`]: names that cannot be meant |
//!
//! The memory is one for the life of a supervisor, so a request that a process leaves undone is done by the next one. After a
//! supervisor is lost, the next one has other memory, and starts such cells anew.

mod check;
mod lane;
mod links;
mod server;

pub use check::work_mistakes;
pub use links::WorkLinks;
pub use server::WorkOfCell;
pub(crate) use server::WorkServer;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts of requests of one cell. Nothing travels with them, so all are relaxed.
#[derive(Debug, Default)]
pub struct WorkCounts {
    done: AtomicU64,
    late: AtomicU64,
    lost: AtomicU64,
    nonsense: AtomicU64,
    /// The cell has no nodes of its own: blocks that it loses are no sound.
    is_alone: AtomicBool,
}

impl WorkCounts {
    /// Results that were there when they were due.
    ///
    /// Real-time: hot.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Results that were not there when they were due, while the process played.
    ///
    /// Real-time: hot.
    pub fn late(&self) -> u64 {
        self.late.load(Ordering::Relaxed)
    }

    /// Results that were not there when they were due, while there was no process.
    ///
    /// Real-time: hot.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Returns true if the cell has no nodes of its own: blocks that it loses are no sound.
    ///
    /// Real-time: hot.
    pub fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Relaxed)
    }

    /// Results that could be none.
    ///
    /// Real-time: hot.
    pub fn nonsense(&self) -> u64 {
        self.nonsense.load(Ordering::Relaxed)
    }
}

fn count(which: &AtomicU64) {
    which.fetch_add(1, Ordering::Relaxed);
}
