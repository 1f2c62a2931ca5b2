//! One cycle, put together from what several workers recorded.

use plan::{TraceEvent, TraceRecord};
use std::collections::BTreeMap;

/// What is known of a cycle so far.
#[derive(Debug, Default)]
pub(crate) struct Cycle {
    /// When it began and ended, in ticks.
    pub(crate) begin: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) is_abandoned: bool,
    /// Somebody who knows says that it ended too late.
    pub(crate) is_told_missed: bool,
    /// Takes from shared queues, and workers woken.
    pub(crate) takes: u32,
    pub(crate) wakes: u32,
    /// What was seen to end, each worker's in its order.
    pub(crate) spans: Vec<Span>,
    /// When each worker entered and left, in ticks.
    pub(crate) visits: Vec<(u16, TraceEvent, u64)>,
    /// In which pass over the rings its end was seen.
    pub(crate) ended_in: Option<u64>,
    /// For each worker, what its last record here says of what follows.
    last: BTreeMap<u16, Since>,
}

/// What one worker did without a break, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) worker: u16,
    pub(crate) did: SliceKind,
    /// None where its begin is not known.
    pub(crate) from: Option<u64>,
    pub(crate) to: u64,
}

/// What a worker spent its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceKind {
    /// It ran the plan's step of this index.
    Step(usize),
    /// It helped the step of this index, which another worker ran.
    Lane(usize),
    /// It ran a piece of deferred work.
    Piece,
    /// It woke the others and prepared the cycle.
    Start,
    /// It waited: nothing was ready.
    Wait,
}

/// Since when a worker does what its next record will tell.
#[derive(Clone, Copy, Debug)]
enum Since {
    /// It does something.
    Busy(u64),
    /// It looks for something to do.
    Waiting(u64),
}

impl Span {
    /// How long it took, in ticks.
    pub(crate) fn ticks(&self) -> Option<u64> {
        Some(self.to.saturating_sub(self.from?))
    }
}

impl Cycle {
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
            TraceEvent::Enter | TraceEvent::Leave => self.visits.push((worker, record.event, at)),
            _ => {}
        }
        let before = self.last.remove(&worker);
        if let Some(next) = self.follow(record, before) {
            self.last.insert(worker, next);
        }
    }

    /// Keeps what `record` ends; what follows it.
    fn follow(&mut self, record: TraceRecord, before: Option<Since>) -> Option<Since> {
        let at = record.stamp;
        let did = match (record.event, before) {
            (TraceEvent::Step, _) => SliceKind::Step(record.index as usize),
            (TraceEvent::ForkLane, _) => SliceKind::Lane(record.index as usize),
            (TraceEvent::DeferredPiece, _) => SliceKind::Piece,
            (TraceEvent::Enter, Some(Since::Busy(_))) => SliceKind::Start,
            _ => SliceKind::Wait,
        };
        let from = match (did, before) {
            (SliceKind::Wait, Some(Since::Waiting(from))) => Some(from),
            (SliceKind::Wait, _) => None,
            (_, Some(Since::Busy(from))) => Some(from),
            _ => None,
        };
        if from.is_some() || matches!(did, SliceKind::Step(_)) {
            self.spans.push(Span {
                worker: record.worker,
                did,
                from,
                to: at,
            });
        }
        match record.event {
            TraceEvent::Wait => Some(Since::Waiting(at)),
            TraceEvent::Leave | TraceEvent::CycleEnd | TraceEvent::CycleAborted => None,
            _ => Some(Since::Busy(at)),
        }
    }

    /// From its begin to its end, in ticks.
    pub(crate) fn ticks(&self) -> Option<u64> {
        Some(self.end?.saturating_sub(self.begin?))
    }

    /// Each step that was seen to end, with its ticks; `None` where its begin is not known.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, Option<u64>)> + '_ {
        self.spans.iter().filter_map(|span| match span.did {
            SliceKind::Step(step) => Some((step, span.ticks())),
            _ => None,
        })
    }

    /// Whether every step of `due` ended here, and it is known when it began.
    pub(crate) fn has_all(&self, due: impl Iterator<Item = usize>, steps: usize) -> bool {
        let mut seen = vec![false; steps];
        for (step, ticks) in self.steps() {
            if let Some(seen) = seen.get_mut(step) {
                *seen = ticks.is_some();
            }
        }
        self.ticks().is_some() && due.into_iter().all(|step| seen[step])
    }

    /// The first step of `due` that did not end. In a plan's order all that it waits for stands before it: so it was
    /// ready, and where others had time to run it, it is the one that did not return.
    pub(crate) fn first_missing(&self, mut due: impl Iterator<Item = usize>) -> Option<usize> {
        let mut seen: Vec<usize> = self.steps().map(|(step, _)| step).collect();
        seen.sort_unstable();
        due.find(|step| seen.binary_search(step).is_err())
    }
}
