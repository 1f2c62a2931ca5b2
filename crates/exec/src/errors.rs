//! Counts of what goes wrong while a plan runs.

use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};

/// Errors since the executor was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Deferred results that missed their deadline. Silence replaced each of them.
    pub late_results: u64,
    /// Nodes that panicked or did not return. They are silent from then on.
    pub node_faults: u64,
    /// Infinite or NaN samples at a sink. Silence replaced each of them.
    pub non_finite_samples: u64,
    /// Events dropped for lack of room: more than 64 from one port or 256 for one node in a block.
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

/// The same counts while workers add to them.
///
/// Every access is `Relaxed`: a count is only read, and no other memory depends on it.
#[derive(Default)]
pub(crate) struct ErrorCounters {
    late_results: AtomicU64,
    node_faults: AtomicU64,
    non_finite_samples: AtomicU64,
    lost_events: AtomicU64,
}

impl ErrorCounters {
    pub(crate) fn add_late_result(&self) {
        self.late_results.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_node_fault(&self) {
        self.node_faults.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_non_finite_samples(&self, samples: u64) {
        self.non_finite_samples
            .fetch_add(samples, Ordering::Relaxed);
    }

    /// Adds `events`. Writes nothing if there are none: most steps lose none, and the cache line is shared.
    pub(crate) fn add_lost_events(&self, events: u64) {
        if events > 0 {
            self.lost_events.fetch_add(events, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self) -> ErrorCounts {
        ErrorCounts {
            late_results: self.late_results.load(Ordering::Relaxed),
            node_faults: self.node_faults.load(Ordering::Relaxed),
            non_finite_samples: self.non_finite_samples.load(Ordering::Relaxed),
            lost_events: self.lost_events.load(Ordering::Relaxed),
        }
    }
}
