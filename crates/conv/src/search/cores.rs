//! Levels on several cores: every way of cutting, and of giving its levels to cores, for the least load of the busiest.

use super::{CostFn, FoundPartition, PartitionSpace, min_total_load};

/// The way of cutting, and of giving its levels to `cores` cores, whose busiest core has the least load; of several such
/// the one with the least sum. `None` if there is none whose costs are known.
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
    for path in paths(space) {
        let head = path.first().and_then(|first| space.head(cost, *first));
        let loads = path.iter().enumerate().map(|(at, i)| {
            let load = space.load(cost, *i, path.get(at + 1).copied())?;
            // The head and the first level are on the callback's core.
            Some(load + if at == 0 { head? } else { 0.0 })
        });
        let Some(loads) = loads
            .collect::<Option<Vec<f64>>>()
            .filter(|all| !all.is_empty())
        else {
            continue;
        };
        let (peak, given) = share(&loads, cores, best.as_ref().map(|best| best.peak_load));
        let sum = loads.iter().sum();
        let is_better = |best: &FoundPartition| (peak, sum) < (best.peak_load, best.total_load);
        if best.as_ref().is_none_or(is_better) {
            best = Some(FoundPartition {
                partition: space.partition(&path),
                total_load: sum,
                peak_load: peak,
                level_cores: given,
            });
        }
    }
    best
}

/// Every choice of sizes that is a way of cutting.
pub(super) fn paths(space: &PartitionSpace) -> impl Iterator<Item = Vec<usize>> + '_ {
    let choices = 1..1usize << space.sizes;
    let chosen = |bits: usize| (0..space.sizes).filter(move |i| bits >> i & 1 == 1);
    let paths = choices.map(move |bits| chosen(bits).collect::<Vec<usize>>());
    paths.filter(|path| path.first().is_some_and(|first| space.can_begin(*first)))
}

/// Gives levels to cores so that the busiest has the least: that load, and the core of each. No better than `enough` may
/// be given up as soon as that is sure.
fn share(loads: &[f64], cores: usize, enough: Option<f64>) -> (f64, Vec<usize>) {
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by(|a, b| loads[*b].total_cmp(&loads[*a]));
    let sum: f64 = loads.iter().sum();
    let least = (sum / cores as f64).max(loads[order[0]]);
    let mut search = Share {
        loads,
        order: &order,
        busy: vec![0.0; cores.min(loads.len())],
        on: vec![0; loads.len()],
        best: (f64::INFINITY, vec![0; loads.len()]),
        least,
    };
    if enough.is_none_or(|enough| least <= enough) {
        search.place(0);
    }
    let (peak, mut on) = search.best;
    // The callback's own core is core 0.
    let first = on[0];
    for core in &mut on {
        *core = match *core {
            core if core == first => 0,
            0 => first,
            core => core,
        };
    }
    (peak, on)
}

/// Every way of giving levels to cores, the heaviest levels first, as long as it may still be the best.
struct Share<'a> {
    loads: &'a [f64],
    order: &'a [usize],
    busy: Vec<f64>,
    on: Vec<usize>,
    best: (f64, Vec<usize>),
    least: f64,
}

impl Share<'_> {
    fn place(&mut self, at: usize) {
        let Some(&level) = self.order.get(at) else {
            let peak = self.busy.iter().copied().fold(0.0, f64::max);
            if peak < self.best.0 {
                self.best = (peak, self.on.clone());
            }
            return;
        };
        let mut has_tried_empty = false;
        for core in 0..self.busy.len() {
            let before = self.busy[core];
            // Empty cores are alike, and what is no better than the best so far leads nowhere.
            let is_empty = before == 0.0;
            if (is_empty && has_tried_empty)
                || before + self.loads[level] >= self.best.0
                || self.best.0 <= self.least * (1.0 + 1e-9)
            {
                continue;
            }
            has_tried_empty |= is_empty;
            self.busy[core] = before + self.loads[level];
            self.on[level] = core;
            self.place(at + 1);
            self.busy[core] = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::odd;
    use super::*;
    use crate::partition::AddedLatency;

    #[test]
    fn more_cores_make_the_busiest_no_busier_and_never_beat_the_mean() {
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
        let (peak, on) = share(&[3.0, 3.0, 2.0, 2.0, 2.0], 2, None);
        assert_eq!(peak, 6.0);
        assert_eq!(on[0], on[1]);
        assert_eq!(share(&[1.0], 4, None), (1.0, vec![0]));
    }
}
