//! Weighted batches, after Cantabile's engine (Robinson 2016): one claim of a master queue gives a worker as much as is
//! its share, and what that releases stays with it as long as the share is not exceeded.
//!
//! A task *weighs* 100 if it is dear and 1 if it is cheap. It is dear if it is thought to cost at least ten times what
//! the cheap ones do, and those cost what the task costs that a quarter of all tasks do not exceed. (Cantabile gives 100
//! to plug-ins and 1 to the rest; here costs are measured, and say by themselves what is a plug-in.) A worker's share is
//! the weight of all tasks divided by the workers.
//!
//! Each worker:
//!
//! 1. claims as many of the oldest tasks of the master queue (`rt::ready_queue`) as its share allows, at least one, with one
//!    exchange, into a local queue that is its own;
//! 2. runs the oldest of the local queue; what runs does not weigh any more;
//! 3. appends what that releases to the local queue if that is empty or what waits there stays within the share;
//! 4. puts it into the master queue otherwise, and calls a worker that has left, if one has (`rt::idle_set`);
//! 5. goes on with 2, and with 1 when nothing is left;
//! 6. helps others or spins a little when there is nothing to claim; then, unless it is the host, leaves the cycle and
//!    sleeps until it is called for this cycle, or for the next.
//!
//! By these rules a graph in which all tasks weigh the same, and of which never more is ready than one share, runs on one
//! worker from end to end: nothing is ever put where others look. The rules live from dear tasks, as their origin did.
//!
//! A lock was taken in the original where a claim or a put is counted here. What waits in a local queue nobody can steal:
//! a worker that loses its core holds it up, as in a static schedule.

use crate::bind::Binding;
use crate::executor::Executor;
use crate::hand::{Hand, Resume};
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::{Plan, TraceEvent};
use rt::idle_set::IdleSet;
use rt::pad::CachePadded;
use rt::ready_queue::{ReadyQueue, Steal};
use std::sync::atomic::{AtomicU32, Ordering};
use workers::WorkerPool;

/// Batches by weight.
///
/// Real-time: setup.
pub fn weighted(binding: Binding<'_>, crew: &WorkerPool) -> Box<dyn Executor> {
    Box::new(Parallel::<Batches>::new(binding, crew))
}

/// What a dear task weighs; a cheap one weighs 1.
const DEAR: u32 = 100;
/// So many times the cost of the cheap ones is dear.
const DEARER: u64 = 10;
/// After so many fruitless looks a worker leaves: about as long as it takes to be woken.
const PATIENCE: u32 = 64;

struct Batches {
    master: ReadyQueue,
    away: IdleSet,
    weights: Box<[u32]>,
    /// A worker's share: what its local queue weighs at most.
    share: u32,
    locals: Box<[CachePadded<Local>]>,
}

/// One worker's own queue. No other thread touches it, and it lives here only because a panic ends all else.
struct Local {
    tasks: Box<[AtomicU32]>,
    from: AtomicU32,
    to: AtomicU32,
    weight: AtomicU32,
}

impl Strategy for Batches {
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self {
        let sources: Box<[u32]> = stage.sources().collect();
        let others = stage.tasks.len() - sources.len();
        let weights = weights(plan);
        let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
        Self {
            master: ReadyQueue::new(sources, others),
            away: IdleSet::new(),
            share: u32::try_from(total / workers as u64).unwrap_or(u32::MAX),
            locals: (0..workers)
                .map(|_| CachePadded(Local::new(weights.len())))
                .collect(),
            weights,
        }
    }

    fn begin(&self, _: &Stage, epoch: u32) {
        self.away.begin(epoch);
        self.master.begin(epoch);
    }

    fn work(&self, hand: &mut Hand<'_>) {
        let local = &self.locals[hand.worker];
        match hand.resume() {
            Resume::Begin => {
                local.clear();
                // It may have left this cycle before.
                self.away.remove(hand.worker, hand.epoch);
            }
            Resume::Release(task) => self.release(hand, task),
            Resume::Stop => return,
        }
        while let Some(task) = self.next(hand) {
            // SAFETY: a task gets into the master queue or one local queue once a cycle, when all it waits for has run;
            // and a claim makes what it gave this worker's, for this epoch.
            if !unsafe { hand.run(task) } {
                return;
            }
            self.release(hand, task);
        }
    }

    fn start_over(&self, stage: &Stage) {
        stage.arm_all();
    }
}

impl Batches {
    #[inline]
    fn next(&self, hand: &mut Hand<'_>) -> Option<u32> {
        let local = &self.locals[hand.worker];
        local
            .next(&self.weights)
            .or_else(|| self.claim(hand))
            .or_else(|| self.wait(hand))
    }

    /// The first of as many tasks of the master queue as are this worker's share; the others wait in its local queue,
    /// which must be empty.
    fn claim(&self, hand: &mut Hand<'_>) -> Option<u32> {
        let local = &self.locals[hand.worker];
        loop {
            local.clear();
            let append = |task| local.append(task, self.weights[task as usize], self.share);
            match self.master.pop_batch(hand.epoch, append) {
                Steal::Success(_) => {
                    hand.takes += 1;
                    return local.next(&self.weights);
                }
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    #[inline]
    fn release(&self, hand: &mut Hand<'_>, task: u32) {
        let local = &self.locals[hand.worker];
        for ready in hand.stage.release(task) {
            if !local.append(ready, self.weights[ready as usize], self.share) {
                self.pass_on(hand, ready);
            }
        }
    }

    /// Gives `task` to others, and calls one.
    fn pass_on(&self, hand: &mut Hand<'_>, task: u32) {
        self.master.push(hand.epoch, task);
        hand.takes += 1;
        if let Some(worker) = self.away.pop(hand.epoch) {
            hand.recall(worker);
        }
    }

    /// Waits for something to claim; `None` when there will be nothing any more, or this worker leaves.
    #[cold]
    fn wait(&self, hand: &mut Hand<'_>) -> Option<u32> {
        hand.count();
        hand.put_down();
        hand.mark(TraceEvent::Wait, 0);
        let mut rounds = 0;
        while !hand.is_over() {
            let found = self.claim(hand);
            if found.is_some() {
                hand.mark(TraceEvent::Resume, 0);
                return found;
            }
            if hand.help_others() {
                hand.give_up_in_time();
            } else if rounds >= PATIENCE && self.leave(hand) {
                return None;
            } else {
                hand.idle(&mut rounds);
            }
        }
        None
    }

    /// Leaves the cycle, unless there is something to claim now; whether it has left. The host stays: it ends the cycle.
    fn leave(&self, hand: &Hand<'_>) -> bool {
        if hand.worker == 0 {
            return false;
        }
        self.away.insert(hand.worker, hand.epoch);
        let stays = self.master.has_tasks(hand.epoch);
        if stays {
            self.away.remove(hand.worker, hand.epoch);
        }
        !stays
    }
}

impl Local {
    fn new(tasks: usize) -> Self {
        Self {
            tasks: (0..tasks).map(|_| AtomicU32::new(0)).collect(),
            from: AtomicU32::new(0),
            to: AtomicU32::new(0),
            weight: AtomicU32::new(0),
        }
    }

    fn clear(&self) {
        // Relaxed, here and below: one thread's own.
        self.from.store(0, Ordering::Relaxed);
        self.to.store(0, Ordering::Relaxed);
        self.weight.store(0, Ordering::Relaxed);
    }

    /// Appends a task if it is the only one or all weigh `share` at most; whether it did. There is room: no task comes
    /// twice in a cycle.
    #[inline]
    fn append(&self, task: u32, weight: u32, share: u32) -> bool {
        let to = self.to.load(Ordering::Relaxed);
        let waits = self.weight.load(Ordering::Relaxed);
        let fits = to == self.from.load(Ordering::Relaxed) || waits + weight <= share;
        if fits {
            self.tasks[to as usize].store(task, Ordering::Relaxed);
            self.to.store(to + 1, Ordering::Relaxed);
            self.weight.store(waits + weight, Ordering::Relaxed);
        }
        fits
    }

    /// Takes the oldest task.
    #[inline]
    fn next(&self, weights: &[u32]) -> Option<u32> {
        let from = self.from.load(Ordering::Relaxed);
        if from == self.to.load(Ordering::Relaxed) {
            return None;
        }
        let task = self.tasks[from as usize].load(Ordering::Relaxed);
        let waits = self.weight.load(Ordering::Relaxed);
        self.from.store(from + 1, Ordering::Relaxed);
        self.weight
            .store(waits - weights[task as usize], Ordering::Relaxed);
        Some(task)
    }
}

/// What each task weighs.
fn weights(plan: &Plan) -> Box<[u32]> {
    let mut costs: Vec<u64> = plan.tasks.iter().map(|t| t.cost.0).collect();
    costs.sort_unstable();
    let cheap = costs.get(costs.len() / 4).copied().unwrap_or(0).max(1);
    let weight = |cost: u64| if cost / DEARER >= cheap { DEAR } else { 1 };
    plan.tasks.iter().map(|t| weight(t.cost.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{DEAR, Local};

    #[test]
    fn a_local_queue_takes_one_whatever_it_weighs_and_more_within_the_share() {
        let weights = [1, DEAR, DEAR, 1];
        let local = Local::new(4);
        let append = |task: u32| local.append(task, weights[task as usize], DEAR);
        assert!(append(1) && !append(2) && !append(0));
        // What runs does not weigh any more.
        assert_eq!(local.next(&weights), Some(1));
        assert!(append(0) && !append(2) && append(3));
        assert_eq!(local.next(&weights), Some(0));
        assert_eq!(local.next(&weights), Some(3));
        assert_eq!(local.next(&weights), None);
        assert!(append(2));
    }
}
