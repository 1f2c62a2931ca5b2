//! [`Pacer`]: sleeps until the next cycle is due, as a driver does.

use driver::clock::{Clock, SystemClock};
use units::Nanos;

/// Longest time between two cycles of a trial. After a few milliseconds of sleep a core rests as deeply as after longer
/// ones, and with long blocks the trials would see too few cycles.
const MAX_PERIOD: Nanos = Nanos(5_000_000);

/// Gives a trial the pace of the later playback: one cycle a period, with sleep between.
///
/// ```text
///   period     │ 0         │ 1         │ 2         │ 3
///   cycle      │▓▓         │▓▓▓        │▓▓         │▓▓▓
/// ```
pub(super) struct Pacer {
    clock: SystemClock,
    period: Nanos,
    next: Nanos,
}

impl Pacer {
    /// A pace of one cycle each `period`, or each 5 ms if that is shorter.
    pub(super) fn new(period: Nanos) -> Self {
        let mut clock = SystemClock;
        let next = clock.now();
        Self {
            clock,
            period: period.min(MAX_PERIOD),
            next,
        }
    }

    /// Time between two cycles.
    pub(super) fn period(&self) -> Nanos {
        self.period
    }

    /// Sleeps until the next period begins. If that is past, a whole period is slept from now: a cycle that follows
    /// another at once would find its workers awake.
    pub(super) fn wait(&mut self) {
        let now = self.clock.now();
        self.next.0 = self.next.0.saturating_add(self.period.0);
        if self.next <= now {
            self.next.0 = now.0.saturating_add(self.period.0);
        }
        self.clock.sleep_until(self.next);
    }
}
