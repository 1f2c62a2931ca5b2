//! A simulation of one candidate of fusion: list scheduling by static level, with overheads.

use super::FusionOptions;
use crate::{Plan, StepId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// Simulates candidates, in memory that they share.
pub(super) struct Trial<'a> {
    plan: &'a Plan,
    options: FusionOptions,
    /// By step: its task in the candidate.
    task_of: Vec<u32>,
    tasks: Vec<TrialTask>,
    /// By task: the tasks that wait for it.
    successors: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Default)]
struct TrialTask {
    cost: Nanos,
    /// Static level.
    level: Nanos,
    /// Predecessors that have not finished.
    missing: u32,
    /// Time at which all data is there, on any worker.
    ready_anywhere: Nanos,
    last: LastInput,
}

/// The input of a task that finished last: on its worker the task can start before the data has moved.
#[derive(Clone, Copy, Default)]
struct LastInput {
    worker: u32,
    finish: Nanos,
    /// Time at which the inputs from other workers are there.
    others: Nanos,
}

impl<'a> Trial<'a> {
    pub(super) fn new(plan: &'a Plan, options: FusionOptions) -> Self {
        Self {
            plan,
            options,
            task_of: vec![0; plan.steps.len()],
            tasks: Vec::new(),
            successors: Vec::new(),
        }
    }

    /// The makespan of the tasks that `order` makes if it is cut at `ends`.
    pub(super) fn simulate(&mut self, order: &[StepId], ends: &[u32]) -> Nanos {
        self.build_tasks(order, ends);
        self.connect_tasks(order);
        let mut free = vec![self.options.wake_delay; self.options.workers];
        free[0] = Nanos(0);
        let sources = (0..).zip(&self.tasks).filter(|(_, t)| t.missing == 0);
        let mut ready: BinaryHeap<(Nanos, Reverse<u32>)> =
            sources.map(|(i, t)| (t.level, Reverse(i))).collect();
        let mut makespan = Nanos(0);
        while let Some((_, Reverse(task))) = ready.pop() {
            let (worker, start) = self.place(task, &free);
            let overhead = self.options.task_overhead;
            let cost = self.tasks[task as usize].cost.saturating_add(overhead);
            let finish = start.saturating_add(cost);
            free[worker] = finish;
            makespan = makespan.max(finish);
            for next in &self.successors[task as usize] {
                let successor = &mut self.tasks[*next as usize];
                successor.add_input(worker as u32, finish, self.options.transfer);
                if successor.missing == 0 {
                    ready.push((successor.level, Reverse(*next)));
                }
            }
        }
        makespan
    }

    /// Worker on which a task starts first, and the time: on the worker of its last input, or on the one that is free first.
    fn place(&self, task: u32, free: &[Nanos]) -> (usize, Nanos) {
        let it = &self.tasks[task as usize];
        let first = (0..free.len()).min_by_key(|w| free[*w]).unwrap_or(0);
        let anywhere = (first, free[first].max(it.ready_anywhere));
        let last = it.last;
        let beside = last.worker as usize;
        let beside = (beside, free[beside].max(last.finish).max(last.others));
        if beside.1 <= anywhere.1 {
            beside
        } else {
            anywhere
        }
    }

    fn build_tasks(&mut self, order: &[StepId], ends: &[u32]) {
        self.tasks.clear();
        self.tasks.resize(ends.len(), TrialTask::default());
        self.successors.iter_mut().for_each(Vec::clear);
        let len = ends.len().max(self.successors.len());
        self.successors.resize(len, Vec::new());
        let mut start = 0;
        for (task, end) in ends.iter().enumerate() {
            for step in &order[start..*end as usize] {
                self.task_of[step.0 as usize] = task as u32;
                let cost = self.plan.steps[step.0 as usize].cost;
                self.tasks[task].cost = self.tasks[task].cost.saturating_add(cost);
            }
            start = *end as usize;
        }
    }

    fn connect_tasks(&mut self, order: &[StepId]) {
        for step in order {
            let task = self.task_of[step.0 as usize];
            for next in self.plan.successors_of(*step) {
                let to = self.task_of[next.0 as usize];
                if to != task {
                    self.successors[task as usize].push(to);
                }
            }
        }
        for task in (0..self.tasks.len()).rev() {
            let after = &mut self.successors[task];
            after.sort_unstable();
            after.dedup();
            let longest = after.iter().map(|to| self.tasks[*to as usize].level).max();
            let cost = self.tasks[task].cost;
            self.tasks[task].level = cost.saturating_add(longest.unwrap_or_default());
            for to in &self.successors[task] {
                self.tasks[*to as usize].missing += 1;
            }
        }
    }
}

impl TrialTask {
    /// Notes that an input was finished by `worker` at `finish`.
    fn add_input(&mut self, worker: u32, finish: Nanos, transfer: Nanos) {
        let last = self.last;
        let moved = finish.saturating_add(transfer);
        self.ready_anywhere = self.ready_anywhere.max(moved);
        self.last = match (last.worker == worker, finish >= last.finish) {
            (true, _) => LastInput {
                finish: finish.max(last.finish),
                ..last
            },
            (false, true) => LastInput {
                worker,
                finish,
                others: last.others.max(last.finish.saturating_add(transfer)),
            },
            (false, false) => LastInput {
                others: last.others.max(moved),
                ..last
            },
        };
        self.missing -= 1;
    }
}
