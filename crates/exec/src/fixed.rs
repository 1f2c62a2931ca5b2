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
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
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
}

struct Lane {
    claim: Claim,
    /// epoch: 32 bits | worker: 32. Whose it is; a hint to the worker itself, written and read by it alone.
    owner: Padded<AtomicU64>,
    /// How far it is; only its owner looks.
    at: AtomicU32,
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
        let lanes = Self {
            lanes: lists.into_iter().chain(empty).map(Lane::new).collect(),
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
            owner: Padded(AtomicU64::new(0)),
            at: AtomicU32::new(0),
            tasks: tasks.into_boxed_slice(),
        }
    }
}

impl Lanes {
    fn release(&self, stage: &Stage, task: u32) {
        for &waiting in &self.crossing[task as usize] {
            stage.tasks[waiting as usize].waits.signal(1);
        }
    }

    /// Claims a lane; whether it is this worker's now.
    fn take(&self, hand: &Hand<'_>, lane: usize) -> bool {
        let lane = &self.lanes[lane];
        let taken = lane.claim.claim(hand.epoch);
        if taken {
            // Relaxed, both: for ourselves. The claim brought what the last owner left.
            lane.at.store(0, Ordering::Relaxed);
            lane.owner.store(tag(hand), Ordering::Relaxed);
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
        let lane = &self.lanes[lane];
        // Relaxed: only if we wrote it ourselves is it our tag.
        if lane.owner.load(Ordering::Relaxed) != tag(hand) {
            return None;
        }
        // Relaxed: ours alone.
        let at = lane.at.load(Ordering::Relaxed);
        let task = *lane.tasks.get(at as usize)?;
        let activation = self.activation[task as usize];
        if activation > 0 {
            let waits = &hand.stage.tasks[task as usize].waits;
            if !waits.is_down() {
                return None;
            }
            waits.arm(activation);
        }
        // Relaxed: ours alone.
        lane.at.store(at + 1, Ordering::Relaxed);
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
            if !hand.help_others() {
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

fn tag(hand: &Hand<'_>) -> u64 {
    u64::from(hand.epoch) << 32 | hand.worker as u64
}
