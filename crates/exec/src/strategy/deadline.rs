//! Tasks in the order of their latest start times: each worker takes the ready task that must start first.
//!
//! The latest start of a task is the end of the cycle minus its static level (its own cost, and that of the most
//! expensive path behind it). All tasks of a cycle have one deadline, so the order of their latest starts never
//! changes. It is computed once, when the plan is bound: a task's place in it is its *rank*. The ready tasks are a set
//! of ranks, for all workers (`rt::rank_set`). Of the tasks that a task releases the worker keeps the most urgent one,
//! unless the set has a more urgent one.
//!
//! Deferred pieces come after all that, the earliest deadline first: on workers that find no task; on a host without
//! other workers, in what is left of its period; and on the pool's threads of low priority, which lose their core to
//! any task at once.

use crate::bound::BoundPlan;
use crate::cycle::{Strategy, WorkerContext, never_leave};
use plan::Plan;
use rt::rank_set::RankSet;
use std::cmp::Reverse;

/// See the module.
pub(super) struct DeadlineOrder {
    /// The ready tasks, by rank.
    ready: RankSet,
    rank_of: Box<[u32]>,
    task_of: Box<[u32]>,
    /// There is one worker only.
    is_alone: bool,
}

// SAFETY: 1. A rank is put into the set or kept, once per cycle, and the set gives it out once, for its epoch. 2. That
// happens when `release_successors` finds that its task waits for no other; what was done before travels with the put
// and the take.
unsafe impl Strategy for DeadlineOrder {
    type Local = ();

    fn new(plan: &Plan, bound: &BoundPlan, (workers, _): (usize, u32)) -> Self {
        let levels = plan.task_levels();
        let mut task_of: Vec<u32> = (0..bound.tasks.len() as u32).collect();
        // Tasks of the same level stay in the plan's order.
        task_of.sort_by_key(|task| Reverse(levels[*task as usize]));
        let mut rank_of = vec![0; task_of.len()];
        for (rank, task) in (0..).zip(&task_of) {
            rank_of[*task as usize] = rank;
        }
        let sources = bound.sources().map(|task| rank_of[task as usize]);
        Self {
            ready: RankSet::new(task_of.len(), sources),
            rank_of: rank_of.into_boxed_slice(),
            task_of: task_of.into_boxed_slice(),
            is_alone: workers == 1,
        }
    }

    fn begin(&self, _: &BoundPlan, epoch: u32) {
        self.ready.begin(epoch);
    }

    #[inline]
    fn next(&self, worker: &mut WorkerContext<'_>, _: &mut (), kept: Option<u32>) -> Option<u32> {
        kept.or_else(|| {
            let rank = self.pop(worker)?;
            Some(self.task_of[rank as usize])
        })
    }

    /// Keeps the most urgent task that is ready now, if it is the most urgent of all, and puts the others into the set.
    #[inline]
    fn release(&self, worker: &mut WorkerContext<'_>, _: &mut (), task: u32) -> Option<u32> {
        let mut kept = None;
        for ready in worker.plan.release_successors(task) {
            let rank = self.rank_of[ready as usize];
            let Some(best) = kept.replace(rank) else {
                continue;
            };
            kept = Some(best.min(rank));
            self.insert(worker, best.max(rank));
        }
        let best = kept?;
        let lowest = self.ready.peek(worker.epoch);
        if lowest.is_some_and(|other| other < best) {
            self.insert(worker, best);
            return None;
        }
        Some(self.task_of[best as usize])
    }

    fn leave(&self, worker: &mut WorkerContext<'_>) {
        if self.is_alone && !worker.is_abandoned() {
            worker.use_remaining_time();
        }
    }
}

impl DeadlineOrder {
    #[inline]
    fn pop(&self, worker: &mut WorkerContext<'_>) -> Option<u32> {
        let pop = |worker: &mut WorkerContext<'_>| self.ready.pop(worker.epoch);
        let rank =
            pop(worker).or_else(|| worker.wait_for_task(|worker, _| pop(worker), never_leave));
        worker.acquisitions += u64::from(rank.is_some());
        rank
    }

    fn insert(&self, worker: &mut WorkerContext<'_>, rank: u32) {
        self.ready.insert(rank);
        worker.acquisitions += 1;
    }
}
