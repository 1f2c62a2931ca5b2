//! Statistics of an engine while it plays, for a live view.

use crate::{TimeSummary, WorkerLoad};
use std::collections::{BTreeMap, VecDeque};
use units::Nanos;

/// Statistics since the engine started. The difference of two values is what happened between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveStats {
    /// Number of cycles.
    pub cycles: u64,
    /// Number of cycles that ended after their deadline.
    pub missed: u64,
    /// Number of results of deferred work that were late and replaced by silence.
    pub late: u64,
    /// Number of abandoned cycles.
    pub abandoned: u64,
    /// Number of nodes that panicked or were quarantined.
    pub faults: u64,
    /// Number of times that the engine muted itself under overload.
    pub muted: u64,
    /// Number of xruns of the device.
    pub xruns: u64,
    /// Number of workers that had to be woken.
    pub wakes: u64,
    /// Number of takes from shared queues.
    pub acquisitions: u64,
    /// Durations of the last cycles in ns; see [`RecentTimes`].
    pub recent: TimeSummary,
    /// Longest cycle of all.
    pub max_ns: u64,
    /// Period of a block: the deadline of a live cycle.
    pub period_ns: u64,
    /// Load of the workers; empty without a trace.
    pub load: WorkerLoad,
    /// Missed cycles by late node, most first; empty without a trace.
    pub misses_by_node: Vec<(String, u64)>,
    /// Values of gauges, by name.
    pub gauges: BTreeMap<String, f32>,
    /// Number of dropped trace records.
    pub trace_dropped: u64,
}

/// Durations of the last [`RecentTimes::CYCLES`] cycles.
#[derive(Clone, Debug, Default)]
pub struct RecentTimes(VecDeque<u64>);

impl RecentTimes {
    /// Number of cycles that are kept.
    pub const CYCLES: usize = 1024;

    /// Adds the duration of a cycle; drops the oldest of too many.
    pub fn add(&mut self, time: Nanos) {
        if self.0.len() == Self::CYCLES {
            self.0.pop_front();
        }
        self.0.push_back(time.0);
    }

    /// Mean, percentiles and maximum; zeros where there is no cycle.
    pub fn summary(&self) -> TimeSummary {
        let mut times: Vec<u64> = self.0.iter().copied().collect();
        times.sort_unstable();
        let Some(last) = times.len().checked_sub(1) else {
            return TimeSummary::default();
        };
        let at = |share: f64| times[(last as f64 * share).ceil() as usize];
        TimeSummary {
            mean: times.iter().map(|t| *t as f64).sum::<f64>() / times.len() as f64,
            p50: at(0.5),
            p99: at(0.99),
            p99_9: at(0.999),
            max: times[last],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_cycles_count() {
        let mut recent = RecentTimes::default();
        assert_eq!(recent.summary(), TimeSummary::default());
        recent.add(Nanos(1_000_000));
        assert_eq!(recent.summary().p50, 1_000_000);
        (1..=RecentTimes::CYCLES as u64).for_each(|n| recent.add(Nanos(n)));
        let summary = recent.summary();
        assert_eq!((summary.p50, summary.p99, summary.max), (513, 1014, 1024));
    }
}
