//! [`Points`]: what lies between two samples, for the true peak of a limiter.
//!
//! ```text
//! p_j[n] = Σ_k h_j[k] x[n - 63 + k], j = 1 … 7 eighths behind x[n - 32]        h_j[63 - k] = h_(8-j)[k]
//! e_j = Σ_k<32 (h_j[k] + h_(8-j)[k]) / 2 × (x[n - 63 + k] + x[n - k])       p_j, p_(8-j) = e_j ± o_j
//! o_j = Σ_k<32 (h_j[k] - h_(8-j)[k]) / 2 × (x[n - 63 + k] - x[n - k])
//! ```
//!
//! The taps are a sinc under a Kaiser window. Points that mirror each other share their sums. Sixteen frames are computed at once.

use crate::kernel::{FRAMES, kaiser_sinc};
use std::ops::{Add, Mul, Sub};

/// Taps of a point, which lies behind the middle one.
pub(super) const TAPS: usize = 64;
const HALF: usize = TAPS / 2;
/// Frames that are computed at once.
const LANES: usize = 16;

/// A sample of each of some frames.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sixteen([f32; LANES]);

macro_rules! operator {
    ($name:ident, $function:ident, $sign:tt) => {
        impl $name for Sixteen {
            type Output = Self;

            #[inline(always)]
            fn $function(mut self, other: Self) -> Self {
                for (x, y) in self.0.iter_mut().zip(other.0) {
                    *x $sign y;
                }
                self
            }
        }
    };
}
operator!(Add, add, +=);
operator!(Sub, sub, -=);
operator!(Mul, mul, *=);

impl Sixteen {
    #[inline(always)]
    fn of(x: f32) -> Self {
        Self([x; LANES])
    }

    /// The samples from `first` on.
    #[inline(always)]
    fn read(samples: &[f32; TAPS + FRAMES], first: usize) -> Self {
        let mut lanes = Self::of(0.0);
        lanes.0.copy_from_slice(&samples[first..first + LANES]);
        lanes
    }

    /// The larger one of each pair of magnitudes; one that is no number counts as none.
    #[inline(always)]
    fn raise(mut self, other: Self) -> Self {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x = if y.abs() > *x { y.abs() } else { *x };
        }
        self
    }
}

/// Taps of a pair of points, or of the one in the middle.
#[derive(Clone, Copy)]
struct PairTaps {
    even: [f32; HALF],
    odd: [f32; HALF],
}

/// The seven points behind a frame.
pub(super) struct Points {
    /// One and seven eighths, two and six, three and five, and the middle.
    pairs: [PairTaps; 4],
}

impl Default for Points {
    fn default() -> Self {
        let none = PairTaps {
            even: [0.0; HALF],
            odd: [0.0; HALF],
        };
        Self { pairs: [none; 4] }
    }
}

/// Tap `k` of the point at `eighths`.
fn tap(eighths: usize, k: usize) -> f64 {
    let x = k as f64 - (HALF - 1) as f64 - eighths as f64 / 8.0;
    kaiser_sinc(x, HALF as f64, 1.0, 4.0)
}

impl Points {
    /// Real-time: setup.
    pub(super) fn new() -> Self {
        let pair = |eighths: usize| {
            let half =
                |sign: f64| move |k| ((tap(eighths, k) + sign * tap(8 - eighths, k)) * 0.5) as f32;
            PairTaps {
                even: std::array::from_fn(half(1.0)),
                odd: std::array::from_fn(half(-1.0)),
            }
        };
        Self {
            pairs: [1, 2, 3, 4].map(pair),
        }
    }

    /// Bound of a point as a factor of the largest sample: the sum of the magnitudes of its taps. A sum of 64 products in narrow
    /// numbers is less than 64 × 2^-23 of that off, for which ten times as much is added.
    ///
    /// Real-time: setup.
    pub(super) fn overshoot(&self) -> f64 {
        let magnitude = |eighths| (0..TAPS).map(|k| tap(eighths, k).abs()).sum::<f64>();
        (1..8).map(magnitude).fold(1.0, f64::max) * (1.0 + 1e-4)
    }

    /// Raises the peaks of the first `count` frames to the largest magnitude of their points, and of the samples around them.
    /// `samples` are the last 64 ones before the frames, then those of the frames.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn raise(
        &self,
        samples: &[f32; TAPS + FRAMES],
        peaks: &mut [f32; FRAMES],
        count: usize,
    ) {
        for first in (0..count).step_by(LANES) {
            // The oldest sample of the first of these frames.
            let oldest = first + 1;
            let [one, two, three, middle] = &self.pairs;
            let zero = Sixteen::of(0.0);
            let (mut e1, mut e2, mut e3, mut e4) = (zero, zero, zero, zero);
            let (mut o1, mut o2, mut o3) = (zero, zero, zero);
            for k in 0..HALF {
                let older = Sixteen::read(samples, oldest + k);
                let newer = Sixteen::read(samples, oldest + TAPS - 1 - k);
                let (sum, difference) = (older + newer, older - newer);
                e1 = e1 + Sixteen::of(one.even[k]) * sum;
                e2 = e2 + Sixteen::of(two.even[k]) * sum;
                e3 = e3 + Sixteen::of(three.even[k]) * sum;
                e4 = e4 + Sixteen::of(middle.even[k]) * sum;
                o1 = o1 + Sixteen::of(one.odd[k]) * difference;
                o2 = o2 + Sixteen::of(two.odd[k]) * difference;
                o3 = o3 + Sixteen::of(three.odd[k]) * difference;
            }
            let mut largest = zero
                .raise(Sixteen::read(samples, oldest + HALF - 1))
                .raise(Sixteen::read(samples, oldest + HALF))
                .raise(e4);
            for (even, odd) in [(e1, o1), (e2, o2), (e3, o3)] {
                largest = largest.raise(even + odd).raise(even - odd);
            }
            let peaks = &mut peaks[first..first + LANES];
            for (peak, largest) in peaks.iter_mut().zip(largest.0) {
                *peak = peak.max(largest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest of the seven points behind the middle of 64 samples, by their definition.
    fn largest(samples: &[f64]) -> f64 {
        let point = |eighths| {
            let products = samples.iter().enumerate();
            products.map(|(k, x)| tap(eighths, k) * x).sum::<f64>()
        };
        (1..8)
            .map(|eighths| f64::abs(point(eighths)))
            .fold(0.0, f64::max)
    }

    fn peak(points: &Points, samples: &[f64]) -> f64 {
        let mut all = [0f32; TAPS + FRAMES];
        for (to, x) in all[1..].iter_mut().zip(samples) {
            *to = *x as f32;
        }
        let mut peaks = [0.0; FRAMES];
        points.raise(&all, &mut peaks, 1);
        f64::from(peaks[0])
    }

    #[test]
    fn no_point_is_above_its_bound_and_the_worst_samples_reach_it() {
        let points = Points::new();
        let mut highest = 0f64;
        for eighths in 1..8 {
            // Samples with the signs of the taps of a point are the worst ones for it.
            let worst: Vec<f64> = (0..TAPS).map(|k| tap(eighths, k).signum()).collect();
            let found = peak(&points, &worst);
            assert!((found - largest(&worst)).abs() < 1e-4, "{eighths}: {found}");
            assert!(found <= points.overshoot(), "{eighths}: {found}");
            highest = highest.max(found);
        }
        assert!(highest * 1.001 > points.overshoot(), "{highest}");
    }

    #[test]
    fn points_are_those_of_their_definition() {
        let points = Points::new();
        let mut seed = 1u32;
        for _ in 0..50 {
            let noise = std::array::from_fn::<f64, TAPS, _>(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(seed as i32) / 2_147_483_648.0
            });
            let around = noise[HALF - 1].abs().max(noise[HALF].abs());
            let wanted = largest(&noise).max(around);
            assert!((peak(&points, &noise) - wanted).abs() < 1e-5);
        }
    }
}
