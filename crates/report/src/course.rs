//! One cycle as it is shown: who did what, when.

use crate::StepNames;
use crate::cycle::{Cycle, SliceKind};
use plan::TraceEvent;
use std::sync::Arc;
use units::Nanos;

/// One cycle, over and put together. All times are since the trace began.
#[derive(Clone, Debug)]
pub struct CycleTrace {
    /// Which cycle (its low 32 bits).
    pub number: u32,
    /// When it began.
    pub begin: Nanos,
    /// When it ended, or was given up.
    pub end: Nanos,
    /// When it should have ended; none offline.
    pub deadline: Option<Nanos>,
    /// How it ended.
    pub outcome: Outcome,
    /// The step that made it late or did not return, where one did.
    pub blamed: Option<usize>,
    /// How many workers had to be woken.
    pub wakes: u32,
    /// Takes from queues that workers share.
    pub takes: u32,
    /// Whether records of it were dropped: then it has no slices, since those would be wrong.
    pub is_incomplete: bool,
    /// What was done: each worker's in its order, and no two of one worker overlap.
    pub slices: Vec<Slice>,
    /// When workers came and went.
    pub visits: Vec<WorkerEvent>,
    /// The steps of the plan that it followed.
    pub steps: Arc<StepNames>,
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Before its deadline, or it had none.
    InTime,
    /// After its deadline.
    Missed,
    /// It was given up.
    Abandoned,
}

/// What one worker did without a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Who; 0 is the callback thread.
    pub worker: u16,
    /// What.
    pub kind: SliceKind,
    /// From when.
    pub from: Nanos,
    /// Until when.
    pub to: Nanos,
}

/// A worker came into the cycle, or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerEvent {
    /// Who.
    pub worker: u16,
    /// When.
    pub at: Nanos,
    /// Whether it came.
    pub entered: bool,
}

impl CycleTrace {
    /// How long it took.
    pub fn duration(&self) -> Nanos {
        Nanos(self.end.0.saturating_sub(self.begin.0))
    }

    /// What a slice is called.
    pub fn slice_name(&self, slice: &Slice) -> &str {
        match slice.kind {
            SliceKind::Step(step) | SliceKind::Lane(step) => {
                self.steps.name(step).unwrap_or("an unknown step")
            }
            SliceKind::Piece => "deferred piece",
            SliceKind::Start => "start",
            SliceKind::Wait => "wait",
        }
    }

    /// The node to blame, by name.
    pub fn blamed_name(&self) -> Option<&str> {
        self.steps.name(self.blamed?)
    }

    /// Fills in what a cycle has shown; `time` says when a stamp was.
    pub(crate) fn with(mut self, cycle: &Cycle, time: impl Fn(u64) -> Nanos) -> Self {
        if self.is_incomplete {
            return self;
        }
        let known = cycle.spans.iter().filter_map(|span| {
            Some(Slice {
                worker: span.worker,
                kind: span.did,
                from: time(span.from?),
                to: time(span.to),
            })
        });
        self.slices.extend(known);
        let visits = cycle.visits.iter().map(|(worker, mark, at)| WorkerEvent {
            worker: *worker,
            at: time(*at),
            entered: *mark == TraceEvent::Enter,
        });
        self.visits.extend(visits);
        self
    }
}
