//! A static schedule: each worker follows its list of the plan, task by task.
//!
//! A task waits only for tasks of other lists: those before it in its own list have run. In each cycle a list belongs
//! to the worker that claims it. That is the list's own worker, or, if that one has not come for a while, another one
//! that has nothing to do. A worker with several lists continues with any list whose next task is ready. So a worker
//! that does not wake up delays a cycle and does not stop it.

use crate::bound::BoundPlan;
use crate::cycle::{Strategy, WaitCounts, WorkerContext, never_leave};
use plan::Plan;
use rt::static_queues::StaticQueues;
use std::collections::HashSet;

/// Number of tries after which a worker takes over lists of workers that have not come.
const TRIES_BEFORE_TAKE_OVER: u32 = 64;

/// For each task, the tasks of other lists that wait for it.
type CrossSuccessors = Box<[Box<[u32]>]>;

/// See the module.
pub(super) struct StaticSchedule {
    /// For each list, its worker in this cycle and the next task.
    progress: StaticQueues,
    /// The tasks of each list.
    lists: Box<[Box<[u32]>]>,
    successors: CrossSuccessors,
    /// For each task, the number of tasks of other lists that it waits for.
    dependencies: Box<[u32]>,
}

// SAFETY: 1. A task stands in one list, and a list has one owner per epoch (`StaticQueues`). 2. A worker takes the
// tasks of a list in their order, and one that waits for other lists only when its pending count, which `release`
// lowers, is zero.
unsafe impl Strategy for StaticSchedule {
    type Local = ();

    fn new(plan: &Plan, bound: &BoundPlan, (workers, epoch): (usize, u32)) -> Self {
        let lists = lists(plan, bound);
        let (successors, dependencies) = cross_dependencies(bound, &lists);
        // Every worker has a list of its own, perhaps an empty one.
        let empty = (lists.len()..workers).map(|_| Vec::new());
        let lists: Box<[Box<[u32]>]> = lists
            .into_iter()
            .chain(empty)
            .map(Vec::into_boxed_slice)
            .collect();
        let schedule = Self {
            progress: StaticQueues::new(lists.len(), workers, epoch),
            lists,
            successors,
            dependencies: dependencies.into_boxed_slice(),
        };
        schedule.reset(bound);
        schedule
    }

    fn enter(&self, worker: &mut WorkerContext<'_>) -> Option<u32> {
        self.progress.enter(worker.index);
        self.progress
            .try_claim(worker.index, worker.index, worker.epoch);
        None
    }

    #[inline]
    fn next(&self, worker: &mut WorkerContext<'_>, _: &mut (), _: Option<u32>) -> Option<u32> {
        self.next_of(worker, worker.index).or_else(|| {
            worker.wait_for_task(|worker, waited| self.find(worker, waited), never_leave)
        })
    }

    /// Also resets the count of `task` itself, but not before it has run: a worker that is still in an abandoned cycle
    /// runs nothing, and so changes no count of a newer one.
    #[inline]
    fn release(&self, worker: &mut WorkerContext<'_>, _: &mut (), task: u32) -> Option<u32> {
        let dependencies = self.dependencies[task as usize];
        if dependencies > 0 {
            worker.plan.pending(task).reset(dependencies);
        }
        for &successor in &self.successors[task as usize] {
            worker.plan.pending(successor).signal(1);
        }
        None
    }

    fn reset(&self, plan: &BoundPlan) {
        for (task, dependencies) in (0..).zip(&self.dependencies) {
            plan.pending(task).reset(*dependencies);
        }
    }
}

impl StaticSchedule {
    /// The next task of `list`, if the list is this worker's and the task waits for nothing.
    #[inline]
    fn next_of(&self, worker: &WorkerContext<'_>, list: usize) -> Option<u32> {
        let at = self.progress.next(worker.index, list)?;
        let task = *self.lists[list].get(at as usize)?;
        if self.dependencies[task as usize] > 0 && !worker.plan.pending(task).is_zero() {
            return None;
        }
        self.progress.advance(worker.index, list);
        Some(task)
    }

    /// The next task of any list of this worker. After a while it takes over lists whose workers have not come.
    fn find(&self, worker: &mut WorkerContext<'_>, waited: WaitCounts) -> Option<u32> {
        // Helping with one piece takes as long as many tries. So each help counts as that many: a take-over does not
        // wait until there is nobody to help.
        let tries = waited
            .tries
            .saturating_add(waited.helps.saturating_mul(TRIES_BEFORE_TAKE_OVER));
        loop {
            let mut claimed = self.progress.claimed(worker.index);
            let found = claimed.find_map(|list| self.next_of(worker, list));
            let stays = found.is_some() || tries <= TRIES_BEFORE_TAKE_OVER;
            if stays || !self.progress.take_over(worker.index, worker.epoch) {
                return found;
            }
            worker.acquisitions += 1;
        }
    }
}

fn lists(plan: &Plan, bound: &BoundPlan) -> Vec<Vec<u32>> {
    if plan.worker_tasks.is_empty() {
        return vec![(0..bound.tasks.len() as u32).collect()];
    }
    let list = |tasks: &Vec<plan::TaskId>| tasks.iter().map(|t| t.0).collect();
    plan.worker_tasks.iter().map(list).collect()
}

/// For each task, its successors in other lists; and the number of tasks of other lists that it waits for. Of the tasks
/// of one list that a task waits for only the last one counts: the others have run before.
fn cross_dependencies(bound: &BoundPlan, lists: &[Vec<u32>]) -> (CrossSuccessors, Vec<u32>) {
    let mut list_of = vec![0; bound.tasks.len()];
    for (list, tasks) in lists.iter().enumerate() {
        tasks.iter().for_each(|t| list_of[*t as usize] = list);
    }
    let mut successors = vec![Vec::new(); bound.tasks.len()];
    let mut dependencies = vec![0; bound.tasks.len()];
    for (list, tasks) in lists.iter().enumerate() {
        let mut seen = HashSet::new();
        for &task in tasks.iter().rev() {
            for next in bound.successors(task) {
                if list_of[next.task as usize] != list && seen.insert(next.task) {
                    successors[task as usize].push(next.task);
                    dependencies[next.task as usize] += 1;
                }
            }
        }
    }
    let successors = successors.into_iter().map(Vec::into_boxed_slice);
    (successors.collect(), dependencies)
}
