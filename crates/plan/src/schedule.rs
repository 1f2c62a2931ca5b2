//! Schedulers: free functions from a plan and a number of workers to lanes.

use crate::levels::sum;
use crate::{Plan, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// One task in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which.
    pub task: TaskId,
    /// When it starts, from the start of the cycle.
    pub start: Nanos,
    /// When it is over.
    pub finish: Nanos,
}

/// Which worker runs what when, if every task takes exactly what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// A worker's tasks, in order.
    pub lanes: Vec<Vec<Placed>>,
    /// When the last one is over.
    pub makespan: Nanos,
}

impl Schedule {
    /// The order alone: what [`Plan::lanes`] has.
    pub fn tasks(&self) -> Vec<Vec<TaskId>> {
        let ids = |lane: &Vec<Placed>| lane.iter().map(|p| p.task).collect();
        self.lanes.iter().map(ids).collect()
    }
}

/// Highest level first: of the tasks that are ready the one with the highest static level (node costs only), of equal
/// ones that with more immediate successors, then the one first in the plan; on the worker that is free first.
pub fn hlfet(plan: &Plan, workers: usize) -> Schedule {
    let levels = plan.task_levels();
    list(plan, workers, |id| {
        let after = plan.tasks[id.0 as usize].successors.len();
        (levels[id.0 as usize].0, after as u64)
    })
}

/// Tasks that are ready in an order that only chance knows: a control for the others. Equal for an equal seed.
pub fn random(plan: &Plan, workers: usize, seed: u64) -> Schedule {
    list(plan, workers, |id| {
        let key = mix(seed ^ mix(u64::from(id.0)));
        (key, 0)
    })
}

/// List scheduling: whenever a worker is free and a task is ready, the ready task of the highest `priority` starts, on
/// the first of the workers that are free.
fn list(plan: &Plan, workers: usize, priority: impl Fn(TaskId) -> (u64, u64)) -> Schedule {
    let entry = |id: TaskId| (priority(id), Reverse(id));
    let mut waits: Vec<u32> = plan.tasks.iter().map(|s| s.activation).collect();
    let starts = (0..).map(TaskId).zip(&plan.tasks);
    let starts = starts.filter(|(_, t)| t.activation == 0);
    let mut ready: BinaryHeap<_> = starts.map(|(id, _)| entry(id)).collect();
    let mut crew = Crew::new(workers.max(1));
    loop {
        while crew.is_free()
            && let Some((_, Reverse(task))) = ready.pop()
        {
            crew.start(task, plan.tasks[task.0 as usize].cost);
        }
        let over = crew.next();
        if over.is_empty() {
            return crew.schedule;
        }
        for next in over.iter().flat_map(|task| plan.freed(*task)) {
            waits[next.0 as usize] -= 1;
            if waits[next.0 as usize] == 0 {
                ready.push(entry(*next));
            }
        }
    }
}

/// The workers, and a clock that goes from one finish to the next. The makespan so far is its time.
struct Crew {
    free: BinaryHeap<Reverse<usize>>,
    busy: BinaryHeap<Reverse<(Nanos, usize, TaskId)>>,
    schedule: Schedule,
}

impl Crew {
    fn new(workers: usize) -> Self {
        Self {
            free: (0..workers).map(Reverse).collect(),
            busy: BinaryHeap::new(),
            schedule: Schedule {
                lanes: vec![Vec::new(); workers],
                makespan: Nanos(0),
            },
        }
    }

    fn is_free(&self) -> bool {
        !self.free.is_empty()
    }

    fn start(&mut self, task: TaskId, cost: Nanos) {
        let Some(Reverse(worker)) = self.free.pop() else {
            return;
        };
        let start = self.schedule.makespan;
        let finish = sum(start, cost);
        self.busy.push(Reverse((finish, worker, task)));
        self.schedule.lanes[worker].push(Placed {
            task,
            start,
            finish,
        });
    }

    /// Goes on to the next time at which steps are over, and gives these; none where nobody works.
    fn next(&mut self) -> Vec<TaskId> {
        let mut over = Vec::new();
        if let Some(Reverse((finish, ..))) = self.busy.peek() {
            self.schedule.makespan = *finish;
        }
        let now = self.schedule.makespan;
        while let Some(Reverse((finish, worker, task))) = self.busy.peek().copied()
            && finish == now
        {
            self.busy.pop();
            self.free.push(Reverse(worker));
            over.push(task);
        }
        over
    }
}

/// One round of SplitMix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
