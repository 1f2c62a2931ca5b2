//! The clock in the counter's place: a tick is a nanosecond.

use std::sync::LazyLock;
use std::time::Instant;

static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(super) fn now() -> u64 {
    ZERO.elapsed().as_nanos() as u64
}

pub(super) fn ticks_per_second() -> Option<u64> {
    Some(1_000_000_000)
}
