//! One cycle while its records arrive, from the rings of several workers.
//!
//! A record bears one time stamp, the end of something. Its begin is the same worker's record before it, so a span is made
//! from two records:
//!
//! ```text
//! Enter      Step 4        Wait          Resume     Step 7      Leave
//!   ├─ step 4 ─┤             ├─── wait ────┤─ step 7 ─┤
//! ```

use plan::{TraceEvent, TraceRecord};
use std::collections::BTreeMap;

/// Records of a cycle so far.
#[derive(Debug, Default)]
pub(crate) struct OpenCycle {
    /// Begin and end, in ticks.
    pub(crate) begin: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) is_abandoned: bool,
    /// The engine reported that it ended too late.
    pub(crate) is_reported_missed: bool,
    /// Number of takes from shared queues, and of workers woken.
    pub(crate) takes: u32,
    pub(crate) wakes: u32,
    /// Finished spans; those of one worker are in order.
    pub(crate) spans: Vec<Span>,
    /// Worker, and time in ticks at which it entered or left.
    pub(crate) worker_events: Vec<(u16, TraceEvent, u64)>,
    /// Pass over the rings in which its end was read.
    pub(crate) ended_in: Option<u64>,
    /// State of each worker after its last record.
    last: BTreeMap<u16, WorkerState>,
}

/// Uninterrupted work of one worker, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) worker: u16,
    pub(crate) kind: SliceKind,
    /// `None` if the begin is not known.
    pub(crate) from: Option<u64>,
    pub(crate) to: u64,
}

/// Kind of a worker's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceKind {
    /// The plan's step of this index.
    Step(usize),
    /// A part of the step of this index, which another worker runs (fork and join).
    ForkLane(usize),
    /// A piece of deferred work.
    DeferredPiece,
    /// Waking the other workers and preparing the cycle.
    Start,
    /// Waiting: no step was ready.
    Wait,
}

/// State of a worker, and its begin in ticks.
#[derive(Clone, Copy, Debug)]
enum WorkerState {
    /// Its next record ends some work.
    Busy(u64),
    /// It looks for a step.
    Waiting(u64),
}

impl Span {
    /// Duration in ticks; `None` if the begin is not known.
    pub(crate) fn ticks(&self) -> Option<u64> {
        Some(self.to.saturating_sub(self.from?))
    }
}

impl OpenCycle {
    /// Adds a record, read in pass `pass` over the rings.
    pub(crate) fn add(&mut self, record: TraceRecord, pass: u64) {
        let (worker, at) = (record.worker, record.stamp);
        match record.event {
            TraceEvent::CycleBegin => {
                self.begin = Some(at);
                self.wakes = record.index;
            }
            TraceEvent::CycleEnd | TraceEvent::CycleAborted => {
                self.end = Some(at);
                self.is_abandoned |= record.event == TraceEvent::CycleAborted;
                if record.event == TraceEvent::CycleEnd {
                    self.takes = record.index;
                }
                self.ended_in.get_or_insert(pass);
            }
            TraceEvent::Enter | TraceEvent::Leave => {
                self.worker_events.push((worker, record.event, at))
            }
            _ => {}
        }
        let before = self.last.remove(&worker);
        if let Some(next) = self.close_span(record, before) {
            self.last.insert(worker, next);
        }
    }

    /// Adds the span that `record` ends. Returns the worker's state after it.
    fn close_span(
        &mut self,
        record: TraceRecord,
        before: Option<WorkerState>,
    ) -> Option<WorkerState> {
        let at = record.stamp;
        let kind = match (record.event, before) {
            (TraceEvent::Step, _) => SliceKind::Step(record.index as usize),
            (TraceEvent::ForkLane, _) => SliceKind::ForkLane(record.index as usize),
            (TraceEvent::DeferredPiece, _) => SliceKind::DeferredPiece,
            (TraceEvent::Enter, Some(WorkerState::Busy(_))) => SliceKind::Start,
            _ => SliceKind::Wait,
        };
        let from = match (kind, before) {
            (SliceKind::Wait, Some(WorkerState::Waiting(from))) => Some(from),
            (SliceKind::Wait, _) => None,
            (_, Some(WorkerState::Busy(from))) => Some(from),
            _ => None,
        };
        if from.is_some() || matches!(kind, SliceKind::Step(_)) {
            self.spans.push(Span {
                worker: record.worker,
                kind,
                from,
                to: at,
            });
        }
        match record.event {
            TraceEvent::Wait => Some(WorkerState::Waiting(at)),
            TraceEvent::Leave | TraceEvent::CycleEnd | TraceEvent::CycleAborted => None,
            _ => Some(WorkerState::Busy(at)),
        }
    }

    /// Duration in ticks.
    pub(crate) fn ticks(&self) -> Option<u64> {
        Some(self.end?.saturating_sub(self.begin?))
    }

    /// Every finished step with its duration in ticks; `None` if its begin is not known.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, Option<u64>)> + '_ {
        self.spans.iter().filter_map(|span| match span.kind {
            SliceKind::Step(step) => Some((step, span.ticks())),
            _ => None,
        })
    }

    /// Returns true if every step of `due` ended here with a known begin.
    pub(crate) fn has_all(&self, due: impl Iterator<Item = usize>, steps: usize) -> bool {
        let mut seen = vec![false; steps];
        for (step, ticks) in self.steps() {
            if let Some(seen) = seen.get_mut(step) {
                *seen = ticks.is_some();
            }
        }
        self.ticks().is_some() && due.into_iter().all(|step| seen[step])
    }

    /// The first step of `due` that did not end. In a plan's order all its predecessors are before it. So it was ready, and
    /// it is the step that did not return.
    pub(crate) fn first_missing(&self, mut due: impl Iterator<Item = usize>) -> Option<usize> {
        let mut seen: Vec<usize> = self.steps().map(|(step, _)| step).collect();
        seen.sort_unstable();
        due.find(|step| seen.binary_search(step).is_err())
    }
}
