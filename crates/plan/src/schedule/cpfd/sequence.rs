//! The order in which CPFD places tasks: the CPN-dominant sequence (Ahmad and Kwok 1998, section 3).
//!
//! ```text
//!            B ----+              critical path (CPN)   A, D, F
//!                  v              in-branch (IBN)       B: leads to the critical path
//!  A -------> D -> F              out-branch (OBN)      C, E: lead to no critical task
//!  |                              sequence              A, D, B, F | C, E
//!  +--> C --> E
//! ```

use super::super::Dag;
use crate::TaskId;
use std::cmp::Reverse;
use units::Nanos;

/// An order of all tasks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) tasks: Vec<TaskId>,
    /// Number of tasks at the front that lie on the critical path or lead to it.
    pub(super) dominant: usize,
}

/// The tasks of the critical path in order, each behind its predecessors: those go by falling b-level (of equal ones the
/// smallest t-level, then the first), each behind its own predecessors by the same rule. Then the out-branch tasks by
/// falling b-level.
pub(super) fn sequence(dag: &Dag, edge: impl Fn(u32) -> Nanos) -> Sequence {
    let (b_levels, t_levels) = (dag.b_levels(&edge), dag.t_levels(&edge));
    let mut is_in = vec![false; dag.len()];
    let mut tasks = Vec::with_capacity(dag.len());
    let mut stack = Vec::new();
    for critical in dag.critical_path(&edge) {
        stack.push(critical);
        while let Some(&task) = stack.last() {
            let predecessors = dag.predecessors(task).iter().map(|edge| edge.task);
            let missing = predecessors.filter(|task| !is_in[task.index()]);
            let key = |t: &TaskId| (Reverse(b_levels[t.index()]), t_levels[t.index()], *t);
            if let Some(predecessor) = missing.min_by_key(key) {
                stack.push(predecessor);
            } else {
                stack.pop();
                is_in[task.index()] = true;
                tasks.push(task);
            }
        }
    }
    let dominant = tasks.len();
    tasks.extend(dag.tasks().filter(|task| !is_in[task.index()]));
    // Stable: a task without cost stays behind its predecessors.
    tasks[dominant..].sort_by_key(|task| Reverse(b_levels[task.index()]));
    Sequence { tasks, dominant }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The critical path is 0, 4, 6. In-branch: 6 waits for 3 (b-level 10) and 5 (8); 3 waits for 1 and 2, of equal
    /// b-level, and 2 has the smaller t-level, as 1 comes after 0. 7 and 8 are out-branch.
    #[test]
    fn predecessors_go_by_b_level_then_by_t_level() {
        let costs = [2, 1, 1, 3, 20, 1, 7, 1, 9].map(Nanos).to_vec();
        let edges = [
            (0, 1),
            (0, 4),
            (1, 3),
            (2, 3),
            (3, 6),
            (4, 6),
            (5, 6),
            (0, 7),
            (7, 8),
        ];
        let edges = edges.map(|(a, b)| (TaskId(a), TaskId(b), 0));
        let dag = Dag::new(costs, edges).expect("all lead forward");
        assert_eq!(dag.critical_path(|_| Nanos(0)), [0, 4, 6].map(TaskId));
        let sequence = sequence(&dag, |_| Nanos(0));
        assert_eq!(sequence.tasks, [0, 4, 2, 1, 3, 5, 6, 7, 8].map(TaskId));
        assert_eq!(sequence.dominant, 7);
    }
}
