//! In which order critical-path duplication looks at tasks.

use crate::{Dag, TaskId};
use std::cmp::Reverse;
use units::Nanos;

/// The order of tasks, and how many of them lie on the critical path or lead to it; the others come behind these.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) tasks: Vec<TaskId>,
    /// So many are on the critical path or in-branch.
    pub(crate) dominant: usize,
}

/// The sequence in which the critical path dominates (Ahmad and Kwok 1994): its tasks in order, before each of them what
/// it still waits for, the parent with the greatest b-level first (of equal ones the one with the least t-level, then
/// the first), each after its own ancestors by the same rule. Then the tasks that lead to none of them, by falling
/// b-level.
pub(crate) fn sequence(dag: &Dag, edge: impl Fn(u32) -> Nanos) -> Sequence {
    let (b, t) = (dag.b_levels(&edge), dag.t_levels(&edge));
    let mut is_in = vec![false; dag.len()];
    let mut tasks = Vec::with_capacity(dag.len());
    let mut stack = Vec::new();
    for critical in dag.critical_path(&edge) {
        stack.push(critical);
        while let Some(&task) = stack.last() {
            let parents = dag.predecessors(task).iter().map(|arc| arc.task);
            let missing = parents.filter(|parent| !is_in[parent.index()]);
            let key = |p: &TaskId| (Reverse(b[p.index()]), t[p.index()], *p);
            if let Some(parent) = missing.min_by_key(key) {
                stack.push(parent);
            } else {
                stack.pop();
                is_in[task.index()] = true;
                tasks.push(task);
            }
        }
    }
    let dominant = tasks.len();
    tasks.extend(dag.tasks().filter(|task| !is_in[task.index()]));
    // Stable: a task of no cost stands behind its parents.
    tasks[dominant..].sort_by_key(|task| Reverse(b[task.index()]));
    Sequence { tasks, dominant }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The critical path is 0, 4, 6. In-branch: 6 waits for 3 (b-level 10) and 5 (8); 3 for 1 and 2, of equal b-level;
    /// 2 has the lesser t-level, as 1 comes after 0. 7 and 8 lead nowhere near.
    #[test]
    fn missing_parents_go_by_b_level_then_by_t_level_after_their_ancestors() {
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
