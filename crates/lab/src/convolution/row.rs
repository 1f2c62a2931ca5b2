//! A row of the experiment's table while it fills.

use super::beat::Seen;
use super::{COLUMNS, KEYS};
use crate::machine::now;

/// The last columns, which say in what state the machine was.
const STATE: usize = 3;

/// A row that fills; what is not set stays empty.
#[derive(Default)]
pub(super) struct Row(Vec<(&'static str, String)>);

impl Row {
    pub(super) fn set(&mut self, column: &'static str, value: String) {
        self.0.push((column, value));
    }

    pub(super) fn seen(&mut self, seen: &Seen, cut: &(String, usize)) {
        let priority = if seen.is_real_time {
            "real-time"
        } else {
            "ordinary"
        };
        self.set("priority", priority.into());
        self.set("partition", cut.0.clone());
        self.set("levels", cut.1.to_string());
        for (column, per_mille) in [("p50_us", 500), ("p99_us", 990), ("worst_us", 1000)] {
            self.set(column, format!("{:.1}", seen.took_us(per_mille)));
        }
        self.set("missed", seen.missed.to_string());
        self.set("unexplained", seen.unexplained.to_string());
        self.set("percent", format!("{:.2}", 100.0 * seen.busy));
        self.set("gaps_us", format!("{:.0}", seen.gaps_ns as f64 / 1e3));
    }

    /// The columns that do not say which run it is, but for the last ones, of the machine's state.
    pub(super) fn cells(mut self) -> Vec<String> {
        self.set("date", now());
        let value = |column: &&str| {
            let set = self.0.iter().rev().find(|(name, _)| name == column);
            set.map_or(String::new(), |(_, value)| value.clone())
        };
        let columns = &COLUMNS[KEYS..COLUMNS.len() - STATE];
        columns.iter().map(value).collect()
    }
}
