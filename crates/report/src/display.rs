//! The report as text: a few lines, and the histogram as bars.

use crate::histogram_text::bars;
use crate::{LatencyFrames, Report};
use std::collections::BTreeMap;
use std::fmt;
use units::Nanos;

/// Upper bound on listed nodes.
const MAX_NODES: usize = 8;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_settings(f)?;
        self.write_counts(f)?;
        self.write_times(f)?;
        self.write_nodes(f)?;
        self.refused
            .iter()
            .try_for_each(|refused| writeln!(f, "refused: {refused}"))?;
        let mut notes = self.notes.iter();
        notes.try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

impl Report {
    fn write_settings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.workers == 1 { "" } else { "s" };
        write!(f, "{} on {} worker{s}", self.scheduler, self.workers)?;
        write!(f, ", {} frames at {} Hz", self.block, self.rate)?;
        if !self.driver.is_empty() {
            write!(f, ", {}", self.driver)?;
        }
        if !self.kernels.is_empty() {
            write!(f, ", {} kernels", self.kernels)?;
        }
        let LatencyFrames { graph, driver } = self.latency_frames;
        if graph + driver > 0 {
            write!(f, ", latency {graph} (graph) + {driver} (driver) frames")?;
        }
        writeln!(f)
    }

    fn write_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.cycles as f64 * f64::from(self.block) / f64::from(self.rate.max(1));
        let (nodes, cycles) = (self.nodes, self.cycles);
        write!(f, "{nodes} nodes, {cycles} cycles ({seconds:.1} s): ")?;
        let failures: Vec<String> = (self.failures().iter())
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        match failures.is_empty() {
            true => writeln!(f, "none late")?,
            false => writeln!(f, "{}", failures.join(", "))?,
        }
        if let Some(ahead) = self.ahead {
            let (nodes, all) = (ahead.nodes, ahead.in_time + ahead.in_callback);
            let in_time = ahead.in_time;
            writeln!(f, "ahead: {nodes} nodes, {in_time} of {all} blocks in time")?;
        }
        if let Some(reason) = self.late_reason() {
            writeln!(f, "late because {reason}")?;
        }
        self.write_late_nodes(f)
    }

    /// Counts of failures, each with its name.
    fn failures(&self) -> [(u64, &'static str); 11] {
        let lost = match self.driver.as_str() {
            "clock" => "beats that came late",
            _ => "xruns of the device",
        };
        [
            (self.missed, "ended after the deadline"),
            (self.late, "late"),
            (self.abandoned, "abandoned"),
            (self.faults, "faulty nodes"),
            (self.muted, "times muted"),
            (self.not_finite, "samples not finite"),
            (self.events_lost, "events lost"),
            (self.midi_lost, "MIDI messages lost"),
            (self.damaged_files, "damaged files"),
            (self.lost_recordings, "recordings with lost sound"),
            (self.xruns, lost),
        ]
    }

    /// The nodes that made cycles late.
    fn write_late_nodes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (node, misses) in counted(&self.misses_by_node) {
            writeln!(f, "  `{node}` was late in {misses} of them")?;
        }
        for (node, times) in counted(&self.abandoned_by_node) {
            let s = if times == 1.0 { "" } else { "s" };
            writeln!(f, "  `{node}` did not return in {times} cycle{s}")?;
        }
        if self.trace_dropped > 0 {
            writeln!(f, "  {} trace records found no room", self.trace_dropped)?;
        }
        Ok(())
    }

    fn write_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.cycle_ns;
        write!(
            f,
            "cycle: mean {}, p50 {}",
            nearest(time.mean),
            Nanos(time.p50)
        )?;
        write!(f, ", p99 {}, p99.9 {}", Nanos(time.p99), Nanos(time.p99_9))?;
        write!(f, ", max {}", Nanos(time.max))?;
        if let Some(deadline) = self.deadline_ns.filter(|ns| *ns > 0) {
            let share = 100.0 * time.max as f64 / deadline as f64;
            write!(f, " ({share:.0} % of {})", Nanos(deadline))?;
        }
        writeln!(f)?;
        bars(f, &self.cycle_histogram)
    }

    fn write_nodes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slowest = largest(self.node_ns.iter().map(|(name, times)| (name, times.mean)));
        for (name, mean) in &slowest {
            let times = &self.node_ns[*name];
            let (typical, max) = (Nanos(times.typical), Nanos(times.max));
            writeln!(
                f,
                "  {name}: mean {}, typical {typical}, max {max}",
                nearest(*mean)
            )?;
        }
        match self.node_ns.len() - slowest.len() {
            0 => Ok(()),
            more => writeln!(f, "  and {more} nodes that take less"),
        }
    }
}

/// The nearest whole nanosecond.
fn nearest(ns: f64) -> Nanos {
    Nanos(ns.round() as u64)
}

/// Counts, the largest first.
fn counted(all: &BTreeMap<String, u64>) -> Vec<(&String, f64)> {
    largest(all.iter().map(|(name, n)| (name, *n as f64)))
}

/// The first few by size, then by name.
fn largest<'a>(all: impl Iterator<Item = (&'a String, f64)>) -> Vec<(&'a String, f64)> {
    let mut all: Vec<_> = all.collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    all.truncate(MAX_NODES);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Histogram, NodeTimes};
    #[test]
    fn the_text_names_the_late_node_and_shows_the_one_slow_cycle() {
        let mut times = Histogram::new();
        (0..7499).for_each(|n| times.record(Nanos(200_000 + n * 7)));
        times.record(Nanos(2_400_000));
        let mut report = Report {
            scheduler: "stealing".into(),
            workers: 2,
            block: 64,
            rate: 48_000,
            driver: "clock".into(),
            kernels: "avx2".into(),
            nodes: 132,
            cycles: 7500,
            missed: 1,
            deadline_ns: Some(1_333_333),
            ..Report::default()
        };
        report.set_cycles(&times);
        report.misses_by_node.insert("reverb".into(), 1);
        report.node_ns.insert(
            "reverb".into(),
            NodeTimes {
                count: 7500,
                mean: 1234.5,
                typical: 1200,
                max: 2_000_000,
            },
        );
        let text = report.to_string();
        let expected = "\
stealing on 2 workers, 64 frames at 48000 Hz, clock, avx2 kernels
132 nodes, 7500 cycles (10.0 s): 1 ended after the deadline
late because the node `reverb` took longer than usual
  `reverb` was late in 1 of them
cycle: mean 227 µs, p50 226 µs, p99 252 µs, p99.9 253 µs, max 2.4 ms (180 % of 1.33 ms)
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("┊\n   2.29 ms ┤███▍ 1\n"), "{text}");
        assert!(
            text.ends_with("  reverb: mean 1.24 µs, typical 1.2 µs, max 2 ms\n"),
            "{text}"
        );
    }

    #[test]
    fn an_empty_report_has_a_text() {
        assert!(Report::default().to_string().contains("0 cycles"));
    }
}
