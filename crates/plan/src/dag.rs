//! What a scheduler sees: tasks, what they cost, and who hands how many bytes to whom.

use crate::levels::sum;
use crate::{IndexRange, TaskId};
use units::Nanos;

/// One end of an edge between two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DagEdge {
    /// The task at the other end.
    pub task: TaskId,
    /// How many bytes are handed over in a block.
    pub bytes: u32,
}

/// Tasks without cycles, in an order in which they may run one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dag {
    costs: Vec<Nanos>,
    with_duplicable: Vec<bool>,
    successors: Arcs,
    predecessors: Arcs,
}

/// The edges at one of their ends, by task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Arcs {
    spans: Vec<IndexRange>,
    all: Vec<DagEdge>,
}

impl Dag {
    /// Tasks by cost, and edges (from, to, bytes); several between the same two count as one with all their bytes.
    /// `None` where an edge leads backward, to itself, or to no task. No task is duplicable.
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
            with_duplicable: vec![false; costs.len()],
            predecessors: Arcs::new(costs.len(), flipped),
            successors: Arcs::new(costs.len(), edges.iter().copied()),
            costs,
        })
    }

    /// The same with copies allowed of the tasks that `may` says.
    pub fn with_duplicable(mut self, may: impl Fn(TaskId) -> bool) -> Self {
        let ids = (0..).map(TaskId);
        self.with_duplicable = ids.take(self.len()).map(may).collect();
        self
    }

    /// How many tasks.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Every task, sources first.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + use<> {
        (0..self.costs.len() as u32).map(TaskId)
    }

    /// What `task` costs.
    pub fn cost(&self, task: TaskId) -> Nanos {
        self.costs[task.index()]
    }

    /// Whether there may be several of `task`.
    pub fn is_duplicable(&self, task: TaskId) -> bool {
        self.with_duplicable[task.index()]
    }

    /// The tasks that wait for `task`, each once, by number.
    pub fn successors(&self, task: TaskId) -> &[DagEdge] {
        self.successors.of(task)
    }

    /// The tasks that `task` waits for, each once, by number.
    pub fn predecessors(&self, task: TaskId) -> &[DagEdge] {
        self.predecessors.of(task)
    }

    /// What all tasks cost together: the time of one worker.
    pub fn total_cost(&self) -> Nanos {
        self.costs
            .iter()
            .fold(Nanos(0), |all, cost| sum(all, *cost))
    }
}

impl Arcs {
    /// From (here, there, bytes); the order of equal `here` is kept.
    fn new(count: usize, edges: impl Iterator<Item = (TaskId, TaskId, u32)> + Clone) -> Self {
        let mut spans = vec![IndexRange::default(); count];
        let mut total = 0;
        for (here, ..) in edges.clone() {
            spans[here.index()].end += 1;
        }
        for span in &mut spans {
            span.start = total;
            total += span.end;
            span.end = span.start;
        }
        let blank = DagEdge {
            task: TaskId(0),
            bytes: 0,
        };
        let mut all = vec![blank; total as usize];
        for (here, task, bytes) in edges {
            let span = &mut spans[here.index()];
            all[span.end as usize] = DagEdge { task, bytes };
            span.end += 1;
        }
        Self { spans, all }
    }

    fn of(&self, task: TaskId) -> &[DagEdge] {
        self.spans[task.index()].of(&self.all)
    }
}

impl TaskId {
    /// As an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
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
        let arc = |task, bytes| DagEdge {
            task: TaskId(task),
            bytes,
        };
        assert_eq!(dag.successors(TaskId(0)), [arc(1, 2), arc(3, 12)]);
        assert_eq!(
            dag.predecessors(TaskId(3)),
            [arc(0, 12), arc(1, u32::MAX), arc(2, 1)]
        );
        assert_eq!(dag.predecessors(TaskId(0)), []);
    }
}
