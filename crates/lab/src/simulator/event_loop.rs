//! Event loop of the simulator: cores, a clock, counts of predecessors.
//!
//! ```text
//! events (time, worker)  ─▶  finish(task): decrement successors, wake workers  ─▶  next(): run, poll again, or idle
//!          ▲                                                                         │
//!          └─────────────────────── end of the task, next poll ◀─────────────────────┘
//! ```

use super::costs::{At, MoveCosts, Prediction, Time, time};
use divisi::plan::{Dag, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Next action of a worker.
pub(super) enum Next {
    /// Runs a task from this time on.
    Run(TaskId, Time),
    /// Polls again at this time.
    PollAt(Time),
    /// Waits for a wake call.
    Idle,
}

/// Protocol by which tasks come to workers.
pub(super) trait Protocol {
    /// Ends `task` of `worker` at `now`, and releases its successors. Returns the time when the worker is free again.
    fn finish(&mut self, world: &mut EventLoop<'_>, worker: usize, task: TaskId, now: Time)
    -> Time;

    /// Next action of `worker`, free at `now`.
    fn next(&mut self, world: &mut EventLoop<'_>, worker: usize, now: Time) -> Next;
}

/// One cycle on a machine.
pub(super) struct EventLoop<'a> {
    pub(super) dag: &'a Dag,
    pub(super) moves: &'a MoveCosts,
    pub(super) cores: usize,
    /// Time, sequence number and worker of each event; equal times in order of their creation.
    events: BinaryHeap<Reverse<(Time, u64, usize)>>,
    event_count: u64,
    running: Vec<Option<TaskId>>,
    idle: Vec<bool>,
    /// By task: its worker, the number of predecessors left, the worker that decremented that last.
    ran_on: Vec<usize>,
    predecessors_left: Vec<usize>,
    decremented_by: Vec<Option<usize>>,
    done: usize,
    end: Time,
    pub(super) takes: u64,
}

impl<'a> EventLoop<'a> {
    /// The begin of a cycle.
    pub(super) fn new(dag: &'a Dag, moves: &'a MoveCosts, cores: usize) -> Self {
        Self {
            dag,
            moves,
            cores,
            events: BinaryHeap::new(),
            event_count: 0,
            running: vec![None; cores],
            idle: vec![false; cores],
            ran_on: vec![usize::MAX; dag.len()],
            predecessors_left: dag
                .tasks()
                .map(|task| dag.predecessors(task).len())
                .collect(),
            decremented_by: vec![None; dag.len()],
            done: 0,
            end: 0,
            takes: 0,
        }
    }

    /// Runs every task.
    pub(super) fn run(&mut self, protocol: &mut impl Protocol) {
        for worker in 0..self.cores {
            self.schedule(worker, self.moves.start_time(self.cores, worker));
        }
        while self.done < self.dag.len() {
            let Some(Reverse((now, _, worker))) = self.events.pop() else {
                return;
            };
            let mut now = now;
            if let Some(task) = self.running[worker].take() {
                self.done += 1;
                // Worker 0 sees the end of another worker's task a transfer later.
                self.end = self.end.max(now + self.moves.time_to_first(worker));
                now = protocol.finish(self, worker, task, now);
                if self.done == self.dag.len() {
                    return;
                }
            }
            match protocol.next(self, worker, now) {
                Next::Run(task, at) => {
                    self.ran_on[task.at()] = worker;
                    self.running[worker] = Some(task);
                    let end = at + self.duration(task, worker);
                    self.schedule(worker, end);
                }
                Next::PollAt(at) => self.schedule(worker, at.max(now + 1)),
                Next::Idle => self.idle[worker] = true,
            }
        }
    }

    /// Creates an event for `worker`.
    fn schedule(&mut self, worker: usize, at: Time) {
        self.event_count += 1;
        self.events.push(Reverse((at, self.event_count, worker)));
    }

    /// Wakes up to `count` idle workers, which see new tasks a transfer after `now`.
    pub(super) fn wake(&mut self, from: usize, count: usize, now: Time) {
        let at = now + self.moves.transfer_time(0);
        let others = (1..self.cores).map(|i| (from + i) % self.cores);
        let idle: Vec<usize> = others.filter(|w| self.idle[*w]).take(count).collect();
        for worker in idle {
            self.idle[worker] = false;
            self.schedule(worker, at);
        }
    }

    /// Duration of `task` on `worker`, with transfers from other cores.
    fn duration(&self, task: TaskId, worker: usize) -> Time {
        let from_others = self.dag.predecessors(task).iter();
        let from_others = from_others.filter(|arc| self.ran_on[arc.task.at()] != worker);
        let bytes = from_others.map(|arc| arc.bytes).reduce(u32::saturating_add);
        let fetched = bytes.map_or(0, |bytes| self.moves.transfer_time(bytes));
        time(self.moves.dispatch) + fetched + time(self.dag.cost(task).0 as f64)
    }

    /// Decrements the predecessors left of `task` by `count`. Returns the time that takes, and true if none is left.
    pub(super) fn decrement(&mut self, task: TaskId, worker: usize, count: usize) -> (Time, bool) {
        let last = self.decremented_by[task.at()].replace(worker);
        let is_remote = last.is_some_and(|last| last != worker);
        let left = &mut self.predecessors_left[task.at()];
        *left -= count;
        let cost = if is_remote { time(self.moves.claim) } else { 0 };
        (cost, *left == 0)
    }

    /// The result.
    pub(super) fn prediction(&self) -> Prediction {
        self.moves
            .prediction(self.dag, self.cores, self.end, self.takes)
    }
}

/// A resource that one core has at a time: a cache line, a lock.
///
/// This is what flattens the curves of shared queues: uses by different cores come one after the other, however many cores
/// there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExclusiveResource {
    free: Time,
    owner: usize,
}

impl ExclusiveResource {
    /// Without an owner.
    pub(super) const NEW: Self = Self {
        free: 0,
        owner: usize::MAX,
    };

    /// `worker` takes it at `now` for `held`, after `moved` if another worker had it last. Returns the time after that.
    pub(super) fn take(&mut self, worker: usize, now: Time, (held, moved): (Time, Time)) -> Time {
        let moved = if self.owner == worker || self.owner == usize::MAX {
            0
        } else {
            moved
        };
        self.owner = worker;
        self.free = self.free.max(now) + moved + held;
        self.free
    }
}
