//! The long level of one channel: its input, its products and its output.
//!
//! A callback multiplies half a leaf's spectrum. Products are bound by the bytes that they read, so each half is cut into
//! ranges of bins, and each range multiplies all inputs for several periods at once, in another period than the other
//! ranges ([`conv::lookahead`]). The spectra of one range lie side by side, partition by partition, so that they are read
//! in one run:
//!
//! ```text
//! leaf 0                                          leaf 1
//! half 0                        half 1
//! range 0        range 1        range 0  ...
//! p0 p1 p2 ...   p0 p1 p2 ...                     p: partition, `span` floats each
//! ```

use super::decimation::{Decimation, PRODUCT};
use conv::lookahead::{Lookahead, MAX_PERIODS, PeriodSums, product_count, summed};
use fft::{AlignedBuffer, Kernels};

/// Real parts side by side, and imaginary parts behind them.
pub(super) const LANES: usize = 16;
/// Inputs that are multiplied in one pass.
const AT_ONCE: usize = 8;
/// Filter spectra that one pass needs.
const FILTERS: usize = AT_ONCE + MAX_PERIODS - 1;
/// Cost of sixteen values of a sum for a later period, without its products.
const SUM: u64 = 13;

/// Long level of one channel.
pub(super) struct LongLevel {
    /// Input of the last period; each block of the current period replaces one of it.
    pub(super) past: AlignedBuffer,
    /// Subsequences being filled, and those whose leaves are being transformed.
    pub(super) splitting: AlignedBuffer,
    pub(super) split: AlignedBuffer,
    /// Subsequences being merged from leaves, and those being merged into the output.
    pub(super) merging: AlignedBuffer,
    pub(super) merged: AlignedBuffer,
    /// Spectra of the impulse response and of the input, by leaf, range and partition.
    filters: AlignedBuffer,
    spectra: AlignedBuffer,
    /// Sum of products of a whole leaf.
    pub(super) sum: AlignedBuffer,
    lookahead: Lookahead,
    ranges: Ranges,
    /// Partition that holds the newest input, and the number of its period.
    newest: usize,
    period: u64,
}

/// Ranges of bins into which the spectra of a level are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ranges {
    /// Number of partitions.
    count: usize,
    /// Ranges in half a leaf, which is also the number of periods that are summed at once.
    periods: usize,
    /// Floats in a range.
    span: usize,
}

impl Ranges {
    /// Ranges for `count` partitions, where half a leaf has `half` floats.
    fn new(count: usize, half: usize) -> Self {
        // Fewer bytes cost more calls: that pays only with many partitions.
        let worthwhile = match count {
            0..=2 => 1,
            3..=63 => 2,
            _ => 4,
        };
        let periods = worthwhile.min(half / (2 * LANES)).max(1);
        let span = half / periods;
        Self {
            count,
            periods,
            span,
        }
    }

    /// Position of partition `at` in range `range` of a leaf.
    fn position(&self, leaf: usize, range: usize, at: usize) -> std::ops::Range<usize> {
        let from = ((leaf * 2 * self.periods + range) * self.count + at) * self.span;
        from..from + self.span
    }

    /// Stores the spectrum of a leaf as partition `at`.
    fn store(&self, leaf: usize, at: usize, spectrum: &[f32], all: &mut [f32]) {
        for (range, part) in spectrum.chunks_exact(self.span).enumerate() {
            all[self.position(leaf, range, at)].copy_from_slice(part);
        }
    }

    /// Cost of the products of half a leaf in a period.
    fn cost(&self) -> u64 {
        let blocks = (self.span / (2 * LANES)) as u64;
        let phase = |phase| {
            let products = product_count(self.count, self.periods, phase) as u64;
            products * PRODUCT + summed(self.periods, phase).1 as u64 * SUM
        };
        blocks * (0..self.periods).map(phase).sum::<u64>()
    }
}

impl LongLevel {
    /// Makes the level for `response`, the part of the impulse response that the long level has.
    ///
    /// Real-time: setup.
    pub(super) fn new(plan: &Decimation, response: &[f32]) -> Self {
        let size = plan.size;
        let count = response.len().div_ceil(size).max(1);
        let memory = || AlignedBuffer::new(2 * size);
        let ranges = Ranges::new(count, plan.leaf());
        let mut long = Self {
            past: AlignedBuffer::new(size),
            splitting: memory(),
            split: memory(),
            merging: memory(),
            merged: memory(),
            filters: AlignedBuffer::new(2 * size * count),
            spectra: AlignedBuffer::new(2 * size * count),
            sum: AlignedBuffer::new(2 * plan.leaf()),
            lookahead: Lookahead::new(ranges.periods, plan.leaf(), 2 * plan.leaves()),
            ranges,
            newest: 0,
            period: 0,
        };
        let (mut z, mut leaf) = (memory(), AlignedBuffer::new(2 * plan.leaf()));
        let mut buffers = plan.leaf_buffers();
        let mut spectrum = AlignedBuffer::new(2 * plan.leaf());
        for (at, partition) in response.chunks(size).enumerate() {
            z.fill(0.0);
            for (n, x) in partition.iter().enumerate() {
                z[2 * (n / LANES * LANES) + n % LANES] = x / size as f32;
            }
            for at in (0..size).step_by(LANES) {
                plan.split(at, &z[2 * at..][..2 * LANES], &mut long.split);
            }
            for number in 0..plan.leaves() {
                plan.split_leaf(number, &long.split, &mut leaf);
                plan.forward(&leaf, &mut spectrum, &mut buffers);
                ranges.store(number, at, &spectrum, &mut long.filters);
            }
        }
        long.split.fill(0.0);
        long
    }

    /// Number of partitions.
    pub(super) fn count(&self) -> usize {
        self.ranges.count
    }

    /// Cost of the products of half a leaf in a period.
    pub(super) fn cost(&self) -> u64 {
        self.ranges.cost()
    }

    /// Ends a period: its input is complete, and so is the result of the period before.
    ///
    /// Real-time: hot.
    pub(super) fn next_period(&mut self) {
        std::mem::swap(&mut self.splitting, &mut self.split);
        std::mem::swap(&mut self.merging, &mut self.merged);
        self.newest = (self.newest + 1) % self.count();
        self.period += 1;
    }

    /// Stores the spectrum of a leaf of the newest input.
    ///
    /// Real-time: hot.
    pub(super) fn write_input(&mut self, leaf: usize, spectrum: &[f32]) {
        let ranges = self.ranges;
        ranges.store(leaf, self.newest, spectrum, &mut self.spectra);
    }

    /// Sums up one half of a leaf, the first or the second, over all partitions.
    ///
    /// Real-time: hot.
    pub(super) fn multiply(&mut self, kernels: Kernels, leaf: usize, half: usize) {
        let ranges = self.ranges;
        let Ranges {
            count,
            periods,
            span,
        } = ranges;
        for phase in (0..periods).rev() {
            let first = self.lookahead.range_start(self.period, phase);
            let sum = &mut self.sum[half * periods * span + first..][..span];
            let now = (self.period, phase);
            let mut sums = self
                .lookahead
                .sums(2 * leaf + half, now, 0..span, sum, false);
            let range = half * periods + first / span;
            let input = |age| {
                let at = (self.newest + count - age) % count;
                &self.spectra[ranges.position(leaf, range, at)]
            };
            let filter = |at| &self.filters[ranges.position(leaf, range, at)];
            add_products(&mut sums, count, input, filter, kernels);
        }
    }
}

/// Adds the products of the phase to its sums.
fn add_products<'a>(
    of: &mut PeriodSums<'_>,
    count: usize,
    input: impl Fn(usize) -> &'a [f32],
    filter: impl Fn(usize) -> &'a [f32],
    kernels: Kernels,
) {
    let inputs = of.inputs.min(count);
    for age in (0..inputs).step_by(AT_ONCE) {
        let mut spectra: [&[f32]; AT_ONCE] = [&[]; AT_ONCE];
        let mut filters: [&[f32]; FILTERS] = [&[]; FILTERS];
        let some = AT_ONCE.min(inputs - age);
        let with = (some + of.outputs - 1).min(count - age);
        for (to, age) in spectra[..some].iter_mut().zip(age..) {
            *to = input(age);
        }
        for (to, at) in filters[..with].iter_mut().zip(age..) {
            *to = filter(at);
        }
        let sums = &mut of.sums[..of.outputs];
        kernels.multiply_add_outputs(sums, &spectra[..some], &filters[..with], None);
    }
}
