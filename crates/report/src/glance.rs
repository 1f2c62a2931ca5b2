//! How it goes while it plays: what a live view shows.

use crate::{TimeSummary, WorkerLoad};
use std::collections::{BTreeMap, VecDeque};
use units::Nanos;

/// How it goes. Counts are since the beginning: two glances tell what happened between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveStats {
    /// Cycles that were begun.
    pub cycles: u64,
    /// Those that ended after their deadline.
    pub missed: u64,
    /// Results of deferred work that were replaced by silence.
    pub late: u64,
    /// Cycles that were given up.
    pub abandoned: u64,
    /// Nodes that panicked or were quarantined.
    pub faults: u64,
    /// Times the engine fell silent to give the processor back.
    pub muted: u64,
    /// Times that sound was lost on the device's side.
    pub xruns: u64,
    /// Workers that had to be woken.
    pub wakes: u64,
    /// Takes from queues that workers share.
    pub acquisitions: u64,
    /// How long the last cycles took, in ns; see [`RecentTimes`].
    pub recent: TimeSummary,
    /// The longest of all, in ns.
    pub max_ns: u64,
    /// How long a block lasts, in ns: by then a cycle that plays live has to be done.
    pub period_ns: u64,
    /// How busy workers were; nothing without a trace.
    pub load: WorkerLoad,
    /// Missed cycles by the node that was late, the worst first; nothing without a trace.
    pub misses_by_node: Vec<(String, u64)>,
    /// What meters show.
    pub gauges: BTreeMap<String, f32>,
    /// Trace records that found no room.
    pub trace_dropped: u64,
}

/// The times of the last [`RecentTimes::CYCLES`] cycles.
#[derive(Clone, Debug, Default)]
pub struct RecentTimes(VecDeque<u64>);

impl RecentTimes {
    /// How many are kept.
    pub const CYCLES: usize = 1024;

    /// One more.
    pub fn add(&mut self, time: Nanos) {
        if self.0.len() == Self::CYCLES {
            self.0.pop_front();
        }
        self.0.push_back(time.0);
    }

    /// What they come to; zeros where there is nothing.
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
