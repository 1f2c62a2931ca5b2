//! What each worker begins a cycle with.

use crate::stage::Stage;
use plan::Plan;

/// The tasks that wait for nothing, a list for each worker: neighbours in the plan stay together (they tend to meet
/// further down), each list has its share of the work that hangs on it, and in a list the most urgent comes last, where
/// the worker begins.
pub(crate) fn deal(plan: &Plan, stage: &Stage, workers: usize) -> Vec<Vec<u32>> {
    let sources: Vec<u32> = stage.sources().collect();
    let levels = plan.task_levels();
    let level = |task: u32| levels[task as usize].0;
    let total: u64 = sources.iter().map(|t| level(*t).max(1)).sum();
    let mut lists = vec![Vec::new(); workers];
    let mut dealt = 0;
    for task in sources {
        // The middle of its work decides, so that a heavy one does not always fall to the lower share.
        let weight = level(task).max(1);
        let share = (dealt + weight / 2) as u128 * workers as u128 / total as u128;
        lists[(share as usize).min(workers - 1)].push(task);
        dealt += weight;
    }
    for list in &mut lists {
        list.sort_by_key(|t| level(*t));
    }
    lists
}
