//! A static schedule: each worker follows its lane of the plan, task by task.
//!
//! A task waits only for tasks of other lanes: those before it in its own lane have run. A lane belongs, for a cycle, to
//! the worker that claims it: its own, or, when that has not come for a while, one that would otherwise wait. Whoever
//! has several lanes goes on with whichever can. So a worker that does not wake up delays a cycle and does not stop it.

use crate::bind::Binding;
use crate::executor::Executor;
use crate::hand::{Hand, Resume};
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::{Plan, TraceEvent};
use rt::static_queues::StaticQueues;
use std::collections::HashSet;
use workers::WorkerPool;

/// The plan's own schedule; a plan without lanes is one lane.
///
/// Real-time: setup.
pub fn static_schedule(binding: Binding<'_>, crew: &WorkerPool) -> Box<dyn Executor> {
    Box::new(Parallel::<Schedule>::new(binding, crew))
}

/// After so many fruitless looks a worker takes over lanes of workers that have not come.
const PATIENCE: u32 = 64;

/// For each task, the tasks of other lanes that wait for it.
type Crossings = Box<[Box<[u32]>]>;

struct Schedule {
    /// Whose each lane is, and how far.
    lanes: StaticQueues,
    /// The tasks of each lane.
    tasks: Box<[Box<[u32]>]>,
    crossing: Crossings,
    /// For each task, for how many tasks of other lanes it waits.
    activation: Box<[u32]>,
}

impl Strategy for Schedule {
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self {
        let lists = lists(plan, stage);
        let mut lane_of = vec![0; stage.tasks.len()];
        for (lane, list) in lists.iter().enumerate() {
            list.iter().for_each(|t| lane_of[*t as usize] = lane);
        }
        let (crossing, activation) = crossings(stage, &lists, &lane_of);
        // Every worker has a lane of its own, perhaps an empty one.
        let empty = (lists.len()..workers).map(|_| Vec::new());
        let tasks: Box<[Box<[u32]>]> = lists
            .into_iter()
            .chain(empty)
            .map(Vec::into_boxed_slice)
            .collect();
        let schedule = Self {
            lanes: StaticQueues::new(tasks.len(), workers),
            tasks,
            crossing,
            activation: activation.into_boxed_slice(),
        };
        schedule.start_over(stage);
        schedule
    }

    fn work(&self, hand: &mut Hand<'_>) {
        match hand.resume() {
            Resume::Release(task) => self.release(hand.stage, task),
            Resume::Begin => {
                self.lanes.try_claim(hand.worker, hand.worker, hand.epoch);
            }
            Resume::Stop => return,
        }
        while let Some(task) = self.next(hand) {
            // SAFETY: each lane has one owner a cycle, each task stands in one lane, and it waits for nothing any more.
            if !unsafe { hand.run(task) } {
                return;
            }
            self.release(hand.stage, task);
        }
    }

    fn start_over(&self, stage: &Stage) {
        for (task, activation) in (0..).zip(&self.activation) {
            stage.waits(task).reset(*activation);
        }
    }
}

/// Which tasks wait for which of other lanes, and for how many. Of the tasks of one lane that a task waits for only the
/// last one counts: the others have run by then.
fn crossings(stage: &Stage, lists: &[Vec<u32>], lane_of: &[usize]) -> (Crossings, Vec<u32>) {
    let mut crossing = vec![Vec::new(); stage.tasks.len()];
    let mut activation = vec![0; stage.tasks.len()];
    for (lane, list) in lists.iter().enumerate() {
        let mut seen = HashSet::new();
        for &task in list.iter().rev() {
            for next in stage.successors(task) {
                if lane_of[next.task as usize] != lane && seen.insert(next.task) {
                    crossing[task as usize].push(next.task);
                    activation[next.task as usize] += 1;
                }
            }
        }
    }
    let crossing = crossing.into_iter().map(Vec::into_boxed_slice);
    (crossing.collect(), activation)
}

fn lists(plan: &Plan, stage: &Stage) -> Vec<Vec<u32>> {
    if plan.worker_tasks.is_empty() {
        return vec![(0..stage.tasks.len() as u32).collect()];
    }
    let lane = |l: &Vec<plan::TaskId>| l.iter().map(|s| s.0).collect();
    plan.worker_tasks.iter().map(lane).collect()
}

impl Schedule {
    /// Lets go those that wait for `task`, which has run, and arms it again. Not before it has run: who lingers in a
    /// cycle that was given up runs nothing, and so changes no count of a newer one.
    fn release(&self, stage: &Stage, task: u32) {
        let activation = self.activation[task as usize];
        if activation > 0 {
            stage.waits(task).reset(activation);
        }
        for &waiting in &self.crossing[task as usize] {
            stage.waits(waiting).signal(1);
        }
    }

    /// The next task that can run; `None` when there will be none any more.
    #[inline]
    fn next(&self, hand: &mut Hand<'_>) -> Option<u32> {
        match self.ready(hand, hand.worker) {
            Some(task) => Some(task),
            None => self.wait(hand),
        }
    }

    /// The next task of `static_queues`, if the lane is this worker's and the task waits for nothing.
    #[inline]
    fn ready(&self, hand: &Hand<'_>, lane: usize) -> Option<u32> {
        let at = self.lanes.next(hand.worker, lane, hand.epoch)?;
        let task = *self.tasks[lane].get(at as usize)?;
        if self.activation[task as usize] > 0 && !hand.stage.waits(task).is_zero() {
            return None;
        }
        self.lanes.advance(hand.worker, lane);
        Some(task)
    }

    #[cold]
    fn wait(&self, hand: &mut Hand<'_>) -> Option<u32> {
        hand.count();
        hand.put_down();
        hand.mark(TraceEvent::Wait, 0);
        let mut rounds = 0;
        while !hand.is_over() {
            let found = (0..self.tasks.len()).find_map(|lane| self.ready(hand, lane));
            if found.is_some() {
                hand.mark(TraceEvent::Resume, 0);
                return found;
            }
            if rounds > PATIENCE && self.take_over(hand) {
                continue;
            }
            if hand.help_others() {
                // A piece takes as long as many looks; neither a take-over nor the watchdog waits for the last of them.
                rounds += PATIENCE;
                hand.give_up_in_time();
            } else {
                hand.idle(&mut rounds);
            }
        }
        None
    }

    /// Takes over the lane of a worker that has not come; whether there was one.
    fn take_over(&self, hand: &mut Hand<'_>) -> bool {
        let taken = (0..self.tasks.len()).any(|lane| {
            !self.tasks[lane].is_empty()
                && self.lanes.is_free(lane, hand.epoch)
                && self.lanes.try_claim(hand.worker, lane, hand.epoch)
        });
        hand.takes += u64::from(taken);
        taken
    }
}
