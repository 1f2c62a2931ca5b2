//! The values of one run, and how thorough runs are.

use std::collections::BTreeMap;
use std::fmt::Display;

/// Thoroughness of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Every run, for minutes.
    Full,
    /// A choice of runs, in under a minute.
    Quick,
    /// As few runs as possible, for tests.
    Minimal,
}

impl Effort {
    /// The value for this effort.
    pub(crate) fn choose<T>(self, full: T, quick: T, minimal: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
            Self::Minimal => minimal,
        }
    }
}

/// Values of one row, by column. A column without a value stays empty.
#[derive(Debug, Default)]
pub(crate) struct Record(BTreeMap<&'static str, String>);

impl Record {
    /// Sets a column.
    pub(crate) fn set(&mut self, column: &'static str, value: impl Display) {
        self.0.insert(column, value.to_string());
    }

    /// Sets a column to a number with this many decimals.
    pub(crate) fn set_number(&mut self, column: &'static str, value: f64, decimals: usize) {
        self.set(column, format!("{value:.decimals$}"));
    }

    /// Sets a column that the run itself left empty.
    pub(crate) fn set_default(&mut self, column: &'static str, value: String) {
        self.0.entry(column).or_insert(value);
    }

    /// The value of a column.
    pub(crate) fn get(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }
}
