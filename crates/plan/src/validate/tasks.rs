//! Checks that tasks are runs of the steps, and depend on each other as their steps do.

use crate::{Plan, TaskId};

/// All faults. The arrays of the steps have been checked.
pub(super) fn check(plan: &Plan, faults: &mut Vec<String>) {
    let Some(task_of) = task_of(plan) else {
        faults.push("the tasks are not the steps, each once and in order".into());
        return;
    };
    let mut counts = vec![0; plan.tasks.len()];
    for (index, task) in plan.tasks.iter().enumerate() {
        let successors = task.successors;
        let len = plan.task_successors.len();
        if successors.start > successors.end || successors.end as usize > len {
            faults.push(format!("task {index} points outside its array"));
            return;
        }
        let steps = task.steps.of(&plan.steps).iter();
        let after = steps.flat_map(|s| s.successors.of(&plan.successors));
        let mut after: Vec<TaskId> = after.map(|s| task_of[s.0 as usize]).collect();
        after.retain(|to| to.index() != index);
        after.sort_unstable();
        after.dedup();
        if successors.of(&plan.task_successors) != after {
            faults.push(format!("task {index} does not release what its steps do"));
        }
        after.iter().for_each(|to| counts[to.index()] += 1);
    }
    for (index, (task, count)) in plan.tasks.iter().zip(counts).enumerate() {
        let stated = task.activation;
        if stated != count {
            faults.push(format!(
                "task {index} counts {stated}, and waits for {count}"
            ));
        }
    }
}

/// The task of each step; `None` where tasks overlap, are empty or leave out a step.
fn task_of(plan: &Plan) -> Option<Vec<TaskId>> {
    let mut task_of = Vec::with_capacity(plan.steps.len());
    for (index, task) in (0..).zip(&plan.tasks) {
        let steps = task.steps;
        let fits = steps.start as usize == task_of.len() && steps.start < steps.end;
        if !fits || steps.end as usize > plan.steps.len() {
            return None;
        }
        task_of.resize(steps.end as usize, TaskId(index));
    }
    (task_of.len() == plan.steps.len()).then_some(task_of)
}
