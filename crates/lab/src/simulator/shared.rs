//! One queue that all workers share: without a lock, in weighted batches, by latest start, or behind a lock that is
//! polled.

use super::costs::At;
use super::world::{Line, Next, Protocol, Time, World, time};
use divisi::plan::{Dag, TaskId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// How it is taken from.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Every task goes through the queue, one at a time.
    Global,
    /// One exchange takes as much weight as makes a share; what is released stays while it fits.
    Weighted { share: u64 },
    /// The most urgent first; of what is released the most urgent is kept, unless the queue has one that is more so.
    Deadline,
    /// A lock for every take and every release, and who has nothing polls it.
    Locked,
}

/// How long a worker without work gives its core away between two looks at a locked queue, in ns.
const YIELD: f64 = 400.0;
/// What a dear task weighs; a cheap one weighs 1. Dear is what costs ten times what a quarter of all tasks do not exceed.
const DEAR: (u64, u64) = (100, 10);

/// The queue.
pub(super) struct Shared {
    kind: Kind,
    line: Line,
    master: Master,
    /// What each worker holds, and its weight.
    local: Vec<(VecDeque<TaskId>, u64)>,
    weights: Vec<u64>,
}

impl Shared {
    /// A queue without a lock.
    pub(super) fn global(dag: &Dag) -> Self {
        Self::new(Kind::Global, dag)
    }

    /// Batches of weight: at most the whole over the workers, at least one task.
    pub(super) fn weighted(dag: &Dag, workers: usize) -> Self {
        let total: u64 = weights(dag).iter().sum();
        let share = total / workers as u64;
        Self::new(Kind::Weighted { share }, dag)
    }

    /// A set ordered by latest start.
    pub(super) fn deadline(dag: &Dag) -> Self {
        Self::new(Kind::Deadline, dag)
    }

    /// A locked queue.
    pub(super) fn mutex(dag: &Dag) -> Self {
        Self::new(Kind::Locked, dag)
    }

    fn new(kind: Kind, dag: &Dag) -> Self {
        let mut master = Master {
            urgency: (kind == Kind::Deadline)
                .then(|| dag.static_levels().iter().map(|level| level.0).collect()),
            ..Master::default()
        };
        let sources = dag
            .tasks()
            .filter(|task| dag.predecessors(*task).is_empty());
        sources.for_each(|task| master.put(task));
        Self {
            kind,
            line: Line::NEW,
            master,
            local: Vec::new(),
            weights: weights(dag),
        }
    }

    /// The line, or the lock, is had once by `worker`.
    fn touch(&mut self, world: &mut World<'_>, worker: usize, now: Time) -> Time {
        world.takes += 1;
        let held = match self.kind {
            Kind::Locked => time(world.moves.lock),
            _ => 0,
        };
        self.line.take(worker, now, (held, time(world.moves.claim)))
    }

    fn local(&mut self, worker: usize) -> &mut (VecDeque<TaskId>, u64) {
        if self.local.len() <= worker {
            self.local.resize_with(worker + 1, Default::default);
        }
        &mut self.local[worker]
    }

    /// Takes at once what `worker` may.
    fn batch(&mut self, worker: usize) {
        while let Some(task) = self.master.first() {
            if !self.append(worker, task) {
                return;
            }
            self.master.take();
        }
    }

    /// Whether `task` stays with `worker`.
    fn append(&mut self, worker: usize, task: TaskId) -> bool {
        let weight = self.weights[task.at()];
        let share = match self.kind {
            Kind::Weighted { share } => share,
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

    /// Which of the tasks that `worker` has released it keeps; the others are to be given to all.
    fn keep(&mut self, worker: usize, mut ready: Vec<TaskId>) -> Vec<TaskId> {
        match self.kind {
            Kind::Global | Kind::Locked => {}
            Kind::Weighted { .. } => ready.retain(|task| !self.append(worker, *task)),
            Kind::Deadline => {
                let rank = |task: &TaskId| self.master.rank(*task);
                let best = (0..ready.len()).min_by_key(|at| rank(&ready[*at]));
                let first = self.master.first().map(|task| rank(&task));
                let best = best.filter(|at| first.is_none_or(|first| rank(&ready[*at]) < first));
                if let Some(at) = best {
                    let task = ready.remove(at);
                    self.append(worker, task);
                }
            }
        }
        ready
    }
}

impl Protocol for Shared {
    fn finish(&mut self, world: &mut World<'_>, worker: usize, task: TaskId, now: Time) -> Time {
        let mut now = now;
        if self.kind == Kind::Locked {
            now = self.touch(world, worker, now);
        }
        let mut ready = Vec::new();
        for arc in world.dag.successors(task) {
            let (cost, is_ready) = world.count_off(arc.task, worker, 1);
            now += cost;
            ready.extend(is_ready.then_some(arc.task));
        }
        let given = self.keep(worker, ready);
        for &task in &given {
            self.master.put(task);
            if self.kind != Kind::Locked {
                now = self.touch(world, worker, now);
            }
        }
        world.call(worker, given.len(), now);
        now
    }

    fn next(&mut self, world: &mut World<'_>, worker: usize, now: Time) -> Next {
        let mut now = now;
        if self.local(worker).0.is_empty() {
            if self.master.first().is_none() && self.kind != Kind::Locked {
                return Next::Idle;
            }
            now = self.touch(world, worker, now);
            self.batch(worker);
        }
        match self.local(worker).0.pop_front() {
            Some(task) => {
                self.local[worker].1 -= self.weights[task.at()];
                Next::Run(task, now)
            }
            None => Next::Again(now + time(YIELD)),
        }
    }
}

/// Ready tasks: the oldest first, or the most urgent.
#[derive(Default)]
struct Master {
    queue: VecDeque<TaskId>,
    set: BTreeSet<(Reverse<u64>, TaskId)>,
    /// For each task how much hangs on it, where that counts.
    urgency: Option<Vec<u64>>,
}

impl Master {
    fn rank(&self, task: TaskId) -> (Reverse<u64>, TaskId) {
        let urgency = self.urgency.as_ref().map_or(0, |all| all[task.at()]);
        (Reverse(urgency), task)
    }

    fn put(&mut self, task: TaskId) {
        match self.urgency {
            Some(_) => {
                self.set.insert(self.rank(task));
            }
            None => self.queue.push_back(task),
        }
    }

    fn first(&self) -> Option<TaskId> {
        let urgent = self.set.first().map(|(_, task)| *task);
        urgent.or_else(|| self.queue.front().copied())
    }

    fn take(&mut self) {
        if self.set.pop_first().is_none() {
            self.queue.pop_front();
        }
    }
}

/// What each task weighs.
fn weights(dag: &Dag) -> Vec<u64> {
    let mut costs: Vec<u64> = dag.tasks().map(|task| dag.cost(task).0).collect();
    costs.sort_unstable();
    let cheap = costs.get(costs.len() / 4).copied().unwrap_or(0).max(1);
    let weight = |task| {
        if dag.cost(task).0 / DEAR.1 >= cheap {
            DEAR.0
        } else {
            1
        }
    };
    dag.tasks().map(weight).collect()
}
