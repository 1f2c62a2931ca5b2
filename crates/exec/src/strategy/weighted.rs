//! Batches by weight, after Cantabile's engine (Robinson 2016): one take from a shared queue gives a worker its share
//! of the work, and what that releases stays with the worker as long as the share is not exceeded.
//!
//! A task has weight 100 if it is expensive and 1 if it is cheap. It is expensive if its estimated cost is at least ten
//! times the lower quartile of all costs. (Cantabile gives 100 to plug-ins and 1 to all other nodes. Here costs are
//! measured, so the kind of a node does not matter.) A worker's share is the weight of all tasks divided by the number
//! of workers.
//!
//! Each worker:
//!
//! 1. takes as many of the oldest tasks of the shared queue (`rt::ready_queue`) as its share allows, at least one, by
//!    one exchange, into a queue of its own;
//! 2. runs the oldest task of its own queue, whose weight no longer counts;
//! 3. appends each task that this releases to its own queue, if that is empty or stays within the share;
//! 4. else pushes it to the shared queue, and wakes a worker that has left the cycle, if there is one (`rt::idle_set`);
//! 5. continues with 2, and with 1 when its own queue is empty;
//! 6. when there is no task to take, helps others or spins a little; then, unless it is the host, leaves the cycle and
//!    sleeps until it is woken for this cycle, or for the next.
//!
//! By these rules a graph whose tasks all have the same weight, and of which never more than one share is ready, runs
//! on one worker from end to end: no task gets into the shared queue. The rules work for graphs with expensive tasks,
//! for which Cantabile made them.
//!
//! Where a take or a push is counted here, Cantabile takes a lock. No thread can steal from a worker's own queue: a
//! worker that loses its core holds its tasks up, as in a static schedule.

use crate::bound::BoundPlan;
use crate::cycle::{Strategy, WorkerContext};
use plan::Plan;
use rt::idle_set::IdleSet;
use rt::pad::CachePadded;
use rt::ready_queue::{ReadyQueue, Steal};
use std::sync::atomic::{AtomicU32, Ordering};

/// Weight of an expensive task. That of a cheap one is 1.
const EXPENSIVE: u32 = 100;
/// Cost of an expensive task, in multiples of the cost of cheap ones.
const COST_RATIO: u64 = 10;
/// Number of tries after which a worker leaves the cycle. They last about as long as waking a worker.
const TRIES_BEFORE_LEAVING: u32 = 64;

/// See the module.
pub(super) struct WeightedBatches {
    shared: ReadyQueue,
    /// The workers that have left the cycle.
    idle: IdleSet,
    weights: Box<[u32]>,
    /// Maximum weight of a worker's own queue.
    share: u32,
    own: Box<[CachePadded<OwnQueue>]>,
}

/// The queue of one worker. No other thread touches it, so its atomics are all `Relaxed`: they only make it `Sync`.
struct OwnQueue {
    tasks: Box<[AtomicU32]>,
    from: AtomicU32,
    to: AtomicU32,
    weight: AtomicU32,
}

// SAFETY: 1. A task gets into the shared queue or one worker's own queue, once per cycle; the shared queue gives it out
// once, for its epoch, and `enter` empties the own queue. 2. That happens when `release_successors` finds that it waits
// for no other; what was done before travels with the push and the take.
unsafe impl Strategy for WeightedBatches {
    type Local = ();

    fn new(plan: &Plan, bound: &BoundPlan, (workers, _): (usize, u32)) -> Self {
        let sources: Box<[u32]> = bound.sources().collect();
        let others = bound.tasks.len() - sources.len();
        let weights = weights(plan);
        let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
        let own = |_| CachePadded(OwnQueue::new(weights.len()));
        Self {
            shared: ReadyQueue::new(sources, others),
            idle: IdleSet::new(workers),
            share: u32::try_from(total / workers as u64).unwrap_or(u32::MAX),
            own: (0..workers).map(own).collect(),
            weights,
        }
    }

    fn begin(&self, _: &BoundPlan, epoch: u32) {
        self.idle.begin(epoch);
        self.shared.begin(epoch);
    }

    fn enter(&self, worker: &mut WorkerContext<'_>) -> Option<u32> {
        self.own[worker.index].clear();
        // It may have left this cycle before.
        self.idle.remove(worker.index, worker.epoch);
        None
    }

    #[inline]
    fn next(&self, worker: &mut WorkerContext<'_>, _: &mut (), _: Option<u32>) -> Option<u32> {
        self.own[worker.index]
            .pop(&self.weights)
            .or_else(|| self.take_batch(worker))
            .or_else(|| {
                worker.wait_for_task(
                    |worker, _| self.take_batch(worker),
                    |worker, waited| {
                        waited.tries >= TRIES_BEFORE_LEAVING && self.leave_cycle(worker)
                    },
                )
            })
    }

    #[inline]
    fn release(&self, worker: &mut WorkerContext<'_>, _: &mut (), task: u32) -> Option<u32> {
        let own = &self.own[worker.index];
        for ready in worker.plan.release_successors(task) {
            if !own.append(ready, self.weights[ready as usize], self.share) {
                self.push_shared(worker, ready);
            }
        }
        None
    }
}

impl WeightedBatches {
    /// Takes this worker's share from the shared queue. Gives the first task; the others wait in the worker's own
    /// queue, which must be empty.
    fn take_batch(&self, worker: &mut WorkerContext<'_>) -> Option<u32> {
        let own = &self.own[worker.index];
        loop {
            own.clear();
            let append = |task| own.append(task, self.weights[task as usize], self.share);
            match self.shared.pop_batch(worker.epoch, append) {
                Steal::Success(_) => {
                    worker.acquisitions += 1;
                    return own.pop(&self.weights);
                }
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Pushes `task` to the shared queue, and wakes a worker that has left the cycle.
    fn push_shared(&self, worker: &mut WorkerContext<'_>, task: u32) {
        self.shared.push(worker.epoch, task);
        worker.acquisitions += 1;
        if let Some(other) = self.idle.pop(worker.epoch) {
            worker.wake(other);
        }
    }

    /// Leaves the cycle, unless there is a task to take now. Returns true if it has left. The host stays: it ends the
    /// cycle.
    fn leave_cycle(&self, worker: &WorkerContext<'_>) -> bool {
        if worker.index == 0 {
            return false;
        }
        self.idle.insert(worker.index, worker.epoch);
        let stays = self.shared.has_tasks(worker.epoch);
        if stays {
            self.idle.remove(worker.index, worker.epoch);
        }
        !stays
    }
}

impl OwnQueue {
    fn new(tasks: usize) -> Self {
        Self {
            tasks: (0..tasks).map(|_| AtomicU32::new(0)).collect(),
            from: AtomicU32::new(0),
            to: AtomicU32::new(0),
            weight: AtomicU32::new(0),
        }
    }

    fn clear(&self) {
        self.from.store(0, Ordering::Relaxed);
        self.to.store(0, Ordering::Relaxed);
        self.weight.store(0, Ordering::Relaxed);
    }

    /// Appends a task if the queue is empty, or stays within `share`. Returns false if it does not. There is room: no
    /// task comes twice in a cycle.
    #[inline]
    fn append(&self, task: u32, weight: u32, share: u32) -> bool {
        let to = self.to.load(Ordering::Relaxed);
        let total = self.weight.load(Ordering::Relaxed);
        let fits = to == self.from.load(Ordering::Relaxed) || total + weight <= share;
        if fits {
            self.tasks[to as usize].store(task, Ordering::Relaxed);
            self.to.store(to + 1, Ordering::Relaxed);
            self.weight.store(total + weight, Ordering::Relaxed);
        }
        fits
    }

    /// Takes the oldest task.
    #[inline]
    fn pop(&self, weights: &[u32]) -> Option<u32> {
        let from = self.from.load(Ordering::Relaxed);
        if from == self.to.load(Ordering::Relaxed) {
            return None;
        }
        let task = self.tasks[from as usize].load(Ordering::Relaxed);
        let total = self.weight.load(Ordering::Relaxed);
        self.from.store(from + 1, Ordering::Relaxed);
        self.weight
            .store(total - weights[task as usize], Ordering::Relaxed);
        Some(task)
    }
}

/// The weight of each task.
fn weights(plan: &Plan) -> Box<[u32]> {
    let mut costs: Vec<u64> = plan.tasks.iter().map(|t| t.cost.0).collect();
    costs.sort_unstable();
    let cheap = costs.get(costs.len() / 4).copied().unwrap_or(0).max(1);
    let weight = |cost: u64| match cost / COST_RATIO >= cheap {
        true => EXPENSIVE,
        false => 1,
    };
    plan.tasks.iter().map(|t| weight(t.cost.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{EXPENSIVE, OwnQueue};

    #[test]
    fn a_queue_accepts_any_task_when_empty_and_more_within_the_share() {
        let weights = [1, EXPENSIVE, EXPENSIVE, 1];
        let queue = OwnQueue::new(4);
        let append = |task: u32| queue.append(task, weights[task as usize], EXPENSIVE);
        assert!(append(1) && !append(2) && !append(0));
        // A task that was taken no longer counts.
        assert_eq!(queue.pop(&weights), Some(1));
        assert!(append(0) && !append(2) && append(3));
        assert_eq!(queue.pop(&weights), Some(0));
        assert_eq!(queue.pop(&weights), Some(3));
        assert_eq!(queue.pop(&weights), None);
        assert!(append(2));
    }
}
