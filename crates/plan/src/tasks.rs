//! Steps become tasks: each alone, or in runs.

use crate::levels::sum;
use crate::{IndexRange, Plan, StepId, Task, TaskId};
use units::Nanos;

impl Plan {
    /// The tasks that wait for `task`.
    pub fn task_successors_of(&self, task: TaskId) -> &[TaskId] {
        self.tasks[task.0 as usize]
            .successors
            .of(&self.task_successors)
    }

    /// For each task the longest sum of costs from its start to the end of the graph.
    pub fn task_levels(&self) -> Vec<Nanos> {
        let mut levels = vec![Nanos(0); self.tasks.len()];
        for (index, task) in self.tasks.iter().enumerate().rev() {
            let rest = task.successors.of(&self.task_successors).iter();
            let rest = rest.map(|next| levels[next.0 as usize]).max();
            levels[index] = sum(task.cost, rest.unwrap_or_default());
        }
        levels
    }
}

/// Makes each step a task of its own.
pub(crate) fn single(plan: &mut Plan) {
    let task = |(index, step): (usize, &crate::Step)| Task {
        steps: IndexRange {
            start: index as u32,
            end: index as u32 + 1,
        },
        successors: step.successors,
        activation: step.activation,
        cost: step.cost,
    };
    plan.tasks = plan.steps.iter().enumerate().map(task).collect();
    plan.task_successors = plan.successors.iter().map(|s| TaskId(s.0)).collect();
}

/// Puts the steps into `order`, in which each stands after those it waits for, and makes a task of each run of them that
/// ends before an index in `ends` (rising, the last is their number).
pub(crate) fn runs(plan: &mut Plan, order: &[StepId], ends: &[u32]) {
    renumber(plan, order);
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
            cost: costs.fold(Nanos(0), sum),
        });
        start = end;
    }
    release(plan, &task_of);
}

/// Finds who waits for whom among tasks.
fn release(plan: &mut Plan, task_of: &[u32]) {
    plan.task_successors.clear();
    for task in 0..plan.tasks.len() {
        let steps = plan.tasks[task].steps;
        let after = steps.of(&plan.steps).iter();
        let after = after.flat_map(|s| s.successors.of(&plan.successors));
        let mut next: Vec<u32> = after.map(|s| task_of[s.0 as usize]).collect();
        next.retain(|to| *to as usize != task);
        next.sort_unstable();
        next.dedup();
        let start = plan.task_successors.len() as u32;
        for to in next {
            plan.tasks[to as usize].activation += 1;
            plan.task_successors.push(TaskId(to));
        }
        let end = plan.task_successors.len() as u32;
        plan.tasks[task].successors = IndexRange { start, end };
    }
}

/// Gives steps new numbers: `order` says which one stands where.
fn renumber(plan: &mut Plan, order: &[StepId]) {
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
        step.successors = IndexRange {
            start: start as u32,
            end: successors.len() as u32,
        };
        steps.push(step);
    }
    plan.steps = steps;
    plan.successors = successors;
}
