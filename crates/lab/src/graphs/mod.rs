//! The experiment *graphs*: lines, diamonds and rakes under every schedule, as in the report of Chen-yen-su and Delgado
//! (2019): threads, buffers, a machine in use, and everything with everything.

mod cells;
mod page;

use crate::figures::columns;

/// How many columns say which run it is.
pub(crate) const KEYS: usize = 10;
pub(crate) const COLUMNS: &[&str] = columns!(
    "shape", "nodes", "inner", "threads", "block", "load", "scheduler", "fuse", "pace", "ms";
    "bars"
);

pub(crate) use cells::cells;
pub(crate) use page::page;
