//! The complex multiply-add in three memory layouts and five styles, as compared in figure 5 of Battenberg and
//! Avižienis, "Implementing Real-Time Partitioned Convolution Algorithms on Conventional Operating Systems" (DAFx 2011).
//!
//! ```text
//!  Interleaved  re0 im0 re1 im1 re2 im2 ...
//!  Split        re0 re1 re2 ...                    im0 im1 im2 ...
//!  Blocked      re0 ... re15 im0 ... im15 re16 ... re31 im16 ... im31 ...
//! ```
//!
//! All bins are complex here. The product uses [`Kernels::multiply_add_many`], on blocks, with several products at a time.

use fft::Kernels;
use fft::simd::{BLOCK, HALF, Kernel, Vector};
use num_complex::Complex32;

/// Memory layout of complex numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexLayout {
    /// Each real part before its imaginary part.
    Interleaved,
    /// All real parts, then all imaginary ones.
    Split,
    /// Sixteen real parts, then sixteen imaginary ones.
    Blocked,
}

/// A style of the multiply-add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiplyVariant {
    /// A complex type with operators, as in a library.
    ComplexType,
    /// Four products and their sums, written out.
    Naive,
    /// The same with four numbers per iteration.
    NaiveUnrolled,
    /// The vectors of a set of kernels, one per iteration.
    Simd(Kernels),
    /// The same with four vectors per iteration.
    SimdUnrolled(Kernels),
}

impl ComplexLayout {
    /// All layouts.
    pub const ALL: [Self; 3] = [Self::Interleaved, Self::Split, Self::Blocked];

    /// Positions of the real and the imaginary part of number `i` of `len`.
    pub fn position(self, i: usize, len: usize) -> (usize, usize) {
        match self {
            Self::Interleaved => (2 * i, 2 * i + 1),
            Self::Split => (i, len + i),
            Self::Blocked => {
                let at = i / HALF * BLOCK + i % HALF;
                (at, at + HALF)
            }
        }
    }
}

impl MultiplyVariant {
    /// Every variant that this machine can run.
    pub fn available() -> Vec<Self> {
        let mut all = vec![Self::ComplexType, Self::Naive, Self::NaiveUnrolled];
        all.extend(Kernels::available().flat_map(|k| [Self::Simd(k), Self::SimdUnrolled(k)]));
        all
    }
}

/// `sum += a * b`. All have the same length, a whole number of 32 floats (16 numbers); a remainder is left unchanged.
///
/// Real-time: hot.
pub fn multiply_add(
    variant: MultiplyVariant,
    layout: ComplexLayout,
    sum: &mut [f32],
    a: &[f32],
    b: &[f32],
) {
    let len = sum.len().min(a.len()).min(b.len()) / BLOCK * BLOCK;
    let (sum, a, b) = (&mut sum[..len], &a[..len], &b[..len]);
    let is_unrolled = matches!(variant, MultiplyVariant::SimdUnrolled(_));
    match (variant, layout) {
        (MultiplyVariant::Simd(kernels) | MultiplyVariant::SimdUnrolled(kernels), layout) => {
            kernels.run(Vectors {
                layout,
                sum,
                a,
                b,
                is_unrolled,
            });
        }
        (MultiplyVariant::ComplexType, ComplexLayout::Interleaved) => typed(sum, a, b),
        (MultiplyVariant::Naive, ComplexLayout::Interleaved) => pairs::<1>(sum, a, b),
        (MultiplyVariant::NaiveUnrolled, ComplexLayout::Interleaved) => pairs::<4>(sum, a, b),
        (variant, ComplexLayout::Split) => halves(variant, (len / 2).max(1), sum, a, b),
        (variant, ComplexLayout::Blocked) => halves(variant, HALF, sum, a, b),
    }
}

/// The product of two numbers added to a third, as a library's type does it.
#[inline]
fn add_product([sr, si]: [f32; 2], [ar, ai]: [f32; 2], [br, bi]: [f32; 2]) -> [f32; 2] {
    let mut sum = Complex32::new(sr, si);
    sum += Complex32::new(ar, ai) * Complex32::new(br, bi);
    [sum.re, sum.im]
}

fn typed(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let factors = a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0);
    for (sum, (a, b)) in sum.as_chunks_mut::<2>().0.iter_mut().zip(factors) {
        *sum = add_product(*sum, *a, *b);
    }
}

/// Written out, `N` numbers per iteration, interleaved.
fn pairs<const N: usize>(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let groups = sum.chunks_exact_mut(2 * N);
    for (sum, (a, b)) in groups.zip(a.chunks_exact(2 * N).zip(b.chunks_exact(2 * N))) {
        for i in 0..N {
            let (re, im) = (2 * i, 2 * i + 1);
            sum[re] += a[re] * b[re] - a[im] * b[im];
            sum[im] += a[re] * b[im] + a[im] * b[re];
        }
    }
}

/// Real and imaginary parts in turn, `half` of each.
#[inline(always)]
fn halves(variant: MultiplyVariant, half: usize, sum: &mut [f32], a: &[f32], b: &[f32]) {
    let factors = a.chunks_exact(2 * half).zip(b.chunks_exact(2 * half));
    for (sum, (a, b)) in sum.chunks_exact_mut(2 * half).zip(factors) {
        let ((re, im), a, b) = (sum.split_at_mut(half), a.split_at(half), b.split_at(half));
        match variant {
            MultiplyVariant::Naive => arrays::<1>([re, im], a, b),
            MultiplyVariant::NaiveUnrolled => arrays::<4>([re, im], a, b),
            _ => {
                let factors = a.0.iter().zip(a.1).zip(b.0.iter().zip(b.1));
                for ((re, im), ((&ar, &ai), (&br, &bi))) in re.iter_mut().zip(im).zip(factors) {
                    [*re, *im] = add_product([*re, *im], [ar, ai], [br, bi]);
                }
            }
        }
    }
}

/// Written out, `N` numbers per iteration, in separate arrays.
fn arrays<const N: usize>([re, im]: [&mut [f32]; 2], a: (&[f32], &[f32]), b: (&[f32], &[f32])) {
    let a = a.0.chunks_exact(N).zip(a.1.chunks_exact(N));
    let factors = a.zip(b.0.chunks_exact(N).zip(b.1.chunks_exact(N)));
    let groups = re.chunks_exact_mut(N).zip(im.chunks_exact_mut(N));
    for ((re, im), ((ar, ai), (br, bi))) in groups.zip(factors) {
        for i in 0..N {
            re[i] += ar[i] * br[i] - ai[i] * bi[i];
            im[i] += ar[i] * bi[i] + ai[i] * br[i];
        }
    }
}

/// Every layout with vectors. The slices have one length, a whole number of blocks.
struct Vectors<'a> {
    layout: ComplexLayout,
    sum: &'a mut [f32],
    a: &'a [f32],
    b: &'a [f32],
    is_unrolled: bool,
}

/// Steps from 0 to `len`, one in each iteration or four. (A closure would not have the machine's instructions.)
macro_rules! steps {
    ($len:expr, $step:expr, $is_unrolled:expr, |$at:ident| $add:expr) => {{
        let (len, step, mut next) = ($len, $step, 0);
        while $is_unrolled && next + 4 * step <= len {
            let $at = next;
            $add;
            let $at = next + step;
            $add;
            let $at = next + 2 * step;
            $add;
            let $at = next + 3 * step;
            $add;
            next += 4 * step;
        }
        while next < len {
            let $at = next;
            $add;
            next += step;
        }
    }};
}

impl Kernel for Vectors<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let len = self.sum.len().min(self.a.len()).min(self.b.len()) / BLOCK * BLOCK;
        let (sum, a, b) = (self.sum.as_mut_ptr(), self.a.as_ptr(), self.b.as_ptr());
        let (half, is_unrolled) = (len / 2, self.is_unrolled);
        // SAFETY: the machine has `V`. A step and what it reads are below `len`, which every slice has and which is a whole
        // number of blocks, so of vectors and of pairs of them too.
        unsafe {
            match self.layout {
                ComplexLayout::Interleaved => {
                    steps!(len, 2 * V::LANES, is_unrolled, |at| add_pairs::<V>(
                        sum, a, b, at
                    ));
                }
                ComplexLayout::Split => {
                    steps!(half, V::LANES, is_unrolled, |at| add_parts::<V>(
                        sum, a, b, at, half
                    ));
                }
                ComplexLayout::Blocked => steps!(len, BLOCK, is_unrolled, |at| {
                    let mut lane = at;
                    while lane < at + HALF {
                        add_parts::<V>(sum, a, b, lane, HALF);
                        lane += V::LANES;
                    }
                }),
            }
        }
    }
}

/// One vector of real parts from `at` on, and of the imaginary parts `half` floats behind them.
///
/// # Safety
/// The machine has `V`; the vectors exist.
#[inline(always)]
unsafe fn add_parts<V: Vector>(
    sum: *mut f32,
    a: *const f32,
    b: *const f32,
    at: usize,
    half: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (ar, ai) = (V::load(a.add(at)), V::load(a.add(at + half)));
        let (br, bi) = (V::load(b.add(at)), V::load(b.add(at + half)));
        let re = ai.fnma(bi, ar.fma(br, V::load(sum.add(at))));
        let im = ai.fma(br, ar.fma(bi, V::load(sum.add(at + half))));
        re.store(sum.add(at));
        im.store(sum.add(at + half));
    }
}

/// Two vectors of pairs from `i` on.
///
/// # Safety
/// The machine has `V`; the vectors exist.
#[inline(always)]
unsafe fn add_pairs<V: Vector>(sum: *mut f32, a: *const f32, b: *const f32, i: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let (ar, ai) = V::load(a.add(i)).unzip(V::load(a.add(i + V::LANES)));
        let (br, bi) = V::load(b.add(i)).unzip(V::load(b.add(i + V::LANES)));
        let (re, im) = V::load(sum.add(i)).unzip(V::load(sum.add(i + V::LANES)));
        let re = ai.fnma(bi, ar.fma(br, re));
        let im = ai.fma(br, ar.fma(bi, im));
        let (low, high) = re.zip(im);
        low.store(sum.add(i));
        high.store(sum.add(i + V::LANES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: usize, len: usize) -> Vec<f32> {
        let number = |i| ((i * 31 + seed * 17) % 257) as f32 / 128.0 - 1.0;
        (0..len).map(number).collect()
    }

    #[test]
    fn every_variant_gives_the_same_sums_in_every_layout() {
        let numbers = 208;
        let [start, a, b] = [1, 2, 3].map(|seed| noise(seed, 2 * numbers));
        for variant in MultiplyVariant::available() {
            for layout in ComplexLayout::ALL {
                let mut sum = start.clone();
                multiply_add(variant, layout, &mut sum, &a, &b);
                for i in 0..numbers {
                    let (re, im) = layout.position(i, numbers);
                    let of = |v: &[f32]| (f64::from(v[re]), f64::from(v[im]));
                    let ((ar, ai), (br, bi), (sr, si)) = (of(&a), of(&b), of(&start));
                    let want = (sr + ar * br - ai * bi, si + ar * bi + ai * br);
                    let (r, i) = of(&sum);
                    let near = (r - want.0).abs() < 1e-6 && (i - want.1).abs() < 1e-6;
                    assert!(near, "{variant:?} {layout:?}");
                }
            }
        }
    }
}
