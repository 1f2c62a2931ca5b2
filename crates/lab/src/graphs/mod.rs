//! The experiment *graphs*: lines, diamonds and rakes under every schedule, as in the report of Chen-yen-su and Delgado
//! (2019): threads, buffers, a machine in use, and everything with everything.

mod cells;
mod page;

use crate::figures::columns;
use crate::machine::Machine;
use crate::run::run_all;
use crate::{Effort, LabError, Table, Watch};
use std::path::Path;

/// How many columns say which run it is.
const KEYS: usize = 10;
const COLUMNS: &[&str] = columns!(
    "shape", "nodes", "inner", "threads", "block", "load", "scheduler", "fuse", "pace", "ms";
    "bars"
);

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

pub(crate) use page::page;
