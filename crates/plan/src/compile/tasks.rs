//! Last pass: steps become tasks, each alone or in runs.

use crate::{IndexRange, Plan, StepId, Task, TaskId};
use units::Nanos;

/// Makes each step a task of its own.
pub(super) fn one_task_per_step(plan: &mut Plan) {
    let task = |(index, step): (u32, &crate::Step)| Task {
        steps: IndexRange {
            start: index,
            end: index + 1,
        },
        successors: step.successors,
        activation: step.activation,
        cost: step.cost,
    };
    plan.tasks = (0..).zip(&plan.steps).map(task).collect();
    plan.task_successors = plan.successors.iter().map(|s| TaskId(s.0)).collect();
}

/// Sorts the steps into `order`, a topological one, and makes a task of each run of them that ends before an index in
/// `ends` (rising; the last is the number of steps).
pub(super) fn make_tasks(plan: &mut Plan, order: &[StepId], ends: &[u32]) {
    renumber_steps(plan, order);
    let mut task_of = vec![0; plan.steps.len()];
    let mut start = 0;
    plan.tasks.clear();
    for (task, &end) in ends.iter().enumerate() {
        let steps = IndexRange { start, end };
        task_of[start as usize..end as usize].fill(task as u32);
        let costs = steps.of(&plan.steps).iter().map(|s| s.cost);
        plan.tasks.push(Task {
            steps,
            successors: IndexRange::default(),
            activation: 0,
            cost: costs.fold(Nanos(0), Nanos::saturating_add),
        });
        start = end;
    }
    connect_tasks(plan, &task_of);
}

/// Derives dependencies of tasks from those of their steps.
fn connect_tasks(plan: &mut Plan, task_of: &[u32]) {
    plan.task_successors.clear();
    for task in 0..plan.tasks.len() {
        let steps = plan.tasks[task].steps.of(&plan.steps).iter();
        let after = steps.flat_map(|s| s.successors.of(&plan.successors));
        let mut next: Vec<u32> = after.map(|s| task_of[s.0 as usize]).collect();
        next.retain(|to| *to as usize != task);
        next.sort_unstable();
        next.dedup();
        let start = plan.task_successors.len();
        for to in next {
            plan.tasks[to as usize].activation += 1;
            plan.task_successors.push(TaskId(to));
        }
        plan.tasks[task].successors = IndexRange::since(&plan.task_successors, start);
    }
}

/// Moves the step `order[i]` to place `i`, for every `i`.
fn renumber_steps(plan: &mut Plan, order: &[StepId]) {
    let mut place = vec![StepId(0); order.len()];
    for (new, old) in (0..).zip(order) {
        place[old.0 as usize] = StepId(new);
    }
    let levels = order.iter().map(|s| plan.static_levels[s.0 as usize]);
    plan.static_levels = levels.collect();
    let mut successors = Vec::with_capacity(plan.successors.len());
    let mut steps = Vec::with_capacity(order.len());
    for old in order {
        let mut step = plan.steps[old.0 as usize];
        let start = successors.len();
        let after = step.successors.of(&plan.successors).iter();
        successors.extend(after.map(|s| place[s.0 as usize]));
        successors[start..].sort_unstable();
        step.successors = IndexRange::since(&successors, start);
        steps.push(step);
    }
    plan.steps = steps;
    plan.successors = successors;
}
