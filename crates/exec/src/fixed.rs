//! A static schedule: each worker follows its lane of the plan, step by step.
//!
//! A step waits only for steps of other lanes: those before it in its own lane have run. A lane belongs, for a cycle, to
//! the worker that claims it: its own, or, when that has not come for a while, one that would otherwise wait. Whoever
//! has several lanes goes on with whichever can. So a worker that does not wake up delays a cycle and does not stop it.

use crate::bind::Binding;
use crate::executor::Executor;
use crate::hand::Hand;
use crate::parallel::{Parallel, Strategy};
use crate::stage::Stage;
use plan::{Mark, Plan};
use rt::claim::Claim;
use rt::pad::Padded;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use workers::Crew;

/// The plan's own schedule; a plan without lanes is one lane.
///
/// Real-time: setup.
pub fn fixed(binding: Binding<'_>, crew: &Crew) -> Box<dyn Executor> {
    Box::new(Parallel::<Lanes>::new(binding, crew))
}

/// After so many fruitless looks a worker takes over lanes of workers that have not come.
const PATIENCE: u32 = 64;

/// For each task, the tasks of other lanes that wait for it.
type Crossings = Box<[Box<[u32]>]>;

struct Lanes {
    lanes: Box<[Lane]>,
    crossing: Crossings,
    /// For each task, for how many tasks of other lanes it waits.
    activation: Box<[u32]>,
    /// For each worker and lane how far that worker is there. Each is written and read by that worker alone: one that
    /// lost its core in an old cycle finds what it left there, not what another has done with the lane since.
    places: Box<[Padded<Places>]>,
}

/// For each lane, epoch: 32 bits | the next task: 32.
type Places = Box<[AtomicU64]>;

struct Lane {
    claim: Claim,
    tasks: Box<[u32]>,
}

impl Strategy for Lanes {
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self {
        let lists = lists(plan, stage);
        let mut lane_of = vec![0; stage.tasks.len()];
        for (lane, list) in lists.iter().enumerate() {
            list.iter().for_each(|t| lane_of[*t as usize] = lane);
        }
        let (crossing, activation) = crossings(stage, &lists, &lane_of);
        // Every worker has a lane of its own, perhaps an empty one.
        let empty = (lists.len()..workers).map(|_| Vec::new());
        let lanes: Box<[Lane]> = lists.into_iter().chain(empty).map(Lane::new).collect();
        let lanes = Self {
            places: (0..workers)
                .map(|_| Padded(lanes.iter().map(|_| AtomicU64::new(0)).collect()))
                .collect(),
            lanes,
            crossing,
            activation: activation.into_boxed_slice(),
        };
        lanes.start_over(stage);
        lanes
    }

    fn work(&self, hand: &mut Hand<'_>) {
        match hand.broken() {
            Some(task) => self.release(hand.stage, task),
            None => {
                self.take(hand, hand.worker);
            }
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
        for (task, activation) in stage.tasks.iter().zip(&self.activation) {
            task.waits.arm(*activation);
        }
    }
}

/// Which tasks wait for which of other lanes, and for how many. Of the steps of one lane that a task waits for only the
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
    if plan.lanes.is_empty() {
        return vec![(0..stage.len()).collect()];
    }
    let lane = |l: &Vec<plan::StepId>| l.iter().map(|s| s.0).collect();
    plan.lanes.iter().map(lane).collect()
}

impl Lane {
    fn new(tasks: Vec<u32>) -> Self {
        Self {
            claim: Claim::new(),
            tasks: tasks.into_boxed_slice(),
        }
    }
}

impl Lanes {
    /// Lets go those that wait for `task`, which has run, and arms it again. Not before it has run: who lingers in a
    /// cycle that was given up runs nothing, and so changes no count of a newer one.
    fn release(&self, stage: &Stage, task: u32) {
        let activation = self.activation[task as usize];
        if activation > 0 {
            stage.tasks[task as usize].waits.arm(activation);
        }
        for &waiting in &self.crossing[task as usize] {
            stage.tasks[waiting as usize].waits.signal(1);
        }
    }

    fn place(&self, hand: &Hand<'_>, lane: usize) -> &AtomicU64 {
        &self.places[hand.worker][lane]
    }

    /// Claims a lane; whether it is this worker's now.
    fn take(&self, hand: &Hand<'_>, lane: usize) -> bool {
        let taken = self.lanes[lane].claim.claim(hand.epoch);
        if taken {
            // Relaxed: for ourselves.
            let start = u64::from(hand.epoch) << 32;
            self.place(hand, lane).store(start, Ordering::Relaxed);
        }
        taken
    }

    /// The next task that can run; `None` when there will be none any more.
    #[inline]
    fn next(&self, hand: &mut Hand<'_>) -> Option<u32> {
        match self.ready(hand, hand.worker) {
            Some(task) => Some(task),
            None => self.wait(hand),
        }
    }

    /// The next task of `lane`, if the lane is this worker's and the task waits for nothing.
    #[inline]
    fn ready(&self, hand: &Hand<'_>, lane: usize) -> Option<u32> {
        let place = self.place(hand, lane);
        // Relaxed: ours alone.
        let at = place.load(Ordering::Relaxed);
        if (at >> 32) as u32 != hand.epoch {
            return None;
        }
        let task = *self.lanes[lane].tasks.get(at as u32 as usize)?;
        if self.activation[task as usize] > 0 && !hand.stage.tasks[task as usize].waits.is_down() {
            return None;
        }
        // Relaxed: ours alone.
        place.store(at + 1, Ordering::Relaxed);
        Some(task)
    }

    #[cold]
    fn wait(&self, hand: &mut Hand<'_>) -> Option<u32> {
        hand.count();
        hand.put_down();
        hand.mark(Mark::Wait, 0);
        let mut rounds = 0;
        while !hand.is_over() {
            let found = (0..self.lanes.len()).find_map(|lane| self.ready(hand, lane));
            if found.is_some() {
                hand.mark(Mark::Resume, 0);
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
        let free = |lane: &usize| {
            let lane = &self.lanes[*lane];
            !lane.tasks.is_empty() && lane.claim.looks_free(hand.epoch)
        };
        let taken = (0..self.lanes.len())
            .filter(free)
            .any(|lane| self.take(hand, lane));
        if taken {
            hand.takes += 1;
        }
        taken
    }
}
