//! Due steps first, always: of the tasks that are ready each worker takes the one whose latest start is the earliest.
//!
//! The latest start of a task is the end of the cycle less its static level (its own cost and that of the longest way
//! behind it). All tasks of a cycle have one deadline, so the order of their latest starts never changes: it is counted
//! out once, when the plan is bound, and a task's place in it is its *rank*. The ready ones are a set of ranks for all
//! (`rt::rank_set`). Of what a task releases the worker keeps the most urgent one, unless the set has a more urgent one
//! still.
//!
//! Deferred pieces come after all that, the earliest deadline first: on workers that find no task; on a host that has no
//! worker beside it, in what is left of its period when its steps are done; and on the crew's floors, threads of lower
//! priority, from which a due step takes the core at once.

use crate::bind::Binding;
use crate::executor::Executor;
use crate::hand::{Hand, Resume};
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::Plan;
use rt::rank_set::RankSet;
use std::cmp::Reverse;
use workers::WorkerPool;

/// Due steps by their latest start, deferred pieces by their deadline.
///
/// Real-time: setup.
pub fn deadline(binding: Binding<'_>, crew: &WorkerPool) -> Box<dyn Executor> {
    Box::new(Parallel::<Urgency>::new(binding, crew).with_floors(crew))
}

struct Urgency {
    /// The ready tasks, by rank.
    ready: RankSet,
    rank_of: Box<[u32]>,
    task_of: Box<[u32]>,
    /// Whether there is one worker only.
    alone: bool,
}

impl Strategy for Urgency {
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self {
        let levels = plan.task_levels();
        let mut task_of: Vec<u32> = (0..stage.tasks.len() as u32).collect();
        // Equals stay in the plan's order.
        task_of.sort_by_key(|task| Reverse(levels[*task as usize]));
        let mut rank_of = vec![0; task_of.len()];
        for (rank, task) in (0..).zip(&task_of) {
            rank_of[*task as usize] = rank;
        }
        let sources = stage.sources().map(|task| rank_of[task as usize]);
        Self {
            ready: RankSet::new(task_of.len(), sources),
            rank_of: rank_of.into_boxed_slice(),
            task_of: task_of.into_boxed_slice(),
            alone: workers == 1,
        }
    }

    fn begin(&self, _: &Stage, epoch: u32) {
        self.ready.begin(epoch);
    }

    fn work(&self, hand: &mut Hand<'_>) {
        let mut kept = match hand.resume() {
            Resume::Begin => None,
            Resume::Release(task) => self.release(hand, task),
            Resume::Stop => return,
        };
        while let Some(rank) = kept.or_else(|| self.take(hand)) {
            let task = self.task_of[rank as usize];
            // SAFETY: a rank is put once a cycle, when all that its task waits for has run, and is kept or taken once.
            if !unsafe { hand.run(task) } {
                return;
            }
            kept = self.release(hand, task);
        }
        if self.alone && !hand.is_abandoned() {
            hand.use_time();
        }
    }

    fn start_over(&self, stage: &Stage) {
        stage.arm_all();
    }
}

impl Urgency {
    #[inline]
    fn take(&self, hand: &mut Hand<'_>) -> Option<u32> {
        let take = |hand: &mut Hand<'_>| self.ready.pop(hand.epoch);
        let taken = take(hand).or_else(|| hand.seek(take));
        hand.takes += u64::from(taken.is_some());
        taken
    }

    /// Puts what `task` releases, but for the most urgent rank, if that is the most urgent of all that are ready.
    #[inline]
    fn release(&self, hand: &mut Hand<'_>, task: u32) -> Option<u32> {
        let mut kept = None;
        for ready in hand.stage.release(task) {
            let rank = self.rank_of[ready as usize];
            let Some(best) = kept.replace(rank) else {
                continue;
            };
            kept = Some(best.min(rank));
            self.put(hand, best.max(rank));
        }
        let best = kept?;
        if self
            .ready
            .peek(hand.epoch)
            .is_some_and(|other| other < best)
        {
            self.put(hand, best);
            return None;
        }
        Some(best)
    }

    fn put(&self, hand: &mut Hand<'_>, rank: u32) {
        self.ready.insert(rank);
        hand.takes += 1;
    }
}
