//! Error counters of an executor.

use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};

/// Errors since the executor was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Deferred results that missed their deadline. Silence replaced each of them.
    pub late_results: u64,
    /// Nodes that panicked or did not return. They are silent from then on.
    pub node_faults: u64,
    /// Infinite or NaN samples in the device's input, at a delay line or at a sink. Silence replaced each of them there,
    /// so nothing behind that place counts them again.
    pub non_finite_samples: u64,
    /// Events dropped for lack of room: more in a block than [`plan::events_per_port`] says.
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

impl ErrorCounts {
    /// Errors of all kinds.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn total(&self) -> u64 {
        self.late_results + self.node_faults + self.non_finite_samples + self.lost_events
    }
}

/// A kind of error that is counted.
#[derive(Clone, Copy)]
pub(crate) enum ErrorKind {
    LateResult,
    NodeFault,
    NonFiniteSample,
    LostEvent,
}

/// [`ErrorCounts`] as atomics, by [`ErrorKind`]. Workers add to them.
///
/// Every access is `Relaxed`: a count is only read, and no other memory depends on it.
#[derive(Default)]
pub(crate) struct ErrorCounters([AtomicU64; 4]);

impl ErrorCounters {
    /// Counts `errors` errors. Writes nothing if there are none: most steps have none, and the cache line is shared.
    #[inline]
    pub(crate) fn add(&self, kind: ErrorKind, errors: u64) {
        if errors > 0 {
            self.0[kind as usize].fetch_add(errors, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn read(&self) -> ErrorCounts {
        let count = |kind: ErrorKind| self.0[kind as usize].load(Ordering::Relaxed);
        ErrorCounts {
            late_results: count(ErrorKind::LateResult),
            node_faults: count(ErrorKind::NodeFault),
            non_finite_samples: count(ErrorKind::NonFiniteSample),
            lost_events: count(ErrorKind::LostEvent),
        }
    }
}
