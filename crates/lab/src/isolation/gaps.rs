//! [`GapProbe`]: interruptions of the core of the application, seen by the device between two packets.

use std::time::{Duration, Instant};

/// Longest look between two packets. The rest of the time the core is free: a thread that never sleeps would meet the
/// system's limit for real-time threads.
const LOOK: Duration = Duration::from_micros(200);
/// Shortest time between two readings of the clock that counts as a gap.
const GAP_NS: u64 = 5000;

/// Gaps in a loop that reads the clock, at the priority of the application and on its core. What it meets is not the
/// load's work, which has a lower priority, but that of the kernel, of interrupts and of the host of a virtual machine.
#[derive(Clone, Debug, Default)]
pub(super) struct GapProbe {
    /// Number of gaps.
    pub(super) count: u64,
    /// The longest one, in nanoseconds.
    pub(super) max_ns: u64,
    /// Time for which it has looked, in nanoseconds.
    pub(super) watched_ns: u64,
}

impl GapProbe {
    /// Looks until `end`, for [`LOOK`] at most.
    pub(super) fn watch_until(&mut self, end: Option<Instant>) {
        let begin = Instant::now();
        let Some(left) = end.and_then(|end| end.checked_duration_since(begin)) else {
            return;
        };
        let (end, mut last) = (begin + left.min(LOOK), begin);
        while last < end {
            let now = Instant::now();
            self.see(now.duration_since(last));
            last = now;
        }
        self.watched_ns += nanos(last.duration_since(begin));
    }

    fn see(&mut self, gap: Duration) {
        let gap = nanos(gap);
        if gap >= GAP_NS {
            self.count += 1;
            self.max_ns = self.max_ns.max(gap);
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_gaps_count_and_no_look_is_longer_than_it_may_be() {
        let mut probe = GapProbe::default();
        for ns in [100, GAP_NS, 90_000, 20] {
            probe.see(Duration::from_nanos(ns));
        }
        assert_eq!((probe.count, probe.max_ns), (2, 90_000));
        probe.watch_until(None);
        probe.watch_until(Instant::now().checked_sub(LOOK));
        assert_eq!(probe.watched_ns, 0);
        probe.watch_until(Instant::now().checked_add(LOOK * 1000));
        assert!(probe.watched_ns >= nanos(LOOK));
    }
}
