//! The watchdog's limit: the time after which a cycle is abandoned, and after which a step counts as stuck.

use units::Nanos;

/// Periods that a cycle may take.
const PERIODS: u64 = 4;
/// Time that a cycle may take however short its period is: a system may stop a thread for that long.
const MIN_LIMIT: Nanos = Nanos(20_000_000);

/// Time that a cycle of `period` may take: four periods, at least 20 ms. The audio thread then abandons the cycle; the
/// control thread then looks for the step that has not returned.
pub(crate) fn limit(period: Nanos) -> Nanos {
    Nanos(period.0 * PERIODS).max(MIN_LIMIT)
}
