//! Figures of an engine: for a display several times a second, and for the report at the end.

use super::Engine;
use crate::AheadStatus;
use processor::{FileProblem, Gauge, Mode};
use report::{CycleTrace, LiveStats, RenderedAhead, Report};
use std::collections::BTreeMap;
use units::Nanos;

/// Number of late nodes that live figures name.
const MAX_LATE_NODES: usize = 16;

impl Engine {
    /// Values of all gauges, by node and name.
    pub fn gauges(&self) -> BTreeMap<String, f32> {
        self.resources.gauges(&self.graph)
    }

    /// All gauges, by node and name, as they are shared with their processors.
    ///
    /// Real-time: setup.
    pub fn gauge_handles(&self) -> Vec<(String, Gauge)> {
        self.resources.gauge_handles(&self.graph)
    }

    /// What is played ahead; `None` if nothing is to be ([`EngineOptions::ahead_blocks`](crate::EngineOptions::ahead_blocks)).
    ///
    /// Real-time: setup.
    pub fn ahead_status(&self) -> Option<AheadStatus> {
        self.resources.ahead_status()
    }

    /// Notes of the nodes on their set-up, a sentence each, such as a file that was resampled.
    pub fn notes(&self) -> Vec<String> {
        self.resources.notes(&self.graph)
    }

    /// Problems with the files of nodes so far, with the name of each node: damaged sound files, lost recordings.
    ///
    /// Real-time: setup.
    pub fn file_problems(&self) -> Vec<(String, FileProblem)> {
        self.resources.file_problems(&self.graph)
    }

    /// Completes the files of all nodes. Call it when the callback is dropped: a recorder writes its last frames here, and
    /// what goes wrong then is among the [`file_problems`](Self::file_problems).
    ///
    /// Real-time: waits, on the disk.
    pub fn end_files(&mut self) {
        self.resources.end_background();
    }

    /// Figures of now. Cheap enough for several times a second.
    ///
    /// Real-time: setup.
    pub fn live_stats(&self) -> LiveStats {
        let mut stats = self.summary.live_stats();
        stats.period_ns = self.resources.options.period().0;
        stats.gauges = self.gauges();
        if let Some(tracer) = &self.tracer {
            stats.load = tracer.load().clone();
            stats.misses_by_node = tracer.late_nodes(MAX_LATE_NODES);
        }
        let readers = self.resources.readers.iter();
        stats.trace_dropped = readers.map(|reader| reader.dropped()).sum();
        stats
    }

    /// With a trace: the slowest cycle so far of which no record was dropped.
    pub fn slowest(&self) -> Option<&CycleTrace> {
        self.tracer.as_ref()?.slowest()
    }

    /// With a trace: duration of the longest cycle so far, also of one whose records were dropped.
    pub fn longest_cycle(&self) -> Option<Nanos> {
        self.tracer.as_ref().map(|tracer| tracer.longest())
    }

    /// Report of what happened so far. Fields that only the driver knows are left empty.
    ///
    /// Real-time: setup.
    pub fn report(&mut self) -> Report {
        self.update();
        let options = &self.resources.options;
        let mut report = Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scheduler: options.scheduler.name().to_owned(),
            chosen_by: if options.is_chosen { "auto" } else { "call" }.to_owned(),
            workers: self.resources.workers() as u32,
            block: options.block.0,
            rate: options.rate.hz(),
            driver: options.driver.clone(),
            kernels: self.settings("kernels").unwrap_or_default(),
            partition: self.settings("partition"),
            nodes: self.graph.len() as u64,
            ahead: self.ahead_status().map(|ahead| RenderedAhead {
                nodes: ahead.nodes as u64,
                in_time: ahead.ahead,
                in_callback: ahead.played,
            }),
            refused: self.refused.clone(),
            notes: self.notes(),
            speedup_bound: self.speedup_bound(),
            ..Report::default()
        };
        report.notes.extend(self.schedule_notes());
        for (node, problem) in self.file_problems() {
            report.lost_recordings += u64::from(problem.is_loss());
            report.damaged_files += u64::from(problem.is_damage());
            report
                .notes
                .push(format!("`{node}`: {}", problem.message()));
        }
        report.latency_frames.graph = self.plan.latency.0;
        if options.mode == Mode::Live {
            report.deadline_ns = Some(options.period().0);
        }
        self.summary.write(&mut report);
        if let Some(tracer) = &self.tracer {
            report.set_trace(&tracer.stats());
        }
        report
    }

    /// The different values of a setting over all nodes, in one line; `None` where no node has it.
    fn settings(&self, name: &str) -> Option<String> {
        let values = self.resources.settings(&self.graph, name);
        let values: Vec<&str> = values.into_iter().collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Largest speed-up that any number of workers can give: total cost over the critical path (Graham 1966).
    fn speedup_bound(&self) -> f64 {
        let path = self.plan.lower_bound(usize::MAX).0;
        self.plan.total_cost().0 as f64 / path.max(1) as f64
    }
}
