//! The main reason of late cycles, in words for a musician.

use crate::Report;
use std::collections::BTreeMap;
use units::Nanos;

/// Share of its period that a usual cycle takes from which on the graph as a whole is too heavy.
const HEAVY: f64 = 0.7;

impl Report {
    /// The end of the sentence "late because …": the reason of most late cycles. `None` if none was late.
    ///
    /// | reason | from |
    /// |---|---|
    /// | a node that did not return, or took longer than usual | the trace |
    /// | the whole graph: a usual cycle takes most of its period already | the trace, and the median |
    /// | the machine: no node explains the cycle, and a usual one is short | the trace, and the median |
    /// | the beat: the clock was woken late, or the device reported an xrun; or no cycle took its period | the driver, and the longest cycle |
    pub fn late_reason(&self) -> Option<String> {
        let node = most(&self.misses_by_node);
        let stuck = most(&self.abandoned_by_node);
        let of = |(count, all): (u64, u64)| match all {
            1 => String::new(),
            _ => format!(", in {count} of {all} late cycles"),
        };
        let all = self.missed + self.abandoned;
        let in_node = |found: Option<(&str, u64)>, what: &str| {
            let (name, count) = found?;
            let share = of((count, all.max(count)));
            Some((count, format!("the node `{name}` {what}{share}")))
        };
        let reasons = [
            in_node(stuck, "did not return"),
            in_node(node, "took longer than usual"),
            self.unexplained(),
            self.beat(),
        ];
        // Of equal ones the first, which says more.
        let reasons = reasons.into_iter().flatten().rev();
        reasons
            .max_by_key(|(count, _)| *count)
            .map(|(_, words)| words)
    }

    /// Cycles that no node explains.
    fn unexplained(&self) -> Option<(u64, String)> {
        let explained: u64 = self.misses_by_node.values().sum();
        let stuck: u64 = self.abandoned_by_node.values().sum();
        let all = self.missed + self.abandoned;
        let count = all.saturating_sub(explained + stuck);
        if count == 0 {
            return None;
        }
        let deadline = self.deadline_ns.unwrap_or(0).max(1) as f64;
        let (load, longest) = (
            self.cycle_ns.p50 as f64 / deadline,
            Nanos(self.cycle_ns.max),
        );
        let words = if self
            .deadline_ns
            .is_some_and(|deadline| self.cycle_ns.max < deadline)
        {
            // No cycle took its period: it began too late.
            self.late_beat(count)
        } else if load >= HEAVY {
            format!(
                "the whole graph needs {:.0} % of its time in a usual cycle: take larger blocks, more workers or fewer nodes",
                100.0 * load
            )
        } else if self.node_ns.is_empty() {
            format!(
                "a cycle took up to {longest}: play with --times to see if it was a node or the machine"
            )
        } else {
            format!(
                "the machine did something else in the middle of a cycle, which then took up to {longest}: close other programs, or take larger blocks"
            )
        };
        Some((count, words))
    }

    /// Beats that came late: the machine, not the graph.
    fn beat(&self) -> Option<(u64, String)> {
        (self.xruns > 0).then(|| (self.xruns, self.late_beat(self.xruns)))
    }

    fn late_beat(&self, count: u64) -> String {
        let times = match count {
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        match self.driver.as_str() {
            "clock" => format!(
                "the beat came late {times}: the machine woke this program too late, before any node ran"
            ),
            _ => format!("the sound device lost its beat {times}"),
        }
    }
}

/// The name with the largest count; of equal ones the first.
fn most(all: &BTreeMap<String, u64>) -> Option<(&str, u64)> {
    let counted = all.iter().rev().filter(|(_, count)| **count > 0);
    let most = counted.max_by_key(|(_, count)| **count);
    most.map(|(name, count)| (name.as_str(), *count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeTimes;

    fn report(missed: u64, xruns: u64, nodes: &[(&str, u64)]) -> Report {
        let mut report = Report {
            missed,
            xruns,
            driver: "clock".into(),
            deadline_ns: Some(1_333_333),
            misses_by_node: nodes.iter().map(|(n, c)| ((*n).into(), *c)).collect(),
            ..Report::default()
        };
        report.cycle_ns.p50 = 200_000;
        report.cycle_ns.max = 9_000_000;
        report.node_ns.insert("any".into(), NodeTimes::default());
        report
    }

    fn reason(report: &Report) -> String {
        report.late_reason().unwrap_or_default()
    }

    #[test]
    fn one_sentence_names_the_node_the_machine_or_the_beat() {
        assert_eq!(report(0, 0, &[]).late_reason(), None);
        let nodes = [("comb", 1), ("reverb", 3)];
        assert_eq!(
            reason(&report(5, 2, &nodes)),
            "the node `reverb` took longer than usual, in 3 of 5 late cycles"
        );
        assert!(reason(&report(1, 1, &[("reverb", 1)])).starts_with("the node `reverb`"));
        let machine = reason(&report(9, 2, &nodes));
        assert!(
            machine.starts_with("the machine did something else"),
            "{machine}"
        );
        assert!(machine.contains("up to 9 ms"), "{machine}");
        let beat = reason(&report(5, 7, &nodes));
        assert!(beat.starts_with("the beat came late 7 times"), "{beat}");
    }

    #[test]
    fn a_heavy_graph_and_a_run_without_a_trace_are_told_apart() {
        let mut heavy = report(4, 0, &[]);
        heavy.cycle_ns.p50 = 1_300_000;
        assert!(reason(&heavy).starts_with("the whole graph needs 98 % of its time"));
        let mut unknown = report(4, 0, &[]);
        unknown.node_ns.clear();
        assert!(reason(&unknown).contains("play with --times"));
        unknown.cycle_ns.max = 156_000;
        assert!(reason(&unknown).starts_with("the beat came late 4 times"));
        let mut stuck = report(0, 0, &[]);
        (stuck.abandoned, stuck.driver) = (1, "jack".into());
        stuck.abandoned_by_node.insert("loop".into(), 1);
        assert_eq!(reason(&stuck), "the node `loop` did not return");
        stuck.xruns = 2;
        assert_eq!(reason(&stuck), "the sound device lost its beat 2 times");
    }
}
