//! The slow and obvious versions in double precision, and test signals.

use divisi_fft::{LANES, Packing};

/// Positions of the real and the imaginary part of bin `bin` of `channel` in a spectrum.
pub(crate) fn place(packing: Packing, bin: usize, channel: usize) -> (usize, usize) {
    let (block, lane) = match packing {
        Packing::Mono => (bin / LANES, bin % LANES),
        Packing::Batch => (bin, channel),
    };
    (block * 2 * LANES + lane, block * 2 * LANES + LANES + lane)
}

/// Pseudo-random numbers between -1 and 1, the same in every run.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let step = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as i32 - (1 << 23)) as f32 / (1 << 23) as f32
    };
    (0..len).map(step).collect()
}

/// A complex transform in double precision by halving: `sign` -1 is forward.
pub(crate) fn oracle(values: &[(f64, f64)], sign: f64) -> Vec<(f64, f64)> {
    let n = values.len();
    if n == 1 {
        return values.to_vec();
    }
    let half = |odd: usize| -> Vec<_> { values.iter().skip(odd).step_by(2).copied().collect() };
    let (even, odd) = (oracle(&half(0), sign), oracle(&half(1), sign));
    let turned = |k: usize| {
        let (s, c) = (sign * std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
        let (re, im) = odd[k % (n / 2)];
        (re * c - im * s, re * s + im * c)
    };
    let sum = |k: usize| {
        let ((a, b), (c, d)) = (even[k % (n / 2)], turned(k));
        (a + c, b + d)
    };
    (0..n).map(sum).collect()
}

/// The blocked spectrum of 2 `bins` values a channel, in double precision.
pub(crate) fn spectrum(packing: Packing, bins: usize, time: &[f32]) -> Vec<f64> {
    let mut blocked = vec![0.0; time.len()];
    let channels = packing.channels();
    for channel in 0..channels {
        let values = time.iter().skip(channel).step_by(channels);
        let values: Vec<_> = values.map(|&x| (f64::from(x), 0.0)).collect();
        let all = oracle(&values, -1.0);
        for (bin, &(re, im)) in all[..bins].iter().enumerate() {
            let (at_re, at_im) = place(packing, bin, channel);
            (blocked[at_re], blocked[at_im]) = (re, im);
        }
        blocked[place(packing, 0, channel).1] = all[bins].0;
    }
    blocked
}

/// The root of the mean square.
pub(crate) fn rms(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = values.len() as f64;
    (values.map(|x| x * x).sum::<f64>() / len).sqrt()
}

/// Relative error of `got`: RMS of the difference, divided by the RMS of `want`.
pub(crate) fn error(got: &[f32], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    let difference = got.iter().zip(want).map(|(&g, &w)| f64::from(g) - w);
    rms(difference) / rms(want.iter().copied())
}
