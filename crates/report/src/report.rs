//! The report after playing or rendering.

use crate::{Bucket, Histogram, TimeSummary, TraceStats};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Report of a graph that played or was rendered. Its JSON keys are these names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Version of the program.
    pub version: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Origin of that choice: `auto`, which tries several and takes the best, or the `call`.
    pub chosen_by: String,
    /// Number of workers, the callback's thread included.
    pub workers: u32,
    /// Frames in a block.
    pub block: u32,
    /// Frames a second.
    pub rate: u32,
    /// Name of the driver.
    pub driver: String,
    /// Names of the kernels that nodes chose for this machine; empty if none has a choice.
    pub kernels: String,
    /// The different partitions of convolvers, with commas between them; none where there are no convolvers.
    pub partition: Option<String>,
    /// Number of nodes.
    pub nodes: u64,
    /// Nodes that were rendered ahead; none where nothing was to be.
    pub ahead: Option<RenderedAhead>,
    /// Number of cycles.
    pub cycles: u64,
    /// Number of cycles that ended after their deadline; their sound is complete.
    pub missed: u64,
    /// Number of results of deferred work that were late and replaced by silence.
    pub late: u64,
    /// Number of abandoned cycles.
    pub abandoned: u64,
    /// Number of nodes that panicked or were quarantined.
    pub faults: u64,
    /// Number of times that the engine muted itself under overload.
    pub muted: u64,
    /// Number of samples that were not finite, from the device, at a delay line or at a sink; they were silenced there.
    pub not_finite: u64,
    /// Number of lost events.
    pub events_lost: u64,
    /// Number of lost messages of live MIDI ports: too long, or without room.
    pub midi_lost: u64,
    /// Number of damaged sound files; what they lack was silent.
    pub damaged_files: u64,
    /// Number of recordings that lost sound.
    pub lost_recordings: u64,
    /// Number of xruns of the device, whatever their cause.
    pub xruns: u64,
    /// Missed cycles by late node; empty without a trace.
    pub misses_by_node: BTreeMap<String, u64>,
    /// Missed cycles in a trace without a single late node: too much work in all, time taken by other programs, or
    /// dropped records.
    pub misses_of_no_node: u64,
    /// Abandoned cycles by the node that did not return; empty without a trace.
    pub abandoned_by_node: BTreeMap<String, u64>,
    /// Number of dropped trace records.
    pub trace_dropped: u64,
    /// Durations of cycles.
    pub cycle_ns: TimeSummary,
    /// The same as bars: eight for each doubling.
    pub cycle_histogram: Vec<Bucket>,
    /// Deadline of a cycle; none offline.
    pub deadline_ns: Option<u64>,
    /// Times of each node; empty without a trace.
    pub node_ns: BTreeMap<String, NodeTimes>,
    /// Mean number of takes from shared queues.
    pub acquisitions_per_cycle: f64,
    /// Mean number of workers that had to be woken.
    pub wakes_per_cycle: f64,
    /// Latency of the output.
    pub latency_frames: LatencyFrames,
    /// Upper bound on the speed-up over one worker: the sum of all costs over that of the critical path.
    pub speedup_bound: f64,
    /// Real-time guarantees that the system refused, each with a remedy.
    pub refused: Vec<String>,
    /// Changes to nodes that nobody requested.
    pub notes: Vec<String>,
}

/// Latency from input to output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFrames {
    /// Of the nodes.
    pub graph: u32,
    /// Of the device, and of the adaptation of block sizes.
    pub driver: u32,
}

/// Times of one node per block, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeTimes {
    /// Number of blocks.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// About the median.
    pub typical: u64,
    /// The longest.
    pub max: u64,
}

/// Nodes that were rendered ahead, and their blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedAhead {
    /// Number of nodes, at the end.
    pub nodes: u64,
    /// Number of blocks that were there in time.
    pub in_time: u64,
    /// Number of blocks that the callback rendered itself.
    pub in_callback: u64,
}

impl NodeTimes {
    /// Of both together; `typical` is that of the one with more blocks.
    pub(crate) fn merge(self, other: Self) -> Self {
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
    /// Sets the fields that come from a trace. The engine's own counts stay.
    pub fn set_trace(&mut self, found: &TraceStats) {
        self.misses_by_node = found.misses_by_node.clone();
        self.misses_of_no_node = found.misses_of_no_node;
        self.abandoned_by_node = found.abandoned_by_node.clone();
        self.trace_dropped = found.dropped;
        self.node_ns = found.node_ns.clone();
    }

    /// Sets the durations of all cycles.
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
