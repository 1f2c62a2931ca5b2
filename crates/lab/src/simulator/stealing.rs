//! Work stealing as in the executor: sources distributed beforehand, own queues, one released task kept, and deferred
//! decrements of counts that many tasks share (joins).

use super::costs::{At, Time, time};
use super::event_loop::{EventLoop, Next, Protocol};
use divisi::plan::{Dag, TaskId};
use std::collections::VecDeque;

/// A task with at least this many predecessors is a wide join: decrements of its count are deferred. Otherwise its cache line
/// would move at every task of a rake.
const WIDE: usize = 8;

/// The queues.
pub(super) struct Stealing {
    sources: Vec<Vec<TaskId>>,
    queues: Vec<VecDeque<TaskId>>,
    kept: Vec<Option<TaskId>>,
    /// For each worker, the wide join with pending decrements, and their number.
    pending: Vec<Option<(TaskId, usize)>>,
    /// For each task, the wide join that it leads to.
    joins: Vec<Option<TaskId>>,
}

impl Stealing {
    /// The queues at the begin of a cycle.
    pub(super) fn new(dag: &Dag, workers: usize) -> Self {
        Self {
            sources: distribute_sources(dag, workers),
            queues: vec![VecDeque::new(); workers],
            kept: vec![None; workers],
            pending: vec![None; workers],
            joins: next_joins(dag),
        }
    }

    /// Applies the pending decrements of `worker`; a join that is ready now goes into its queue. Returns the time that takes.
    fn flush(&mut self, world: &mut EventLoop<'_>, worker: usize) -> Time {
        let Some((join, count)) = self.pending[worker].take() else {
            return 0;
        };
        let (cost, is_ready) = world.decrement(join, worker, count);
        if is_ready {
            self.queues[worker].push_back(join);
        }
        cost
    }

    /// Takes the sources of worker `of`: returns the last, puts the others into the queue of `worker`.
    fn take_sources(&mut self, worker: usize, of: usize) -> Option<TaskId> {
        let mut list = std::mem::take(&mut self.sources[of]);
        let last = list.pop()?;
        self.queues[worker].extend(list);
        Some(last)
    }

    /// The next task of a worker's own.
    fn own(&mut self, worker: usize) -> Option<TaskId> {
        let kept = self.kept[worker].take();
        kept.or_else(|| self.take_sources(worker, worker))
            .or_else(|| self.queues[worker].pop_back())
    }

    /// A task of another worker.
    fn steal(&mut self, worker: usize) -> Option<TaskId> {
        let workers = self.queues.len();
        (1..workers)
            .map(|i| (worker + i) % workers)
            .find_map(|other| {
                self.take_sources(worker, other)
                    .or_else(|| self.queues[other].pop_front())
            })
    }
}

impl Protocol for Stealing {
    fn finish(
        &mut self,
        world: &mut EventLoop<'_>,
        worker: usize,
        task: TaskId,
        now: Time,
    ) -> Time {
        let mut now = now;
        let queued = self.queues[worker].len();
        for arc in world.dag.successors(task) {
            let waits_for = world.dag.predecessors(arc.task).len();
            if waits_for >= WIDE {
                if self.pending[worker].is_some_and(|(join, _)| join != arc.task) {
                    now += self.flush(world, worker);
                }
                let pending = self.pending[worker].get_or_insert((arc.task, 0));
                pending.1 += 1;
                continue;
            }
            let (cost, is_ready) = world.decrement(arc.task, worker, 1);
            now += cost;
            if is_ready {
                match self.kept[worker] {
                    None => self.kept[worker] = Some(arc.task),
                    Some(_) => self.queues[worker].push_back(arc.task),
                }
            }
        }
        let more = self.queues[worker].len().saturating_sub(queued);
        world.wake(worker, more, now);
        now
    }

    fn next(&mut self, world: &mut EventLoop<'_>, worker: usize, now: Time) -> Next {
        let mut now = now;
        let mine = self.own(worker).or_else(|| {
            now += self.flush(world, worker);
            self.queues[worker].pop_back()
        });
        if let Some(task) = mine {
            let join = self.joins[task.at()];
            if self.pending[worker].is_some_and(|(pending, _)| Some(pending) != join) {
                now += self.flush(world, worker);
                let ready = self.queues[worker].len();
                world.wake(worker, ready.min(1), now);
            }
            return Next::Run(task, now);
        }
        match self.steal(worker) {
            Some(task) => {
                world.takes += 1;
                let now = now + time(world.moves.steal);
                // The other sources of that list can be stolen in turn.
                world.wake(worker, self.queues[worker].len(), now);
                Next::Run(task, now)
            }
            None => Next::Idle,
        }
    }
}

/// Distributes the sources over workers: neighbours stay together, each list has its share of the b-levels, the most
/// urgent is last.
fn distribute_sources(dag: &Dag, workers: usize) -> Vec<Vec<TaskId>> {
    let levels: Vec<u64> = dag.static_levels().iter().map(|level| level.0).collect();
    let sources: Vec<TaskId> = dag
        .tasks()
        .filter(|task| dag.predecessors(*task).is_empty())
        .collect();
    let weight = |task: TaskId| levels[task.at()].max(1);
    let total: u64 = sources.iter().map(|task| weight(*task)).sum();
    let mut lists = vec![Vec::new(); workers];
    let mut distributed = 0;
    for task in sources {
        let middle = distributed + weight(task) / 2;
        let share = u128::from(middle) * workers as u128 / u128::from(total.max(1));
        lists[(share as usize).min(workers - 1)].push(task);
        distributed += weight(task);
    }
    for list in &mut lists {
        list.sort_by_key(|task| weight(*task));
    }
    lists
}

/// For each task, the first wide join on a path from it to the end.
fn next_joins(dag: &Dag) -> Vec<Option<TaskId>> {
    let mut joins: Vec<Option<TaskId>> = vec![None; dag.len()];
    for task in dag.tasks().rev() {
        let next = dag.successors(task).iter().filter_map(|arc| {
            if dag.predecessors(arc.task).len() >= WIDE {
                Some(arc.task)
            } else {
                joins[arc.task.at()]
            }
        });
        joins[task.at()] = next.min();
    }
    joins
}
