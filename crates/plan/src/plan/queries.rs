//! Successors, costs and levels of a plan's steps and tasks.

use super::{Plan, Step, StepId, StepOp, TaskId};
use crate::levels::longest_to_end;
use units::Nanos;

impl Plan {
    /// The steps that wait for `step`.
    pub fn successors_of(&self, step: StepId) -> &[StepId] {
        self.steps[step.0 as usize].successors.of(&self.successors)
    }

    /// The tasks that wait for `task`.
    pub fn task_successors_of(&self, task: TaskId) -> &[TaskId] {
        self.tasks[task.index()]
            .successors
            .of(&self.task_successors)
    }

    /// Every step with its id, in order.
    pub fn steps_with_ids(&self) -> impl Iterator<Item = (StepId, &Step)> {
        (0u32..).map(StepId).zip(&self.steps)
    }

    /// The step itself, or the steps inside it where it is a loop.
    pub(crate) fn flatten<'a>(&'a self, step: &'a Step) -> &'a [Step] {
        match step.op {
            StepOp::Loop(id) => self.loops[id.0 as usize].steps.of(&self.loop_steps),
            _ => std::slice::from_ref(step),
        }
    }

    /// Cost of all steps together: the time of one worker.
    pub fn total_cost(&self) -> Nanos {
        let costs = self.steps.iter().map(|step| step.cost);
        costs.fold(Nanos(0), Nanos::saturating_add)
    }

    /// Lower bound on the makespan of any schedule on `workers` workers: the critical path, or an equal share of all
    /// costs.
    pub fn lower_bound(&self, workers: usize) -> Nanos {
        let longest = self.static_levels.iter().copied().max().unwrap_or_default();
        let share = self.total_cost().0.div_ceil(workers.max(1) as u64);
        longest.max(Nanos(share))
    }

    /// Static level of each task: the longest sum of costs from its start to the end of the graph.
    pub fn task_levels(&self) -> Vec<Nanos> {
        longest_to_end(self.tasks.len(), |at, levels| {
            let task = self.tasks[at];
            let after = task.successors.of(&self.task_successors).iter();
            let longest = after.map(|next| levels[next.index()]).max();
            task.cost.saturating_add(longest.unwrap_or_default())
        })
    }

    /// Computes [`Plan::static_levels`].
    pub(crate) fn step_levels(&self) -> Vec<Nanos> {
        longest_to_end(self.steps.len(), |at, levels| {
            let step = self.steps[at];
            let after = step.successors.of(&self.successors).iter();
            let longest = after.map(|next| levels[next.0 as usize]).max();
            step.cost.saturating_add(longest.unwrap_or_default())
        })
    }
}
