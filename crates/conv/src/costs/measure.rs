//! Measures levels as they run: the work of a period of a delay line, piece by piece, before each run the caches filled
//! with something else. The worst that was observed is kept, without what others took
//! (`theft.rs`).

use super::theft::{median, mended, put_aside};
use super::{CostTable, LevelCost, TransformCost, backend_name};
use crate::ahead::chosen;
use crate::fdl::Fdl;
use crate::garcia::level_operations;
use crate::ir_set::{IrSet, Spectra};
use crate::partition::{MAX_BLOCK, MIN_PARTITION_SIZE};
use crate::recipe::{NEAR, SIDE_BY_SIDE};
use crate::search::{PartitionSpace, min_total_load};
use crate::shape::{Shape, Wire};
use fft::{AlignedBuffer, Backend, Kernels, LANES, Packing, RealFft};
use rt::cache_sweep::CacheSweep;
use rt::stamp::{self, TickScale};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct CostMeasureOptions {
    /// One channel, or sixteen: side by side where a convolver does so, else one after the other. `None`: both.
    pub packing: Option<Packing>,
    /// Which kernels.
    pub kernels: Kernels,
    /// How many runs of each level; at least 3.
    pub runs: usize,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostMeasurement {
    /// The costs.
    pub costs: CostTable,
    /// How many runs there were in all.
    pub runs: usize,
    /// How many of them count for nothing, since others took time from them.
    pub preempted_runs: usize,
    /// How many levels were measured.
    pub level_count: usize,
    /// Bytes that were swept before each run.
    pub swept_bytes: usize,
}

/// A level whose share of the operations is this often the optimum's whole is in nobody's choice.
const HOPELESS: f64 = 5.0;
/// How heavy a piece is, between two stamps.
const PIECE: u32 = 4096;

/// Measures all that the choice among the ways of `space` needs to know, and among those of the same length with any other
/// block. `tell` is told how far it is, and may break it off: then there is nothing.
///
/// Real-time: setup.
pub fn measure_costs(
    space: &PartitionSpace,
    options: &CostMeasureOptions,
    tell: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Option<CostMeasurement> {
    let pairs = worth_knowing_with_any_block(space);
    let both = [Packing::Mono, Packing::Batch];
    let packings = options.packing.map_or(both.to_vec(), |one| vec![one]);
    let all = packings.iter().flat_map(|packing| {
        let of_packing = pairs.iter().map(|pair| (*packing, *pair));
        of_packing.collect::<Vec<_>>()
    });
    let all: Vec<_> = all.collect();
    let whole: f64 = all.iter().map(effort).sum();
    let mut bench = Bench::new(options, space.block());
    let mut found = CostMeasurement {
        swept_bytes: bench.sweep.bytes(),
        ..CostMeasurement::default()
    };
    let (mut done, mut last) = (0.0, None);
    for one in all {
        let (packing, (size, count)) = one;
        if tell(done / whole).is_break() {
            return None;
        }
        if last != Some((packing, size)) {
            bench.choose_transform(packing, size, &mut found.costs)?;
            last = Some((packing, size));
        }
        bench.level(size, count, &mut found)?;
        done += effort(&one);
    }
    Some(found)
}

/// The levels that are worth knowing of `space`, those with the smallest block, and of sizes that only larger blocks have.
/// Other numbers of partitions, as of a level of a block's own size, are on the line between two that are known.
fn worth_knowing_with_any_block(space: &PartitionSpace) -> Vec<(usize, usize)> {
    let mut pairs = worth_knowing(space);
    for bits in MIN_PARTITION_SIZE.ilog2()..=MAX_BLOCK.ilog2() {
        let Some(other) = PartitionSpace::new(space.length(), 1 << bits, space.latency()) else {
            continue;
        };
        let known: Vec<usize> = pairs.iter().map(|pair| pair.0).collect();
        let is_smallest = 1 << bits == MIN_PARTITION_SIZE;
        let more = worth_knowing(&other).into_iter();
        pairs.extend(more.filter(|pair| is_smallest || !known.contains(&pair.0)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Which levels: all that can be in a good choice, as far as operations tell; and of each size two, for the line through
/// them.
fn worth_knowing(space: &PartitionSpace) -> Vec<(usize, usize)> {
    let best = min_total_load(space, &|size, count| Some(level_operations(size, count)));
    let enough = best.map_or(f64::INFINITY, |best| best.total_load * HOPELESS);
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

/// How long a pair takes, roughly: the sweep, and the level.
fn effort((packing, (size, count)): &(Packing, (usize, usize))) -> f64 {
    2e6 + packing.channels() as f64 * level_operations(*size, *count)
}

/// What is measured with.
struct Bench {
    options: CostMeasureOptions,
    packing: Packing,
    sweep: CacheSweep,
    scale: TickScale,
    block: usize,
    fft: Option<Arc<RealFft>>,
    /// How many channels go one after the other.
    row: usize,
}

impl Bench {
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
            row: 1,
        }
    }

    /// Times every transform for levels of `size`, and takes the one that a convolver would; `None` if there is none.
    fn choose_transform(
        &mut self,
        packing: Packing,
        size: usize,
        costs: &mut CostTable,
    ) -> Option<()> {
        let kernels = self.options.kernels;
        self.packing = packing;
        let is_row = packing == Packing::Batch && size > SIDE_BY_SIDE;
        self.row = if is_row { LANES } else { 1 };
        let one = if is_row { Packing::Mono } else { packing };
        let plan = |backend| RealFft::new(size, one, kernels, backend).ok();
        for backend in Backend::ALL {
            let Some(fft) = plan(backend).filter(|fft| fft.backend() == backend) else {
                continue;
            };
            let ns = self.transform(&fft) * self.row as f64;
            costs.keep_transform(TransformCost {
                packing,
                bins: size,
                backend: backend_name(backend).to_owned(),
                ns,
            });
        }
        self.fft = plan(costs.backend(packing, size)?).map(Arc::new);
        self.fft.is_some().then_some(())
    }

    /// The median of a forward and an inverse transform.
    fn transform(&mut self, fft: &RealFft) -> f64 {
        let floats = fft.buffer_len();
        let mut time = noise(floats);
        let (mut spectrum, mut scratch) = (
            AlignedBuffer::new(floats),
            AlignedBuffer::new(fft.scratch_len()),
        );
        let times = (0..self.options.runs).map(|_| {
            self.sweep.write();
            let begin = stamp::now();
            fft.forward(&time, &mut spectrum, &mut scratch);
            fft.inverse(&mut spectrum, &mut time, &mut scratch);
            let end = stamp::now();
            time.copy_from_slice(&noise(floats));
            self.scale.nanos(end - begin).0 as f64
        });
        median(times.collect())
    }

    /// Measures one level, and keeps what it costs.
    fn level(&mut self, size: usize, count: usize, found: &mut CostMeasurement) -> Option<()> {
        let (mut line, mut fresh) = self.line(size, count)?;
        let (mut runs, mut aside) = (Vec::new(), Vec::new());
        for period in 0..self.options.runs {
            line.begin(&mut fresh, 0, 0, period as u64);
            let (was_aside, parts) = self.run(&mut line);
            match was_aside {
                true => aside.push(parts),
                false => runs.push(parts),
            }
        }
        found.runs += self.options.runs;
        found.preempted_runs += aside.len();
        if 2 * runs.len() < self.options.runs {
            runs.append(&mut aside);
        }
        let (sums, gaps) = mended(&runs);
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
    fn line(&self, size: usize, count: usize) -> Option<(Fdl, AlignedBuffer)> {
        let fft = self.fft.clone()?;
        let (floats, packing) = (fft.buffer_len(), fft.packing());
        let channels = self.packing.channels();
        let shape = Shape {
            size,
            count,
            block: self.block,
            width: packing.channels(),
            fade: 1,
            piece: PIECE,
            ahead: chosen(2 * channels, (size, count), floats, NEAR),
            is_nested: false,
            larger: None,
            gives: false,
            is_half: false,
            fft,
            kernels: self.options.kernels,
            packing,
        };
        let wires: Vec<_> = (0..self.row)
            .map(|n| Wire {
                input: n,
                output: n,
            })
            .collect();
        let filters = |_| Some(Arc::new(Spectra::Full(noise(count * floats))));
        let irs = IrSet::new((0..self.row).map(filters).collect(), 1.0);
        let fresh = AlignedBuffer::new(self.row * shape.stride());
        Some((Fdl::new(shape, self.row, self.row, &wires, irs), fresh))
    }

    /// One period of a level: whether the thread was put aside meanwhile, and the time of each part in ns.
    fn run(&mut self, line: &mut Fdl) -> (bool, Vec<f64>) {
        let mut stamps = Vec::with_capacity(line.piece_count() + 1);
        let aside = put_aside();
        self.sweep.write();
        for piece in 0..line.piece_count() {
            stamps.push(stamp::now());
            line.run_piece(piece);
        }
        stamps.push(stamp::now());
        let was_aside = aside != put_aside();
        let parts = stamps.windows(2);
        let parts = parts.map(|two| self.scale.nanos(two[1] - two[0]).0 as f64);
        (was_aside, parts.collect())
    }
}

/// Values that are neither zero nor so small that arithmetic on them is slow.
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
    fn what_a_choice_needs_is_measured_for_any_block_and_both_packings() {
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
    fn one_packing_can_be_measured_alone_and_it_can_be_broken_off() {
        let space = PartitionSpace::new(100, 64, AddedLatency::None).unwrap();
        let mut go_on = |_| ControlFlow::Continue(());
        let found = measure_costs(&space, &options(Some(Packing::Batch)), &mut go_on).unwrap();
        assert!(found.costs.covers(&space, 16) && !found.costs.covers(&space, 1));
        let mut stop = |_| ControlFlow::Break(());
        assert!(measure_costs(&space, &options(None), &mut stop).is_none());
    }

    #[test]
    fn only_levels_that_may_be_chosen_are_measured_and_two_of_each_size() {
        let space = PartitionSpace::new(524_288, 64, AddedLatency::None).unwrap();
        let pairs = worth_knowing(&space);
        assert!(pairs.len() < space.levels().len());
        assert!(!pairs.contains(&(64, 8192)) && pairs.contains(&(64, 15)));
        for size in space.sizes() {
            assert!(pairs.iter().filter(|pair| pair.0 == size).count() >= 2);
        }
    }
}
