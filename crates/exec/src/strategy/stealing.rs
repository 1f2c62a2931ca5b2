//! Work stealing: each worker has a deque of its own, takes the newest task from it, and if it is empty steals the
//! oldest task of another worker (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing",
//! 1999).
//!
//! The source tasks, which wait for no other, are distributed when the plan is bound, one list per worker. A list is
//! claimed as a whole, by its own worker or, if that one has not come yet, by a worker that has nothing else to do; that of
//! the host a little later, since the host comes. Of
//! the tasks that a task releases the worker keeps one, without any queue.
//!
//! # Joins
//!
//! If many tasks join in one, a worker does not decrement the join's count for each of them. It remembers how many it
//! has run, as long as its next task leads to the same join (which cannot become ready before that task has run
//! anyway), and decrements the count once for all of them. So the count's cache line does not travel between cores at
//! every task.

use super::sources::distribute_sources;
use crate::bound::{BoundPlan, Successor};
use crate::cycle::{NONE, Strategy, WorkerContext, never_leave};
use plan::Plan;
use rt::claim::EpochClaim;
use rt::deque::{Deque, Steal};

/// Number of cycles between two looks for deques that were left behind in an abandoned cycle.
const CYCLES_PER_EXPIRY: u32 = 1 << 24;
/// Number of workers that an idle worker looks at before it looks at something else.
const VICTIMS_PER_LOOK: usize = 8;
/// Number of looks after which a worker takes the host's sources; they last less than a microsecond. The host has begun the
/// cycle and comes at once. If another worker was faster in some cycles, all that the nodes hold would travel between
/// their caches.
const TRIES_BEFORE_HOST: u32 = 8;
/// Number of dependencies that makes a task a wide join.
const WIDE: u32 = 8;

/// See the module.
pub(super) struct Stealing {
    deques: Box<[Deque]>,
    sources: Box<[SourceList]>,
    /// For each task, a wide join on some path from it to the end; [`NONE`] if there is none.
    joins: Box<[u32]>,
    /// With one worker nothing needs an atomic exchange.
    is_alone: bool,
}

/// The tasks that one worker begins a cycle with; it takes the last one first.
struct SourceList {
    claim: EpochClaim,
    tasks: Box<[u32]>,
}

/// Decrements of a wide join's count that a worker has not made yet.
pub(crate) struct PendingDecrements {
    join: u32,
    count: u32,
}

impl Default for PendingDecrements {
    fn default() -> Self {
        Self {
            join: NONE,
            count: 0,
        }
    }
}

// SAFETY: 1. A task comes out of one deque or one list, or is kept by its releaser, once per cycle; a claim and a steal
// both name the epoch. 2. A source waits for nothing. Any other task gets into a deque, or is kept, when the decrement
// by `release` has made its pending count zero; that decrement and a steal carry what was done before.
unsafe impl Strategy for Stealing {
    type Local = PendingDecrements;

    fn new(plan: &Plan, bound: &BoundPlan, (workers, epoch): (usize, u32)) -> Self {
        let lists = distribute_sources(plan, bound, workers).into_iter();
        let sources = lists.map(|tasks| SourceList {
            claim: EpochClaim::new(epoch),
            tasks: tasks.into_boxed_slice(),
        });
        let deque = |_| Deque::new(bound.tasks.len());
        Self {
            deques: (0..workers).map(deque).collect(),
            sources: sources.collect(),
            joins: joins(bound),
            is_alone: workers == 1,
        }
    }

    fn begin(&self, _: &BoundPlan, epoch: u32) {
        if epoch.is_multiple_of(CYCLES_PER_EXPIRY) {
            self.deques.iter().for_each(|deque| deque.expire(epoch));
        }
    }

    fn enter(&self, worker: &mut WorkerContext<'_>) -> Option<u32> {
        self.deques[worker.index].begin(worker.epoch);
        self.claim_sources(worker, worker.index)
    }

    #[inline(always)]
    fn next(
        &self,
        worker: &mut WorkerContext<'_>,
        local: &mut PendingDecrements,
        kept: Option<u32>,
    ) -> Option<u32> {
        let own = kept.or_else(|| self.pop(worker.index));
        let task = own.or_else(|| self.find(worker, local))?;
        if local.count > 0 && self.joins[task as usize] != local.join {
            self.flush_and_push(worker, local);
        }
        Some(task)
    }

    /// Keeps one task that is ready now and pushes the others.
    #[inline(always)]
    fn release(
        &self,
        worker: &mut WorkerContext<'_>,
        local: &mut PendingDecrements,
        task: u32,
    ) -> Option<u32> {
        let mut kept = None;
        let plan = worker.plan;
        for successor in plan.successors(task) {
            let is_ready = match successor.dependencies {
                // One that waits for one task only is ready when that has run: nothing to count.
                1 => true,
                2..WIDE => self.decrement(plan, successor, 1),
                _ => {
                    self.defer(worker, local, successor.task);
                    false
                }
            };
            if is_ready {
                match kept {
                    None => kept = Some(successor.task),
                    Some(_) => self.deques[worker.index].push(successor.task),
                }
            }
        }
        kept
    }
}

impl Stealing {
    /// Counts `tasks` tasks as done for `successor`. Returns true if it waits for no other now.
    #[inline]
    fn decrement(&self, plan: &BoundPlan, successor: &Successor, tasks: u32) -> bool {
        let pending = &plan.steps[successor.first_step as usize].pending;
        if self.is_alone {
            pending.decrement_unsync(tasks, successor.dependencies)
        } else {
            pending.decrement(tasks, successor.dependencies)
        }
    }

    #[inline]
    fn pop(&self, worker: usize) -> Option<u32> {
        if self.is_alone {
            self.deques[worker].pop_unsync()
        } else {
            self.deques[worker].pop()
        }
    }

    /// Defers one decrement of the wide join `join`. Decrements of another join are made first. The join is never ready
    /// by this: a worker that finds no other task makes its decrements.
    fn defer(&self, worker: &mut WorkerContext<'_>, local: &mut PendingDecrements, join: u32) {
        if local.join != join && local.count > 0 {
            self.flush_and_push(worker, local);
        }
        local.join = join;
        local.count += 1;
    }

    /// Makes the decrements that were deferred. Gives the join if it is ready now.
    fn flush(&self, plan: &BoundPlan, local: &mut PendingDecrements) -> Option<u32> {
        let PendingDecrements { join, count } = std::mem::take(local);
        if count == 0 {
            return None;
        }
        let successor = Successor::new(join, &plan.tasks[join as usize]);
        self.decrement(plan, &successor, count).then_some(join)
    }

    #[cold]
    fn flush_and_push(&self, worker: &mut WorkerContext<'_>, local: &mut PendingDecrements) {
        if let Some(ready) = self.flush(worker.plan, local) {
            self.deques[worker.index].push(ready);
        }
    }

    /// Claims the sources of worker `of`, if no worker has. Gives the last one and pushes the others onto this worker's
    /// deque.
    fn claim_sources(&self, worker: &WorkerContext<'_>, of: usize) -> Option<u32> {
        let list = &self.sources[of];
        if list.tasks.is_empty() || !list.claim.try_claim(worker.epoch) {
            return None;
        }
        let (last, others) = list.tasks.split_last()?;
        let deque = &self.deques[worker.index];
        others.iter().for_each(|task| deque.push(*task));
        Some(*last)
    }

    /// A join that is ready after `flush`, or a task of another worker. Waits until there is one.
    #[cold]
    fn find(&self, worker: &mut WorkerContext<'_>, local: &mut PendingDecrements) -> Option<u32> {
        if let Some(ready) = self.flush(worker.plan, local) {
            return Some(ready);
        }
        let stolen = worker.wait_for_task(
            |worker, waited| self.steal(worker, waited.tries),
            never_leave,
        );
        worker.acquisitions += u64::from(stolen.is_some());
        stolen
    }

    /// Takes a task of one of the workers whose turn it is at the `tries`-th look.
    fn steal(&self, worker: &WorkerContext<'_>, tries: u32) -> Option<u32> {
        for other in victims(worker.index, self.deques.len(), tries) {
            let may_come = other == 0 && tries < TRIES_BEFORE_HOST;
            if !may_come
                && self.sources[other].claim.is_free(worker.epoch)
                && let Some(task) = self.claim_sources(worker, other)
            {
                return Some(task);
            }
            if self.deques[other].has_tasks()
                && let Steal::Success(task) = self.deques[other].steal(worker.epoch)
            {
                return Some(task);
            }
        }
        None
    }
}

/// The workers from which `worker` of `workers` tries to steal at its `tries`-th look: all others, one after the other,
/// [`VICTIMS_PER_LOOK`] at a time. If each of many idle workers looked at all, a look would take microseconds, in which a
/// worker sees neither a task nor the end of the cycle.
fn victims(worker: usize, workers: usize, tries: u32) -> impl Iterator<Item = usize> {
    let others = workers - 1;
    let count = others.min(VICTIMS_PER_LOOK);
    let first = tries as usize * count;
    (first..first + count).map(move |i| (worker + 1 + i % others) % workers)
}

/// For each task, the first wide join on some path from it to the end.
fn joins(bound: &BoundPlan) -> Box<[u32]> {
    let mut joins = vec![NONE; bound.tasks.len()];
    for task in (0..bound.tasks.len() as u32).rev() {
        let next = bound.successors(task).iter().map(|next| {
            if next.dependencies >= WIDE {
                next.task
            } else {
                joins[next.task as usize]
            }
        });
        joins[task as usize] = next.min().unwrap_or(NONE);
    }
    joins.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::{VICTIMS_PER_LOOK, victims};
    use std::collections::HashSet;

    #[test]
    fn a_look_is_short_and_all_looks_together_reach_every_worker() {
        for (workers, looks) in [(1, 1), (2, 1), (8, 1), (9, 1), (128, 16)] {
            for worker in [0, workers - 1] {
                let looked_at: Vec<usize> = (0..looks)
                    .flat_map(|tries| victims(worker, workers, tries))
                    .collect();
                assert!(looked_at.len() <= looks as usize * VICTIMS_PER_LOOK);
                let others: HashSet<usize> = (0..workers).filter(|w| *w != worker).collect();
                assert_eq!(looked_at.into_iter().collect::<HashSet<_>>(), others);
            }
        }
    }
}
