//! One queue behind one lock, for comparison: how Cantabile's engine worked before its author changed it (Robinson
//! 2016). The lock is taken for every task that is taken and for every step that releases others; workers without a
//! task poll, and give their core away in between. Exempt from the promises of the other executors.

use crate::bind::Binding;
use crate::executor::Executor;
use crate::hand::{Hand, Resume};
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::Plan;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use workers::WorkerPool;

/// One locked queue, for comparison.
///
/// Real-time: setup.
pub fn mutex(binding: Binding<'_>, crew: &WorkerPool) -> Box<dyn Executor> {
    Box::new(Parallel::<LockedQueue>::new(binding, crew))
}

struct LockedQueue(Mutex<Queue>);

struct Queue {
    epoch: u32,
    ready: VecDeque<u32>,
}

impl LockedQueue {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, hand: &mut Hand<'_>, task: u32) {
        let mut queue = self.lock();
        hand.takes += 1;
        for waiting in hand.stage.successors(task) {
            let waits = &hand.stage.steps[waiting.first as usize].waits;
            if waits.decrement(1, waiting.activation) {
                queue.ready.push_back(waiting.task);
            }
        }
    }

    fn pop(&self, hand: &mut Hand<'_>) -> Option<u32> {
        let mut queue = self.lock();
        hand.takes += 1;
        (queue.epoch == hand.epoch).then(|| queue.ready.pop_front())?
    }
}

impl Strategy for LockedQueue {
    fn new(_: &Plan, stage: &Stage, _: usize) -> Self {
        Self(Mutex::new(Queue {
            epoch: 0,
            ready: VecDeque::with_capacity(stage.tasks.len()),
        }))
    }

    fn begin(&self, stage: &Stage, epoch: u32) {
        let mut queue = self.lock();
        queue.epoch = epoch;
        queue.ready.clear();
        queue.ready.extend(stage.sources());
    }

    fn work(&self, hand: &mut Hand<'_>) {
        match hand.resume() {
            Resume::Begin => {}
            Resume::Release(task) => {
                self.release(hand, task);
                hand.count();
            }
            Resume::Stop => return,
        }
        while !hand.is_over() {
            match self.pop(hand) {
                Some(task) => {
                    // SAFETY: the queue gives each task out once, for its epoch, after all it waits for has run.
                    if !unsafe { hand.run(task) } {
                        return;
                    }
                    self.release(hand, task);
                    hand.count();
                }
                None => {
                    hand.put_down();
                    hand.give_up_in_time();
                    std::thread::yield_now();
                }
            }
        }
    }

    fn start_over(&self, stage: &Stage) {
        stage.arm_all();
    }
}
