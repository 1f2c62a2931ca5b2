//! Trace records for tests.

use plan::{TraceEvent, TraceRecord};

/// A record of `worker` at `stamp` in cycle `cycle`.
pub(crate) fn record(
    cycle: u32,
    (worker, stamp, event, index): (u16, u64, TraceEvent, u32),
) -> TraceRecord {
    TraceRecord {
        stamp,
        cycle,
        index,
        worker,
        event,
    }
}
