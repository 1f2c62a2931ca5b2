//! [`PlannedCell`]: a cell that is to play, and [`LaunchRequest`]: a process of it that is to be started.

use crate::node::Drill;
use crate::section::CellSpec;
use crate::split::CellPart;
use std::ffi::OsString;
use std::sync::Arc;

/// A cell to start, or to take over from the supervisor before.
pub struct PlannedCell<'a> {
    /// Its number.
    pub index: usize,
    /// Its part of the session.
    pub part: &'a CellPart,
    /// Failures to cause.
    pub drills: Vec<Drill>,
    /// It was stopped before a supervisor was lost, and stays so.
    pub is_stopped: bool,
    /// Numbers of the parts that a process of the supervisor before may have.
    pub parts: Vec<u64>,
}

/// A process that is to be started.
pub struct LaunchRequest<'a> {
    /// Number of the cell, in the order of the session's; cells that are added have larger ones.
    pub index: usize,
    /// The cell as it is now.
    pub spec: &'a CellSpec,
    /// True for the first start.
    pub is_first: bool,
    /// Path of the memory of the process whose place it takes.
    pub before: Option<&'a str>,
}

/// Makes the arguments of a cell's process. The guardian adds what it shares, and its own number.
pub type Launch = Box<dyn Fn(&LaunchRequest<'_>) -> Vec<OsString> + Send>;

/// A part for the next processes of a cell: the session, the number of the part, and the cell.
pub(crate) struct HandedPart {
    pub(crate) session: Arc<[u8]>,
    pub(crate) number: u64,
    pub(crate) spec: CellSpec,
}
