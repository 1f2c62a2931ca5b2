//! Distribution of the source tasks, with which each worker begins a cycle.

use crate::bound::BoundPlan;
use plan::Plan;

/// Distributes the source tasks, which wait for no other, among the workers.
///
/// Neighbours in the plan stay together: they often lead to the same join. The lists have equal shares of the weight,
/// and a task weighs as much as its static level. In a list the most urgent task comes last, where the worker begins.
pub(crate) fn distribute_sources(plan: &Plan, bound: &BoundPlan, workers: usize) -> Vec<Vec<u32>> {
    let sources: Vec<u32> = bound.sources().collect();
    let levels = plan.task_levels();
    let level = |task: u32| levels[task as usize].0;
    let total: u64 = sources.iter().map(|t| level(*t).max(1)).sum();
    let mut lists = vec![Vec::new(); workers];
    let mut distributed = 0;
    for task in sources {
        // A task goes to the share in which the middle of its weight lies. By its begin, an expensive task at a border
        // would always go to the lower share.
        let weight = level(task).max(1);
        let share = (distributed + weight / 2) as u128 * workers as u128 / total as u128;
        lists[(share as usize).min(workers - 1)].push(task);
        distributed += weight;
    }
    for list in &mut lists {
        list.sort_by_key(|t| level(*t));
    }
    lists
}
