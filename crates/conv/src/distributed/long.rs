//! The long one of two levels, of one channel: what it has heard, what it multiplies by, what comes back.

use super::decimation::Decimation;
use fft::{Aligned, Kernels};

/// Values in a block of a spectrum.
pub(super) const LANES: usize = 16;
/// So many multiplications at once keep the sum in registers.
const AT_ONCE: usize = 8;

/// The long level of one channel.
pub(super) struct Long {
    /// The input of the last period, block by block replaced by this one's.
    pub(super) past: Aligned,
    /// Subsequences that are taken, and those whose leaves are being transformed.
    pub(super) taking: Aligned,
    pub(super) taken: Aligned,
    /// Subsequences that come back, and those that are played.
    pub(super) coming: Aligned,
    pub(super) playing: Aligned,
    /// Spectra of impulse response and input, partition by partition.
    pub(super) filters: Aligned,
    pub(super) spectra: Aligned,
    pub(super) sum: Aligned,
    /// The partition that holds the newest input.
    pub(super) newest: usize,
}

impl Long {
    /// Through `response`, which the long level begins with.
    ///
    /// Real-time: setup.
    pub(super) fn new(plan: &Decimation, response: &[f32]) -> Self {
        let size = plan.size;
        let count = response.len().div_ceil(size).max(1);
        let memory = || Aligned::new(2 * size);
        let mut long = Self {
            past: Aligned::new(size),
            taking: memory(),
            taken: memory(),
            coming: memory(),
            playing: memory(),
            filters: Aligned::new(2 * size * count),
            spectra: Aligned::new(2 * size * count),
            sum: Aligned::new(2 * plan.leaf()),
            newest: 0,
        };
        let (mut z, mut leaf) = (memory(), Aligned::new(2 * plan.leaf()));
        let mut bench = plan.bench();
        let filters = long.filters.chunks_exact_mut(2 * size);
        for (partition, spectra) in response.chunks(size).zip(filters) {
            z.fill(0.0);
            for (n, x) in partition.iter().enumerate() {
                z[2 * (n / LANES * LANES) + n % LANES] = x / size as f32;
            }
            for at in (0..size).step_by(LANES) {
                plan.take(at, &z[2 * at..][..2 * LANES], &mut long.taken);
            }
            for (number, spectrum) in spectra.chunks_exact_mut(leaf.len()).enumerate() {
                plan.take_leaf(number, &long.taken, &mut leaf);
                plan.forward(&leaf, spectrum, &mut bench);
            }
        }
        long.taken.fill(0.0);
        long
    }

    /// How many partitions it has.
    pub(super) fn count(&self, size: usize) -> usize {
        self.filters.len() / (2 * size)
    }

    /// A period's input is complete, and what came of the one before is.
    ///
    /// Real-time: hot.
    pub(super) fn next_period(&mut self, size: usize) {
        std::mem::swap(&mut self.taking, &mut self.taken);
        std::mem::swap(&mut self.coming, &mut self.playing);
        self.newest = (self.newest + 1) % self.count(size);
    }

    /// Multiplies floats `range` of a leaf's spectra, all partitions.
    ///
    /// Real-time: hot.
    pub(super) fn multiply(
        &mut self,
        kernels: Kernels,
        number: usize,
        leaves: usize,
        range: std::ops::Range<usize>,
    ) {
        let len = self.sum.len();
        let count = self.filters.len() / (leaves * len);
        let sum = &mut self.sum[range.clone()];
        sum.fill(0.0);
        let mut pairs: [(&[f32], &[f32]); AT_ONCE] = [(&[], &[]); AT_ONCE];
        for first in (0..count).step_by(AT_ONCE) {
            let some = AT_ONCE.min(count - first);
            for (i, pair) in pairs[..some].iter_mut().enumerate() {
                let slot = (self.newest + count - first - i) % count;
                let input = &self.spectra[(slot * leaves + number) * len..][..len];
                let filter = &self.filters[((first + i) * leaves + number) * len..][..len];
                *pair = (&input[range.clone()], &filter[range.clone()]);
            }
            kernels.multiply_add_within(sum, &pairs[..some], None);
        }
    }
}
