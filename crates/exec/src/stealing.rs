//! Work stealing: each worker has a queue of its own, takes the newest task from it, and where it is empty the oldest
//! from another's.
//!
//! The tasks that wait for nothing are dealt out when the plan is bound, a list a worker. A list is claimed whole, by
//! its worker or, where that has not come yet, by one that has nothing else to do. Of the tasks that a step releases
//! the worker keeps one, without any queue.
//!
//! Where many steps meet in one, a worker does not count each of them off at once: it remembers how many it has run, as
//! long as what it runs next leads there too (so that the meeting cannot be ready before anyway), and counts them off
//! together. The line of that count then does not travel between the cores at every step.

use crate::bind::Binding;
use crate::deal::deal;
use crate::executor::Executor;
use crate::hand::{Hand, NONE, Resume};
use crate::parallel::{Parallel, Strategy};
use crate::stage::{Stage, Waiting};
use plan::{Plan, TraceEvent};
use rt::claim::EpochClaim;
use rt::deque::{Deque, Steal};
use workers::WorkerPool;

/// Work stealing.
///
/// Real-time: setup.
pub fn stealing(binding: Binding<'_>, crew: &WorkerPool) -> Box<dyn Executor> {
    Box::new(Parallel::<Queues>::new(binding, crew))
}

struct Queues {
    queues: Box<[Deque]>,
    dealt: Box<[Dealt]>,
    /// For each task, a wide meeting that it leads to, by whatever way; [`NONE`] where there is none.
    meetings: Box<[u32]>,
    /// Whether there is one worker only: then nothing need be locked.
    alone: bool,
}

/// So many tasks make a meeting wide.
const WIDE: u32 = 8;

/// What a worker has not counted off yet.
#[derive(Clone, Copy)]
pub(crate) struct Debt {
    meeting: u32,
    tasks: u32,
}

impl Debt {
    pub(crate) const NOTHING: Self = Self {
        meeting: NONE,
        tasks: 0,
    };
}

/// What one worker begins with; the last is taken first.
struct Dealt {
    claim: EpochClaim,
    tasks: Box<[u32]>,
}

impl Strategy for Queues {
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self {
        let dealt = deal(plan, stage, workers).into_iter().map(|tasks| Dealt {
            claim: EpochClaim::new(),
            tasks: tasks.into_boxed_slice(),
        });
        Self {
            queues: (0..workers)
                .map(|_| Deque::new(stage.tasks.len()))
                .collect(),
            dealt: dealt.collect(),
            meetings: meetings(stage),
            alone: workers == 1,
        }
    }

    fn work(&self, hand: &mut Hand<'_>) {
        let mut next = match hand.resume() {
            Resume::Release(task) => self.release(hand, task),
            Resume::Begin => {
                self.queues[hand.worker].begin(hand.epoch);
                self.take_dealt(hand, hand.worker)
            }
            Resume::Stop => return,
        };
        loop {
            let mine = next.or_else(|| self.pop(hand.worker));
            let Some(task) = mine.or_else(|| self.find(hand)) else {
                return;
            };
            if hand.debt.tasks > 0 && self.meetings[task as usize] != hand.debt.meeting {
                self.pay_and_queue(hand);
            }
            // SAFETY: a task comes out of a queue or a list once a cycle, for this epoch, and gets there only after
            // all it waits for has run.
            if !unsafe { hand.run(task) } {
                return;
            }
            next = self.release(hand, task);
        }
    }

    fn start_over(&self, stage: &Stage) {
        stage.arm_all();
    }
}

impl Queues {
    /// Counts `task` off for those that wait for it. One that is ready now is kept, the others are queued.
    #[inline]
    fn release(&self, hand: &mut Hand<'_>, task: u32) -> Option<u32> {
        let mut kept = None;
        let stage = hand.stage;
        for waiting in stage.successors(task) {
            let ready = match waiting.activation {
                // One that waits for one step only is ready when that has run: nothing to count.
                1 => true,
                2..WIDE => self.is_ready(stage, waiting, 1),
                _ => self.owe(hand, waiting.task),
            };
            if ready {
                match kept {
                    None => kept = Some(waiting.task),
                    Some(_) => self.queues[hand.worker].push(waiting.task),
                }
            }
        }
        kept
    }

    /// Counts `tasks` off for `waiting`; whether those were the last it waited for.
    #[inline]
    fn is_ready(&self, stage: &Stage, waiting: &Waiting, tasks: u32) -> bool {
        let waits = &stage.steps[waiting.first as usize].waits;
        if self.alone {
            waits.decrement_unsync(tasks, waiting.activation)
        } else {
            waits.decrement(tasks, waiting.activation)
        }
    }

    #[inline]
    fn pop(&self, worker: usize) -> Option<u32> {
        if self.alone {
            self.queues[worker].pop_unsync()
        } else {
            self.queues[worker].pop()
        }
    }

    /// Remembers one task of a wide meeting, after paying what is owed to another. It is never ready by that: who has no
    /// more to run pays.
    fn owe(&self, hand: &mut Hand<'_>, meeting: u32) -> bool {
        if hand.debt.meeting != meeting && hand.debt.tasks > 0 {
            self.pay_and_queue(hand);
        }
        hand.debt.meeting = meeting;
        hand.debt.tasks += 1;
        false
    }

    /// Counts off what is owed; the meeting, if it is ready now.
    fn pay(&self, hand: &mut Hand<'_>) -> Option<u32> {
        let debt = std::mem::replace(&mut hand.debt, Debt::NOTHING);
        if debt.tasks == 0 {
            return None;
        }
        let meeting = &hand.stage.tasks[debt.meeting as usize];
        let waiting = Waiting {
            task: debt.meeting,
            first: meeting.from,
            activation: meeting.activation,
        };
        self.is_ready(hand.stage, &waiting, debt.tasks)
            .then_some(debt.meeting)
    }

    #[cold]
    fn pay_and_queue(&self, hand: &mut Hand<'_>) {
        if let Some(ready) = self.pay(hand) {
            self.queues[hand.worker].push(ready);
        }
    }

    /// The list of worker `of`, if nobody has it yet: its last task, and the others into the own queue.
    fn take_dealt(&self, hand: &Hand<'_>, of: usize) -> Option<u32> {
        let dealt = &self.dealt[of];
        if dealt.tasks.is_empty() || !dealt.claim.try_claim(hand.epoch) {
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
        if let Some(ready) = self.pay(hand) {
            return Some(ready);
        }
        hand.count();
        hand.put_down();
        hand.mark(TraceEvent::Wait, 0);
        let mut rounds = 0;
        while !hand.is_over() {
            if let Some(task) = self.steal(hand) {
                hand.mark(TraceEvent::Resume, 0);
                hand.takes += 1;
                return Some(task);
            }
            if hand.help_others() {
                hand.give_up_in_time();
            } else {
                hand.idle(&mut rounds);
            }
        }
        None
    }

    fn steal(&self, hand: &Hand<'_>) -> Option<u32> {
        let workers = self.queues.len();
        let others = (1..workers).map(|i| (hand.worker + i) % workers);
        for other in others {
            if self.dealt[other].claim.is_free(hand.epoch)
                && let Some(task) = self.take_dealt(hand, other)
            {
                return Some(task);
            }
            if self.queues[other].has_tasks()
                && let Steal::Success(task) = self.queues[other].steal(hand.epoch)
            {
                return Some(task);
            }
        }
        None
    }
}

/// For each task, the first wide meeting on some way from it to the end.
fn meetings(stage: &Stage) -> Box<[u32]> {
    let mut meetings = vec![NONE; stage.tasks.len()];
    for task in (0..stage.tasks.len() as u32).rev() {
        let next = stage.successors(task).iter().map(|next| {
            if next.activation >= WIDE {
                next.task
            } else {
                meetings[next.task as usize]
            }
        });
        meetings[task as usize] = next.min().unwrap_or(NONE);
    }
    meetings.into_boxed_slice()
}
