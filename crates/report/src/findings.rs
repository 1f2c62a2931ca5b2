//! What a trace has shown.

use crate::cycle::Cycle;
use crate::played::Played;
use crate::{Histogram, NodeTimes};
use std::collections::BTreeMap;
use units::Nanos;

/// What a trace has shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceStats {
    /// Cycles whose begin and end were seen.
    pub cycles: u64,
    /// How long they took.
    pub cycle_times: Histogram,
    /// Those of them that ended after the deadline, or were said to.
    pub missed: u64,
    /// Cycles that were given up.
    pub abandoned: u64,
    /// Missed cycles by the node that was late.
    pub misses_by_node: BTreeMap<String, u64>,
    /// Missed cycles that no one node explains, or whose records have a hole.
    pub misses_of_no_node: u64,
    /// Cycles that were given up by the node that did not return.
    pub abandoned_by_node: BTreeMap<String, u64>,
    /// What each node took.
    pub node_ns: BTreeMap<String, NodeTimes>,
    /// Takes from queues that workers share, in all cycles.
    pub acquisitions: u64,
    /// Workers that had to be woken, in all cycles.
    pub wakes: u64,
    /// Cycles of which nothing was learned, because records were dropped.
    pub incomplete: u64,
    /// Records that found no room.
    pub dropped: u64,
}

impl TraceStats {
    /// Adds what one plan's steps took. A node's several steps of one cycle are one block.
    pub(crate) fn add(&mut self, played: &Played) {
        let mut nodes = BTreeMap::<&str, NodeTimes>::new();
        for (step, times) in played.times.iter().enumerate() {
            let name = played.steps.name(step).unwrap_or_default();
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
                node.typical += times.usual.or(0);
                node.max = node.max.max(times.max_ns);
            }
        }
        for (name, times) in nodes {
            let before = self.node_ns.entry(name.into()).or_default();
            *before = before.with(times);
        }
    }

    /// Counts one cycle.
    pub(crate) fn count(&mut self, cycle: &Cycle, time: Option<Nanos>) {
        self.abandoned += u64::from(cycle.is_abandoned);
        self.acquisitions += u64::from(cycle.takes);
        self.wakes += u64::from(cycle.wakes);
        if let Some(time) = time {
            self.cycles += 1;
            self.cycle_times.record(time);
        }
    }
}
