//! All partitions of an impulse response, and the one with the least total load.
//!
//! A level starts as early as leaves it a whole period of slack, so a partition is a choice of sizes: each level has as many
//! partitions as reach the start of the next one. The least sum of loads is then a shortest path over sizes (Garcia 2002):
//!
//! ```text
//!   64 ──▶ 256 ──▶ 1024 ──▶ end       an edge from size a to size b costs as much as a level of size a that reaches the
//!    ╰───────────▶ 1024 ──▶ end       start of size b
//!    ╰──▶ 512 ────────────▶ end
//! ```
//!
//! The load of a level is its cost for one period, divided by the frames of the period.

use crate::partition::{AddedLatency, MAX_BLOCK, MAX_IR_FRAMES, MIN_PARTITION_SIZE, Partition};

/// All partitions of one impulse response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionSpace {
    length: usize,
    block: usize,
    latency: AddedLatency,
    size_count: usize,
}

/// A partition and its load.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPartition {
    /// The partition.
    pub partition: Partition,
    /// Sum of all loads: cost per frame.
    pub total_load: f64,
    /// Load of the busiest core.
    pub peak_load: f64,
    /// Core of each level. Core 0 runs the callback, with the head and the first level.
    pub level_cores: Vec<usize>,
}

/// Cost of a level for one of its periods, by its size and its number of partitions; `None` if it is not known. Size 1 is the
/// direct head: the cost of that many taps for one frame of output.
pub type CostFn<'a> = &'a dyn Fn(usize, usize) -> Option<f64>;

/// Largest size of a level.
const MAX_SIZE: usize = 1 << 17;

impl PartitionSpace {
    /// All partitions of `length` frames for blocks of `block` frames. `None` if there are no frames or more than half of
    /// [`MAX_IR_FRAMES`], or if the block is no power of two from 1 to 4096.
    ///
    /// Real-time: setup.
    pub fn new(length: usize, block: usize, latency: AddedLatency) -> Option<Self> {
        let is_valid = (1..=MAX_IR_FRAMES / 2).contains(&length)
            && block.is_power_of_two()
            && block <= MAX_BLOCK;
        let space = Self {
            length,
            block,
            latency,
            size_count: 0,
        };
        is_valid.then(|| space.with_max_size(MAX_SIZE))
    }

    /// The same space without levels larger than `max_size` frames; a level of the block's size always remains.
    pub fn with_max_size(mut self, max_size: usize) -> Self {
        let is_useful = |i: &usize| {
            let size = self.size(*i);
            let is_needed = self.level_start(size) < self.length && size <= max_size.min(MAX_SIZE);
            is_needed || size == self.block
        };
        self.size_count = (0..usize::BITS as usize).take_while(is_useful).count();
        self
    }

    /// Frames of the impulse response.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Frames in a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Latency that is added.
    pub fn latency(&self) -> AddedLatency {
        self.latency
    }

    /// Sizes that a level may have, from small to large.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.size_count).map(|i| self.size(i))
    }

    /// Size number `i`.
    fn size(&self, i: usize) -> usize {
        self.block.max(MIN_PARTITION_SIZE) << i
    }

    /// Frame of the impulse response at which a level of that size starts.
    pub fn level_start(&self, size: usize) -> usize {
        match size {
            size if size == self.block => 0,
            size => Partition::min_start(self.block, self.latency, size),
        }
    }

    /// Number of partitions of a level if the next one has size number `next`, or there is none.
    fn count(&self, i: usize, next: Option<usize>) -> usize {
        let start = self.level_start(self.size(i));
        let end = match next {
            Some(next) => self.level_start(self.size(next)),
            None => self.length,
        };
        (end - start).div_ceil(self.size(i)).max(1)
    }

    /// Returns true if a partition may begin with that size: with the block's own, or behind a head if the block is too small
    /// for a level.
    pub(super) fn can_begin(&self, i: usize) -> bool {
        i == 0 || self.block < MIN_PARTITION_SIZE
    }

    /// Size and number of partitions of every level that occurs in any partition; a head has size 1.
    pub fn levels(&self) -> Vec<(usize, usize)> {
        let all = 0..self.size_count;
        let nexts = |i| (i + 1..self.size_count).map(Some).chain([None]);
        let levels = all
            .clone()
            .flat_map(|i| nexts(i).map(move |next| (i, next)));
        let mut pairs: Vec<_> = levels
            .map(|(i, next)| (self.size(i), self.count(i, next)))
            .collect();
        let heads = all.filter(|i| self.can_begin(*i));
        let heads = heads.map(|i| self.level_start(self.size(i)));
        pairs.extend(heads.filter(|head| *head > 0).map(|head| (1, head)));
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The partition with levels of these sizes, by number from small to large. Without any, all of it is a head.
    pub(super) fn partition(&self, path: &[usize]) -> Partition {
        let levels = path.iter().enumerate();
        let levels: Vec<_> = levels
            .map(|(at, i)| (self.size(*i), self.count(*i, path.get(at + 1).copied())))
            .collect();
        let head = match path.first() {
            Some(first) => self.level_start(self.size(*first)),
            None => self.length,
        };
        Partition::new(self.block, self.latency, head, &levels)
            .expect("levels of a space start where they may, and its length is within the limit")
    }

    /// Load of a level if the next one has size number `next`, or there is none.
    pub(super) fn load(&self, cost: CostFn<'_>, i: usize, next: Option<usize>) -> Option<f64> {
        let cost = cost(self.size(i), self.count(i, next))?;
        Some(cost / self.size(i) as f64)
    }

    /// Load of the head in front of a first level of size number `first`.
    pub(super) fn head_load(&self, cost: CostFn<'_>, first: usize) -> Option<f64> {
        match self.level_start(self.size(first)) {
            0 => Some(0.0),
            head => cost(1, head),
        }
    }

    /// Load of a whole partition; `None` if a cost is not known.
    pub fn total_load(&self, partition: &Partition, cost: CostFn<'_>) -> Option<f64> {
        let head = match partition.head() {
            0 => Some(0.0),
            head => cost(1, head),
        };
        let load = |size: usize, count: usize| Some(cost(size, count)? / size as f64);
        let levels = partition.levels().iter();
        let levels: Option<f64> = levels.map(|l| load(l.size(), l.count())).sum();
        Some(head? + levels?)
    }
}

/// The partition with the least total load; `None` if there is none whose costs are known.
///
/// Real-time: setup.
pub fn min_total_load(space: &PartitionSpace, cost: CostFn<'_>) -> Option<FoundPartition> {
    // From the last size to the first: the least load from there on, and the next size on that path.
    let mut best: Vec<Option<(f64, Option<usize>)>> = vec![None; space.size_count];
    for i in (0..space.size_count).rev() {
        let last = space.load(cost, i, None).map(|load| (load, None));
        let paths = (i + 1..space.size_count).filter_map(|next| {
            let (rest, _) = best[next]?;
            Some((space.load(cost, i, Some(next))? + rest, Some(next)))
        });
        best[i] = last
            .into_iter()
            .chain(paths)
            .min_by(|a, b| a.0.total_cmp(&b.0));
    }
    let begins = (0..space.size_count).filter(|i| space.can_begin(*i));
    let begins = begins.filter_map(|i| Some((best[i]?.0 + space.head_load(cost, i)?, Some(i))));
    let (sum, first) = direct(space, cost)
        .map(|sum| (sum, None))
        .into_iter()
        .chain(begins)
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let next = |i: &usize| best[*i].and_then(|(_, next)| next);
    let path: Vec<usize> = std::iter::successors(first, next).collect();
    Some(FoundPartition {
        level_cores: vec![0; path.len()],
        partition: space.partition(&path),
        total_load: sum,
        peak_load: sum,
    })
}

/// Load of a partition that is a head only; `None` where the block is large enough for a level.
fn direct(space: &PartitionSpace, cost: CostFn<'_>) -> Option<f64> {
    match space.block < MIN_PARTITION_SIZE {
        true => cost(1, space.length),
        false => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::cores::{min_peak_load, size_choices};
    use super::*;

    pub(crate) fn sizes_and_counts(partition: &Partition) -> Vec<(usize, usize)> {
        let levels = partition.levels().iter();
        levels.map(|level| (level.size(), level.count())).collect()
    }

    /// Least total load of all partitions, one by one.
    fn exhaustive(space: &PartitionSpace, cost: CostFn<'_>) -> f64 {
        let all = size_choices(space).chain((space.block < MIN_PARTITION_SIZE).then(Vec::new));
        let sums = all.filter_map(|path| space.total_load(&space.partition(&path), cost));
        sums.fold(f64::INFINITY, f64::min)
    }

    /// Costs that follow no rule.
    pub(crate) fn odd(size: usize, count: usize) -> Option<f64> {
        let noise = (size * 31 + count * 17) % 101;
        Some((size * (count + 9)) as f64 * (1.0 + noise as f64 / 50.0))
    }

    #[test]
    fn levels_cover_the_response_and_have_slack() {
        for latency in [AddedLatency::None, AddedLatency::OneBlock] {
            for (length, block) in [
                (1, 1),
                (63, 64),
                (65, 64),
                (1000, 4),
                (100_000, 64),
                (9, 4096),
            ] {
                let space = PartitionSpace::new(length, block, latency).unwrap();
                for path in size_choices(&space) {
                    let partition = space.partition(&path);
                    assert!(partition.max_ir_frames() >= length);
                    let levels = partition.levels().iter();
                    let has_slack =
                        |l: &crate::partition::Level| l.slack() >= l.size() || l.size() == block;
                    assert!(levels.clone().all(has_slack));
                    let is_known = |l: &crate::partition::Level| {
                        space.levels().contains(&(l.size(), l.count()))
                    };
                    assert!(levels.clone().all(is_known));
                }
            }
        }
    }

    #[test]
    fn the_shortest_path_is_the_best_of_all_choices() {
        for (length, block) in [(1, 32), (5, 1), (500, 8), (16384, 32), (300_000, 2)] {
            let space = PartitionSpace::new(length, block, AddedLatency::None)
                .unwrap()
                .with_max_size(1 << 14);
            let found = min_total_load(&space, &odd).unwrap();
            let sum = space.total_load(&found.partition, &odd).unwrap();
            assert!((found.total_load - sum).abs() < 1e-6 * sum);
            assert!((exhaustive(&space, &odd) - sum).abs() < 1e-6 * sum);
        }
    }

    #[test]
    fn levels_of_unknown_cost_are_not_chosen() {
        let space = PartitionSpace::new(5000, 64, AddedLatency::None).unwrap();
        let small = |size: usize, count: usize| (size <= 256).then(|| odd(size, count))?;
        let found = min_total_load(&space, &small).unwrap();
        assert!(
            sizes_and_counts(&found.partition)
                .iter()
                .all(|(size, _)| *size <= 256)
        );
        assert!(min_total_load(&space, &|_, _| None).is_none());
        assert!(min_peak_load(&space, 2, &|_, _| None).is_none());
    }

    #[test]
    fn no_frames_and_odd_blocks_are_refused() {
        assert!(PartitionSpace::new(0, 64, AddedLatency::None).is_none());
        assert!(PartitionSpace::new(100, 48, AddedLatency::None).is_none());
        assert!(PartitionSpace::new(100, 0, AddedLatency::None).is_none());
        assert!(PartitionSpace::new(100, 8192, AddedLatency::None).is_none());
        assert!(PartitionSpace::new(usize::MAX / 4, 64, AddedLatency::None).is_none());
    }
}
