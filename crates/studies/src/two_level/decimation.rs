//! Decimation in frequency: a long transform as several short ones that can be done at different times.
//!
//! A level of M frames needs a transform of 2M real values. Taken at the odd frequencies (4k + 1)/4M, it is a transform of
//! M complex values z\[n\] = (x\[n\] - i x\[n + M\]) w(n / 4M), where w(t) = exp(-2πi t), and has no real bins that would
//! need a special case. One stage of radix r makes r subsequences of M/r values of z,
//!
//! ```text
//! a_j[n] = w(j n / M) * sum over q of w(j q / r) * z[n + q M / r],      0 <= j < r
//! ```
//!
//! whose transforms are the bins j, j + r, j + 2r, ... (Battenberg and Avižienis 2011, section 4.1). Each value of z adds to one place of each
//! subsequence, so the stage can be done as the values come:
//!
//! ```text
//! radix 4 and 2:   z ──┬── a_0 ──┬── leaf 0      bins 0, 8, 16, ...
//!                      │         └── leaf 1      bins 4, 12, 20, ...
//!                      ├── a_1 ──┬── leaf 2      bins 1, 9, 17, ...
//!                      ┊         ┊
//!      split: as blocks come     split_leaf: in the first callback of the leaf
//! ```
//!
//! The inverse has the same sums with conjugated factors; it runs on conjugated values with the same tables.
//!
//! All complex values lie in groups of 16 real parts, then 16 imaginary parts. The transform of a leaf of m complex values
//! is two real transforms of m values each, of the real and of the imaginary parts.

use fft::{AlignedBuffer, Kernels, Packing, RealFft, SizeError};
use std::f64::consts::TAU;

/// Real parts side by side, and imaginary parts behind them.
const LANES: usize = 16;
/// Cost of sixteen complex products, in instructions on vectors of eight floats.
pub(super) const PRODUCT: u64 = 18;
/// Cost of a copy of sixteen floats.
const COPY: u64 = 4;
/// Largest radix of a stage.
pub(super) const MAX_RADIX: usize = 4;

/// Tables and transforms of a decimation, shared by all channels.
#[derive(Debug)]
pub(super) struct Decimation {
    /// Complex values of the whole transform: M.
    pub(super) size: usize,
    /// Radix of the first stage and of the second; 1 means that there is no second stage.
    pub(super) radix: [usize; 2],
    kernels: Kernels,
    fft: RealFft,
    /// Factors of the first stage: for each subsequence one for each value of z.
    first: AlignedBuffer,
    /// Factors of the second stage: for each leaf of a subsequence one for each of its values.
    second: AlignedBuffer,
}

/// Scratch memory of a leaf's transform.
#[derive(Debug)]
pub(super) struct LeafBuffers {
    parts: [AlignedBuffer; 2],
    spectra: [AlignedBuffer; 2],
    scratch: AlignedBuffer,
}

impl Decimation {
    /// Prepares a decimation of `size` values by two stages.
    ///
    /// Real-time: setup.
    pub(super) fn new(size: usize, radix: [usize; 2], kernels: Kernels) -> Result<Self, SizeError> {
        let leaf = size / (radix[0] * radix[1]);
        let fft = RealFft::new(leaf / 2, Packing::Mono, kernels)?;
        let stage = |len: usize, radix: usize, whole: f64| {
            let mut table = AlignedBuffer::new(2 * len * radix);
            for j in 0..radix {
                for at in 0..len {
                    let (q, n) = (at / (len / radix), at % (len / radix));
                    let cycles = (j * q) as f64 / radix as f64 + (j * n) as f64 / len as f64;
                    let angle = -TAU * (cycles + at as f64 / whole);
                    let to = 2 * (j * len + at / LANES * LANES) + at % LANES;
                    (table[to], table[to + LANES]) = (angle.cos() as f32, angle.sin() as f32);
                }
            }
            table
        };
        Ok(Self {
            size,
            radix,
            kernels,
            fft,
            first: stage(size, radix[0], 4.0 * size as f64),
            second: stage(size / radix[0], radix[1], f64::INFINITY),
        })
    }

    /// Number of leaves.
    pub(super) fn leaves(&self) -> usize {
        self.radix[0] * self.radix[1]
    }

    /// Values of a subsequence of the first stage.
    pub(super) fn branch(&self) -> usize {
        self.size / self.radix[0]
    }

    /// Values of a leaf.
    pub(super) fn leaf(&self) -> usize {
        self.size / self.leaves()
    }

    /// Cost of the first stage for a block, in either direction.
    pub(super) fn stage_cost(&self, block: usize) -> u64 {
        (self.radix[0] * block / LANES) as u64 * PRODUCT
    }

    /// Cost of a leaf in one direction: the second stage, two real transforms, and the copies between them.
    pub(super) fn leaf_cost(&self, forward: bool) -> u64 {
        let transform = |i: usize| u64::from(self.fft.piece_cost(i, forward));
        let transforms: u64 = (0..self.fft.pieces()).map(transform).sum();
        let blocks = (self.leaf() / LANES) as u64;
        let products = blocks * self.radix[1] as u64 * PRODUCT;
        2 * transforms + products + 4 * blocks * COPY
    }

    /// Scratch memory for the transform of a leaf.
    ///
    /// Real-time: setup.
    pub(super) fn leaf_buffers(&self) -> LeafBuffers {
        let leaf = self.leaf();
        LeafBuffers {
            parts: [AlignedBuffer::new(leaf), AlignedBuffer::new(leaf)],
            spectra: [AlignedBuffer::new(leaf), AlignedBuffer::new(leaf)],
            scratch: AlignedBuffer::new(self.fft.scratch_len()),
        }
    }

    /// Adds the values `at..` of z to the subsequences of the first stage.
    ///
    /// Real-time: hot.
    pub(super) fn split(&self, at: usize, z: &[f32], branches: &mut [f32]) {
        let (branch, len) = (self.branch(), z.len());
        let place = 2 * (at % branch);
        for (j, to) in branches.chunks_exact_mut(2 * branch).enumerate() {
            let to = &mut to[place..place + len];
            if at < branch {
                to.fill(0.0);
            }
            let factors = &self.first[2 * (j * self.size + at)..][..len];
            self.kernels.multiply_add_blocks(to, &[(z, factors)], None);
        }
    }

    /// Computes the values `at..` of z from the subsequences of the first stage. Both are conjugated.
    ///
    /// Real-time: hot.
    pub(super) fn merge(&self, at: usize, branches: &[f32], z: &mut [f32]) {
        let (branch, len) = (self.branch(), z.len());
        let place = 2 * (at % branch);
        let mut pairs: [(&[f32], &[f32]); MAX_RADIX] = [(&[], &[]); MAX_RADIX];
        for (j, pair) in pairs[..self.radix[0]].iter_mut().enumerate() {
            let from = &branches[2 * j * branch + place..][..len];
            *pair = (from, &self.first[2 * (j * self.size + at)..][..len]);
        }
        z.fill(0.0);
        let pairs = &pairs[..self.radix[0]];
        self.kernels.multiply_add_blocks(z, pairs, None);
    }

    /// Computes leaf `number` from the subsequences of the first stage.
    ///
    /// Real-time: hot.
    pub(super) fn split_leaf(&self, number: usize, branches: &[f32], leaf: &mut [f32]) {
        let (branch, len) = (self.branch(), leaf.len());
        let (j, l) = (number / self.radix[1], number % self.radix[1]);
        let from = &branches[2 * j * branch..][..2 * branch];
        let factors = &self.second[2 * l * branch..][..2 * branch];
        let mut pairs: [(&[f32], &[f32]); MAX_RADIX] = [(&[], &[]); MAX_RADIX];
        let both = from.chunks_exact(len).zip(factors.chunks_exact(len));
        for (pair, both) in pairs.iter_mut().zip(both) {
            *pair = both;
        }
        leaf.fill(0.0);
        let pairs = &pairs[..self.radix[1]];
        self.kernels.multiply_add_blocks(leaf, pairs, None);
    }

    /// Adds a conjugated leaf to the conjugated subsequences of the first stage. The first leaf of a subsequence
    /// overwrites it.
    ///
    /// Real-time: hot.
    pub(super) fn merge_leaf(&self, number: usize, leaf: &[f32], branches: &mut [f32]) {
        let (branch, len) = (self.branch(), leaf.len());
        let (j, l) = (number / self.radix[1], number % self.radix[1]);
        let to = &mut branches[2 * j * branch..][..2 * branch];
        if l == 0 {
            to.fill(0.0);
        }
        let factors = &self.second[2 * l * branch..][..2 * branch];
        for (to, factors) in to.chunks_exact_mut(len).zip(factors.chunks_exact(len)) {
            self.kernels
                .multiply_add_blocks(to, &[(leaf, factors)], None);
        }
    }

    /// Transforms a leaf of m values: first the bins k below m / 2, then the bins m - k, with bin m / 2 in the place of m.
    ///
    /// Real-time: hot.
    pub(super) fn forward(&self, leaf: &[f32], spectrum: &mut [f32], buffers: &mut LeafBuffers) {
        let [re, im] = &mut buffers.parts;
        for (i, block) in leaf.chunks_exact(2 * LANES).enumerate() {
            re[i * LANES..][..LANES].copy_from_slice(&block[..LANES]);
            im[i * LANES..][..LANES].copy_from_slice(&block[LANES..]);
        }
        for (part, spectrum) in buffers.parts.iter().zip(&mut buffers.spectra) {
            self.fft.forward(part, spectrum, &mut buffers.scratch);
        }
        let [r, i] = &buffers.spectra;
        let (low, high) = spectrum.split_at_mut(r.len());
        let blocks = r.chunks_exact(2 * LANES).zip(i.chunks_exact(2 * LANES));
        let outs = low
            .chunks_exact_mut(2 * LANES)
            .zip(high.chunks_exact_mut(2 * LANES));
        for ((r, i), (low, high)) in blocks.zip(outs) {
            for k in 0..LANES {
                low[k] = r[k] - i[k + LANES];
                low[k + LANES] = r[k + LANES] + i[k];
                high[k] = r[k] + i[k + LANES];
                high[k + LANES] = i[k] - r[k + LANES];
            }
        }
        (low[0], low[LANES]) = (r[0], i[0]);
        (high[0], high[LANES]) = (r[LANES], i[LANES]);
    }

    /// Inverse transform of a leaf, times m and conjugated.
    ///
    /// Real-time: hot.
    pub(super) fn inverse(&self, spectrum: &[f32], leaf: &mut [f32], buffers: &mut LeafBuffers) {
        let [r, i] = &mut buffers.spectra;
        let (low, high) = spectrum.split_at(r.len());
        let blocks = low
            .chunks_exact(2 * LANES)
            .zip(high.chunks_exact(2 * LANES));
        let outs = r
            .chunks_exact_mut(2 * LANES)
            .zip(i.chunks_exact_mut(2 * LANES));
        for ((low, high), (r, i)) in blocks.zip(outs) {
            for k in 0..LANES {
                r[k] = 0.5 * (low[k] + high[k]);
                r[k + LANES] = 0.5 * (low[k + LANES] - high[k + LANES]);
                i[k] = 0.5 * (low[k + LANES] + high[k + LANES]);
                i[k + LANES] = 0.5 * (high[k] - low[k]);
            }
        }
        (r[0], i[0]) = (low[0], low[LANES]);
        (r[LANES], i[LANES]) = (high[0], high[LANES]);
        for (part, spectrum) in buffers.parts.iter_mut().zip(&mut buffers.spectra) {
            self.fft.inverse(spectrum, part, &mut buffers.scratch);
        }
        let [re, im] = &buffers.parts;
        for (i, block) in leaf.chunks_exact_mut(2 * LANES).enumerate() {
            block[..LANES].copy_from_slice(&re[i * LANES..][..LANES]);
            for (to, x) in block[LANES..].iter_mut().zip(&im[i * LANES..]) {
                *to = -x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked(values: &[(f64, f64)]) -> AlignedBuffer {
        let mut to = AlignedBuffer::new(2 * values.len());
        for (i, (re, im)) in values.iter().enumerate() {
            let at = 2 * (i / LANES * LANES) + i % LANES;
            (to[at], to[at + LANES]) = (*re as f32, *im as f32);
        }
        to
    }

    fn value(blocked: &[f32], i: usize) -> (f64, f64) {
        let at = 2 * (i / LANES * LANES) + i % LANES;
        (f64::from(blocked[at]), f64::from(blocked[at + LANES]))
    }

    fn z(size: usize) -> Vec<(f64, f64)> {
        let x = |i: usize| ((i * 7919 + 13) % 1009) as f64 / 500.0 - 1.0;
        (0..size).map(|i| (x(i), x(3 * i + 1))).collect()
    }

    /// Bin k of z turned by n/4M, by the definition.
    fn bin(z: &[(f64, f64)], k: usize) -> (f64, f64) {
        let size = z.len() as f64;
        let terms = z.iter().enumerate().map(|(n, (re, im))| {
            let angle = -TAU * n as f64 * (k as f64 / size + 0.25 / size);
            let (sin, cos) = angle.sin_cos();
            (re * cos - im * sin, re * sin + im * cos)
        });
        terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1))
    }

    #[test]
    fn the_leaves_have_the_bins_of_the_whole_and_lead_back_to_it() {
        for (size, radix) in [(128, [2, 1]), (256, [2, 2]), (256, [4, 1]), (512, [4, 4])] {
            let plan = Decimation::new(size, radix, Kernels::best()).unwrap();
            let values = z(size);
            let input = blocked(&values);
            let mut branches = AlignedBuffer::new(2 * size);
            for at in (0..size).step_by(16) {
                plan.split(at, &input[2 * at..2 * at + 32], &mut branches);
            }
            let mut back = AlignedBuffer::new(2 * size);
            let m = plan.leaf();
            let (mut leaf, mut spectrum) = (AlignedBuffer::new(2 * m), AlignedBuffer::new(2 * m));
            let mut buffers = plan.leaf_buffers();
            for number in 0..plan.leaves() {
                plan.split_leaf(number, &branches, &mut leaf);
                plan.forward(&leaf, &mut spectrum, &mut buffers);
                let (j, l) = (number / radix[1], number % radix[1]);
                for k in [0, 1, 5, m / 2] {
                    let place = if k == m / 2 { m / 2 } else { k };
                    let (re, im) = value(&spectrum, place);
                    let truth = bin(&values, j + radix[0] * (l + radix[1] * k));
                    let off = (re - truth.0).hypot(im - truth.1);
                    assert!(
                        off < 1e-4 * size as f64,
                        "{size} {radix:?} {number} {k}: {off}"
                    );
                }
                plan.inverse(&spectrum, &mut leaf, &mut buffers);
                plan.merge_leaf(number, &leaf, &mut back);
            }
            let mut out = [0.0; 32];
            for at in (0..size).step_by(16) {
                plan.merge(at, &back, &mut out);
                for i in 0..16 {
                    let (re, im) = value(&out, i);
                    let (re, im) = (re / size as f64, -im / size as f64);
                    let truth = values[at + i];
                    assert!((re - truth.0).hypot(im - truth.1) < 1e-4);
                }
            }
        }
    }
}
