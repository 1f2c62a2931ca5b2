//! The complex multiply-add in three memory layouts and five ways of writing it, as compared in figure 5 of Battenberg and
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
use std::ops::{Add, AddAssign, Mul};

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

/// A way of writing the multiply-add.
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
    match (variant, layout) {
        (MultiplyVariant::ComplexType, ComplexLayout::Interleaved) => typed(sum, a, b),
        (MultiplyVariant::Naive, ComplexLayout::Interleaved) => pairs::<1>(sum, a, b),
        (MultiplyVariant::NaiveUnrolled, ComplexLayout::Interleaved) => pairs::<4>(sum, a, b),
        (MultiplyVariant::Simd(kernels), ComplexLayout::Interleaved) => {
            kernels.run(Pairs {
                sum,
                a,
                b,
                is_unrolled: false,
            });
        }
        (MultiplyVariant::SimdUnrolled(kernels), ComplexLayout::Interleaved) => {
            kernels.run(Pairs {
                sum,
                a,
                b,
                is_unrolled: true,
            });
        }
        (variant, ComplexLayout::Split) => {
            let half = len / 2;
            let (re, im) = sum.split_at_mut(half);
            parts(
                variant,
                [re, im],
                [&a[..half], &a[half..]],
                [&b[..half], &b[half..]],
            );
        }
        (
            MultiplyVariant::Simd(kernels) | MultiplyVariant::SimdUnrolled(kernels),
            ComplexLayout::Blocked,
        ) => {
            let is_unrolled = matches!(variant, MultiplyVariant::SimdUnrolled(_));
            kernels.run(Blocks {
                sum,
                a,
                b,
                is_unrolled,
            });
        }
        (variant, ComplexLayout::Blocked) => {
            let blocks = sum.as_chunks_mut::<BLOCK>().0.iter_mut();
            let factors = a
                .as_chunks::<BLOCK>()
                .0
                .iter()
                .zip(b.as_chunks::<BLOCK>().0);
            for (sum, (a, b)) in blocks.zip(factors) {
                let (re, im) = sum.split_at_mut(HALF);
                parts(
                    variant,
                    [re, im],
                    [&a[..HALF], &a[HALF..]],
                    [&b[..HALF], &b[HALF..]],
                );
            }
        }
    }
}

/// A complex number as in a library.
#[derive(Clone, Copy)]
#[repr(C)]
struct Number {
    re: f32,
    im: f32,
}

impl From<[f32; 2]> for Number {
    #[inline]
    fn from([re, im]: [f32; 2]) -> Self {
        Self { re, im }
    }
}

impl Mul for Number {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

impl Add for Number {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl AddAssign for Number {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

fn typed(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let factors = a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0);
    for (sum, (a, b)) in sum.as_chunks_mut::<2>().0.iter_mut().zip(factors) {
        let mut number = Number::from(*sum);
        number += Number::from(*a) * Number::from(*b);
        *sum = [number.re, number.im];
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

/// Real and imaginary parts in separate arrays.
fn parts(variant: MultiplyVariant, sum: [&mut [f32]; 2], a: [&[f32]; 2], b: [&[f32]; 2]) {
    match variant {
        MultiplyVariant::ComplexType => {
            let [re, im] = sum;
            let a = a[0].iter().zip(a[1]);
            let factors = a.zip(b[0].iter().zip(b[1]));
            for ((re, im), ((&ar, &ai), (&br, &bi))) in re.iter_mut().zip(im).zip(factors) {
                let mut number = Number::from([*re, *im]);
                number += Number::from([ar, ai]) * Number::from([br, bi]);
                (*re, *im) = (number.re, number.im);
            }
        }
        MultiplyVariant::Naive => arrays::<1>(sum, a, b),
        MultiplyVariant::NaiveUnrolled => arrays::<4>(sum, a, b),
        MultiplyVariant::Simd(kernels) => kernels.run(Arrays {
            sum,
            a,
            b,
            is_unrolled: false,
        }),
        MultiplyVariant::SimdUnrolled(kernels) => kernels.run(Arrays {
            sum,
            a,
            b,
            is_unrolled: true,
        }),
    }
}

/// Written out, `N` numbers per iteration, in separate arrays.
fn arrays<const N: usize>([re, im]: [&mut [f32]; 2], a: [&[f32]; 2], b: [&[f32]; 2]) {
    let a = a[0].chunks_exact(N).zip(a[1].chunks_exact(N));
    let factors = a.zip(b[0].chunks_exact(N).zip(b[1].chunks_exact(N)));
    let groups = re.chunks_exact_mut(N).zip(im.chunks_exact_mut(N));
    for ((re, im), ((ar, ai), (br, bi))) in groups.zip(factors) {
        for i in 0..N {
            re[i] += ar[i] * br[i] - ai[i] * bi[i];
            im[i] += ar[i] * bi[i] + ai[i] * br[i];
        }
    }
}

/// One vector of parts.
///
/// # Safety
/// The machine has `V`; all pointers are valid for its lanes.
#[inline(always)]
unsafe fn add_parts<V: Vector>(sum: [*mut f32; 2], a: [*const f32; 2], b: [*const f32; 2]) {
    // SAFETY: the caller's promise.
    unsafe {
        let (ar, ai, br, bi) = (V::load(a[0]), V::load(a[1]), V::load(b[0]), V::load(b[1]));
        let re = ai.fnma(bi, ar.fma(br, V::load(sum[0])));
        let im = ai.fma(br, ar.fma(bi, V::load(sum[1])));
        re.store(sum[0]);
        im.store(sum[1]);
    }
}

/// Arrays with vectors; all have one length.
struct Arrays<'a> {
    sum: [&'a mut [f32]; 2],
    a: [&'a [f32]; 2],
    b: [&'a [f32]; 2],
    is_unrolled: bool,
}

impl Kernel for Arrays<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let [re, im] = self.sum;
        let lens = [
            im.len(),
            self.a[0].len(),
            self.a[1].len(),
            self.b[0].len(),
            self.b[1].len(),
        ];
        let len = lens.into_iter().fold(re.len(), usize::min) / V::LANES * V::LANES;
        let (re, im) = (re.as_mut_ptr(), im.as_mut_ptr());
        let (a, b) = (self.a.map(<[f32]>::as_ptr), self.b.map(<[f32]>::as_ptr));
        let mut i = 0;
        // SAFETY: `i` and the lanes after it are less than `len`, and every slice has as many floats.
        unsafe {
            while self.is_unrolled && i + 4 * V::LANES <= len {
                add_arrays::<V>([re, im], a, b, i);
                add_arrays::<V>([re, im], a, b, i + V::LANES);
                add_arrays::<V>([re, im], a, b, i + 2 * V::LANES);
                add_arrays::<V>([re, im], a, b, i + 3 * V::LANES);
                i += 4 * V::LANES;
            }
            while i < len {
                add_arrays::<V>([re, im], a, b, i);
                i += V::LANES;
            }
        }
    }
}

/// One vector of parts, `i` floats after the beginning of each array.
///
/// # Safety
/// As for [`add_parts`], there.
#[inline(always)]
unsafe fn add_arrays<V: Vector>(
    sum: [*mut f32; 2],
    a: [*const f32; 2],
    b: [*const f32; 2],
    i: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let sum = [sum[0].add(i), sum[1].add(i)];
        let (a, b) = ([a[0].add(i), a[1].add(i)], [b[0].add(i), b[1].add(i)]);
        add_parts::<V>(sum, a, b);
    }
}

/// Blocks with vectors; all have one length, a whole number of blocks.
struct Blocks<'a> {
    sum: &'a mut [f32],
    a: &'a [f32],
    b: &'a [f32],
    is_unrolled: bool,
}

impl Kernel for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let len = self.sum.len().min(self.a.len()).min(self.b.len()) / BLOCK * BLOCK;
        let (sum, a, b) = (self.sum.as_mut_ptr(), self.a.as_ptr(), self.b.as_ptr());
        let mut at = 0;
        // SAFETY: blocks begin at multiples of their length below `len`, which every slice has.
        unsafe {
            while self.is_unrolled && at + 4 * BLOCK <= len {
                add_block::<V>(sum, a, b, at);
                add_block::<V>(sum, a, b, at + BLOCK);
                add_block::<V>(sum, a, b, at + 2 * BLOCK);
                add_block::<V>(sum, a, b, at + 3 * BLOCK);
                at += 4 * BLOCK;
            }
            while at < len {
                add_block::<V>(sum, a, b, at);
                at += BLOCK;
            }
        }
    }
}

/// Adds the block that is `at` floats after each beginning.
///
/// # Safety
/// The machine has `V`; the block exists.
#[inline(always)]
unsafe fn add_block<V: Vector>(sum: *mut f32, a: *const f32, b: *const f32, at: usize) {
    let mut lane = at;
    while lane < at + HALF {
        // SAFETY: the caller's promise; imaginary parts come `HALF` after the real ones.
        unsafe {
            add_arrays::<V>(
                [sum, sum.add(HALF)],
                [a, a.add(HALF)],
                [b, b.add(HALF)],
                lane,
            );
        }
        lane += V::LANES;
    }
}

/// Pairs with vectors; all have one length, a whole number of 32 floats.
struct Pairs<'a> {
    sum: &'a mut [f32],
    a: &'a [f32],
    b: &'a [f32],
    is_unrolled: bool,
}

impl Kernel for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let step = 2 * V::LANES;
        let len = self.sum.len().min(self.a.len()).min(self.b.len()) / step * step;
        let (sum, a, b) = (self.sum.as_mut_ptr(), self.a.as_ptr(), self.b.as_ptr());
        let mut i = 0;
        // SAFETY: `i` and the two vectors from it on are below `len`, which every slice has; the machine has `V`.
        unsafe {
            while self.is_unrolled && i + 4 * step <= len {
                add_pairs::<V>(sum, a, b, i);
                add_pairs::<V>(sum, a, b, i + step);
                add_pairs::<V>(sum, a, b, i + 2 * step);
                add_pairs::<V>(sum, a, b, i + 3 * step);
                i += 4 * step;
            }
            while i < len {
                add_pairs::<V>(sum, a, b, i);
                i += step;
            }
        }
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
        (0..len)
            .map(|i| ((i * 31 + seed * 17) % 257) as f32 / 128.0 - 1.0)
            .collect()
    }

    #[test]
    fn every_variant_gives_the_same_sums_in_every_layout() {
        let numbers = 208;
        let (start, a, b) = (
            noise(1, 2 * numbers),
            noise(2, 2 * numbers),
            noise(3, 2 * numbers),
        );
        let mut variants = vec![
            MultiplyVariant::ComplexType,
            MultiplyVariant::Naive,
            MultiplyVariant::NaiveUnrolled,
        ];
        variants.extend(
            Kernels::available()
                .flat_map(|k| [MultiplyVariant::Simd(k), MultiplyVariant::SimdUnrolled(k)]),
        );
        for variant in variants {
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
