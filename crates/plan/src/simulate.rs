//! What becomes of a schedule when tasks take other times than it thought.

use crate::levels::sum;
use crate::{Plan, TaskId};
use units::Nanos;

/// When each task ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// By task: when it started.
    pub start: Vec<Nanos>,
    /// By task: when it was over.
    pub finish: Vec<Nanos>,
    /// When the last one was over.
    pub makespan: Nanos,
}

/// Replays lanes as an executor does: each worker takes the tasks of its lane in order, and each task waits for the
/// tasks before it. `None` where the lanes get stuck, or do not have every task of the plan exactly once.
pub fn simulate(
    plan: &Plan,
    lanes: &[Vec<TaskId>],
    cost: impl Fn(TaskId) -> Nanos,
) -> Option<Simulated> {
    let mut replay = Replay::new(plan, lanes)?;
    // Lanes whose next task may run.
    let mut work: Vec<usize> = (0..lanes.len()).collect();
    while let Some(lane) = work.pop() {
        while let Some(task) = replay.next(lane, lanes) {
            replay.run(lane, task, cost(task));
            for next in plan.freed(task) {
                let at = next.0 as usize;
                replay.waits[at] -= 1;
                replay.ready[at] = replay.ready[at].max(replay.times.finish[task.0 as usize]);
                if replay.waits[at] == 0 {
                    work.push(replay.lane_of[at]);
                }
            }
        }
    }
    replay.done.eq(&plan.tasks.len()).then_some(replay.times)
}

struct Replay {
    lane_of: Vec<usize>,
    /// By lane: which of its tasks is next, and when it is free.
    heads: Vec<(usize, Nanos)>,
    waits: Vec<u32>,
    ready: Vec<Nanos>,
    done: usize,
    times: Simulated,
}

impl Replay {
    /// `None` where a task is missing, is there twice, or is none of the plan's.
    fn new(plan: &Plan, lanes: &[Vec<TaskId>]) -> Option<Self> {
        let count = plan.tasks.len();
        let mut lane_of = vec![usize::MAX; count];
        for (lane, tasks) in lanes.iter().enumerate() {
            for task in tasks {
                let there = lane_of.get_mut(task.0 as usize)?;
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
            waits: plan.tasks.iter().map(|s| s.activation).collect(),
            ready: vec![Nanos(0); count],
            done: 0,
            times: Simulated {
                start: vec![Nanos(0); count],
                finish: vec![Nanos(0); count],
                makespan: Nanos(0),
            },
        })
    }

    /// The next task of `lane`, if it may run.
    fn next(&self, lane: usize, lanes: &[Vec<TaskId>]) -> Option<TaskId> {
        let task = *lanes[lane].get(self.heads[lane].0)?;
        (self.waits[task.0 as usize] == 0).then_some(task)
    }

    fn run(&mut self, lane: usize, task: TaskId, cost: Nanos) {
        let (next, free) = &mut self.heads[lane];
        let at = task.0 as usize;
        let start = self.ready[at].max(*free);
        *next += 1;
        *free = sum(start, cost);
        self.times.start[at] = start;
        self.times.finish[at] = *free;
        self.times.makespan = self.times.makespan.max(*free);
        self.done += 1;
    }
}
