//! Work stealing: each worker has a queue of its own, takes the newest task from it, and where it is empty the oldest
//! from another's.
//!
//! The tasks that wait for nothing are dealt out when the plan is bound, a list a worker. A list is claimed whole, by
//! its worker or, where that has not come yet, by one that has nothing else to do. Of the tasks that a step releases
//! the worker keeps one, without any queue.

use crate::bind::Binding;
use crate::deal::deal;
use crate::executor::Executor;
use crate::hand::Hand;
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::{Mark, Plan};
use rt::claim::Claim;
use rt::deque::{Deque, Stolen};
use std::sync::atomic::Ordering;
use workers::Crew;

/// Work stealing.
///
/// Real-time: setup.
pub fn stealing(binding: Binding<'_>, crew: &Crew) -> Box<dyn Executor> {
    Box::new(Parallel::<Queues>::new(binding, crew))
}

struct Queues {
    queues: Box<[Deque]>,
    dealt: Box<[Dealt]>,
}

/// What one worker begins with; the last is taken first.
struct Dealt {
    claim: Claim,
    tasks: Box<[u32]>,
}

impl Strategy for Queues {
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self {
        let dealt = deal(plan, stage, workers).into_iter().map(|tasks| Dealt {
            claim: Claim::new(),
            tasks: tasks.into_boxed_slice(),
        });
        Self {
            queues: (0..workers)
                .map(|_| Deque::new(stage.tasks.len()))
                .collect(),
            dealt: dealt.collect(),
        }
    }

    fn work(&self, hand: &mut Hand<'_>) {
        let mut next = match hand.broken() {
            Some(task) => self.release(hand, task),
            None => {
                self.queues[hand.worker].begin(hand.epoch);
                self.take_dealt(hand, hand.worker)
            }
        };
        loop {
            let mine = next.or_else(|| self.queues[hand.worker].pop());
            let Some(task) = mine.or_else(|| self.find(hand)) else {
                return;
            };
            // SAFETY: a task comes out of a queue or a list once a cycle, for this epoch, and gets there only after
            // all it waits for has run.
            if !unsafe { hand.run(task) } {
                return;
            }
            next = self.release(hand, task);
        }
    }

    fn start_over(&self, stage: &Stage) {
        for (task, activation) in stage.tasks.iter().zip(&stage.activation) {
            // Relaxed: the host is alone, and the gate publishes it.
            task.waits.store(*activation, Ordering::Relaxed);
        }
    }
}

impl Queues {
    /// Counts `task` off for those that wait for it. One that is ready now is kept, the others are queued.
    #[inline]
    fn release(&self, hand: &Hand<'_>, task: u32) -> Option<u32> {
        let mut kept = None;
        for &waiting in hand.stage.successors(task) {
            if is_ready(hand.stage, waiting) {
                match kept {
                    None => kept = Some(waiting),
                    Some(_) => self.queues[hand.worker].push(waiting),
                }
            }
        }
        kept
    }

    /// The list of worker `of`, if nobody has it yet: its last task, and the others into the own queue.
    fn take_dealt(&self, hand: &Hand<'_>, of: usize) -> Option<u32> {
        let dealt = &self.dealt[of];
        if dealt.tasks.is_empty() || !dealt.claim.claim(hand.epoch) {
            return None;
        }
        let (last, others) = dealt.tasks.split_last()?;
        let queue = &self.queues[hand.worker];
        others.iter().for_each(|task| queue.push(*task));
        Some(*last)
    }

    /// A task of somebody else's; `None` when there will be none any more.
    #[cold]
    fn find(&self, hand: &mut Hand<'_>) -> Option<u32> {
        hand.count();
        hand.put_down();
        hand.mark(Mark::Wait, 0);
        let mut rounds = 0;
        while !hand.is_over() {
            if let Some(task) = self.steal(hand) {
                hand.mark(Mark::Resume, 0);
                hand.takes += 1;
                return Some(task);
            }
            if !hand.help_others() {
                hand.idle(&mut rounds);
            }
        }
        None
    }

    fn steal(&self, hand: &Hand<'_>) -> Option<u32> {
        let workers = self.queues.len();
        let others = (1..workers).map(|i| (hand.worker + i) % workers);
        for other in others {
            if self.dealt[other].claim.looks_free(hand.epoch)
                && let Some(task) = self.take_dealt(hand, other)
            {
                return Some(task);
            }
            if self.queues[other].looks_full()
                && let Stolen::Task(task) = self.queues[other].steal(hand.epoch)
            {
                return Some(task);
            }
        }
        None
    }
}

/// Counts one step off for `waiting`; whether that was the last it waited for. Then it is armed for the next cycle.
#[inline]
pub(crate) fn is_ready(stage: &Stage, waiting: u32) -> bool {
    let activation = stage.activation[waiting as usize];
    // One that waits for one step only is ready when that has run: nothing to count.
    if activation == 1 {
        return true;
    }
    let waits = &stage.tasks[waiting as usize].waits;
    // AcqRel: what each step did travels to the one who counts the last, who runs the task or passes it on.
    if waits.fetch_sub(1, Ordering::AcqRel) != 1 {
        return false;
    }
    // Relaxed: counted again only in the next cycle, behind the gate.
    waits.store(activation, Ordering::Relaxed);
    true
}
