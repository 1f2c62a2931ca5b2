//! Statistics of a trace.

use crate::open_cycle::OpenCycle;
use crate::step_times::PlanTimes;
use crate::{Histogram, NodeTimes};
use std::collections::BTreeMap;
use units::Nanos;

/// Statistics of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceStats {
    /// Number of cycles with a known begin and end.
    pub cycles: u64,
    /// Their durations.
    pub cycle_times: Histogram,
    /// Number of those that ended after the deadline, by the trace or by the engine's report.
    pub missed: u64,
    /// Number of abandoned cycles.
    pub abandoned: u64,
    /// Missed cycles by late node.
    pub misses_by_node: BTreeMap<String, u64>,
    /// Missed cycles without a single late node, or with dropped records.
    pub misses_of_no_node: u64,
    /// Abandoned cycles by the node that did not return.
    pub abandoned_by_node: BTreeMap<String, u64>,
    /// Times of each node.
    pub node_ns: BTreeMap<String, NodeTimes>,
    /// Takes from shared queues, in all cycles.
    pub acquisitions: u64,
    /// Workers woken, in all cycles.
    pub wakes: u64,
    /// Number of cycles that were not evaluated because records were dropped.
    pub incomplete: u64,
    /// Number of dropped records.
    pub dropped: u64,
}

impl TraceStats {
    /// Adds the times of one plan's steps. Several steps of a node in one cycle are one block.
    pub(crate) fn add_plan(&mut self, plan: &PlanTimes) {
        let mut nodes = BTreeMap::<&str, NodeTimes>::new();
        for (step, times) in plan.times.iter().enumerate() {
            let name = plan.steps.name(step).unwrap_or_default();
            if times.late > 0 {
                *self.misses_by_node.entry(name.into()).or_default() += times.late;
            }
            if times.stuck > 0 {
                *self.abandoned_by_node.entry(name.into()).or_default() += times.stuck;
            }
            if times.count > 0 {
                let node = nodes.entry(name).or_default();
                node.count = node.count.max(times.count);
                node.mean += times.sum_ns as f64 / times.count as f64;
                node.typical += times.usual.get_or(0);
                node.max = node.max.max(times.max_ns);
            }
        }
        for (name, times) in nodes {
            let before = self.node_ns.entry(name.into()).or_default();
            *before = before.merge(times);
        }
    }

    /// Counts one cycle.
    pub(crate) fn add_cycle(&mut self, cycle: &OpenCycle, time: Option<Nanos>) {
        self.abandoned += u64::from(cycle.is_abandoned);
        self.acquisitions += u64::from(cycle.takes);
        self.wakes += u64::from(cycle.wakes);
        if let Some(time) = time {
            self.cycles += 1;
            self.cycle_times.record(time);
        }
    }
}
