//! How far each step, or task, is from the start and from the end, and what no schedule can beat.

use crate::{Dag, Plan, Step, StepId, TaskId};
use units::Nanos;

impl Plan {
    /// The steps that wait for `step`.
    pub fn successors_of(&self, step: StepId) -> &[StepId] {
        self.steps[step.0 as usize].successors.of(&self.successors)
    }

    /// Every step with its id, in order.
    pub fn steps_with_ids(&self) -> impl Iterator<Item = (StepId, &Step)> {
        let ids = (0u32..).map(StepId);
        ids.zip(&self.steps)
    }

    /// For each step the longest way from a source to its start, where an edge costs `edge`: its t-level.
    pub fn t_levels(&self, edge: impl Fn(StepId, StepId) -> Nanos) -> Vec<Nanos> {
        let mut levels = vec![Nanos(0); self.steps.len()];
        for (id, step) in self.steps_with_ids() {
            let end = sum(levels[id.0 as usize], step.cost);
            for next in self.successors_of(id) {
                let level = &mut levels[next.0 as usize];
                *level = (*level).max(sum(end, edge(id, *next)));
            }
        }
        levels
    }

    /// For each step the longest way from its start to the end of the graph, where an edge costs `edge`: its b-level.
    /// Without costs of edges it is the static level.
    pub fn b_levels(&self, edge: impl Fn(StepId, StepId) -> Nanos) -> Vec<Nanos> {
        let mut levels = vec![Nanos(0); self.steps.len()];
        for (index, step) in self.steps.iter().enumerate().rev() {
            let id = StepId(index as u32);
            let rest = self.successors_of(id).iter();
            let rest = rest.map(|next| sum(edge(id, *next), levels[next.0 as usize]));
            levels[index] = sum(step.cost, rest.max().unwrap_or_default());
        }
        levels
    }

    /// A longest way through the graph; where there are several, the one through the first steps.
    pub fn critical_path(&self) -> Vec<StepId> {
        let level = |id: &StepId| self.static_levels[id.0 as usize];
        // `max_by_key` gives the last of equals, so the search goes backward.
        let mut next = self.steps_with_ids().map(|(id, _)| id).rev_max(level);
        let mut path = Vec::new();
        while let Some(id) = next {
            path.push(id);
            next = self.successors_of(id).iter().copied().rev_max(level);
        }
        path
    }

    /// What all steps cost together: the time of one worker.
    pub fn total_cost(&self) -> Nanos {
        self.steps.iter().fold(Nanos(0), |all, s| sum(all, s.cost))
    }

    /// No schedule on so many workers is shorter: the critical path, or an equal share of all costs.
    pub fn lower_bound(&self, workers: usize) -> Nanos {
        let longest = self.static_levels.iter().copied().max().unwrap_or_default();
        let share = self.total_cost().0.div_ceil(workers.max(1) as u64);
        longest.max(Nanos(share))
    }
}

impl Dag {
    /// For each task the longest way from a source to its start, where an edge of so many bytes costs `edge`: its
    /// t-level.
    pub fn t_levels(&self, edge: impl Fn(u32) -> Nanos) -> Vec<Nanos> {
        let mut levels = vec![Nanos(0); self.len()];
        for task in self.tasks() {
            let end = sum(levels[task.index()], self.cost(task));
            for arc in self.successors(task) {
                let level = &mut levels[arc.task.index()];
                *level = (*level).max(sum(end, edge(arc.bytes)));
            }
        }
        levels
    }

    /// For each task the longest way from its start to the end of the graph, where an edge of so many bytes costs
    /// `edge`: its b-level.
    pub fn b_levels(&self, edge: impl Fn(u32) -> Nanos) -> Vec<Nanos> {
        let mut levels = vec![Nanos(0); self.len()];
        for task in self.tasks().rev() {
            let rest = self.successors(task).iter();
            let rest = rest.map(|arc| sum(edge(arc.bytes), levels[arc.task.index()]));
            levels[task.index()] = sum(self.cost(task), rest.max().unwrap_or_default());
        }
        levels
    }

    /// The b-levels where edges cost nothing.
    pub fn static_levels(&self) -> Vec<Nanos> {
        self.b_levels(|_| Nanos(0))
    }

    /// A longest way through the graph; where there are several, the one through the first tasks.
    pub fn critical_path(&self, edge: impl Fn(u32) -> Nanos) -> Vec<TaskId> {
        let levels = self.b_levels(&edge);
        let mut path = Vec::new();
        let mut next = first_greatest(self.tasks().map(|task| (task, levels[task.index()])));
        while let Some(task) = next {
            path.push(task);
            let ways = self.successors(task).iter();
            next = first_greatest(
                ways.map(|arc| (arc.task, sum(edge(arc.bytes), levels[arc.task.index()]))),
            );
        }
        path
    }

    /// No schedule on so many workers is shorter: the longest way, or an equal share of all costs.
    pub fn lower_bound(&self, workers: usize) -> Nanos {
        let longest = self.static_levels().into_iter().max().unwrap_or_default();
        let share = self.total_cost().0.div_ceil(workers.max(1) as u64);
        longest.max(Nanos(share))
    }
}

/// The first of those with the greatest number.
fn first_greatest(all: impl Iterator<Item = (TaskId, Nanos)>) -> Option<TaskId> {
    all.reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(task, _)| task)
}

/// Costs come from files, and their sum need not fit.
pub(crate) fn sum(a: Nanos, b: Nanos) -> Nanos {
    Nanos(a.0.saturating_add(b.0))
}

trait First: Iterator<Item = StepId> + Sized {
    /// The first of those with the greatest key.
    fn rev_max(self, key: impl Fn(&StepId) -> Nanos) -> Option<StepId> {
        self.reduce(|best, id| if key(&id) > key(&best) { id } else { best })
    }
}

impl<I: Iterator<Item = StepId>> First for I {}
