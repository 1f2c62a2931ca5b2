//! Larger transforms from the spectra of smaller ones, beside the direct ones.

use divisi_fft::{ComposedFft, Kernels, LANES, Packing, RealFft, SizeError, SmallerFft};
use std::sync::Arc;

fn noise(len: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

fn whole(bins: usize, packing: Packing, kernels: Kernels) -> Arc<RealFft> {
    Arc::new(RealFft::new(bins, packing, kernels).unwrap())
}

fn spectrum(fft: &RealFft, time: &[f32]) -> Vec<f32> {
    let (mut spectrum, mut scratch) = (vec![0.0; fft.buffer_len()], vec![0.0; fft.scratch_len()]);
    fft.forward(time, &mut spectrum, &mut scratch);
    spectrum
}

/// The spectrum of `time` from sums of those of both halves' windows; anything in the scratch memory.
fn from_smaller(larger: &ComposedFft, time: &[f32], sums: [&[f32]; 2]) -> Vec<f32> {
    let mut spectrum = vec![f32::NAN; larger.buffer_len()];
    let mut scratch = vec![f32::NAN; larger.scratch_len()];
    for i in 0..larger.pieces() {
        assert!(larger.piece_cost(i) > 0);
        larger.run_piece(i, time, &mut spectrum, &mut scratch);
    }
    for i in 0..larger.final_pieces() {
        assert!(larger.final_piece_cost(i) > 0);
        larger.run_final_piece(i, (sums[0], sums[1]), &mut spectrum, &mut scratch);
    }
    spectrum
}

fn apart_db(a: &[f32], b: &[f32]) -> f64 {
    let square = |x: f64| x * x;
    let apart: f64 = a.iter().zip(b).map(|(a, b)| square(f64::from(a - b))).sum();
    let all: f64 = b.iter().map(|b| square(f64::from(*b))).sum();
    10.0 * (apart / all).log10()
}

fn sums(smaller: &RealFft, time: &[f32]) -> [Vec<f32>; 2] {
    let (first, second) = time.split_at(time.len() / 2);
    [first, second].map(|half| {
        let windows = half.chunks_exact(smaller.buffer_len());
        windows
            .map(|window| spectrum(smaller, window))
            .reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect())
            .unwrap()
    })
}

#[test]
fn composed_spectra_agree_with_direct_ones() {
    for kernels in Kernels::available() {
        for (packing, below) in [
            (Packing::Batch, 16),
            (Packing::Batch, 32),
            (Packing::Batch, 256),
            (Packing::Mono, 256),
            (Packing::Mono, 512),
            (Packing::Mono, 4096),
        ] {
            for ratio in [2, 4, 8] {
                let name = format!("{kernels:?} {packing:?} {ratio} x {below}");
                let (small, direct) = (
                    whole(below, packing, kernels),
                    whole(below * ratio, packing, kernels),
                );
                let larger =
                    ComposedFft::new(SmallerFft::Direct(small.clone()), ratio, kernels).unwrap();
                assert_eq!((larger.bins(), larger.ratio()), (below * ratio, ratio));
                let time = noise(direct.buffer_len(), 7);
                let [first, second] = sums(&small, &time);
                let made = from_smaller(&larger, &time, [&first, &second]);
                let db = apart_db(&made, &spectrum(&direct, &time));
                assert!(db < -130.0, "{name}: {db:.1} dB");
            }
        }
    }
}

#[test]
fn sums_that_are_not_given_are_computed_with_the_same_bits() {
    let kernels = Kernels::best();
    for (packing, below) in [(Packing::Batch, 16), (Packing::Mono, 256)] {
        for ratio in [2, 4, 8] {
            let small = whole(below, packing, kernels);
            let larger =
                ComposedFft::new(SmallerFft::Direct(small.clone()), ratio, kernels).unwrap();
            let time = noise(larger.buffer_len(), 9);
            for (half, sum) in time.chunks_exact(time.len() / 2).zip(sums(&small, &time)) {
                let mut alone = vec![f32::NAN; larger.sum_len()];
                larger.sum_spectra(
                    half,
                    &mut alone,
                    &mut vec![f32::NAN; larger.sum_scratch_len()],
                );
                assert_eq!(alone, sum);
            }
        }
    }
}

#[test]
fn a_composed_transform_takes_from_a_composed_one() {
    let kernels = Kernels::best();
    for (packing, below) in [(Packing::Batch, 16), (Packing::Mono, 256)] {
        let small = whole(below, packing, kernels);
        let middle =
            Arc::new(ComposedFft::new(SmallerFft::Direct(small.clone()), 4, kernels).unwrap());
        let largest = ComposedFft::new(SmallerFft::Composed(middle.clone()), 2, kernels).unwrap();
        let time = noise(largest.buffer_len(), 11);
        let mut made = Vec::new();
        for half in time.chunks_exact(time.len() / 2) {
            let [first, second] = sums(&small, half);
            let given = from_smaller(&middle, half, [&first, &second]);
            let mut alone = vec![f32::NAN; largest.sum_len()];
            largest.sum_spectra(
                half,
                &mut alone,
                &mut vec![f32::NAN; largest.sum_scratch_len()],
            );
            assert_eq!(alone, given);
            made.push(given);
        }
        let made = from_smaller(&largest, &time, [&made[0], &made[1]]);
        let direct = whole(8 * below, packing, kernels);
        let db = apart_db(&made, &spectrum(&direct, &time));
        assert!(db < -130.0, "{packing:?}: {db:.1} dB");
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let kernels = Kernels::best();
    let new = |packing, below, ratio| {
        let small = whole(below, packing, kernels);
        ComposedFft::new(SmallerFft::Direct(small), ratio, kernels).map(|larger| larger.sum_len())
    };
    assert_eq!(
        new(Packing::Batch, 16, 3),
        Err(SizeError::NotPowerOfTwo(48))
    );
    assert_eq!(
        new(Packing::Batch, 16, 1),
        Err(SizeError::NotPowerOfTwo(16))
    );
    assert_eq!(new(Packing::Mono, 128, 2), Err(SizeError::TooSmall(128)));
    assert_eq!(new(Packing::Batch, 16, 2), Ok(2 * 16 * LANES));
    let vast = ComposedFft::new(
        SmallerFft::Direct(whole(1 << 14, Packing::Mono, kernels)),
        1 << 30,
        kernels,
    );
    assert_eq!(vast.err(), Some(SizeError::TooLarge(1 << 44)));
}
