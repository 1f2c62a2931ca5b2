//! Distribution of the source tasks, with which each worker begins a cycle.

use crate::bound::BoundPlan;
use plan::Plan;

/// Distributes the source tasks, which wait for no other, among the workers.
///
/// Neighbours in the plan stay together: they often lead to the same join. The lists have equal shares of the weight,
/// and a task weighs as much as its static level. In a list the most urgent task comes last, where the worker begins. Where
/// there are no more sources than workers each goes to one, the first to the host, which comes first: with the only source
/// another worker would begin the cycle later.
pub(crate) fn distribute_sources(plan: &Plan, bound: &BoundPlan, workers: usize) -> Vec<Vec<u32>> {
    let sources: Vec<u32> = bound.sources().collect();
    let levels = plan.task_levels();
    distribute(&sources, |task| levels[task as usize].0, workers)
}

/// As [`distribute_sources`], by the static level of each task.
fn distribute(sources: &[u32], level: impl Fn(u32) -> u64, workers: usize) -> Vec<Vec<u32>> {
    if sources.len() <= workers {
        let mut lists = Vec::from_iter(sources.iter().map(|task| vec![*task]));
        lists.resize(workers, Vec::new());
        return lists;
    }
    let total: u64 = sources.iter().map(|t| level(*t).max(1)).sum();
    let mut lists = vec![Vec::new(); workers];
    let mut distributed = 0;
    for &task in sources {
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

#[cfg(test)]
mod tests {
    use super::distribute;

    #[test]
    fn the_host_begins_with_the_only_source_and_each_worker_with_one_of_few() {
        let lists =
            |sources: &[u32], workers| distribute(sources, |task| 10 * u64::from(task), workers);
        assert_eq!(lists(&[7], 2), [vec![7], vec![]]);
        assert_eq!(lists(&[7], 3), [vec![7], vec![], vec![]]);
        assert_eq!(lists(&[1, 9], 2), [[1], [9]]);
        // Of more sources each worker has an equal weight.
        assert_eq!(lists(&[1, 2, 3, 9], 2), [vec![1, 2, 3], vec![9]]);
    }
}
