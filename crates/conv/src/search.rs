//! Which levels an impulse response gets: all ways of cutting it, and the best of them by any measure of cost.
//!
//! A level of a size begins as early as leaves it a period of slack, so a way of cutting is a choice of sizes, and each
//! level has as many partitions as reach to the next one's begin. The least sum of loads is then a shortest path over
//! sizes; the least load of the busiest core tries every choice, of which there are a few thousand.

use crate::partition::{LEAST_SIZE, Latency, MOST_BLOCK, MOST_FRAMES, Partition};

/// All ways of cutting one impulse response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    length: usize,
    block: usize,
    latency: Latency,
    sizes: usize,
}

/// A way of cutting, and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The way.
    pub partition: Partition,
    /// The sum of all loads: cost for each frame.
    pub sum: f64,
    /// The load of the busiest core.
    pub peak: f64,
    /// Which core each level runs on. What runs in the callback is on core 0: the head, else the first level.
    pub cores: Vec<usize>,
}

/// What a level of so many partitions (the second number) of a size (the first) costs for one of its periods; `None` where
/// nobody knows. A size of 1 is the direct head: what so many frames of it cost for one frame of output.
pub type Cost<'a> = &'a dyn Fn(usize, usize) -> Option<f64>;

/// The largest partitions.
const LARGEST: usize = 1 << 17;

impl Space {
    /// All ways of cutting `length` frames for blocks of `block` frames. `None` for no frames or more than can be played,
    /// and for a block that is no power of two from 1 to 4096.
    ///
    /// Real-time: setup.
    pub fn new(length: usize, block: usize, latency: Latency) -> Option<Self> {
        let is_sound = (1..=MOST_FRAMES / 2).contains(&length)
            && block.is_power_of_two()
            && block <= MOST_BLOCK;
        let space = Self {
            length,
            block,
            latency,
            sizes: 0,
        };
        is_sound.then(|| space.up_to(LARGEST))
    }

    /// The same with no partitions larger than `largest` frames, but always those of the block's own size.
    pub fn up_to(mut self, largest: usize) -> Self {
        let is_of_use = |i: &usize| {
            let size = self.size(*i);
            let is_needed = self.start(size) < self.length && size <= largest.min(LARGEST);
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
    pub fn latency(&self) -> Latency {
        self.latency
    }

    /// Every size that a level may have, from small to large.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes).map(|i| self.size(i))
    }

    fn size(&self, i: usize) -> usize {
        self.block.max(LEAST_SIZE) << i
    }

    /// At which frame of the impulse response a level of that size begins.
    pub fn start(&self, size: usize) -> usize {
        match size {
            size if size == self.block => 0,
            size => Partition::least_start(self.block, self.latency, size),
        }
    }

    /// How many partitions a level has if the next one is of size number `next`, or there is none.
    fn count(&self, i: usize, next: Option<usize>) -> usize {
        let start = self.start(self.size(i));
        let end = match next {
            Some(next) => self.start(self.size(next)),
            None => self.length,
        };
        (end - start).div_ceil(self.size(i)).max(1)
    }

    /// Whether a way of cutting may begin with that size: with the block's own, or behind a head where that is too small.
    fn can_begin(&self, i: usize) -> bool {
        i == 0 || self.block < LEAST_SIZE
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
        let heads = heads.map(|i| self.start(self.size(i)));
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
            Some(first) => self.start(self.size(*first)),
            None => self.length,
        };
        Partition::new(self.block, self.latency, head, &levels).expect(
            "levels of a space begin where they may, and it is no longer than what is played",
        )
    }

    /// The cost for each frame of a level, if the next one is of size number `next`, or there is none.
    fn load(&self, cost: Cost<'_>, i: usize, next: Option<usize>) -> Option<f64> {
        let cost = cost(self.size(i), self.count(i, next))?;
        Some(cost / self.size(i) as f64)
    }

    /// The cost for each frame of the head before a first level of size number `first`.
    fn head(&self, cost: Cost<'_>, first: usize) -> Option<f64> {
        match self.start(self.size(first)) {
            0 => Some(0.0),
            head => cost(1, head),
        }
    }

    /// The cost for each frame of all that `partition` has.
    pub fn sum(&self, partition: &Partition, cost: Cost<'_>) -> Option<f64> {
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
pub fn least_sum(space: &Space, cost: Cost<'_>) -> Option<Found> {
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
    Some(Found {
        cores: vec![0; path.len()],
        partition: space.partition(&path),
        sum,
        peak: sum,
    })
}

/// The cost for each frame of all of it as a head, where that is a way: where the block is too small for a level.
fn direct(space: &Space, cost: Cost<'_>) -> Option<f64> {
    match space.block < LEAST_SIZE {
        true => cost(1, space.length),
        false => None,
    }
}

/// The way of cutting, and of giving its levels to `cores` cores, whose busiest core has the least load; of several such
/// the one with the least sum. `None` if there is none whose costs are known.
///
/// Real-time: setup.
pub fn least_peak(space: &Space, cores: usize, cost: Cost<'_>) -> Option<Found> {
    let alone = least_sum(space, cost);
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
        let (peak, given) = share(&loads, cores, best.as_ref().map(|best| best.peak));
        let sum = loads.iter().sum();
        let is_better = |best: &Found| (peak, sum) < (best.peak, best.sum);
        if best.as_ref().is_none_or(is_better) {
            best = Some(Found {
                partition: space.partition(&path),
                sum,
                peak,
                cores: given,
            });
        }
    }
    best
}

/// Every choice of sizes that is a way of cutting.
fn paths(space: &Space) -> impl Iterator<Item = Vec<usize>> + '_ {
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
pub(crate) mod tests {
    use super::*;

    pub(crate) fn cuts(partition: &Partition) -> Vec<(usize, usize)> {
        let levels = partition.levels().iter();
        levels.map(|level| (level.size(), level.count())).collect()
    }

    /// Every choice, without any cleverness.
    fn slow(space: &Space, cost: Cost<'_>) -> f64 {
        let all = paths(space).chain((space.block < LEAST_SIZE).then(Vec::new));
        let sums = all.filter_map(|path| space.sum(&space.partition(&path), cost));
        sums.fold(f64::INFINITY, f64::min)
    }

    /// Costs that follow no rule.
    fn odd(size: usize, count: usize) -> Option<f64> {
        let noise = (size * 31 + count * 17) % 101;
        Some((size * (count + 9)) as f64 * (1.0 + noise as f64 / 50.0))
    }

    #[test]
    fn levels_reach_the_end_and_have_their_slack() {
        for latency in [Latency::None, Latency::OneBlock] {
            for (length, block) in [
                (1, 1),
                (63, 64),
                (65, 64),
                (1000, 4),
                (100_000, 64),
                (9, 4096),
            ] {
                let space = Space::new(length, block, latency).unwrap();
                for path in paths(&space) {
                    let partition = space.partition(&path);
                    assert!(partition.reach() >= length);
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
            let space = Space::new(length, block, Latency::None)
                .unwrap()
                .up_to(1 << 14);
            let found = least_sum(&space, &odd).unwrap();
            let sum = space.sum(&found.partition, &odd).unwrap();
            assert!((found.sum - sum).abs() < 1e-6 * sum);
            assert!((slow(&space, &odd) - sum).abs() < 1e-6 * sum);
        }
    }

    #[test]
    fn more_cores_make_the_busiest_no_busier_and_never_beat_the_mean() {
        let space = Space::new(100_000, 64, Latency::None).unwrap();
        let mut last = f64::INFINITY;
        for cores in 1..5 {
            let found = least_peak(&space, cores, &odd).unwrap();
            assert!(found.peak <= last && found.peak * cores as f64 >= found.sum * 0.999_999);
            let levels = found.partition.levels();
            let mut busy = vec![0.0; cores];
            for (level, core) in levels.iter().zip(&found.cores) {
                busy[*core] += odd(level.size(), level.count()).unwrap() / level.size() as f64;
            }
            let peak = busy.iter().copied().fold(0.0, f64::max);
            assert!((peak - found.peak).abs() < 1e-6 * peak);
            assert_eq!(found.cores[0], 0);
            last = found.peak;
        }
    }

    #[test]
    fn levels_are_given_to_cores_as_evenly_as_can_be() {
        let (peak, on) = share(&[3.0, 3.0, 2.0, 2.0, 2.0], 2, None);
        assert_eq!(peak, 6.0);
        assert_eq!(on[0], on[1]);
        assert_eq!(share(&[1.0], 4, None), (1.0, vec![0]));
    }

    #[test]
    fn what_costs_nobody_knows_is_not_chosen() {
        let space = Space::new(5000, 64, Latency::None).unwrap();
        let small = |size: usize, count: usize| (size <= 256).then(|| odd(size, count))?;
        let found = least_sum(&space, &small).unwrap();
        assert!(cuts(&found.partition).iter().all(|(size, _)| *size <= 256));
        assert!(least_sum(&space, &|_, _| None).is_none());
        assert!(least_peak(&space, 2, &|_, _| None).is_none());
    }

    #[test]
    fn no_frames_and_odd_blocks_are_refused() {
        assert!(Space::new(0, 64, Latency::None).is_none());
        assert!(Space::new(100, 48, Latency::None).is_none());
        assert!(Space::new(100, 0, Latency::None).is_none());
        assert!(Space::new(100, 8192, Latency::None).is_none());
        assert!(Space::new(usize::MAX / 4, 64, Latency::None).is_none());
    }
}
