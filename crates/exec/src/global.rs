//! One queue of ready tasks for all: whoever is free takes the oldest. The plain way, and what others are held against.
//!
//! Every task goes through the queue (`rt::ready_queue`), one at a time, also one that its releaser could have kept. So all
//! workers meet at one word for every task: cheap tasks pay for that, and nobody's order is anybody else's business.

use crate::bind::Binding;
use crate::executor::Executor;
use crate::hand::{Hand, Resume};
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::Plan;
use rt::ready_queue::ReadyQueue;
use workers::WorkerPool;

/// One queue for all.
///
/// Real-time: setup.
pub fn global(binding: Binding<'_>, crew: &WorkerPool) -> Box<dyn Executor> {
    Box::new(Parallel::<Queue>::new(binding, crew))
}

struct Queue(ReadyQueue);

impl Strategy for Queue {
    fn new(_: &Plan, stage: &Stage, _: usize) -> Self {
        let sources: Box<[u32]> = stage.sources().collect();
        let others = stage.tasks.len() - sources.len();
        Self(ReadyQueue::new(sources, others))
    }

    fn begin(&self, _: &Stage, epoch: u32) {
        self.0.begin(epoch);
    }

    fn work(&self, hand: &mut Hand<'_>) {
        match hand.resume() {
            Resume::Begin => {}
            Resume::Release(task) => self.release(hand, task),
            Resume::Stop => return,
        }
        while let Some(task) = self.next(hand) {
            // SAFETY: the queue gives each task out once, for its epoch, after all it waits for has run.
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

impl Queue {
    #[inline]
    fn next(&self, hand: &mut Hand<'_>) -> Option<u32> {
        let take = |hand: &mut Hand<'_>| self.0.pop(hand.epoch);
        let taken = take(hand).or_else(|| hand.seek(take));
        hand.takes += u64::from(taken.is_some());
        taken
    }

    #[inline]
    fn release(&self, hand: &mut Hand<'_>, task: u32) {
        for ready in hand.stage.release(task) {
            self.0.push(hand.epoch, ready);
            hand.takes += 1;
        }
    }
}
