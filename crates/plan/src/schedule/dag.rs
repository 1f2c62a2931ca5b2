//! The input of every scheduler: tasks, their costs, and the bytes that they pass on.

use crate::{IndexRange, TaskId};
use units::Nanos;

/// One end of an edge between two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DagEdge {
    /// The task at the other end.
    pub task: TaskId,
    /// Bytes passed on in a block.
    pub bytes: u32,
}

/// A directed acyclic graph of tasks, numbered in a topological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dag {
    costs: Vec<Nanos>,
    duplicable: Vec<bool>,
    successors: EdgeRows,
    predecessors: EdgeRows,
}

impl Dag {
    /// Tasks with these costs, and edges (from, to, bytes). Edges between the same two tasks are one, with the bytes of
    /// all. No task is duplicable.
    ///
    /// Returns `None` if an edge leads backward, to its own task, or to no task.
    pub fn new(
        costs: Vec<Nanos>,
        edges: impl IntoIterator<Item = (TaskId, TaskId, u32)>,
    ) -> Option<Self> {
        let mut edges: Vec<_> = edges.into_iter().collect();
        let fits = |&(from, to, _): &(TaskId, TaskId, u32)| from < to && to.index() < costs.len();
        if !edges.iter().all(fits) {
            return None;
        }
        edges.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        edges.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 = kept.2.saturating_add(next.2);
            }
            same
        });
        let flipped = edges.iter().map(|(from, to, bytes)| (*to, *from, *bytes));
        Some(Self {
            duplicable: vec![false; costs.len()],
            predecessors: EdgeRows::new(costs.len(), flipped),
            successors: EdgeRows::new(costs.len(), edges.iter().copied()),
            costs,
        })
    }

    /// The same graph, where the tasks that `may` accepts are duplicable.
    pub fn with_duplicable(mut self, may: impl Fn(TaskId) -> bool) -> Self {
        self.duplicable = self.tasks().map(may).collect();
        self
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Returns true if there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Every task, in topological order.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + use<> {
        (0..self.costs.len() as u32).map(TaskId)
    }

    /// Cost of `task`.
    pub fn cost(&self, task: TaskId) -> Nanos {
        self.costs[task.index()]
    }

    /// Returns true if `task` may run on several workers.
    pub fn is_duplicable(&self, task: TaskId) -> bool {
        self.duplicable[task.index()]
    }

    /// The tasks that wait for `task`, each once, in rising order.
    pub fn successors(&self, task: TaskId) -> &[DagEdge] {
        self.successors.of(task)
    }

    /// The tasks that `task` waits for, each once, in rising order.
    pub fn predecessors(&self, task: TaskId) -> &[DagEdge] {
        self.predecessors.of(task)
    }

    /// Number of predecessors of each task.
    pub(super) fn predecessor_counts(&self) -> Vec<u32> {
        let counts = self
            .tasks()
            .map(|task| self.predecessors(task).len() as u32);
        counts.collect()
    }

    /// Cost of all tasks together: the time of one worker.
    pub fn total_cost(&self) -> Nanos {
        let costs = self.costs.iter().copied();
        costs.fold(Nanos(0), Nanos::saturating_add)
    }
}

/// Edges grouped by the task at one of their ends: a row of `all` for each task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EdgeRows {
    rows: Vec<IndexRange>,
    all: Vec<DagEdge>,
}

impl EdgeRows {
    /// `edges` are (row, other end, bytes).
    fn new(count: usize, edges: impl Iterator<Item = (TaskId, TaskId, u32)>) -> Self {
        let mut edges: Vec<_> = edges.collect();
        edges.sort_by_key(|edge| edge.0);
        let end = |row: usize| edges.partition_point(|edge| edge.0.index() < row) as u32;
        let row = |row| IndexRange {
            start: end(row),
            end: end(row + 1),
        };
        let edge = |&(_, task, bytes): &(TaskId, TaskId, u32)| DagEdge { task, bytes };
        Self {
            rows: (0..count).map(row).collect(),
            all: edges.iter().map(edge).collect(),
        }
    }

    fn of(&self, task: TaskId) -> &[DagEdge] {
        self.rows[task.index()].of(&self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dag(tasks: usize, edges: &[(u32, u32, u32)]) -> Option<Dag> {
        let edges = edges.iter().map(|(a, b, n)| (TaskId(*a), TaskId(*b), *n));
        Dag::new(vec![Nanos(1); tasks], edges)
    }

    #[test]
    fn an_edge_must_lead_forward_to_a_task() {
        assert!(dag(2, &[(0, 1, 4)]).is_some());
        assert!(dag(2, &[(1, 0, 4)]).is_none());
        assert!(dag(2, &[(1, 1, 4)]).is_none());
        assert!(dag(2, &[(0, 2, 4)]).is_none());
        assert!(dag(0, &[]).is_some_and(|d| d.is_empty()));
    }

    #[test]
    fn edges_between_the_same_two_are_one() {
        let dag = dag(
            4,
            &[
                (0, 3, 4),
                (2, 3, 1),
                (0, 3, 8),
                (0, 1, 2),
                (1, 3, u32::MAX),
                (1, 3, 1),
            ],
        );
        let dag = dag.expect("all lead forward");
        let edge = |task, bytes| DagEdge {
            task: TaskId(task),
            bytes,
        };
        assert_eq!(dag.successors(TaskId(0)), [edge(1, 2), edge(3, 12)]);
        assert_eq!(
            dag.predecessors(TaskId(3)),
            [edge(0, 12), edge(1, u32::MAX), edge(2, 1)]
        );
        assert_eq!(dag.predecessors(TaskId(0)), []);
    }
}
