//! The long one of two levels, of one channel: what it has heard, what it multiplies by, what comes back.
//!
//! Half a leaf's spectrum is what a callback multiplies. It is cut into ranges, each of which takes all inputs for several
//! periods at once, in another period than the other ranges ([`crate::ahead`]): what is multiplied is bound by the bytes that
//! are read. The spectra of one range lie side by side, partition by partition, so that they are read in one run.

use super::decimation::{Decimation, PRODUCT};
use crate::ahead::{Ahead, MOST, Sums, products, takes};
use fft::{AlignedBuffer, Kernels};

/// Values in a block of a spectrum.
pub(super) const LANES: usize = 16;
/// So many inputs are multiplied at once.
const AT_ONCE: usize = 8;
/// So many filters these need.
const FILTERS: usize = AT_ONCE + MOST - 1;
/// What sixteen values of a sum for a period to come weigh beside its products.
const SUM: u64 = 13;

/// The long level of one channel.
pub(super) struct Long {
    /// The input of the last period, block by block replaced by this one's.
    pub(super) past: AlignedBuffer,
    /// Subsequences that are taken, and those whose leaves are being transformed.
    pub(super) taking: AlignedBuffer,
    pub(super) taken: AlignedBuffer,
    /// Subsequences that come back, and those that are played.
    pub(super) coming: AlignedBuffer,
    pub(super) playing: AlignedBuffer,
    /// Spectra of impulse response and input: of each leaf each range, of that each partition.
    filters: AlignedBuffer,
    spectra: AlignedBuffer,
    /// A sum of products, of a whole leaf.
    pub(super) sum: AlignedBuffer,
    ahead: Ahead,
    ranges: Ranges,
    /// The partition that holds the newest input, and the number of its period.
    newest: usize,
    period: u64,
}

/// How the spectra of a level are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ranges {
    /// How many partitions there are.
    count: usize,
    /// How many ranges half a leaf has: as many periods are summed up at once.
    many: usize,
    /// Floats in a range.
    span: usize,
}

impl Ranges {
    /// Of `count` partitions, half a leaf being `half` floats.
    fn new(count: usize, half: usize) -> Self {
        // Fewer bytes are more calls: with many partitions only it is the bytes that count.
        let worth = match count {
            0..=2 => 1,
            3..=63 => 2,
            _ => 4,
        };
        let many = worth.min(half / (2 * LANES)).max(1);
        let span = half / many;
        Self { count, many, span }
    }

    /// Range `range` of a leaf, partition `at`.
    fn place(&self, leaf: usize, range: usize, at: usize) -> std::ops::Range<usize> {
        let from = ((leaf * 2 * self.many + range) * self.count + at) * self.span;
        from..from + self.span
    }

    /// Puts a leaf's spectrum where it belongs.
    fn store(&self, leaf: usize, at: usize, spectrum: &[f32], all: &mut [f32]) {
        for (range, part) in spectrum.chunks_exact(self.span).enumerate() {
            all[self.place(leaf, range, at)].copy_from_slice(part);
        }
    }

    /// What all products of half a leaf weigh in a period.
    fn weight(&self) -> u64 {
        let blocks = (self.span / (2 * LANES)) as u64;
        let phase = |phase| {
            let products = products(self.count, self.many, phase) as u64;
            products * PRODUCT + takes(self.many, phase).1 as u64 * SUM
        };
        blocks * (0..self.many).map(phase).sum::<u64>()
    }
}

impl Long {
    /// Through `response`, which the long level begins with.
    ///
    /// Real-time: setup.
    pub(super) fn new(plan: &Decimation, response: &[f32]) -> Self {
        let size = plan.size;
        let count = response.len().div_ceil(size).max(1);
        let memory = || AlignedBuffer::new(2 * size);
        let ranges = Ranges::new(count, plan.leaf());
        let mut long = Self {
            past: AlignedBuffer::new(size),
            taking: memory(),
            taken: memory(),
            coming: memory(),
            playing: memory(),
            filters: AlignedBuffer::new(2 * size * count),
            spectra: AlignedBuffer::new(2 * size * count),
            sum: AlignedBuffer::new(2 * plan.leaf()),
            ahead: Ahead::new(ranges.many, plan.leaf(), 2 * plan.leaves()),
            ranges,
            newest: 0,
            period: 0,
        };
        let (mut z, mut leaf) = (memory(), AlignedBuffer::new(2 * plan.leaf()));
        let mut bench = plan.bench();
        let mut spectrum = AlignedBuffer::new(2 * plan.leaf());
        for (at, partition) in response.chunks(size).enumerate() {
            z.fill(0.0);
            for (n, x) in partition.iter().enumerate() {
                z[2 * (n / LANES * LANES) + n % LANES] = x / size as f32;
            }
            for at in (0..size).step_by(LANES) {
                plan.take(at, &z[2 * at..][..2 * LANES], &mut long.taken);
            }
            for number in 0..plan.leaves() {
                plan.take_leaf(number, &long.taken, &mut leaf);
                plan.forward(&leaf, &mut spectrum, &mut bench);
                ranges.store(number, at, &spectrum, &mut long.filters);
            }
        }
        long.taken.fill(0.0);
        long
    }

    /// How many partitions it has.
    pub(super) fn count(&self) -> usize {
        self.ranges.count
    }

    /// What the products of half a leaf weigh.
    pub(super) fn weight(&self) -> u64 {
        self.ranges.weight()
    }

    /// A period's input is complete, and what came of the one before is.
    ///
    /// Real-time: hot.
    pub(super) fn next_period(&mut self) {
        std::mem::swap(&mut self.taking, &mut self.taken);
        std::mem::swap(&mut self.coming, &mut self.playing);
        self.newest = (self.newest + 1) % self.count();
        self.period += 1;
    }

    /// Takes the spectrum of the newest input's leaf.
    ///
    /// Real-time: hot.
    pub(super) fn hear(&mut self, leaf: usize, spectrum: &[f32]) {
        let ranges = self.ranges;
        ranges.store(leaf, self.newest, spectrum, &mut self.spectra);
    }

    /// Sums up one half of a leaf, the first or the second, over all partitions.
    ///
    /// Real-time: hot.
    pub(super) fn multiply(&mut self, kernels: Kernels, leaf: usize, half: usize) {
        let ranges = self.ranges;
        let Ranges { count, many, span } = ranges;
        for phase in (0..many).rev() {
            let first = self.ahead.first(self.period, phase);
            let sum = &mut self.sum[half * many * span + first..][..span];
            let now = (self.period, phase);
            let mut sums = self.ahead.sums(2 * leaf + half, now, 0..span, sum, false);
            let range = half * many + first / span;
            let heard = |age| {
                let at = (self.newest + count - age) % count;
                &self.spectra[ranges.place(leaf, range, at)]
            };
            let filter = |at| &self.filters[ranges.place(leaf, range, at)];
            add(&mut sums, count, heard, filter, kernels);
        }
    }
}

/// Adds to all sums the products that they take.
fn add<'a>(
    of: &mut Sums<'_>,
    count: usize,
    heard: impl Fn(usize) -> &'a [f32],
    filter: impl Fn(usize) -> &'a [f32],
    kernels: Kernels,
) {
    let inputs = of.inputs.min(count);
    for age in (0..inputs).step_by(AT_ONCE) {
        let mut inputs_now: [&[f32]; AT_ONCE] = [&[]; AT_ONCE];
        let mut filters: [&[f32]; FILTERS] = [&[]; FILTERS];
        let some = AT_ONCE.min(inputs - age);
        let with = (some + of.outputs - 1).min(count - age);
        for (input, age) in inputs_now[..some].iter_mut().zip(age..) {
            *input = heard(age);
        }
        for (to, at) in filters[..with].iter_mut().zip(age..) {
            *to = filter(at);
        }
        let sums = &mut of.sums[..of.outputs];
        kernels.multiply_add_outputs(sums, &inputs_now[..some], &filters[..with], None);
    }
}
