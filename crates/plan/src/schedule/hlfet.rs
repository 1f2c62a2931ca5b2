//! HLFET, highest level first with estimated times (Adam, Chandy and Dickson, "A comparison of list schedules for
//! parallel processing systems", CACM 17(12), 1974).

use super::list::list_schedule;
use super::{Dag, Schedule};

/// Starts, whenever a worker is free, the ready task with the highest static level.
///
/// The static level of a task is the longest sum of costs from its start to the end of the graph. What is on the critical
/// path has the highest, so the path never waits for work that could be done beside it:
///
/// ```text
///        +-- B 2 --+            static levels: A 9, B 3, C 6, D 1
///  A 3 --+         +-- D 1      ready after A: C first, then B
///        +-- C 5 --+
/// ```
///
/// Of equal levels the task with more immediate successors goes first, as it makes more tasks ready: CP/MISF, critical
/// path / most immediate successors first (Kasahara and Narita, "Practical multiprocessor scheduling algorithms for
/// efficient parallel processing", IEEE Trans. Computers C-33(11), 1984). Then the first task.
///
/// Moving data from worker to worker counts as free: near the optimum where memory is shared. Real-time: setup.
pub fn hlfet(dag: &Dag, workers: usize) -> Schedule {
    let levels = dag.static_levels();
    list_schedule(dag, workers, |task| {
        (levels[task.index()].0, dag.successors(task).len() as u64)
    })
}
