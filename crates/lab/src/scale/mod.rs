//! The experiment *scale*: what a simulator says of up to 128 cores, from costs measured here, and how far it is off on
//! the cores that are here.

mod cells;
mod facts;
mod page;

use crate::machine::Machine;
use crate::run::run_all;
use crate::{Effort, LabError, Table, Watch};
use std::path::Path;

pub(crate) use page::page;

/// How many columns say which run it is.
const KEYS: usize = 6;
const COLUMNS: &[&str] = &[
    "what",
    "graph",
    "nodes",
    "scheduler",
    "cores",
    "ms",
    "date",
    "facts",
    "predicted_us",
    "predicted_takes",
    "predicted_busy",
    "measured_us",
    "worst_us",
    "measured_takes",
];

/// Makes the runs that are not in `folder` yet. The table, and whether all are there now.
pub(crate) fn run(
    effort: Effort,
    folder: &Path,
    machine: &Machine,
    watch: &mut dyn Watch,
) -> Result<(Table, bool), LabError> {
    let path = folder.join("results.csv");
    let mut table = Table::open(&path, &machine.name(), COLUMNS, KEYS)?;
    let is_whole = run_all(&cells::cells(effort), effort, &mut table, watch)?;
    Ok((table, is_whole))
}
