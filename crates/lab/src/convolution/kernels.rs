//! The complex multiply-add in every layout and style, timed as in figure 5: one partition, as a share of its level's
//! period.

use divisi::fft::{Kernels, Packing};
use divisi::rt::stamp::{self, TickScale};
use std::hint::black_box;
use std::time::{Duration, Instant};
use studies::multiply_variants::{ComplexLayout, MultiplyVariant, multiply_add};

/// The paper's times of a partition of 32 frames, naive and with SIMD unrolled.
pub(super) const PAPER_US: (f64, f64) = (0.18, 0.075);

/// One implementation of the multiply-add.
#[derive(Clone, Copy)]
pub(super) struct MultiplyKernel {
    /// `None`: the kernel that convolvers use.
    style: Option<MultiplyVariant>,
    layout: ComplexLayout,
}

/// Every kernel that this machine can run.
pub(super) fn all() -> Vec<MultiplyKernel> {
    let styles = MultiplyVariant::available();
    let of_layout = |layout| {
        let styles = styles.iter().map(|style| Some(*style));
        styles.map(move |style| MultiplyKernel { style, layout })
    };
    let used = MultiplyKernel {
        style: None,
        layout: ComplexLayout::Blocked,
    };
    let compared = ComplexLayout::ALL.into_iter().flat_map(of_layout);
    compared.chain([used]).collect()
}

impl MultiplyKernel {
    /// Name of the style in tables.
    pub(super) fn name(self) -> String {
        match self.style {
            None => format!("used: {}", Kernels::best().name()),
            Some(MultiplyVariant::ComplexType) => "complex type".into(),
            Some(MultiplyVariant::Naive) => "naive".into(),
            Some(MultiplyVariant::NaiveUnrolled) => "naive by 4".into(),
            Some(MultiplyVariant::Simd(kernels)) => kernels.name().into(),
            Some(MultiplyVariant::SimdUnrolled(kernels)) => format!("{} by 4", kernels.name()),
        }
    }

    /// Name of the layout in tables.
    pub(super) fn layout(self) -> &'static str {
        match self.layout {
            ComplexLayout::Interleaved => "interleaved",
            ComplexLayout::Split => "split",
            ComplexLayout::Blocked => "blocked",
        }
    }

    /// Time of one partition of `size` bins: the median of the calls in `time`.
    pub(super) fn median_ns(self, size: usize, time: Duration) -> f64 {
        let (a, b) = (ramp(size, 0.25), ramp(size, -0.5));
        let mut sum = vec![0.0; 2 * size];
        let calls = (20_000 / size).clamp(1, 400);
        let scale = TickScale::calibrated();
        let mut rounds = Vec::new();
        let begun = Instant::now();
        while rounds.len() < 5 || (begun.elapsed() < time && rounds.len() < 10_000) {
            sum.fill(0.0);
            let from = stamp::now();
            for _ in 0..calls {
                self.multiply_add(black_box(&mut sum), black_box(&a), black_box(&b));
            }
            rounds.push(scale.between(from, stamp::now()).0 as f64 / calls as f64);
        }
        rounds.sort_by(f64::total_cmp);
        rounds[rounds.len() / 2]
    }

    #[inline]
    fn multiply_add(self, sum: &mut [f32], a: &[f32], b: &[f32]) {
        match self.style {
            Some(style) => multiply_add(style, self.layout, sum, a, b),
            None => Kernels::best().multiply_add(sum, a, b, Packing::Mono),
        }
    }
}

fn ramp(size: usize, step: f32) -> Vec<f32> {
    let step = |k| step + k as f32 / size as f32;
    (0..2 * size).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_multiplies_and_adds() {
        for kernel in all() {
            let (a, b) = (ramp(64, 0.25), ramp(64, -0.5));
            let mut sum = ramp(64, 1.0);
            let before = sum.clone();
            kernel.multiply_add(&mut sum, &a, &b);
            for k in 1..64 {
                let (re, im) = kernel.layout.position(k, 64);
                let [s, x, y, is] = [&before, &a, &b, &sum].map(|all| (all[re], all[im]));
                let wanted = (s.0 + x.0 * y.0 - x.1 * y.1, s.1 + x.0 * y.1 + x.1 * y.0);
                let off = (is.0 - wanted.0).abs() + (is.1 - wanted.1).abs();
                assert!(off < 1e-4, "{} {} {k}", kernel.name(), kernel.layout());
            }
        }
    }

    #[test]
    fn a_kernel_takes_some_time() {
        let all = all().into_iter();
        assert!(
            all.into_iter()
                .all(|kernel| kernel.median_ns(32, Duration::ZERO) > 0.0)
        );
    }
}
