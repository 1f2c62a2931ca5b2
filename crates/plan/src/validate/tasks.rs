//! Whether tasks are the steps, and wait for each other as their steps do.

use crate::{Plan, TaskId};

/// All faults. The shape of the steps has been checked.
pub(super) fn check(plan: &Plan, wrong: &mut Vec<String>) {
    let Some(task_of) = task_of(plan) else {
        wrong.push("the tasks are not the steps, each once and in order".into());
        return;
    };
    let mut counts = vec![0; plan.tasks.len()];
    for (index, task) in plan.tasks.iter().enumerate() {
        let spans = task.successors;
        if spans.start > spans.end || spans.end as usize > plan.task_successors.len() {
            wrong.push(format!("task {index} points outside its array"));
            return;
        }
        let after = task.steps.of(&plan.steps).iter();
        let after = after.flat_map(|s| s.successors.of(&plan.successors));
        let mut after: Vec<TaskId> = after.map(|s| task_of[s.0 as usize]).collect();
        after.retain(|to| to.0 as usize != index);
        after.sort_unstable();
        after.dedup();
        if spans.of(&plan.task_successors) != after {
            wrong.push(format!("task {index} does not release what its steps do"));
        }
        after.iter().for_each(|to| counts[to.0 as usize] += 1);
    }
    for (index, (task, waits)) in plan.tasks.iter().zip(counts).enumerate() {
        if task.activation != waits {
            let counts = task.activation;
            wrong.push(format!(
                "task {index} counts {counts}, and waits for {waits}"
            ));
        }
    }
}

/// The task of each step; `None` where tasks overlap, are empty or leave a step out.
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
