//! Measures the costs of levels on this machine (seed 000, section 3.6): the work of one period of a delay line, piece by piece,
//! with polluted caches before each run. The largest observed time is kept, without what other threads took
//! (`preemption.rs`).

use super::costs::{CostTable, LevelCost};
use super::garcia::level_operations;
use super::preemption::{median, preemptions, without_gaps};
use super::search::{PartitionSpace, min_total_load};
use crate::convolver::{CACHED_FLOATS, MAX_BATCH_SIZE};
use crate::level::Fdl;
use crate::level::filters::{FilterSet, FilterSpectra};
use crate::level::lookahead::choose_periods;
use crate::level::spec::{FdlSpec, LevelPath};
use crate::partition::{MAX_BLOCK, MIN_PARTITION_SIZE};
use fft::{AlignedBuffer, Kernels, LANES, Packing, RealFft};
use rt::cache_sweep::CacheSweep;
use rt::stamp::{self, TickScale};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Options of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct CostMeasureOptions {
    /// One channel, or sixteen: side by side where a convolver has them so, else one after the other. `None`: both.
    pub packing: Option<Packing>,
    /// Vector instructions.
    pub kernels: Kernels,
    /// Runs of each level; at least 3.
    pub runs: usize,
}

/// Result of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostMeasurement {
    /// The costs.
    pub costs: CostTable,
    /// Number of runs in all.
    pub runs: usize,
    /// Number of runs in which other threads or guests took time; it is left out.
    pub preempted_runs: usize,
    /// Number of levels measured.
    pub level_count: usize,
    /// Bytes read before each run to pollute the cache.
    pub swept_bytes: usize,
}

/// A level with more operations than the optimum's total times this is never chosen.
const MAX_OPERATIONS: f64 = 5.0;
/// Largest cost of a piece between two time stamps.
const MAX_PIECE_COST: u32 = 4096;

/// Measures all costs that a choice in `space` needs, and in the spaces of the same length with any other block. Reports its
/// progress from 0 to 1 to `report`, which may cancel the measurement: then the result is `None`.
///
/// Real-time: setup.
pub fn measure_costs(
    space: &PartitionSpace,
    options: &CostMeasureOptions,
    report: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Option<CostMeasurement> {
    let pairs = useful_levels_of_any_block(space);
    let both = [Packing::Mono, Packing::Batch];
    let packings = options.packing.map_or(both.to_vec(), |one| vec![one]);
    let all = packings.iter().flat_map(|packing| {
        let of_packing = pairs.iter().map(|pair| (*packing, *pair));
        of_packing.collect::<Vec<_>>()
    });
    let all: Vec<_> = all.collect();
    let total: f64 = all.iter().map(duration).sum();
    let mut meter = LevelMeter::new(options, space.block());
    let mut found = CostMeasurement {
        swept_bytes: meter.sweep.bytes(),
        ..CostMeasurement::default()
    };
    let (mut done, mut last) = (0.0, None);
    for one in all {
        let (packing, (size, count)) = one;
        if report(done / total).is_break() {
            return None;
        }
        if last != Some((packing, size)) {
            meter.set_transform(packing, size)?;
            last = Some((packing, size));
        }
        meter.measure_level(size, count, &mut found)?;
        done += duration(&one);
    }
    Some(found)
}

/// Useful levels of `space`, of the space with the smallest block, and those of sizes that only larger blocks have. Costs of
/// other numbers of partitions are interpolated.
fn useful_levels_of_any_block(space: &PartitionSpace) -> Vec<(usize, usize)> {
    let mut pairs = useful_levels(space);
    for bits in MIN_PARTITION_SIZE.ilog2()..=MAX_BLOCK.ilog2() {
        let Some(other) = PartitionSpace::new(space.length(), 1 << bits, space.latency()) else {
            continue;
        };
        let known: Vec<usize> = pairs.iter().map(|pair| pair.0).collect();
        let is_smallest = 1 << bits == MIN_PARTITION_SIZE;
        let more = useful_levels(&other).into_iter();
        pairs.extend(more.filter(|pair| is_smallest || !known.contains(&pair.0)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Size and number of partitions of all levels that can be in a good partition, as far as operations tell; of each size at least
/// two, for the interpolation.
fn useful_levels(space: &PartitionSpace) -> Vec<(usize, usize)> {
    let best = min_total_load(space, &|size, count| Some(level_operations(size, count)));
    let enough = best.map_or(f64::INFINITY, |best| best.total_load * MAX_OPERATIONS);
    let load = |(size, count): (usize, usize)| level_operations(size, count) / size as f64;
    let levels = space.levels().into_iter();
    let mut pairs: Vec<_> = levels
        .filter(|pair| pair.0 > 1 && load(*pair) <= enough)
        .collect();
    for size in space.sizes() {
        let of_size = pairs.iter().filter(|pair| pair.0 == size).count();
        let more = [2, 8].map(|count| (size, count)).into_iter();
        let more = more.filter(|pair| !pairs.contains(pair));
        let more: Vec<_> = more.take(2usize.saturating_sub(of_size)).collect();
        pairs.extend(more);
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Estimated time of a measurement: the cache pollution, and the level.
fn duration((packing, (size, count)): &(Packing, (usize, usize))) -> f64 {
    2e6 + packing.channels() as f64 * level_operations(*size, *count)
}

/// Measures one level after another.
struct LevelMeter {
    options: CostMeasureOptions,
    packing: Packing,
    sweep: CacheSweep,
    scale: TickScale,
    block: usize,
    fft: Option<Arc<RealFft>>,
    /// Number of channels that are processed one after the other.
    rows: usize,
}

impl LevelMeter {
    fn new(options: &CostMeasureOptions, block: usize) -> Self {
        Self {
            options: CostMeasureOptions {
                runs: options.runs.max(3),
                ..*options
            },
            packing: Packing::Mono,
            sweep: CacheSweep::new(),
            scale: TickScale::calibrated(),
            block,
            fft: None,
            rows: 1,
        }
    }

    /// Sets the transform of levels of `size`; `None` if there is none.
    fn set_transform(&mut self, packing: Packing, size: usize) -> Option<()> {
        self.packing = packing;
        let is_one_by_one = packing == Packing::Batch && size > MAX_BATCH_SIZE;
        self.rows = if is_one_by_one { LANES } else { 1 };
        let packing = if is_one_by_one {
            Packing::Mono
        } else {
            packing
        };
        let fft = RealFft::new(size, packing, self.options.kernels);
        self.fft = Some(Arc::new(fft.ok()?));
        Some(())
    }

    /// Measures one level and keeps its cost.
    fn measure_level(
        &mut self,
        size: usize,
        count: usize,
        found: &mut CostMeasurement,
    ) -> Option<()> {
        let (mut fdl, mut input) = self.fdl(size, count)?;
        let (mut runs, mut preempted) = (Vec::new(), Vec::new());
        for period in 0..self.options.runs {
            fdl.begin(&mut input, 0, 0, period as u64);
            let (was_preempted, parts) = self.run(&mut fdl);
            match was_preempted {
                true => preempted.push(parts),
                false => runs.push(parts),
            }
        }
        found.runs += self.options.runs;
        found.preempted_runs += preempted.len();
        if 2 * runs.len() < self.options.runs {
            runs.append(&mut preempted);
        }
        let (sums, gaps) = without_gaps(&runs);
        found.preempted_runs = (found.preempted_runs + gaps).min(found.runs);
        found.level_count += 1;
        found.costs.insert_level(LevelCost {
            packing: self.packing,
            size,
            count,
            worst_ns: sums.iter().copied().fold(0.0, f64::max),
            typical_ns: median(sums),
        });
        Some(())
    }

    /// A delay line for the level, and memory for a period of input.
    fn fdl(&self, size: usize, count: usize) -> Option<(Fdl, AlignedBuffer)> {
        let fft = self.fft.clone()?;
        let (len, packing) = (fft.buffer_len(), fft.packing());
        let channels = self.packing.channels();
        let spec = FdlSpec {
            size,
            count,
            block: self.block,
            width: packing.channels(),
            fade_frames: 1,
            max_piece_cost: MAX_PIECE_COST,
            lookahead_periods: choose_periods(2 * channels, (size, count), len, CACHED_FLOATS),
            is_half: false,
            fft,
            kernels: self.options.kernels,
            packing,
        };
        let connections: Vec<_> = (0..self.rows)
            .map(|n| LevelPath {
                input: n,
                output: n,
            })
            .collect();
        let filter = |_| Some(Arc::new(FilterSpectra::Full(noise(count * len))));
        let filters = FilterSet::new((0..self.rows).map(filter).collect(), 1.0);
        let input = AlignedBuffer::new(self.rows * spec.input_stride());
        let fdl = Fdl::new(spec, self.rows, self.rows, &connections, filters);
        Some((fdl, input))
    }

    /// Runs one period of a level. Returns true if the thread was preempted, and the time of each part in ns.
    fn run(&mut self, fdl: &mut Fdl) -> (bool, Vec<f64>) {
        let mut stamps = Vec::with_capacity(fdl.piece_count() + 1);
        let before = preemptions();
        self.sweep.write();
        for piece in 0..fdl.piece_count() {
            stamps.push(stamp::now());
            fdl.run_piece(piece);
        }
        stamps.push(stamp::now());
        let was_preempted = before != preemptions();
        let parts = stamps.windows(2);
        let parts = parts.map(|two| self.scale.nanos(two[1] - two[0]).0 as f64);
        (was_preempted, parts.collect())
    }
}

/// Values that are neither zero nor subnormal.
fn noise(len: usize) -> AlignedBuffer {
    let mut memory = AlignedBuffer::new(len);
    let mut state = 1u32;
    for value in memory.iter_mut() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *value = (state >> 8) as f32 / (1 << 23) as f32 - 1.0;
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::AddedLatency;

    fn options(packing: Option<Packing>) -> CostMeasureOptions {
        CostMeasureOptions {
            packing,
            kernels: Kernels::best(),
            runs: 3,
        }
    }

    #[test]
    fn all_costs_of_a_choice_are_measured_for_any_block_and_both_packings() {
        let of_block = |block| PartitionSpace::new(1000, block, AddedLatency::None).unwrap();
        let mut shares = Vec::new();
        let found = measure_costs(&of_block(64), &options(None), &mut |share| {
            shares.push(share);
            ControlFlow::Continue(())
        });
        let found = found.unwrap();
        assert!(shares.windows(2).all(|two| two[0] <= two[1]) && shares[shares.len() - 1] < 1.0);
        assert_eq!(found.costs.levels().len(), found.level_count);
        for block in [1, 8, 16, 32, 64, 128, 512, 4096] {
            for channels in [1, 5, 6, 16] {
                assert!(found.costs.covers(&of_block(block), channels), "{block}");
                assert!(found.costs.choose(&of_block(block), channels, 1).is_some());
            }
        }
        let all = found.costs.levels().iter();
        assert!(all.clone().all(|cost| cost.worst_ns >= cost.typical_ns));
    }

    #[test]
    fn one_packing_can_be_measured_alone_and_a_measurement_can_be_cancelled() {
        let space = PartitionSpace::new(100, 64, AddedLatency::None).unwrap();
        let mut go_on = |_| ControlFlow::Continue(());
        let found = measure_costs(&space, &options(Some(Packing::Batch)), &mut go_on).unwrap();
        assert!(found.costs.covers(&space, 16) && !found.costs.covers(&space, 1));
        let mut stop = |_| ControlFlow::Break(());
        assert!(measure_costs(&space, &options(None), &mut stop).is_none());
    }

    #[test]
    fn only_useful_levels_are_measured_and_two_of_each_size() {
        let space = PartitionSpace::new(524_288, 64, AddedLatency::None).unwrap();
        let pairs = useful_levels(&space);
        assert!(pairs.len() < space.levels().len());
        assert!(!pairs.contains(&(64, 8192)) && pairs.contains(&(64, 15)));
        for size in space.sizes() {
            assert!(pairs.iter().filter(|pair| pair.0 == size).count() >= 2);
        }
    }
}
