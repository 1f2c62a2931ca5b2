//! One queue that all workers share: without a lock, in weighted batches, or behind a lock that is polled.

use super::At;
use super::world::{Line, Next, Protocol, Time, World, time};
use divisi::plan::{Dag, TaskId};
use std::collections::VecDeque;

/// How it is taken from.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// One exchange takes a task, one gives back all that was released but one, which is kept.
    Global,
    /// One exchange takes as much weight as makes a share.
    Weighted { most: u64 },
    /// A lock for every take and every release, and who has nothing polls it.
    Locked,
}

/// How long a worker without work gives its core away between two looks at a locked queue, in ns.
const YIELD: f64 = 400.0;

/// The queue.
pub(super) struct Shared {
    kind: Kind,
    line: Line,
    master: VecDeque<TaskId>,
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
        let most = total.div_ceil(workers as u64);
        Self::new(Kind::Weighted { most }, dag)
    }

    /// A locked queue.
    pub(super) fn mutex(dag: &Dag) -> Self {
        Self::new(Kind::Locked, dag)
    }

    fn new(kind: Kind, dag: &Dag) -> Self {
        let sources = dag.ids().filter(|task| dag.before(*task).is_empty());
        Self {
            kind,
            line: Line::NEW,
            master: sources.collect(),
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

    /// How much `worker` takes at once.
    fn batch(&mut self, worker: usize) {
        let most = match self.kind {
            Kind::Weighted { most } => most,
            _ => 0,
        };
        while let Some(task) = self.master.front().copied() {
            let weight = self.weights[task.at()];
            let (local, held) = self.local(worker);
            if !local.is_empty() && *held + weight > most {
                return;
            }
            local.push_back(task);
            *held += weight;
            self.master.pop_front();
        }
    }

    /// Whether what was just released stays with `worker`.
    fn keeps(&mut self, worker: usize, task: TaskId) -> bool {
        let weight = self.weights[task.at()];
        let kind = self.kind;
        let (local, held) = self.local(worker);
        let fits = match kind {
            Kind::Global => local.is_empty(),
            Kind::Weighted { most } => local.is_empty() || *held + weight <= most,
            Kind::Locked => false,
        };
        if fits {
            local.push_back(task);
            *held += weight;
        }
        fits
    }
}

impl Protocol for Shared {
    fn finish(&mut self, world: &mut World<'_>, worker: usize, task: TaskId, now: Time) -> Time {
        let mut now = now;
        let mut given = 0;
        if self.kind == Kind::Locked {
            now = self.touch(world, worker, now);
        }
        for arc in world.dag.after(task) {
            let (cost, is_ready) = world.count_off(arc.task, worker, 1);
            now += cost;
            if is_ready && !self.keeps(worker, arc.task) {
                self.master.push_back(arc.task);
                given += 1;
            }
        }
        if given > 0 && self.kind != Kind::Locked {
            now = self.touch(world, worker, now);
        }
        world.call(worker, given, now);
        now
    }

    fn next(&mut self, world: &mut World<'_>, worker: usize, now: Time) -> Next {
        let mut now = now;
        if self.local(worker).0.is_empty() {
            if self.master.is_empty() && self.kind != Kind::Locked {
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

/// What each task weighs: its cost.
fn weights(dag: &Dag) -> Vec<u64> {
    dag.ids().map(|task| dag.cost(task).0.max(1)).collect()
}
