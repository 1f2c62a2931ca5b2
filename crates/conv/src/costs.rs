//! What levels and transforms were measured to cost: the table that the empirical choice of a partition reads.

mod measure;
mod theft;

pub use measure::{CostMeasureOptions, CostMeasurement, measure_costs};

use crate::backends::Backends;
use crate::search::{FoundPartition, PartitionSpace, min_peak_load};
use fft::{Backend, Packing};

/// From so many channels on what was measured of sixteen says more than what was measured of one.
const FEW: usize = 6;
/// A direct head takes this for each frame, in ns,
const HEAD_NS: f64 = 1.0;
/// and this for each of its taps.
const HEAD_TAP_NS: f64 = 0.06;

/// A transform of more floats takes too long for a piece of work.
const MOST_WHOLE: usize = 2048;
/// What is not faster by so much is as fast.
const CLEARLY: f64 = 0.95;

/// What a transform is called in tables and files.
pub fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Own => "own",
        Backend::RealFft => "realfft",
    }
}

/// The transform of that name.
pub fn backend_named(name: &str) -> Option<Backend> {
    Backend::ALL
        .into_iter()
        .find(|one| backend_name(*one) == name)
}

/// What a level costs for one of its periods, all channels of its packing together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelCost {
    /// One channel, or sixteen.
    pub packing: Packing,
    /// Frames in a partition.
    pub size: usize,
    /// How many partitions.
    pub count: usize,
    /// The largest that was observed with caches full of something else, in ns.
    pub worst_ns: f64,
    /// The median of the same runs, in ns.
    pub typical_ns: f64,
}

/// What a forward and an inverse transform cost together.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformCost {
    /// One channel, or sixteen.
    pub packing: Packing,
    /// How many bins: the size of the level.
    pub bins: usize,
    /// Who transforms, by name.
    pub backend: String,
    /// The median, in ns.
    pub ns: f64,
}

/// All that was measured, or the built-in table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostTable {
    levels: Vec<LevelCost>,
    transforms: Vec<TransformCost>,
}

impl CostTable {
    /// What levels cost, in any order.
    pub fn levels(&self) -> &[LevelCost] {
        &self.levels
    }

    /// What transforms cost, in any order.
    pub fn transforms(&self) -> &[TransformCost] {
        &self.transforms
    }

    /// Keeps what a level costs, in place of what was known of the same one. What is no cost is not kept.
    pub fn insert_level(&mut self, new: LevelCost) {
        let is_sane = |ns: f64| ns.is_finite() && ns > 0.0;
        if !is_sane(new.worst_ns) || !is_sane(new.typical_ns) || new.size == 0 || new.count == 0 {
            return;
        }
        let name = |cost: &LevelCost| (cost.packing, cost.size, cost.count);
        self.levels.retain(|old| name(old) != name(&new));
        self.levels.push(new);
    }

    /// Keeps what a transform costs, in place of what was known of the same one. What is no cost is not kept.
    pub fn keep_transform(&mut self, new: TransformCost) {
        if !new.ns.is_finite() || new.ns <= 0.0 || !new.bins.is_power_of_two() {
            return;
        }
        let is_same = |old: &TransformCost| {
            (old.packing, old.bins, &old.backend) == (new.packing, new.bins, &new.backend)
        };
        self.transforms.retain(|old| !is_same(old));
        self.transforms.push(new);
    }

    /// Takes over all that `newer` knows.
    pub fn merge(&mut self, newer: &Self) {
        newer
            .levels
            .iter()
            .for_each(|cost| self.insert_level(*cost));
        let transforms = newer.transforms.iter().cloned();
        transforms.for_each(|cost| self.keep_transform(cost));
    }

    /// Who should transform with that many bins; `None` where nobody measured. Another than [`Backend::Own`] must be
    /// faster by more than measurements differ; and since its transforms are not done in pieces, only small ones are for it.
    pub fn backend(&self, packing: Packing, bins: usize) -> Option<Backend> {
        let ns = |backend| {
            let is_it = |cost: &&TransformCost| {
                (cost.packing, cost.bins) == (packing, bins)
                    && backend_named(&cost.backend) == Some(backend)
            };
            self.transforms.iter().find(is_it).map(|cost| cost.ns)
        };
        let is_small = bins.saturating_mul(2 * packing.channels()) <= MOST_WHOLE;
        match (ns(Backend::Own), ns(Backend::RealFft)) {
            (None, None) => None,
            (Some(own), Some(peer)) if is_small && peer < CLEARLY * own => Some(Backend::RealFft),
            // There is no other.
            (None, Some(_)) if is_small => Some(Backend::RealFft),
            _ => Some(Backend::Own),
        }
    }

    /// The same for all sizes that were measured.
    pub fn backends(&self) -> Backends {
        let known = self.transforms.iter().map(|cost| (cost.packing, cost.bins));
        known.fold(Backends::default(), |all, (packing, bins)| {
            match self.backend(packing, bins) {
                Some(backend) => all.with(packing, bins, backend),
                None => all,
            }
        })
    }

    /// The worst time of a level for one of its periods, in ns; `None` where too little is known of that size.
    pub fn worst_ns(&self, packing: Packing, size: usize, count: usize) -> Option<f64> {
        self.of(packing, size, count, |cost| cost.worst_ns)
    }

    /// The usual time of a level for one of its periods, in ns; `None` where too little is known of that size.
    pub fn typical_ns(&self, packing: Packing, size: usize, count: usize) -> Option<f64> {
        self.of(packing, size, count, |cost| cost.typical_ns)
    }

    /// Whether it knows what a level of every size costs that may be of use in `space` for so many channels.
    pub fn covers(&self, space: &PartitionSpace, channels: usize) -> bool {
        let packing = packing_of(channels);
        let mut sizes = space.sizes();
        sizes.all(|size| self.worst_ns(packing, size, 1).is_some())
    }

    /// The way of cutting with the least worst-case load, of the busiest of `cores` cores, for so many channels; `None`
    /// where too little is known.
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

    /// As measured, or on the line through the two nearest counts that were.
    fn of(
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
        // Noise must not make more partitions cheaper, nor anything free.
        Some((low.1 + slope.max(0.0) * (at - low.0)).max(0.05 * low.1))
    }
}

fn packing_of(channels: usize) -> Packing {
    match channels {
        0..FEW => Packing::Mono,
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
    fn what_was_measured_is_repeated_and_what_was_not_is_on_the_line() {
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
    fn the_newest_counts_and_nonsense_is_not_kept() {
        let mut costs = CostTable::default();
        costs.insert_level(level(64, 2, 300.0));
        let mut newer = CostTable::default();
        newer.insert_level(level(64, 2, 200.0));
        newer.insert_level(level(64, 3, f64::NAN));
        newer.insert_level(level(64, 0, 1.0));
        costs.merge(&newer);
        assert_eq!(costs.levels(), [level(64, 2, 200.0)]);
        for bins in [0, 257] {
            costs.keep_transform(transform(Packing::Mono, bins, "realfft", 1.0));
        }
        assert!(costs.transforms().is_empty());
    }

    fn transform(packing: Packing, bins: usize, backend: &str, ns: f64) -> TransformCost {
        TransformCost {
            packing,
            bins,
            backend: backend.into(),
            ns,
        }
    }

    #[test]
    fn the_fastest_transform_is_chosen_where_it_is_clearly_that_and_short() {
        let mut costs = CostTable::default();
        for (bins, own, peer, chosen) in [
            (256, 3.0, 2.0, Backend::RealFft),
            (512, 2.0, 3.0, Backend::Own),
            (1024, 3.0, 2.9, Backend::Own),
            (2048, 3.0, 2.0, Backend::Own),
        ] {
            costs.keep_transform(transform(Packing::Mono, bins, "own", own));
            costs.keep_transform(transform(Packing::Mono, bins, "realfft", 9.0));
            costs.keep_transform(transform(Packing::Mono, bins, "realfft", peer));
            costs.keep_transform(transform(Packing::Mono, bins, "realfft", -1.0));
            costs.keep_transform(transform(Packing::Mono, bins, "magic", 0.1));
            assert_eq!(costs.backend(Packing::Mono, bins), Some(chosen), "{bins}");
            assert_eq!(costs.backends().of(Packing::Mono, bins), chosen);
            assert_eq!(costs.backend(Packing::Batch, bins), None);
        }
        assert_eq!(costs.transforms().len(), 12);
        for (bins, chosen) in [(64, Backend::RealFft), (128, Backend::Own)] {
            costs.keep_transform(transform(Packing::Batch, bins, "own", 3.0));
            costs.keep_transform(transform(Packing::Batch, bins, "realfft", 2.0));
            assert_eq!(costs.backends().of(Packing::Batch, bins), chosen);
        }
        assert_eq!(CostTable::built_in().backends(), Backends::default());
    }
}
