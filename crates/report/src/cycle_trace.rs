//! One finished cycle: the work of each worker over time.

use crate::StepNames;
use crate::open_cycle::{OpenCycle, SliceKind};
use plan::TraceEvent;
use std::sync::Arc;
use units::Nanos;

/// One finished cycle. All times are since the trace began.
#[derive(Clone, Debug)]
pub struct CycleTrace {
    /// Number of the cycle (its low 32 bits).
    pub number: u32,
    /// Begin of the cycle.
    pub begin: Nanos,
    /// End of the cycle, or the moment when it was abandoned.
    pub end: Nanos,
    /// Deadline; none offline.
    pub deadline: Option<Nanos>,
    /// In time, missed or abandoned.
    pub outcome: Outcome,
    /// The step that made the cycle late, or did not return.
    pub blamed: Option<usize>,
    /// Number of workers that had to be woken.
    pub wakes: u32,
    /// Number of takes from shared queues.
    pub takes: u32,
    /// True if records of it were dropped. Then it has no slices, since those would be wrong.
    pub is_incomplete: bool,
    /// Work of all workers. Those of one worker are in order and do not overlap.
    pub slices: Vec<Slice>,
    /// Workers that entered and left.
    pub worker_events: Vec<WorkerEvent>,
    /// Names of the steps of its plan.
    pub steps: Arc<StepNames>,
}

/// End of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Before its deadline, or it had none.
    InTime,
    /// After its deadline.
    Missed,
    /// Abandoned by the watchdog.
    Abandoned,
}

/// Uninterrupted work of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The worker; 0 is the callback thread.
    pub worker: u16,
    /// The kind of work.
    pub kind: SliceKind,
    /// Begin.
    pub from: Nanos,
    /// End.
    pub to: Nanos,
}

/// A worker entered or left the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerEvent {
    /// The worker.
    pub worker: u16,
    /// Time.
    pub at: Nanos,
    /// True if it entered.
    pub entered: bool,
}

impl CycleTrace {
    /// Duration of the cycle.
    pub fn duration(&self) -> Nanos {
        Nanos(self.end.0.saturating_sub(self.begin.0))
    }

    /// Name of a slice, for people.
    pub fn slice_name(&self, slice: &Slice) -> &str {
        match slice.kind {
            SliceKind::Step(step) | SliceKind::ForkLane(step) => {
                self.steps.name(step).unwrap_or("an unknown step")
            }
            SliceKind::DeferredPiece => "deferred piece",
            SliceKind::Start => "start",
            SliceKind::Wait => "wait",
        }
    }

    /// Name of the node to blame.
    pub fn blamed_name(&self) -> Option<&str> {
        self.steps.name(self.blamed?)
    }

    /// Adds the slices and worker events of a cycle; `time` converts a stamp.
    pub(crate) fn with_slices(mut self, cycle: &OpenCycle, time: impl Fn(u64) -> Nanos) -> Self {
        if self.is_incomplete {
            return self;
        }
        let known = cycle.spans.iter().filter_map(|span| {
            Some(Slice {
                worker: span.worker,
                kind: span.kind,
                from: time(span.from?),
                to: time(span.to),
            })
        });
        self.slices.extend(known);
        let worker_events = cycle
            .worker_events
            .iter()
            .map(|(worker, mark, at)| WorkerEvent {
                worker: *worker,
                at: time(*at),
                entered: *mark == TraceEvent::Enter,
            });
        self.worker_events.extend(worker_events);
        self
    }
}
