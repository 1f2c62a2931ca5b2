//! Which steps are given out together: fusion of chains and clusters.
//!
//! Handing a task to a worker costs time, and so does data that crosses from one core to another. Where steps are
//! cheap, several of them make one task. Candidates are runs of two orders, one that goes deep (a step, then what it
//! releases: chains and trees stay together) and one that goes wide (neighbours of one depth stay together), cut at
//! grains from a single step to the whole graph. Runs of an order cannot wait for each other in a circle. Each candidate
//! is played through on so many workers with what handing over and crossing cost; the shortest wins, and of nearly equal
//! ones the one with fewer tasks.

use crate::levels::sum;
use crate::tasks::{runs, single};
use crate::{Plan, StepId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// What fusing weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusionOptions {
    /// How many workers there are.
    pub workers: usize,
    /// What handing one task to a worker costs, beyond the task.
    pub task_overhead: Nanos,
    /// What a task waits longer for data from another worker than from its own.
    pub transfer: Nanos,
    /// After what time from the start of the cycle other workers than the first begin.
    pub wake_delay: Nanos,
    /// Whether there is to be work for all workers, be it that one alone would be done sooner.
    pub use_all_workers: bool,
}

impl FusionOptions {
    /// What was typical of two cores of one processor in 2026: for machines that nobody has measured.
    pub const fn typical(workers: usize) -> Self {
        Self {
            workers,
            task_overhead: Nanos(15),
            transfer: Nanos(150),
            wake_delay: Nanos(1_000),
            use_all_workers: false,
        }
    }
}

/// By how much a candidate must be faster than one with fewer tasks: one part in so many.
const WORTH: u64 = 50;

/// Makes tasks of steps.
pub(crate) fn fuse(plan: &mut Plan, fuse: FusionOptions) {
    let orders = [deep(plan), wide(plan)];
    if fuse.workers <= 1 {
        let end = plan.steps.len() as u32;
        let ends: &[u32] = if end == 0 { &[] } else { &[end] };
        return runs(plan, &orders[0], ends);
    }
    let mut trial = Trial::new(plan, fuse);
    let mut best: Option<(Nanos, usize, Vec<u32>)> = None;
    // From coarse to fine, so that of equals the coarser stays.
    for grain in grains(plan, fuse) {
        for (which, order) in orders.iter().enumerate() {
            let ends = cut(plan, order, grain);
            let time = trial.play(order, &ends);
            let worth = |(least, ..): &(Nanos, usize, Vec<u32>)| time.0 < least.0 - least.0 / WORTH;
            if best.as_ref().is_none_or(worth) {
                best = Some((time, which, ends));
            }
        }
    }
    match best {
        Some((_, which, ends)) => runs(plan, &orders[which], &ends),
        None => single(plan),
    }
}

/// Grains to try, from the whole graph, where one worker may have it all, down to single steps.
fn grains(plan: &Plan, fuse: FusionOptions) -> Vec<Nanos> {
    let total = plan.total_cost().0;
    let finest = plan.steps.iter().map(|s| s.cost.0).min().unwrap_or(0);
    let whole = (!fuse.use_all_workers).then_some(Nanos(u64::MAX));
    let mut grains = Vec::from_iter(whole);
    let mut grain = total / (2 * fuse.workers as u64);
    while grain > finest && grains.len() < 16 {
        grains.push(Nanos(grain));
        grain /= 2;
    }
    grains.push(Nanos(0));
    grains
}

/// Where the runs of `order` end that cost at least `grain` each.
fn cut(plan: &Plan, order: &[StepId], grain: Nanos) -> Vec<u32> {
    let mut ends = Vec::new();
    let mut cost = Nanos(0);
    for (end, step) in (1..).zip(order) {
        cost = sum(cost, plan.steps[step.0 as usize].cost);
        if cost >= grain {
            ends.push(end);
            cost = Nanos(0);
        }
    }
    let all = order.len() as u32;
    if ends.last().is_none_or(|end| *end != all) && all > 0 {
        ends.push(all);
    }
    ends
}

/// Each step, then the most urgent of those that it releases.
fn deep(plan: &Plan) -> Vec<StepId> {
    let mut waits: Vec<u32> = plan.steps.iter().map(|s| s.activation).collect();
    let level = |id: &StepId| (plan.static_levels[id.0 as usize], Reverse(*id));
    let mut stack: Vec<StepId> = Vec::new();
    let mut order = Vec::with_capacity(plan.steps.len());
    let sources = plan.steps_with_ids().filter(|(_, s)| s.activation == 0);
    for (source, _) in sources {
        stack.push(source);
        while let Some(step) = stack.pop() {
            order.push(step);
            let from = stack.len();
            for next in plan.successors_of(step) {
                waits[next.0 as usize] -= 1;
                if waits[next.0 as usize] == 0 {
                    stack.push(*next);
                }
            }
            stack[from..].sort_by_key(level);
        }
    }
    order
}

/// All steps of one depth, then those of the next.
fn wide(plan: &Plan) -> Vec<StepId> {
    let mut depth = vec![0u32; plan.steps.len()];
    for (id, _) in plan.steps_with_ids() {
        for next in plan.successors_of(id) {
            depth[next.0 as usize] = depth[next.0 as usize].max(depth[id.0 as usize] + 1);
        }
    }
    let mut order: Vec<StepId> = plan.steps_with_ids().map(|(id, _)| id).collect();
    order.sort_by_key(|id| depth[id.0 as usize]);
    order
}

/// Plays candidates through.
struct Trial<'a> {
    plan: &'a Plan,
    fuse: FusionOptions,
    task_of: Vec<u32>,
    /// By task: cost; for how many it waits; on which worker its latest data is, and when; when it may start there.
    tasks: Vec<Played>,
    /// By task: who waits for it.
    after: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Default)]
struct Played {
    cost: Nanos,
    level: Nanos,
    waits: u32,
    /// When the last data is there, from whichever worker.
    far: Nanos,
    /// The worker that gave the last data, when that was, and when all other data has crossed to it.
    last: (u32, Nanos, Nanos),
}

impl<'a> Trial<'a> {
    fn new(plan: &'a Plan, fuse: FusionOptions) -> Self {
        Self {
            plan,
            fuse,
            task_of: vec![0; plan.steps.len()],
            tasks: Vec::new(),
            after: Vec::new(),
        }
    }

    /// How long a cycle would take.
    fn play(&mut self, order: &[StepId], ends: &[u32]) -> Nanos {
        self.build(order, ends);
        let mut free = vec![self.fuse.wake_delay; self.fuse.workers];
        free[0] = Nanos(0);
        let ready = (0..).zip(&self.tasks).filter(|(_, t)| t.waits == 0);
        let mut ready: BinaryHeap<(Nanos, Reverse<u32>)> =
            ready.map(|(i, t)| (t.level, Reverse(i))).collect();
        let mut over = Nanos(0);
        while let Some((_, Reverse(task))) = ready.pop() {
            let (worker, start) = self.place(task, &free);
            let finish = sum(
                start,
                sum(self.tasks[task as usize].cost, self.fuse.task_overhead),
            );
            free[worker] = finish;
            over = over.max(finish);
            for next in &self.after[task as usize] {
                let there = &mut self.tasks[*next as usize];
                there.hear(worker as u32, finish, self.fuse.transfer);
                if there.waits == 0 {
                    ready.push((there.level, Reverse(*next)));
                }
            }
        }
        over
    }

    /// Where a task starts first: beside its last data, or on the worker that is free first.
    fn place(&self, task: u32, free: &[Nanos]) -> (usize, Nanos) {
        let it = &self.tasks[task as usize];
        let first = (0..free.len()).min_by_key(|w| free[*w]).unwrap_or(0);
        let there = (first, free[first].max(it.far));
        let (beside, at, others) = it.last;
        let here = (beside as usize, free[beside as usize].max(at).max(others));
        if here.1 <= there.1 { here } else { there }
    }

    fn build(&mut self, order: &[StepId], ends: &[u32]) {
        self.tasks.clear();
        self.tasks.resize(ends.len(), Played::default());
        self.after.iter_mut().for_each(Vec::clear);
        self.after
            .resize(ends.len().max(self.after.len()), Vec::new());
        let mut start = 0;
        for (task, end) in ends.iter().enumerate() {
            for step in &order[start..*end as usize] {
                self.task_of[step.0 as usize] = task as u32;
                let cost = self.plan.steps[step.0 as usize].cost;
                self.tasks[task].cost = sum(self.tasks[task].cost, cost);
            }
            start = *end as usize;
        }
        self.connect(order);
    }

    fn connect(&mut self, order: &[StepId]) {
        for step in order {
            let task = self.task_of[step.0 as usize];
            for next in self.plan.successors_of(*step) {
                let to = self.task_of[next.0 as usize];
                if to != task {
                    self.after[task as usize].push(to);
                }
            }
        }
        for task in (0..self.tasks.len()).rev() {
            let after = &mut self.after[task];
            after.sort_unstable();
            after.dedup();
            let level = after.iter().map(|to| self.tasks[*to as usize].level).max();
            self.tasks[task].level = sum(self.tasks[task].cost, level.unwrap_or_default());
            for to in &self.after[task] {
                self.tasks[*to as usize].waits += 1;
            }
        }
    }
}

impl Played {
    /// Takes note that data from `worker` is ready at `at`.
    fn hear(&mut self, worker: u32, at: Nanos, crossing: Nanos) {
        let (last, before, others) = self.last;
        let crossed = sum(at, crossing);
        self.far = self.far.max(crossed);
        self.last = match (last == worker, at >= before) {
            (true, _) => (worker, at.max(before), others),
            (false, true) => (worker, at, others.max(sum(before, crossing))),
            (false, false) => (last, before, others.max(crossed)),
        };
        self.waits -= 1;
    }
}
