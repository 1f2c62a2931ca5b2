//! One queue for all workers: lock-free, in weighted batches, by latest start time, or behind a lock that is polled.
//!
//! | kind | a worker without tasks | released tasks | the queue is used |
//! |---|---|---|---|
//! | global | takes one | go into the queue | once a task, in and out |
//! | weighted | takes up to its share of the total weight | stay while they fit into the share | once a batch |
//! | deadline | takes the most urgent | the most urgent one stays, unless the queue has a more urgent one | once a task, in and out |
//! | locked | locks and takes one, or yields and polls | go into the queue, under the lock | twice a task, and at every poll |
//!
//! Each use moves the queue's cache line, or its lock, to the worker: one core at a time ([`ExclusiveResource`]).

use super::costs::{At, Time, time};
use super::event_loop::{EventLoop, ExclusiveResource, Next, Protocol};
use divisi::plan::{Dag, TaskId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// Kind of queue.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum QueueKind {
    /// Each task goes through the queue, one at a time.
    Global,
    /// One exchange takes up to a share of the weight; released tasks stay with the worker while they fit.
    Weighted { share: u64 },
    /// The most urgent first; a worker keeps the most urgent task that it released, unless the queue has a more urgent one.
    Deadline,
    /// A lock for every take and every release; workers without work poll it.
    Locked,
}

/// Time between two polls of a locked queue, for which a worker yields its core.
const YIELD_NS: f64 = 400.0;
/// Weight of an expensive task; any other weighs 1.
const EXPENSIVE_WEIGHT: u64 = 100;
/// A task is expensive from this many times the lower quartile of all costs.
const EXPENSIVE_RATIO: u64 = 10;

/// The queue.
pub(super) struct Shared {
    kind: QueueKind,
    /// The queue's cache line, or its lock.
    resource: ExclusiveResource,
    ready: ReadyTasks,
    /// Tasks that each worker holds, and their weight.
    local: Vec<(VecDeque<TaskId>, u64)>,
    weights: Vec<u64>,
}

impl QueueKind {
    /// Weighted batches: at most the total weight over the workers, at least one task.
    pub(super) fn weighted(dag: &Dag, workers: usize) -> Self {
        let total: u64 = weights(dag).iter().sum();
        let share = total / workers as u64;
        Self::Weighted { share }
    }
}

impl Shared {
    /// The queue at the begin of a cycle, with the sources.
    pub(super) fn new(kind: QueueKind, dag: &Dag) -> Self {
        let mut ready = ReadyTasks {
            urgency: (kind == QueueKind::Deadline)
                .then(|| dag.static_levels().iter().map(|level| level.0).collect()),
            ..ReadyTasks::default()
        };
        let sources = dag
            .tasks()
            .filter(|task| dag.predecessors(*task).is_empty());
        sources.for_each(|task| ready.put(task));
        Self {
            kind,
            resource: ExclusiveResource::NEW,
            ready,
            local: Vec::new(),
            weights: weights(dag),
        }
    }

    /// `worker` uses the queue once. Returns the time after that.
    fn use_queue(&mut self, world: &mut EventLoop<'_>, worker: usize, now: Time) -> Time {
        world.takes += 1;
        let held = match self.kind {
            QueueKind::Locked => time(world.moves.lock),
            _ => 0,
        };
        self.resource
            .take(worker, now, (held, time(world.moves.claim)))
    }

    /// Tasks that a worker holds.
    fn local(&mut self, worker: usize) -> &mut (VecDeque<TaskId>, u64) {
        if self.local.len() <= worker {
            self.local.resize_with(worker + 1, Default::default);
        }
        &mut self.local[worker]
    }

    /// Takes a batch for `worker`.
    fn take_batch(&mut self, worker: usize) {
        while let Some(task) = self.ready.first() {
            if !self.try_append(worker, task) {
                return;
            }
            self.ready.take();
        }
    }

    /// Gives `task` to `worker` if it fits. Returns false if not.
    fn try_append(&mut self, worker: usize, task: TaskId) -> bool {
        let weight = self.weights[task.at()];
        let share = match self.kind {
            QueueKind::Weighted { share } => share,
            _ => 0,
        };
        let (local, held) = self.local(worker);
        let fits = local.is_empty() || *held + weight <= share;
        if fits {
            local.push_back(task);
            *held += weight;
        }
        fits
    }

    /// Keeps some of the tasks that `worker` released. Returns the others, for the queue.
    fn keep(&mut self, worker: usize, mut released: Vec<TaskId>) -> Vec<TaskId> {
        match self.kind {
            QueueKind::Global | QueueKind::Locked => {}
            QueueKind::Weighted { .. } => released.retain(|task| !self.try_append(worker, *task)),
            QueueKind::Deadline => {
                let rank = |task: &TaskId| self.ready.rank(*task);
                let best = (0..released.len()).min_by_key(|at| rank(&released[*at]));
                let first = self.ready.first().map(|task| rank(&task));
                let best = best.filter(|at| first.is_none_or(|first| rank(&released[*at]) < first));
                if let Some(at) = best {
                    let task = released.remove(at);
                    self.try_append(worker, task);
                }
            }
        }
        released
    }
}

impl Protocol for Shared {
    fn finish(
        &mut self,
        world: &mut EventLoop<'_>,
        worker: usize,
        task: TaskId,
        now: Time,
    ) -> Time {
        let mut now = now;
        if self.kind == QueueKind::Locked {
            now = self.use_queue(world, worker, now);
        }
        let mut ready = Vec::new();
        for arc in world.dag.successors(task) {
            let (cost, is_ready) = world.decrement(arc.task, worker, 1);
            now += cost;
            ready.extend(is_ready.then_some(arc.task));
        }
        let given = self.keep(worker, ready);
        for &task in &given {
            self.ready.put(task);
            if self.kind != QueueKind::Locked {
                now = self.use_queue(world, worker, now);
            }
        }
        world.wake(worker, given.len(), now);
        now
    }

    fn next(&mut self, world: &mut EventLoop<'_>, worker: usize, now: Time) -> Next {
        let mut now = now;
        if self.local(worker).0.is_empty() {
            if self.ready.first().is_none() && self.kind != QueueKind::Locked {
                return Next::Idle;
            }
            now = self.use_queue(world, worker, now);
            self.take_batch(worker);
        }
        match self.local(worker).0.pop_front() {
            Some(task) => {
                self.local[worker].1 -= self.weights[task.at()];
                Next::Run(task, now)
            }
            None => Next::PollAt(now + time(YIELD_NS)),
        }
    }
}

/// Place of a task among the ready ones: its urgency, and when it came.
type Rank = (Reverse<u64>, u64, TaskId);

/// Ready tasks: oldest first, or most urgent first.
#[derive(Default)]
struct ReadyTasks {
    set: BTreeSet<Rank>,
    /// Number of tasks that were ever put here.
    count: u64,
    /// B-level of each task, for the order by urgency.
    urgency: Option<Vec<u64>>,
}

impl ReadyTasks {
    fn rank(&self, task: TaskId) -> Rank {
        match &self.urgency {
            Some(all) => (Reverse(all[task.at()]), 0, task),
            None => (Reverse(0), self.count, task),
        }
    }

    fn put(&mut self, task: TaskId) {
        self.count += 1;
        self.set.insert(self.rank(task));
    }

    fn first(&self) -> Option<TaskId> {
        self.set.first().map(|rank| rank.2)
    }

    fn take(&mut self) {
        self.set.pop_first();
    }
}

/// Weight of each task.
fn weights(dag: &Dag) -> Vec<u64> {
    let mut costs: Vec<u64> = dag.tasks().map(|task| dag.cost(task).0).collect();
    costs.sort_unstable();
    let cheap = costs.get(costs.len() / 4).copied().unwrap_or(0).max(1);
    let weight = |task| {
        if dag.cost(task).0 / EXPENSIVE_RATIO >= cheap {
            EXPENSIVE_WEIGHT
        } else {
            1
        }
    };
    dag.tasks().map(weight).collect()
}
