//! The data of a Gantt chart.

use crate::class::NodeClass;

/// A schedule, or one cycle as it ran. Times are in ns from the start of the chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttChart {
    /// The title.
    pub title: String,
    /// A line below the title: makespan, scheduler, cores. May be empty.
    pub note: String,
    /// The rows from top to bottom; the first 256 are drawn.
    pub rows: Vec<GanttRow>,
    /// Messages between rows; not drawn if there are more than 200.
    pub arrows: Vec<GanttArrow>,
    /// Events at one time; the first 4000 are drawn.
    pub markers: Vec<GanttMarker>,
    /// Deadline of all rows.
    pub deadline_ns: Option<u64>,
}

/// One core or worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttRow {
    /// Its name.
    pub name: String,
    /// The tasks that it runs, in any order.
    pub bars: Vec<GanttBar>,
}

/// One task, or one step as it ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttBar {
    /// Its name.
    pub label: String,
    /// Start time.
    pub start_ns: u64,
    /// End time.
    pub end_ns: u64,
    /// True if it is on the critical path; the border shows it.
    pub critical: bool,
    /// True if it is a copy of a task that runs elsewhere too; the border is dashed.
    pub copy: bool,
    /// Its colour.
    pub class: NodeClass,
}

/// A message from the end of a bar to the start of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GanttArrow {
    /// Row index and time (ns) at the sender.
    pub from: (usize, u64),
    /// Row index and time (ns) at the receiver.
    pub to: (usize, u64),
}

/// An event at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttMarker {
    /// Index of its row; `None` for an event of all rows, which is drawn below them.
    pub row: Option<usize>,
    /// Time of the event.
    pub time_ns: u64,
    /// Its kind, which is its shape and colour.
    pub kind: MarkerKind,
    /// Its tooltip.
    pub label: String,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkerKind {
    /// A worker woke.
    Wake,
    /// A worker went to sleep.
    Sleep,
    /// A deadline was missed.
    Miss,
    /// Any other event.
    Note,
}
