//! Levels of tasks, the critical path, and a bound that no schedule beats.
//!
//! ```text
//!   source ----------------> start of task, end of task ----------------> end of the graph
//!          |--- t-level ----|------------------ b-level ------------------|
//! ```
//!
//! Both are lengths of longest paths. Paths are sums of costs of tasks and edges; the static level is the b-level where
//! edges cost nothing. A task lies on the critical path if no task has a larger sum of both levels (Kwok and Ahmad 1999,
//! section 2).

use super::{Dag, DagEdge};
use crate::TaskId;
use crate::levels::longest_to_end;
use units::Nanos;

impl Dag {
    /// t-level of each task: the longest path from a source to its start, where an edge of `n` bytes costs `edge(n)`.
    pub fn t_levels(&self, edge: impl Fn(u32) -> Nanos) -> Vec<Nanos> {
        let mut levels = vec![Nanos(0); self.len()];
        for task in self.tasks() {
            let finish = levels[task.index()].saturating_add(self.cost(task));
            for next in self.successors(task) {
                let level = &mut levels[next.task.index()];
                *level = (*level).max(finish.saturating_add(edge(next.bytes)));
            }
        }
        levels
    }

    /// b-level of each task: the longest path from its start to the end of the graph, where an edge of `n` bytes
    /// costs `edge(n)`.
    pub fn b_levels(&self, edge: impl Fn(u32) -> Nanos) -> Vec<Nanos> {
        longest_to_end(self.len(), |at, levels| {
            let task = TaskId(at as u32);
            let after = self.successors(task).iter();
            let longest = after.map(|next| through(next, &edge, levels)).max();
            self.cost(task).saturating_add(longest.unwrap_or_default())
        })
    }

    /// Static level of each task: its b-level where edges cost nothing.
    pub fn static_levels(&self) -> Vec<Nanos> {
        self.b_levels(|_| Nanos(0))
    }

    /// A longest path through the graph; of several the one through the first tasks.
    pub fn critical_path(&self, edge: impl Fn(u32) -> Nanos) -> Vec<TaskId> {
        let levels = self.b_levels(&edge);
        let mut path = Vec::new();
        let mut next = first_max(self.tasks().map(|task| (task, levels[task.index()])));
        while let Some(task) = next {
            path.push(task);
            let after = self.successors(task).iter();
            next = first_max(after.map(|next| (next.task, through(next, &edge, &levels))));
        }
        path
    }

    /// Lower bound on the makespan of any schedule on `workers` workers: the critical path without edges, or an equal
    /// share of all costs.
    pub fn lower_bound(&self, workers: usize) -> Nanos {
        let longest = self.static_levels().into_iter().max().unwrap_or_default();
        let share = self.total_cost().0.div_ceil(workers.max(1) as u64);
        longest.max(Nanos(share))
    }
}

/// The longest path over one edge to the end of the graph.
fn through(next: &DagEdge, edge: impl Fn(u32) -> Nanos, levels: &[Nanos]) -> Nanos {
    edge(next.bytes).saturating_add(levels[next.task.index()])
}

/// The task with the greatest number, of equal ones the first.
fn first_max(all: impl Iterator<Item = (TaskId, Nanos)>) -> Option<TaskId> {
    all.reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(task, _)| task)
}
