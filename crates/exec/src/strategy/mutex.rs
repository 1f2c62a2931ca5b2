//! One queue behind one lock, for comparison: how Cantabile's engine worked before its author changed it (Robinson
//! 2016).
//!
//! The lock is taken for every task that is taken and for every task that releases others. Workers without a task poll,
//! and yield their core in between. Exempt from the promises of the other executors.

use crate::bound::BoundPlan;
use crate::cycle::{Strategy, WorkerContext};
use plan::Plan;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
pub(super) struct LockedQueue(Mutex<Queue>);

struct Queue {
    epoch: u32,
    ready: VecDeque<u32>,
}

impl LockedQueue {
    fn lock(&self, worker: &mut WorkerContext<'_>) -> MutexGuard<'_, Queue> {
        worker.acquisitions += 1;
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self, worker: &mut WorkerContext<'_>) -> Option<u32> {
        let mut queue = self.lock(worker);
        (queue.epoch == worker.epoch).then(|| queue.ready.pop_front())?
    }
}

// SAFETY: 1. The queue gives each task out once, for its epoch. 2. A task is put there when `release_successors` finds
// that it waits for no other; what was done before travels with the lock.
unsafe impl Strategy for LockedQueue {
    type Local = ();

    fn new(_: &Plan, bound: &BoundPlan, _: (usize, u32)) -> Self {
        Self(Mutex::new(Queue {
            epoch: 0,
            ready: VecDeque::with_capacity(bound.tasks.len()),
        }))
    }

    fn begin(&self, plan: &BoundPlan, epoch: u32) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.epoch = epoch;
        queue.ready.clear();
        queue.ready.extend(plan.sources());
    }

    fn next(&self, worker: &mut WorkerContext<'_>, _: &mut (), _: Option<u32>) -> Option<u32> {
        while !worker.is_over() {
            let task = self.pop(worker);
            if task.is_some() {
                return task;
            }
            worker.set_idle();
            worker.check_clock();
            std::thread::yield_now();
        }
        None
    }

    fn release(&self, worker: &mut WorkerContext<'_>, _: &mut (), task: u32) -> Option<u32> {
        let mut queue = self.lock(worker);
        queue.ready.extend(worker.plan.release_successors(task));
        drop(queue);
        worker.publish_counts();
        None
    }
}
