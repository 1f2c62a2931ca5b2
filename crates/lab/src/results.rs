//! The table of runs as pages read it: by column values, without void runs, on the machine that made them.

use crate::state::void_reason;
use crate::{MachineInfo, Row, Table};

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

    /// The last run with these values, void or not.
    pub(crate) fn find(&self, filter: Filter<'_>) -> Option<Row<'a>> {
        self.table.find(filter)
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

/// The median; none of no number.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// A number with so many decimals; nothing where there is none.
pub(crate) fn decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or(String::new(), |number| format!("{number:.decimals$}"))
}

/// A scheduler as rows of tables name it.
pub(crate) fn scheduler_label(scheduler: &str, fuse: &str) -> String {
    match fuse {
        "on" => format!("{scheduler}, fused"),
        _ => scheduler.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_what_is_no_number() {
        assert_eq!(median([3.0, f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([]), None);
    }
}
