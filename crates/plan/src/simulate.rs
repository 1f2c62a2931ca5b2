//! What becomes of a schedule when steps take other times than it thought.

use crate::levels::sum;
use crate::{Plan, StepId};
use units::Nanos;

/// When each step ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// By step: when it started.
    pub start: Vec<Nanos>,
    /// By step: when it was over.
    pub finish: Vec<Nanos>,
    /// When the last one was over.
    pub makespan: Nanos,
}

/// Replays lanes as an executor does: each worker takes the steps of its lane in order, and each step waits for the
/// steps before it. `None` where the lanes get stuck, or do not have every step of the plan exactly once.
pub fn simulate(
    plan: &Plan,
    lanes: &[Vec<StepId>],
    cost: impl Fn(StepId) -> Nanos,
) -> Option<Simulated> {
    let mut replay = Replay::new(plan, lanes)?;
    // Lanes whose next step may run.
    let mut work: Vec<usize> = (0..lanes.len()).collect();
    while let Some(lane) = work.pop() {
        while let Some(step) = replay.next(lane, lanes) {
            replay.run(lane, step, cost(step));
            for next in plan.after(step) {
                let at = next.0 as usize;
                replay.waits[at] -= 1;
                replay.ready[at] = replay.ready[at].max(replay.times.finish[step.0 as usize]);
                if replay.waits[at] == 0 {
                    work.push(replay.lane_of[at]);
                }
            }
        }
    }
    replay.done.eq(&plan.steps.len()).then_some(replay.times)
}

struct Replay {
    lane_of: Vec<usize>,
    /// By lane: which of its steps is next, and when it is free.
    heads: Vec<(usize, Nanos)>,
    waits: Vec<u32>,
    ready: Vec<Nanos>,
    done: usize,
    times: Simulated,
}

impl Replay {
    /// `None` where a step is missing, is there twice, or is none of the plan's.
    fn new(plan: &Plan, lanes: &[Vec<StepId>]) -> Option<Self> {
        let count = plan.steps.len();
        let mut lane_of = vec![usize::MAX; count];
        for (lane, steps) in lanes.iter().enumerate() {
            for step in steps {
                let there = lane_of.get_mut(step.0 as usize)?;
                if *there != usize::MAX {
                    return None;
                }
                *there = lane;
            }
        }
        let all = lane_of.iter().all(|lane| *lane != usize::MAX);
        all.then(|| Self {
            lane_of,
            heads: vec![(0, Nanos(0)); lanes.len()],
            waits: plan.steps.iter().map(|s| s.activation).collect(),
            ready: vec![Nanos(0); count],
            done: 0,
            times: Simulated {
                start: vec![Nanos(0); count],
                finish: vec![Nanos(0); count],
                makespan: Nanos(0),
            },
        })
    }

    /// The next step of `lane`, if it may run.
    fn next(&self, lane: usize, lanes: &[Vec<StepId>]) -> Option<StepId> {
        let step = *lanes[lane].get(self.heads[lane].0)?;
        (self.waits[step.0 as usize] == 0).then_some(step)
    }

    fn run(&mut self, lane: usize, step: StepId, cost: Nanos) {
        let (next, free) = &mut self.heads[lane];
        let at = step.0 as usize;
        let start = self.ready[at].max(*free);
        *next += 1;
        *free = sum(start, cost);
        self.times.start[at] = start;
        self.times.finish[at] = *free;
        self.times.makespan = self.times.makespan.max(*free);
        self.done += 1;
    }
}
