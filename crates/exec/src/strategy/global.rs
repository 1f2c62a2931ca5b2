//! One queue of ready tasks for all workers: a worker without a task takes the oldest. The simplest strategy, and the
//! baseline for the others.
//!
//! Every task goes through the queue (`rt::ready_queue`), one at a time, even one that its releaser could have kept. So
//! all workers contend for one atomic word at every task, which is expensive for cheap tasks.

use crate::bound::BoundPlan;
use crate::cycle::{Strategy, WorkerContext, never_leave};
use plan::Plan;
use rt::ready_queue::ReadyQueue;

/// See the module.
pub(super) struct GlobalQueue(ReadyQueue);

// SAFETY: 1. The queue gives each task out once, for its epoch. 2. A task is put there when `release_successors` finds
// that it waits for no other; what was done before travels with the put and the take.
unsafe impl Strategy for GlobalQueue {
    type Local = ();

    fn new(_: &Plan, bound: &BoundPlan, _: (usize, u32)) -> Self {
        let sources: Box<[u32]> = bound.sources().collect();
        let others = bound.tasks.len() - sources.len();
        Self(ReadyQueue::new(sources, others))
    }

    fn begin(&self, _: &BoundPlan, epoch: u32) {
        self.0.begin(epoch);
    }

    #[inline]
    fn next(&self, worker: &mut WorkerContext<'_>, _: &mut (), _: Option<u32>) -> Option<u32> {
        let pop = |worker: &mut WorkerContext<'_>| self.0.pop(worker.epoch);
        let task =
            pop(worker).or_else(|| worker.wait_for_task(|worker, _| pop(worker), never_leave));
        worker.acquisitions += u64::from(task.is_some());
        task
    }

    #[inline]
    fn release(&self, worker: &mut WorkerContext<'_>, _: &mut (), task: u32) -> Option<u32> {
        for ready in worker.plan.release_successors(task) {
            self.0.push(worker.epoch, ready);
            worker.acquisitions += 1;
        }
        None
    }
}
