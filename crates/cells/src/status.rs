//! [`CellStatus`]: what the node of a cell and the monitor of its process tell each other.
//!
//! | word | stored by | read by |
//! |---|---|---|
//! | `blocks`, `lost`, `not_finite`, `lost_events`, `missed`, `waits` | the node | the monitor, reports |
//! | `corrupt` | the node: the number of the process whose ring holds nonsense | the monitor, which kills it if it still runs |
//! | `drill` | the node, in the block of a drill | the monitor, which sends the signal |
//! | `outage` | the node: blocks lost in a row, when the first one is back | the monitor, which tells it once for each process |
//! | `gone` | the monitor, when it starts the cell no more | the node, which waits no longer |
//!
//! Nothing else travels with any of these words, so all are relaxed; the rings travel through queues.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Figures and flags of one cell.
#[derive(Debug, Default)]
pub struct CellStatus {
    /// Blocks that were asked for.
    pub(crate) blocks: AtomicU64,
    /// Blocks of which no result came in time.
    pub(crate) lost: AtomicU64,
    /// Samples that were no finite numbers.
    pub(crate) not_finite: AtomicU64,
    /// Events that did not cross the border.
    pub(crate) lost_events: AtomicU64,
    /// Blocks lost in a row.
    pub(crate) missed: AtomicU32,
    /// Blocks lost in a row the last time that it was.
    pub(crate) outage: AtomicU32,
    /// True while the node waits without a deadline.
    pub(crate) waits: AtomicBool,
    pub(crate) corrupt: AtomicU32,
    pub(crate) drill: AtomicU32,
    pub(crate) gone: AtomicBool,
}

impl CellStatus {
    /// Number of blocks that were asked for.
    ///
    /// Real-time: hot.
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// Number of blocks of which no result came in time.
    ///
    /// Real-time: hot.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Number of samples that were not finite and became silence.
    ///
    /// Real-time: hot.
    pub fn not_finite(&self) -> u64 {
        self.not_finite.load(Ordering::Relaxed)
    }

    /// Number of events that did not cross its border: texts, nonsense, and those that found no room.
    ///
    /// Real-time: hot.
    pub fn lost_events(&self) -> u64 {
        self.lost_events.load(Ordering::Relaxed)
    }

    /// Returns true if the cell is started no more.
    ///
    /// Real-time: hot.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}
