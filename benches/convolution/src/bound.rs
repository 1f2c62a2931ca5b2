//! Lower bound for engines with the transforms of `realfft`: the time of the transforms and multiply-adds of the best
//! partition alone, without buffers, threads and calls.
//!
//! A level of size M starts at tap 2M - B, the first (M = B) at 0; B is the block. The multiply-adds run over all channels as
//! in a level, so that they read the same amount of memory.

use crate::BLOCK;
use crate::clock::processor_ns;
use crate::signals::noise;
use crate::stats::median;
use realfft::RealFftPlanner;
use std::hint::black_box;

/// The largest partition.
const LARGEST: usize = 65_536;
/// Partitions per channel in a timed pass.
const PARTITIONS: usize = 8;

/// Cost of one partition size, in ns per channel.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Size of the partition.
    pub size: usize,
    /// One forward and one inverse transform.
    pub transforms: f64,
    /// The multiply-adds of one partition.
    pub partition: f64,
}

/// A partition and its cost.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Time per channel and block, in ns.
    pub ns: f64,
    /// Time in transforms, in ns.
    pub transforms: f64,
    /// Count and size of the partitions of each level.
    pub levels: Vec<(usize, usize)>,
}

impl Bound {
    /// The partition as text.
    pub fn setting(&self) -> String {
        let levels = self
            .levels
            .iter()
            .map(|(count, size)| format!("{count}x{size}"));
        let levels: Vec<_> = levels.collect();
        format!(
            "{}; {:.0} ns of it transforms",
            levels.join(" "),
            self.transforms
        )
    }
}

/// Measures every size, for `channels` channels.
pub fn costs(channels: usize) -> Vec<Cost> {
    let sizes = (BLOCK.ilog2()..=LARGEST.ilog2()).map(|bits| 1 << bits);
    sizes
        .map(|size| Cost {
            size,
            transforms: transforms(size),
            partition: partition(size, channels),
        })
        .collect()
}

/// The cheapest partition of `length` taps.
pub fn best(costs: &[Cost], length: usize) -> Bound {
    let start = |at: usize| {
        if at == 0 {
            0
        } else {
            2 * costs[at].size - BLOCK
        }
    };
    let level = |at: usize, end: usize| {
        let count = end.saturating_sub(start(at)).div_ceil(costs[at].size);
        let of = costs[at];
        let share = BLOCK as f64 / of.size as f64;
        let transforms = of.transforms * share;
        (
            count,
            transforms,
            transforms + of.partition * count as f64 * share,
        )
    };
    // For each size the cheapest levels before it, beginning with the first level.
    let mut best_before: Vec<Bound> = Vec::new();
    for to in 0..costs.len() {
        let through = (0..to)
            .filter(|from| start(to) < length && start(*from) < start(to))
            .map(|from| {
                let (count, transforms, ns) = level(from, start(to));
                add(&best_before[from], count, costs[from].size, transforms, ns)
            });
        let none = Bound {
            ns: if to == 0 { 0.0 } else { f64::INFINITY },
            transforms: 0.0,
            levels: Vec::new(),
        };
        best_before.push(through.fold(
            none,
            |best, next| if next.ns < best.ns { next } else { best },
        ));
    }
    let whole = best_before.iter().enumerate().map(|(at, before)| {
        let (count, transforms, ns) = level(at, length);
        add(before, count, costs[at].size, transforms, ns)
    });
    whole
        .min_by(|a, b| a.ns.total_cmp(&b.ns))
        .expect("there is at least one size")
}

fn add(before: &Bound, count: usize, size: usize, transforms: f64, ns: f64) -> Bound {
    let mut levels = before.levels.clone();
    levels.push((count, size));
    Bound {
        ns: before.ns + ns,
        transforms: before.transforms + transforms,
        levels,
    }
}

fn transforms(size: usize) -> f64 {
    let mut planner = RealFftPlanner::<f32>::new();
    let (forward, inverse) = (
        planner.plan_fft_forward(2 * size),
        planner.plan_fft_inverse(2 * size),
    );
    let (mut time, mut bins) = (noise(7, 2 * size), forward.make_output_vec());
    let mut scratch = forward.make_scratch_vec();
    scratch.resize(
        scratch.len().max(inverse.get_scratch_len()),
        Default::default(),
    );
    let all = time.clone();
    timed(size, || {
        time.copy_from_slice(&all);
        forward
            .process_with_scratch(&mut time, &mut bins, &mut scratch)
            .expect("its sizes are right");
        inverse
            .process_with_scratch(&mut bins, &mut time, &mut scratch)
            .expect("its sizes are right");
    })
}

/// Time of a partition's multiply-adds per channel, when all channels are processed.
fn partition(size: usize, channels: usize) -> f64 {
    let floats = 2 * size * PARTITIONS * channels;
    let (a, b) = (vec![0.5; floats], vec![0.25; floats]);
    let mut sum = vec![0.0; 2 * size];
    let all = timed(size * channels * PARTITIONS / 16, || {
        for (a, b) in a.chunks_exact(2 * size).zip(b.chunks_exact(2 * size)) {
            multiply_add(&mut sum, a, b);
        }
        black_box(&mut sum);
    });
    all / (channels * PARTITIONS) as f64
}

/// Median time of one call in ns; `estimate` is its approximate duration in ns.
fn timed(estimate: usize, mut call: impl FnMut()) -> f64 {
    let calls = (2_000_000 / estimate.max(1)).clamp(1, 20_000);
    let mut round = || {
        let begun = processor_ns();
        (0..calls).for_each(|_| call());
        (processor_ns() - begun) as f64 / calls as f64
    };
    round();
    let rounds: Vec<f64> = (0..7).map(|_| round()).collect();
    median(&rounds)
}

/// `sum += a * b` with real parts in the first half and imaginary parts in the second.
fn multiply_add(sum: &mut [f32], a: &[f32], b: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both.
        return unsafe { multiply_add_avx2(sum, a, b) };
    }
    plain(sum, a, b);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_add_avx2(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let half = sum.len() / 2;
    let (re, im) = sum.split_at_mut(half);
    let ((ar, ai), (br, bi)) = (a.split_at(half), b.split_at(half));
    let (im, ar, ai, br, bi) = (
        &mut im[..half],
        &ar[..half],
        &ai[..half],
        &br[..half],
        &bi[..half],
    );
    for k in 0..half {
        re[k] = ai[k].mul_add(-bi[k], ar[k].mul_add(br[k], re[k]));
        im[k] = ai[k].mul_add(br[k], ar[k].mul_add(bi[k], im[k]));
    }
}

fn plain(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let half = sum.len() / 2;
    let (re, im) = sum.split_at_mut(half);
    for k in 0..half {
        re[k] += a[k] * b[k] - a[half + k] * b[half + k];
        im[k] += a[k] * b[half + k] + a[half + k] * b[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_covers_all_taps_and_levels_begin_at_their_start() {
        let costs: Vec<Cost> = (6..=16)
            .map(|bits| {
                let size = 1_usize << bits;
                Cost {
                    size,
                    transforms: size as f64 * f64::from(bits),
                    partition: size as f64 * 0.5,
                }
            })
            .collect();
        for length in [1, 64, 65, 5000, 16_384, 524_288] {
            let bound = best(&costs, length);
            let mut taps = 0;
            for (at, (count, size)) in bound.levels.iter().enumerate() {
                assert_eq!(taps, if at == 0 { 0 } else { 2 * size - BLOCK });
                taps += count * size;
            }
            assert!(taps >= length && taps < length + bound.levels.last().unwrap().1);
        }
    }

    #[test]
    fn both_kernels_multiply_and_add() {
        let (a, b) = (noise(1, 64), noise(2, 64));
        let (mut one, mut other) = (noise(3, 64), noise(3, 64));
        multiply_add(&mut one, &a, &b);
        plain(&mut other, &a, &b);
        assert!(one.iter().zip(&other).all(|(x, y)| (x - y).abs() < 1e-5));
        assert!((one[5] - (noise(3, 64)[5] + a[5] * b[5] - a[37] * b[37])).abs() < 1e-5);
    }
}
