//! The multiply-adds beside the same sums in double precision.

use crate::oracle::{noise, place};
use divisi_fft::{Kernels, LANES, Packing, half};

/// `sum` plus all products, in double precision.
fn oracle(sum: &[f32], pairs: &[(Vec<f32>, Vec<f32>)], packing: Packing) -> Vec<f64> {
    let mut sum: Vec<f64> = sum.iter().map(|&x| f64::from(x)).collect();
    let bins = sum.len() / 2 / packing.channels();
    for (a, b) in pairs {
        for channel in 0..packing.channels() {
            for bin in 0..bins {
                let (re, im) = place(packing, bin, channel);
                let of = |v: &[f32]| (f64::from(v[re]), f64::from(v[im]));
                let ((ar, ai), (br, bi)) = (of(a), of(b));
                let (r, i) = if bin == 0 {
                    (ar * br, ai * bi)
                } else {
                    (ar * br - ai * bi, ar * bi + ai * br)
                };
                sum[re] += r;
                sum[im] += i;
            }
        }
    }
    sum
}

fn pairs(count: usize, len: usize) -> Vec<(Vec<f32>, Vec<f32>)> {
    let pair = |i: usize| (noise(2 * i as u64 + 7, len), noise(2 * i as u64 + 8, len));
    (0..count).map(pair).collect()
}

fn borrowed(pairs: &[(Vec<f32>, Vec<f32>)]) -> Vec<(&[f32], &[f32])> {
    pairs.iter().map(|(a, b)| (&**a, &**b)).collect()
}

/// The stated bound: each product adds at most two roundings of a sum that is at most `2 count + 1`.
fn assert_near(name: &str, got: &[f32], want: &[f64], count: usize) {
    let bound = (2 * count * (2 * count + 1)) as f64 * f64::from(f32::EPSILON);
    for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
        assert!(
            (f64::from(got) - want).abs() <= bound,
            "{name}: {got} for {want} at {i}"
        );
    }
}

#[test]
fn sums_of_products_agree_with_double_precision() {
    for (blocks, count) in [(1, 1), (1, 3), (2, 4), (5, 7), (16, 8), (3, 15), (8, 23)] {
        let len = blocks * 2 * LANES;
        let (start, pairs) = (noise(1, len), pairs(count, len));
        for packing in [Packing::Mono, Packing::Batch] {
            let want = oracle(&start, &pairs, packing);
            for kernels in Kernels::available() {
                let mut sum = start.clone();
                kernels.multiply_add_many(&mut sum, &borrowed(&pairs), packing);
                assert_near(
                    &format!("{kernels:?} {packing:?} {blocks} {count}"),
                    &sum,
                    &want,
                    count,
                );
            }
        }
    }
}

#[test]
fn many_pairs_at_once_have_the_bits_of_one_pair_at_a_time() {
    let len = 7 * 2 * LANES;
    let (start, pairs) = (noise(1, len), pairs(15, len));
    for packing in [Packing::Mono, Packing::Batch] {
        for kernels in Kernels::available() {
            let (mut one_by_one, mut at_once) = (start.clone(), start.clone());
            for (a, b) in &pairs {
                kernels.multiply_add(&mut one_by_one, a, b, packing);
            }
            kernels.multiply_add_many(&mut at_once, &borrowed(&pairs), packing);
            assert!(one_by_one == at_once, "{kernels:?} {packing:?}");
        }
    }
}

#[test]
fn half_precision_factors_are_converted_exactly() {
    let len = 5 * 2 * LANES;
    let (start, pairs) = (noise(1, len), pairs(13, len));
    let halves: Vec<Vec<u16>> = pairs
        .iter()
        .map(|(_, b)| b.iter().map(|&x| half::from_f32(x)).collect())
        .collect();
    let rounded: Vec<Vec<f32>> = halves
        .iter()
        .map(|b| b.iter().map(|&x| half::to_f32(x)).collect())
        .collect();
    let as_half: Vec<_> = pairs
        .iter()
        .zip(&halves)
        .map(|((a, _), b)| (&**a, &**b))
        .collect();
    let as_float: Vec<_> = pairs
        .iter()
        .zip(&rounded)
        .map(|((a, _), b)| (&**a, &**b))
        .collect();
    for packing in [Packing::Mono, Packing::Batch] {
        for kernels in Kernels::available() {
            let (mut half, mut float) = (start.clone(), start.clone());
            kernels.multiply_add_f16(&mut half, &as_half, Some(packing));
            kernels.multiply_add_many(&mut float, &as_float, packing);
            assert!(half == float, "{kernels:?} {packing:?}");
        }
    }
}

#[test]
fn no_pairs_leave_the_sum_unchanged() {
    let start = noise(1, 64);
    for kernels in Kernels::available() {
        let mut sum = start.clone();
        kernels.multiply_add_many(&mut sum, &[], Packing::Mono);
        kernels.multiply_add(&mut [], &[], &[], Packing::Batch);
        assert_eq!(sum, start);
    }
}

#[test]
fn several_outputs_have_the_bits_of_one_product_at_a_time() {
    let blocks = 37;
    let len = blocks * 2 * LANES;
    for (outputs, inputs, filters) in [
        (1, 5, 5),
        (2, 7, 7),
        (2, 4, 9),
        (3, 6, 6),
        (4, 9, 9),
        (4, 13, 16),
        (5, 3, 8),
        (2, 1, 1),
    ] {
        let sums: Vec<Vec<f32>> = (0..outputs).map(|k| noise(k as u64 + 50, len)).collect();
        let a: Vec<Vec<f32>> = (0..inputs).map(|i| noise(i as u64 + 100, len)).collect();
        let b: Vec<Vec<f32>> = (0..filters).map(|i| noise(i as u64 + 200, len)).collect();
        let halves: Vec<Vec<u16>> = b
            .iter()
            .map(|b| b.iter().map(|&x| half::from_f32(x)).collect())
            .collect();
        for packing in [None, Some(Packing::Mono), Some(Packing::Batch)] {
            for kernels in Kernels::available() {
                let (mut want, mut got) = (sums.clone(), sums.clone());
                let (mut want_half, mut got_half) = (sums.clone(), sums.clone());
                for k in 0..outputs {
                    for i in (0..inputs).filter(|i| i + k < filters) {
                        kernels.multiply_add_blocks(&mut want[k], &[(&a[i], &b[i + k])], packing);
                        kernels.multiply_add_f16(
                            &mut want_half[k],
                            &[(&a[i], &halves[i + k])],
                            packing,
                        );
                    }
                }
                let a: Vec<&[f32]> = a.iter().map(|a| &**a).collect();
                let b: Vec<&[f32]> = b.iter().map(|b| &**b).collect();
                let halves: Vec<&[u16]> = halves.iter().map(|b| &**b).collect();
                let mut sums: Vec<&mut [f32]> = got.iter_mut().map(|s| &mut **s).collect();
                kernels.multiply_add_outputs(&mut sums, &a, &b, packing);
                let mut sums: Vec<&mut [f32]> = got_half.iter_mut().map(|s| &mut **s).collect();
                kernels.multiply_add_outputs_f16(&mut sums, &a, &halves, packing);
                assert!(
                    got == want,
                    "{kernels:?} {packing:?} {outputs} {inputs} {filters}"
                );
                assert!(
                    got_half == want_half,
                    "{kernels:?} {packing:?} {outputs} {inputs} {filters}"
                );
            }
        }
    }
}
