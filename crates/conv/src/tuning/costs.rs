//! [`CostTable`]: measured costs of levels, by which a partition is chosen (seed 000, section 3.6).

use super::cores::min_peak_load;
use super::search::{FoundPartition, PartitionSpace};
use fft::Packing;

/// Number of channels from which on the costs of sixteen channels are a better estimate than those of one.
const MIN_BATCH: usize = 6;
/// Cost of a direct head for each frame, in ns,
const HEAD_NS: f64 = 1.0;
/// and for each frame and tap.
const HEAD_TAP_NS: f64 = 0.06;

/// Cost of a level for one of its periods, all channels of its packing together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelCost {
    /// One channel, or sixteen.
    pub packing: Packing,
    /// Frames in a partition.
    pub size: usize,
    /// Number of partitions.
    pub count: usize,
    /// Largest observed time with polluted caches, in ns.
    pub worst_ns: f64,
    /// Median time of the same runs, in ns.
    pub typical_ns: f64,
}

/// Costs of levels: measured ones, or the built-in table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostTable {
    levels: Vec<LevelCost>,
}

impl CostTable {
    /// Costs of levels, in any order.
    pub fn levels(&self) -> &[LevelCost] {
        &self.levels
    }

    /// Inserts the cost of a level, in place of an older one of the same level. A cost that is not positive and finite is ignored.
    pub fn insert_level(&mut self, new: LevelCost) {
        let is_valid = |ns: f64| ns.is_finite() && ns > 0.0;
        if !is_valid(new.worst_ns) || !is_valid(new.typical_ns) || new.size == 0 || new.count == 0 {
            return;
        }
        let key = |cost: &LevelCost| (cost.packing, cost.size, cost.count);
        self.levels.retain(|old| key(old) != key(&new));
        self.levels.push(new);
    }

    /// Inserts all costs of `newer`.
    pub fn merge(&mut self, newer: &Self) {
        newer
            .levels
            .iter()
            .for_each(|cost| self.insert_level(*cost));
    }

    /// Largest time of a level for one of its periods, in ns; `None` if too few costs of that size are known.
    pub fn worst_ns(&self, packing: Packing, size: usize, count: usize) -> Option<f64> {
        self.interpolate(packing, size, count, |cost| cost.worst_ns)
    }

    /// Median time of a level for one of its periods, in ns; `None` if too few costs of that size are known.
    pub fn typical_ns(&self, packing: Packing, size: usize, count: usize) -> Option<f64> {
        self.interpolate(packing, size, count, |cost| cost.typical_ns)
    }

    /// Returns true if the costs of every size are known that may be of use in `space` for `channels` channels.
    pub fn covers(&self, space: &PartitionSpace, channels: usize) -> bool {
        let packing = packing_of(channels);
        let mut sizes = space.sizes();
        sizes.all(|size| self.worst_ns(packing, size, 1).is_some())
    }

    /// The partition with the least worst-case load of the busiest of `cores` cores, for `channels` channels; `None` if too few
    /// costs are known.
    ///
    /// Real-time: setup.
    pub fn choose(
        &self,
        space: &PartitionSpace,
        channels: usize,
        cores: usize,
    ) -> Option<FoundPartition> {
        let packing = packing_of(channels);
        min_peak_load(space, cores, &|size, count| {
            self.worst_ns(packing, size, count)
        })
    }

    /// A measured time, or the one on the line through the two nearest numbers of partitions that were measured.
    fn interpolate(
        &self,
        packing: Packing,
        size: usize,
        count: usize,
        ns: impl Fn(&LevelCost) -> f64,
    ) -> Option<f64> {
        let fitting = self.levels.iter();
        let fitting = fitting.filter(|cost| cost.packing == packing && cost.size == size);
        let mut known: Vec<(f64, f64)> =
            fitting.map(|cost| (cost.count as f64, ns(cost))).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = count as f64;
        if size == 1 && known.is_empty() {
            return Some(packing.channels() as f64 * (HEAD_NS + HEAD_TAP_NS * at));
        }
        if let Some(found) = known.iter().find(|(count, _)| *count == at) {
            return Some(found.1);
        }
        let above = known.partition_point(|(count, _)| *count < at);
        let first = above.clamp(1, known.len().max(2) - 1) - 1;
        let (low, high) = (known.get(first)?, known.get(first + 1)?);
        let slope = (high.1 - low.1) / (high.0 - low.0);
        // Noise must not make more partitions cheaper, nor a level free.
        Some((low.1 + slope.max(0.0) * (at - low.0)).max(0.05 * low.1))
    }
}

/// Packing whose costs are used for a number of channels.
fn packing_of(channels: usize) -> Packing {
    match channels {
        0..MIN_BATCH => Packing::Mono,
        _ => Packing::Batch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(size: usize, count: usize, worst_ns: f64) -> LevelCost {
        LevelCost {
            packing: Packing::Mono,
            size,
            count,
            worst_ns,
            typical_ns: worst_ns / 2.0,
        }
    }

    #[test]
    fn measured_costs_are_repeated_and_others_interpolated() {
        let mut costs = CostTable::default();
        for (count, ns) in [(2, 300.0), (6, 700.0), (14, 1900.0)] {
            costs.insert_level(level(64, count, ns));
        }
        let worst = |count| costs.worst_ns(Packing::Mono, 64, count).unwrap();
        assert_eq!([2, 6, 14].map(worst), [300.0, 700.0, 1900.0]);
        assert_eq!([1, 4, 10, 16].map(worst), [200.0, 500.0, 1300.0, 2200.0]);
        assert_eq!(costs.typical_ns(Packing::Mono, 64, 4), Some(250.0));
        assert_eq!(costs.worst_ns(Packing::Batch, 64, 4), None);
        assert_eq!(costs.worst_ns(Packing::Mono, 128, 4), None);
        costs.insert_level(level(128, 2, 5.0));
        assert_eq!(costs.worst_ns(Packing::Mono, 128, 2), Some(5.0));
        assert_eq!(costs.worst_ns(Packing::Mono, 128, 4), None);
    }

    #[test]
    fn newer_costs_replace_older_ones_and_invalid_ones_are_ignored() {
        let mut costs = CostTable::default();
        costs.insert_level(level(64, 2, 300.0));
        let mut newer = CostTable::default();
        newer.insert_level(level(64, 2, 200.0));
        newer.insert_level(level(64, 3, f64::NAN));
        newer.insert_level(level(64, 0, 1.0));
        costs.merge(&newer);
        assert_eq!(costs.levels(), [level(64, 2, 200.0)]);
    }
}
