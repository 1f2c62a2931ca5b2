//! Who ran what when: a lane a core or worker, a box a task, time from left to right. Serves schedules and traced cycles.
//!
//! What there is to draw is here; [`sheet`] finds places, [`around`] draws title, axis, deadline and legend, [`boxes`] the
//! tasks, [`marks`] what happened at a moment and what was sent from lane to lane.

mod around;
mod boxes;
mod marks;
mod sheet;
#[cfg(test)]
mod tests;

use crate::picture::Picture;
use sheet::{Seen, Sheet};

/// A schedule, or one cycle as it ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttChart {
    /// What it is, in a few words.
    pub title: String,
    /// What else is to be said: makespan, scheduler, cores. May be empty.
    pub note: String,
    /// From top to bottom.
    pub rows: Vec<GanttRow>,
    /// What is sent from lane to lane. Drawn where there are few.
    pub arrows: Vec<GanttArrow>,
    /// What happened at a moment.
    pub markers: Vec<GanttMarker>,
    /// When all must be done, in ns after the beginning.
    pub deadline_ns: Option<u64>,
}

/// One core or worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttRow {
    /// Its name.
    pub name: String,
    /// What it runs, in any order.
    pub bars: Vec<GanttBar>,
}

/// One task, or one step as it ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttBar {
    /// What is run.
    pub label: String,
    /// When it begins, in ns after the beginning of all.
    pub start_ns: u64,
    /// When it is done.
    pub end_ns: u64,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Whether it is a second copy of what runs elsewhere too.
    pub copy: bool,
    /// Its colour.
    pub class: NodeClass,
}

/// What colour a box has: the colours that a graph's picture has for the same sort of node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeClass {
    /// One in, one out; and whatever is nothing else.
    #[default]
    Effect,
    /// A source.
    Source,
    /// A mix or a split.
    Join,
    /// A delay.
    Delay,
    /// A sink.
    Sink,
    /// Work of a lower priority, deferred pieces, overhead.
    Other,
}

/// A message from a box's end to another's begin, by lane number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GanttArrow {
    /// Where and when it is sent.
    pub from: (usize, u64),
    /// Where and when it is needed.
    pub to: (usize, u64),
}

/// Something that happened at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttMarker {
    /// On which lane, by number; on all of them if none.
    pub row: Option<usize>,
    /// When, in ns after the beginning.
    pub time_ns: u64,
    /// What.
    pub kind: MarkerKind,
    /// Words for who points at it.
    pub label: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkerKind {
    /// A worker woke.
    Wake,
    /// A worker went to sleep.
    Sleep,
    /// A deadline was missed.
    Miss,
    /// Something else.
    Note,
}

/// A schedule, or a traced cycle, as lanes over a time axis in µs. What is idle stays empty; the critical path has a
/// heavy border, copies a dashed one.
pub fn gantt(lanes: &GanttChart) -> Picture {
    let sheet = Sheet::of(lanes);
    let about = format!("{}: {} lanes", lanes.title, lanes.rows.len());
    let mut picture = Picture::new(sheet.width, sheet.height, &about);
    picture.is_for_night = true;
    sheet.head(&mut picture);
    sheet.axis(&mut picture);
    let mut seen = Seen::default();
    for (i, lane) in sheet.lanes.iter().enumerate() {
        sheet.lane(&mut picture, i, lane, &mut seen);
    }
    sheet.crossings(&mut picture, &mut seen);
    sheet.deadline(&mut picture);
    sheet.marks(&mut picture, &mut seen);
    sheet.legend(&mut picture, &seen);
    picture
}
