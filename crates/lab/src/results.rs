//! The table of runs as pages read it: by key or by column values, without void runs, on the machine that made them.

use crate::state::void_reason;
use crate::{MachineInfo, Row, Table};
use divisi::prelude::Scheduler;
use std::fmt::{self, Display};

/// Runs of an experiment and the machine that made them.
#[derive(Clone, Copy)]
pub(crate) struct Results<'a> {
    pub(crate) table: &'a Table,
    pub(crate) machine: &'a MachineInfo,
}

/// Columns with the values that a row must have.
pub(crate) type Filter<'f> = &'f [(&'f str, &'f str)];

impl<'a> Results<'a> {
    /// Every run with these values, void or not.
    pub(crate) fn rows<'s>(&'s self, filter: Filter<'s>) -> impl Iterator<Item = Row<'a>> + 's {
        self.table.rows().filter(move |row| row.matches(filter))
    }

    /// Every run with these values that is not void.
    pub(crate) fn valid_rows<'s>(
        &'s self,
        filter: Filter<'s>,
    ) -> impl Iterator<Item = Row<'a>> + 's {
        self.rows(filter).filter(|row| !self.is_void(row))
    }

    /// The last run with these settings (see [`Table::find`]), void or not.
    pub(crate) fn find(&self, settings: impl Display) -> Option<Row<'a>> {
        self.table.find(settings)
    }

    /// The last run with these settings, if it is not void.
    pub(crate) fn valid(&self, settings: impl Display) -> Option<Row<'a>> {
        self.find(settings).filter(|row| !self.is_void(row))
    }

    /// Returns true if the run is void on this machine.
    pub(crate) fn is_void(&self, row: &Row<'_>) -> bool {
        void_reason(row, self.machine.cores).is_some()
    }

    /// `void` for a void run, nothing for another.
    pub(crate) fn state(&self, row: &Row<'_>) -> &'static str {
        if self.is_void(row) { "void" } else { "" }
    }

    /// The different values of a column, in the order in which they first occur.
    pub(crate) fn distinct(&self, filter: Filter<'_>, column: &str) -> Vec<&'a str> {
        let mut values = Vec::new();
        for row in self.rows(filter) {
            let value = row.text(column);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// The different numbers of a column, in rising order.
    pub(crate) fn distinct_numbers(&self, filter: Filter<'_>, column: &str) -> Vec<usize> {
        let values = self.distinct(filter, column);
        let mut numbers: Vec<usize> = values.iter().filter_map(|v| v.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// A scheduler, with fusion (`on`) or without (`off`): a row of a table, a series of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) scheduler: Scheduler,
    pub(crate) fuse: &'static str,
}

impl Variant {
    /// The scheduler without fusion.
    pub(crate) const fn unfused(scheduler: Scheduler) -> Self {
        let fuse = "off";
        Self { scheduler, fuse }
    }

    /// Every scheduler, without fusion and with it.
    pub(crate) fn all() -> Vec<Self> {
        let both = |scheduler| ["off", "on"].map(|fuse| Self { scheduler, fuse });
        Scheduler::all().flat_map(both).collect()
    }

    /// Returns true for every scheduler but the sequential one.
    pub(crate) fn is_parallel(self) -> bool {
        self.scheduler != Scheduler::Sequential
    }

    /// Number of threads of a run for which `threads` are set: a sequential one has one.
    pub(crate) fn threads(self, threads: usize) -> usize {
        if self.is_parallel() { threads } else { 1 }
    }
}

impl Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.fuse == "on" { ", fused" } else { "" };
        write!(f, "{}{suffix}", self.scheduler)
    }
}

/// The median; none of no number.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Minimum and maximum; none of no number.
pub(crate) fn min_max(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = values.into_iter().map(|value| (value, value));
    ends.reduce(|(min, max), (value, _)| (min.min(value), max.max(value)))
}

/// A number with this many decimals; nothing where there is none.
pub(crate) fn decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or(String::new(), |number| format!("{number:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_what_is_no_number() {
        assert_eq!(median([3.0, f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([]), None);
        assert_eq!(min_max([3.0, 1.0, 2.0]), Some((1.0, 3.0)));
    }
}
