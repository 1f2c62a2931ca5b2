//! The partition with the least load of the busiest of several cores: every choice of sizes (a few thousand), and for each a
//! branch-and-bound search over the assignments of levels to cores.

use super::search::{CostFn, FoundPartition, PartitionSpace, min_total_load};

/// The partition, with its levels assigned to `cores` cores, whose busiest core has the least load; of several such the one
/// with the least total load. `None` if there is none whose costs are known.
///
/// Real-time: setup.
pub fn min_peak_load(
    space: &PartitionSpace,
    cores: usize,
    cost: CostFn<'_>,
) -> Option<FoundPartition> {
    let alone = min_total_load(space, cost);
    if cores <= 1 {
        return alone;
    }
    let mut best = alone;
    for path in size_choices(space) {
        let head = path.first().and_then(|first| space.head_load(cost, *first));
        let loads = path.iter().enumerate().map(|(at, i)| {
            let load = space.load(cost, *i, path.get(at + 1).copied())?;
            // The head and the first level run on the callback's core.
            Some(load + if at == 0 { head? } else { 0.0 })
        });
        let Some(loads) = loads
            .collect::<Option<Vec<f64>>>()
            .filter(|all| !all.is_empty())
        else {
            continue;
        };
        let max_peak = best.as_ref().map(|best| best.peak_load);
        let (peak, level_cores) = assign(&loads, cores, max_peak);
        let sum = loads.iter().sum();
        let is_better = |best: &FoundPartition| (peak, sum) < (best.peak_load, best.total_load);
        if best.as_ref().is_none_or(is_better) {
            best = Some(FoundPartition {
                partition: space.partition(&path),
                total_load: sum,
                peak_load: peak,
                level_cores,
            });
        }
    }
    best
}

/// Every choice of sizes that makes a partition.
pub(super) fn size_choices(space: &PartitionSpace) -> impl Iterator<Item = Vec<usize>> + '_ {
    let choices = 1..1usize << space.sizes().count();
    let chosen = |bits: usize| (0..space.sizes().count()).filter(move |i| bits >> i & 1 == 1);
    let paths = choices.map(move |bits| chosen(bits).collect::<Vec<usize>>());
    paths.filter(|path| path.first().is_some_and(|first| space.can_begin(*first)))
}

/// Assigns levels to cores so that the busiest core has the least load: that load, and the core of each level. Gives up, with
/// an infinite load, if no assignment is better than `max_peak`.
fn assign(loads: &[f64], cores: usize, max_peak: Option<f64>) -> (f64, Vec<usize>) {
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by(|a, b| loads[*b].total_cmp(&loads[*a]));
    let sum: f64 = loads.iter().sum();
    let bound = (sum / cores as f64).max(loads[order[0]]);
    let mut search = Assignment {
        loads,
        order: &order,
        core_loads: vec![0.0; cores.min(loads.len())],
        core_of: vec![0; loads.len()],
        best: (f64::INFINITY, vec![0; loads.len()]),
        bound,
    };
    if max_peak.is_none_or(|max_peak| bound <= max_peak) {
        search.place(0);
    }
    let (peak, mut core_of) = search.best;
    // The callback runs on core 0.
    let first = core_of[0];
    for core in &mut core_of {
        *core = match *core {
            core if core == first => 0,
            0 => first,
            core => core,
        };
    }
    (peak, core_of)
}

/// Branch and bound over all assignments of levels to cores, the heaviest levels first.
struct Assignment<'a> {
    loads: &'a [f64],
    order: &'a [usize],
    core_loads: Vec<f64>,
    core_of: Vec<usize>,
    /// Least peak load so far, and its assignment.
    best: (f64, Vec<usize>),
    /// Peak load below which no assignment can be.
    bound: f64,
}

impl Assignment<'_> {
    fn place(&mut self, at: usize) {
        let Some(&level) = self.order.get(at) else {
            let peak = self.core_loads.iter().copied().fold(0.0, f64::max);
            if peak < self.best.0 {
                self.best = (peak, self.core_of.clone());
            }
            return;
        };
        let mut has_tried_empty = false;
        for core in 0..self.core_loads.len() {
            let before = self.core_loads[core];
            // All empty cores are equivalent, and a branch with a load above the best peak cannot become better.
            let is_empty = before == 0.0;
            if (is_empty && has_tried_empty)
                || before + self.loads[level] >= self.best.0
                || self.best.0 <= self.bound * (1.0 + 1e-9)
            {
                continue;
            }
            has_tried_empty |= is_empty;
            self.core_loads[core] = before + self.loads[level];
            self.core_of[level] = core;
            self.place(at + 1);
            self.core_loads[core] = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::odd;
    use super::*;
    use crate::partition::AddedLatency;

    #[test]
    fn more_cores_never_raise_the_peak_and_never_beat_the_mean() {
        let space = PartitionSpace::new(100_000, 64, AddedLatency::None).unwrap();
        let mut last = f64::INFINITY;
        for cores in 1..5 {
            let found = min_peak_load(&space, cores, &odd).unwrap();
            assert!(
                found.peak_load <= last
                    && found.peak_load * cores as f64 >= found.total_load * 0.999_999
            );
            let levels = found.partition.levels();
            let mut busy = vec![0.0; cores];
            for (level, core) in levels.iter().zip(&found.level_cores) {
                busy[*core] += odd(level.size(), level.count()).unwrap() / level.size() as f64;
            }
            let peak = busy.iter().copied().fold(0.0, f64::max);
            assert!((peak - found.peak_load).abs() < 1e-6 * peak);
            assert_eq!(found.level_cores[0], 0);
            last = found.peak_load;
        }
    }

    #[test]
    fn levels_are_given_to_cores_as_evenly_as_can_be() {
        let (peak, on) = assign(&[3.0, 3.0, 2.0, 2.0, 2.0], 2, None);
        assert_eq!(peak, 6.0);
        assert_eq!(on[0], on[1]);
        assert_eq!(assign(&[1.0], 4, None), (1.0, vec![0]));
    }
}
