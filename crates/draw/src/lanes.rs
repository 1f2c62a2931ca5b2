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
pub struct Lanes {
    /// What it is, in a few words.
    pub title: String,
    /// What else is to be said: makespan, scheduler, cores. May be empty.
    pub note: String,
    /// From top to bottom.
    pub lanes: Vec<Lane>,
    /// What is sent from lane to lane. Drawn where there are few.
    pub crossings: Vec<Crossing>,
    /// What happened at a moment.
    pub marks: Vec<Mark>,
    /// When all must be done, in ns after the beginning.
    pub deadline_ns: Option<u64>,
}

/// One core or worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// What it runs, in any order.
    pub boxes: Vec<LaneBox>,
}

/// One task, or one step as it ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneBox {
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
    pub hue: Hue,
}

/// What colour a box has: the colours that a graph's picture has for the same sort of node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hue {
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
    Aside,
}

/// A message from a box's end to another's begin, by lane number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Where and when it is sent.
    pub from: (usize, u64),
    /// Where and when it is needed.
    pub to: (usize, u64),
}

/// Something that happened at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// On which lane, by number; on all of them if none.
    pub lane: Option<usize>,
    /// When, in ns after the beginning.
    pub at_ns: u64,
    /// What.
    pub what: MarkKind,
    /// Words for who points at it.
    pub label: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
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
pub fn schedule(lanes: &Lanes) -> Picture {
    let sheet = Sheet::of(lanes);
    let about = format!("{}: {} lanes", lanes.title, lanes.lanes.len());
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
