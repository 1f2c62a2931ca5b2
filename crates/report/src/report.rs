//! What is said after playing or rendering.

use crate::{Bucket, Histogram, TimeSummary, TraceStats};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happened while a graph played or was rendered. Its JSON has these names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Of the program.
    pub version: String,
    /// How the plan was executed.
    pub scheduler: String,
    /// Who said so: `auto`, which tries several and takes the best, or the `call`.
    pub chosen_by: String,
    /// How many threads worked, the callback's included.
    pub workers: u32,
    /// Frames in a block.
    pub block: u32,
    /// Frames a second.
    pub rate: u32,
    /// What gave the beat.
    pub driver: String,
    /// Which kernels computed.
    pub kernels: String,
    /// How convolutions were partitioned; none where there were none.
    pub partition: Option<String>,
    /// How many nodes played.
    pub nodes: u64,
    /// How many cycles were begun.
    pub cycles: u64,
    /// Cycles that ended after their deadline; their sound is whole.
    pub missed: u64,
    /// Results of deferred work that were replaced by silence.
    pub late: u64,
    /// Cycles that were given up.
    pub abandoned: u64,
    /// Nodes that panicked or were quarantined.
    pub faults: u64,
    /// Times the engine fell silent to give the processor back.
    pub muted: u64,
    /// Samples at a sink that were not finite; they were made silent.
    pub not_finite: u64,
    /// Events that found no room.
    pub events_lost: u64,
    /// Times that sound was lost on the device's side, whoever was to blame.
    pub xruns: u64,
    /// For missed cycles, which node was late, how often; only what a trace has shown.
    pub misses_by_node: BTreeMap<String, u64>,
    /// Missed cycles in a trace that no one node explains: too much work in all, time taken by other programs, or
    /// records that were dropped.
    pub misses_of_no_node: u64,
    /// For cycles that were given up, which node did not return, how often; only what a trace has shown.
    pub abandoned_by_node: BTreeMap<String, u64>,
    /// Trace records that found no room.
    pub trace_dropped: u64,
    /// How long a cycle took, in ns.
    pub cycle_ns: TimeSummary,
    /// The same as bars: eight for each doubling.
    pub cycle_histogram: Vec<Bucket>,
    /// By when a cycle had to be done, in ns; none offline.
    pub deadline_ns: Option<u64>,
    /// What each node took; only what a trace has shown.
    pub node_ns: BTreeMap<String, NodeTimes>,
    /// Takes from queues that workers share.
    pub acquisitions_per_cycle: f64,
    /// Workers that had to be woken.
    pub wakes_per_cycle: f64,
    /// By how much the output lags.
    pub latency_frames: LatencyFrames,
    /// How many times as fast as on one worker it could be at best: all costs over the critical path's.
    pub speedup_bound: f64,
    /// Real-time guarantees that were refused, each with what to do.
    pub refused: Vec<String>,
    /// What was done for nodes that nobody asked for.
    pub notes: Vec<String>,
}

/// By how many frames the output lags behind the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFrames {
    /// Nodes' own.
    pub graph: u32,
    /// What adapting block sizes added, and the device.
    pub driver: u32,
}

/// What one node took for a block, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeTimes {
    /// How many blocks.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// About the median.
    pub typical: u64,
    /// The longest.
    pub max: u64,
}

impl NodeTimes {
    /// Of both spans together; what is typical is the longer span's.
    pub(crate) fn with(self, other: Self) -> Self {
        let count = self.count + other.count;
        let sum = self.mean * self.count as f64 + other.mean * other.count as f64;
        let longer = if self.count > other.count {
            self
        } else {
            other
        };
        Self {
            count,
            mean: if count > 0 { sum / count as f64 } else { 0.0 },
            typical: longer.typical,
            max: self.max.max(other.max),
        }
    }
}

impl Report {
    /// Writes what a trace has shown into it. What the engine counts itself stays as it is.
    pub fn set_trace(&mut self, found: &TraceStats) {
        self.misses_by_node = found.misses_by_node.clone();
        self.misses_of_no_node = found.misses_of_no_node;
        self.abandoned_by_node = found.abandoned_by_node.clone();
        self.trace_dropped = found.dropped;
        self.node_ns = found.node_ns.clone();
    }

    /// Writes the times of all cycles into it.
    pub fn set_cycles(&mut self, times: &Histogram) {
        self.cycle_ns = times.summary();
        self.cycle_histogram = times.buckets(8);
    }

    /// As JSON, for a file or a program.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("its maps have text for keys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_json_has_every_promised_name_and_reads_back() {
        let mut report = Report {
            version: "0.1.0".into(),
            misses_by_node: BTreeMap::from([("reverb".into(), 3)]),
            speedup_bound: 2.5,
            ..Report::default()
        };
        let mut times = Histogram::new();
        times.record(units::Nanos(1000));
        report.set_cycles(&times);
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        let names = "version scheduler workers block rate driver kernels partition nodes cycles missed late abandoned \
            faults muted misses_by_node trace_dropped cycle_ns cycle_histogram acquisitions_per_cycle wakes_per_cycle \
            latency_frames speedup_bound";
        for name in names.split_whitespace() {
            assert!(json.get(name).is_some(), "{name}");
        }
        for name in ["mean", "p50", "p99", "p99_9", "max"] {
            assert!(json["cycle_ns"].get(name).is_some(), "{name}");
        }
        assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
    }
}
