//! Which levels an impulse response gets: all ways of cutting it, and the best of them by any measure of cost.
//!
//! A level of a size begins as early as leaves it a period of slack, so a way of cutting is a choice of sizes, and each
//! level has as many partitions as reach to the next one's begin. The least sum of loads is then a shortest path over
//! sizes; the least load of the busiest core tries every choice, of which there are a few thousand.

mod cores;

pub use cores::min_peak_load;

use crate::partition::{AddedLatency, MAX_BLOCK, MAX_IR_FRAMES, MIN_PARTITION_SIZE, Partition};

/// All ways of cutting one impulse response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionSpace {
    length: usize,
    block: usize,
    latency: AddedLatency,
    sizes: usize,
}

/// A way of cutting, and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPartition {
    /// The way.
    pub partition: Partition,
    /// The sum of all loads: cost for each frame.
    pub total_load: f64,
    /// The load of the busiest core.
    pub peak_load: f64,
    /// Which core each level runs on. What runs in the callback is on core 0: the head, else the first level.
    pub level_cores: Vec<usize>,
}

/// What a level of so many partitions (the second number) of a size (the first) costs for one of its periods; `None` where
/// nobody knows. A size of 1 is the direct head: what so many frames of it cost for one frame of output.
pub type CostFn<'a> = &'a dyn Fn(usize, usize) -> Option<f64>;

/// The largest partitions.
const LARGEST: usize = 1 << 17;

impl PartitionSpace {
    /// All ways of cutting `length` frames for blocks of `block` frames. `None` for no frames or more than can be played,
    /// and for a block that is no power of two from 1 to 4096.
    ///
    /// Real-time: setup.
    pub fn new(length: usize, block: usize, latency: AddedLatency) -> Option<Self> {
        let is_sound = (1..=MAX_IR_FRAMES / 2).contains(&length)
            && block.is_power_of_two()
            && block <= MAX_BLOCK;
        let space = Self {
            length,
            block,
            latency,
            sizes: 0,
        };
        is_sound.then(|| space.with_max_size(LARGEST))
    }

    /// The same with no partitions larger than `largest` frames, but always those of the block's own size.
    pub fn with_max_size(mut self, largest: usize) -> Self {
        let is_of_use = |i: &usize| {
            let size = self.size(*i);
            let is_needed = self.level_start(size) < self.length && size <= largest.min(LARGEST);
            is_needed || size == self.block
        };
        self.sizes = (0..usize::BITS as usize).take_while(is_of_use).count();
        self
    }

    /// How long the impulse response is.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Frames in a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// What is added between input and output.
    pub fn latency(&self) -> AddedLatency {
        self.latency
    }

    /// Every size that a level may have, from small to large.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes).map(|i| self.size(i))
    }

    fn size(&self, i: usize) -> usize {
        self.block.max(MIN_PARTITION_SIZE) << i
    }

    /// At which frame of the impulse response a level of that size begins.
    pub fn level_start(&self, size: usize) -> usize {
        match size {
            size if size == self.block => 0,
            size => Partition::min_start(self.block, self.latency, size),
        }
    }

    /// How many partitions a level has if the next one is of size number `next`, or there is none.
    fn count(&self, i: usize, next: Option<usize>) -> usize {
        let start = self.level_start(self.size(i));
        let end = match next {
            Some(next) => self.level_start(self.size(next)),
            None => self.length,
        };
        (end - start).div_ceil(self.size(i)).max(1)
    }

    /// Whether a way of cutting may begin with that size: with the block's own, or behind a head where that is too small.
    fn can_begin(&self, i: usize) -> bool {
        i == 0 || self.block < MIN_PARTITION_SIZE
    }

    /// Every pair of size and number of partitions that occurs in a way of cutting, the head's (size 1) among them.
    pub fn levels(&self) -> Vec<(usize, usize)> {
        let all = 0..self.sizes;
        let nexts = |i| (i + 1..self.sizes).map(Some).chain([None]);
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

    /// The way of cutting with levels of these sizes, by number from small to large; without any, all of it directly.
    pub(crate) fn partition(&self, path: &[usize]) -> Partition {
        let levels = path.iter().enumerate();
        let levels: Vec<_> = levels
            .map(|(at, i)| (self.size(*i), self.count(*i, path.get(at + 1).copied())))
            .collect();
        let head = match path.first() {
            Some(first) => self.level_start(self.size(*first)),
            None => self.length,
        };
        Partition::new(self.block, self.latency, head, &levels).expect(
            "levels of a space begin where they may, and it is no longer than what is played",
        )
    }

    /// The cost for each frame of a level, if the next one is of size number `next`, or there is none.
    fn load(&self, cost: CostFn<'_>, i: usize, next: Option<usize>) -> Option<f64> {
        let cost = cost(self.size(i), self.count(i, next))?;
        Some(cost / self.size(i) as f64)
    }

    /// The cost for each frame of the head before a first level of size number `first`.
    fn head(&self, cost: CostFn<'_>, first: usize) -> Option<f64> {
        match self.level_start(self.size(first)) {
            0 => Some(0.0),
            head => cost(1, head),
        }
    }

    /// The cost for each frame of all that `partition` has.
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

/// The way of cutting whose loads have the least sum; `None` if there is none whose costs are known.
///
/// Real-time: setup.
pub fn min_total_load(space: &PartitionSpace, cost: CostFn<'_>) -> Option<FoundPartition> {
    // From the last size to the first: the least sum from here on, and the next size on that way.
    let mut best: Vec<Option<(f64, Option<usize>)>> = vec![None; space.sizes];
    for i in (0..space.sizes).rev() {
        let last = space.load(cost, i, None).map(|load| (load, None));
        let ways = (i + 1..space.sizes).filter_map(|next| {
            let (rest, _) = best[next]?;
            Some((space.load(cost, i, Some(next))? + rest, Some(next)))
        });
        best[i] = last
            .into_iter()
            .chain(ways)
            .min_by(|a, b| a.0.total_cmp(&b.0));
    }
    let begins = (0..space.sizes).filter(|i| space.can_begin(*i));
    let begins = begins.filter_map(|i| Some((best[i]?.0 + space.head(cost, i)?, Some(i))));
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

/// The cost for each frame of all of it as a head, where that is a way: where the block is too small for a level.
fn direct(space: &PartitionSpace, cost: CostFn<'_>) -> Option<f64> {
    match space.block < MIN_PARTITION_SIZE {
        true => cost(1, space.length),
        false => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::cores::paths;
    use super::*;

    pub(crate) fn cuts(partition: &Partition) -> Vec<(usize, usize)> {
        let levels = partition.levels().iter();
        levels.map(|level| (level.size(), level.count())).collect()
    }

    /// Every choice, without any cleverness.
    fn slow(space: &PartitionSpace, cost: CostFn<'_>) -> f64 {
        let all = paths(space).chain((space.block < MIN_PARTITION_SIZE).then(Vec::new));
        let sums = all.filter_map(|path| space.total_load(&space.partition(&path), cost));
        sums.fold(f64::INFINITY, f64::min)
    }

    /// Costs that follow no rule.
    pub(super) fn odd(size: usize, count: usize) -> Option<f64> {
        let noise = (size * 31 + count * 17) % 101;
        Some((size * (count + 9)) as f64 * (1.0 + noise as f64 / 50.0))
    }

    #[test]
    fn levels_reach_the_end_and_have_their_slack() {
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
                for path in paths(&space) {
                    let partition = space.partition(&path);
                    assert!(partition.max_ir_frames() >= length);
                    let levels = partition.levels().iter();
                    let is_free = |l: &crate::Level| l.slack() >= l.size() || l.size() == block;
                    assert!(levels.clone().all(is_free));
                    let is_known =
                        |l: &crate::Level| space.levels().contains(&(l.size(), l.count()));
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
            assert!((slow(&space, &odd) - sum).abs() < 1e-6 * sum);
        }
    }

    #[test]
    fn what_costs_nobody_knows_is_not_chosen() {
        let space = PartitionSpace::new(5000, 64, AddedLatency::None).unwrap();
        let small = |size: usize, count: usize| (size <= 256).then(|| odd(size, count))?;
        let found = min_total_load(&space, &small).unwrap();
        assert!(cuts(&found.partition).iter().all(|(size, _)| *size <= 256));
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
