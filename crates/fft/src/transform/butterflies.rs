//! Butterflies of radix 4 and 8: the smallest parts of a transform, on four or eight blocks at a time.
//!
//! A *leaf* is a transform of four or eight blocks without factors. A *join* is the decimation-in-time step of Cooley and
//! Tukey ("An Algorithm for the Machine Calculation of Complex Fourier Series", Math. Comp. 19, 1965) for radix r: with
//! w = exp(-2πi · place / (r · size)),
//!
//! X[place + k · size] = Σ_j x_j[place] · w^j · exp(-2πi · j · k / r), j, k = 0 .. r.
//!
//! It is done as two or three layers of radix-2 butterflies, which need w, w² and w⁴ only:
//!
//! ```text
//!  radix 4            x0 ─┬─ w² ─ e0 ─┬─ w ── y0, y2
//!                     x2 ─┘       e1 ─│─┬
//!                     x1 ─┬─ w² ─ o0 ─┘ │
//!                     x3 ─┘       o1 ───┴─ -iw ─ y1, y3
//! ```
//!
//! The order of operations is fixed by these functions, so the bits of a transform follow from the set of kernels.

use crate::simd::{BLOCK, Complex, HALF, Vector, form::BLOCKED};
use std::ops::Range;

/// Floats of factors that one place of a join of radix `radix` needs.
pub(crate) const fn factor_floats(radix: usize) -> usize {
    match radix {
        4 => 4,
        _ => 8,
    }
}

/// The blocks that a butterfly reads: `step` floats apart.
#[derive(Clone, Copy)]
pub(crate) struct BlockSource {
    pub(crate) at: *const f32,
    pub(crate) step: usize,
}

/// The blocks that a butterfly writes: `step` floats apart.
#[derive(Clone, Copy)]
pub(crate) struct BlockTarget {
    pub(crate) at: *mut f32,
    pub(crate) step: usize,
}

impl BlockSource {
    #[inline(always)]
    pub(crate) const fn new(at: *const f32, step: usize) -> Self {
        Self { at, step }
    }

    /// # Safety
    /// The machine has `V`; block `i` is valid to read.
    #[inline(always)]
    unsafe fn load<V: Vector, const FORM: u8>(self, i: usize, lane: usize) -> Complex<V> {
        // SAFETY: the caller's promise.
        unsafe { Complex::load::<FORM>(self.at.add(i * self.step), lane) }
    }
}

impl BlockTarget {
    #[inline(always)]
    pub(crate) const fn new(at: *mut f32, step: usize) -> Self {
        Self { at, step }
    }

    /// # Safety
    /// As for [`BlockSource::load`], valid to write.
    #[inline(always)]
    unsafe fn store<V: Vector, const FORM: u8>(self, i: usize, lane: usize, value: Complex<V>) {
        // SAFETY: the caller's promise.
        unsafe { value.store::<FORM>(self.at.add(i * self.step), lane) }
    }
}

/// A transform of four blocks.
///
/// # Safety
/// The machine has `V`; four blocks are valid to read and to write.
#[inline(always)]
pub(crate) unsafe fn leaf_4<V: Vector, const IN: u8>(from: BlockSource, to: BlockTarget) {
    let mut lane = 0;
    while lane < HALF {
        // SAFETY: the caller's promise.
        unsafe {
            let x = |i| from.load::<V, IN>(i, lane);
            let (x0, x1, x2, x3) = (x(0), x(1), x(2), x(3));
            let (a, b) = (x0 + x2, x0 - x2);
            let (c, d) = (x1 + x3, x1 - x3);
            to.store::<V, BLOCKED>(0, lane, a + c);
            to.store::<V, BLOCKED>(1, lane, b.sub_i(d));
            to.store::<V, BLOCKED>(2, lane, a - c);
            to.store::<V, BLOCKED>(3, lane, b.add_i(d));
        }
        lane += V::LANES;
    }
}

/// A transform of eight blocks.
///
/// # Safety
/// The machine has `V`; eight blocks are valid to read and to write.
#[inline(always)]
pub(crate) unsafe fn leaf_8<V: Vector, const IN: u8>(from: BlockSource, to: BlockTarget) {
    let mut lane = 0;
    while lane < HALF {
        // SAFETY: the caller's promise.
        unsafe {
            let root = V::splat(std::f32::consts::FRAC_1_SQRT_2);
            let x = |i| from.load::<V, IN>(i, lane);
            let (x0, x4, x2, x6) = (x(0), x(4), x(2), x(6));
            let (a0, b0) = (x0 + x4, x0 - x4);
            let (a2, b2) = (x2 + x6, x2 - x6);
            let (x1, x5, x3, x7) = (x(1), x(5), x(3), x(7));
            let (a1, b1) = (x1 + x5, x1 - x5);
            let (a3, b3) = (x3 + x7, x3 - x7);

            let (s0, s1) = (a0 + a2, a0 - a2);
            let (s2, s3) = (a1 + a3, a1 - a3);
            to.store::<V, BLOCKED>(0, lane, s0 + s2);
            to.store::<V, BLOCKED>(2, lane, s1.sub_i(s3));
            to.store::<V, BLOCKED>(4, lane, s0 - s2);
            to.store::<V, BLOCKED>(6, lane, s1.add_i(s3));

            let (c0, c1) = (b0.sub_i(b2), b0.add_i(b2));
            let (p, q) = (b1 + b3, b1 - b3);
            let (u, v) = (q.sub_i(p), p.sub_i(q));
            let plus = |c: Complex<V>, re, im| Complex::new(root.fma(re, c.re), root.fma(im, c.im));
            let minus =
                |c: Complex<V>, re, im| Complex::new(root.fnma(re, c.re), root.fnma(im, c.im));
            to.store::<V, BLOCKED>(1, lane, plus(c0, u.re, u.im));
            to.store::<V, BLOCKED>(5, lane, minus(c0, u.re, u.im));
            let minus_i = |c: Complex<V>| Complex::new(root.fma(v.im, c.re), root.fnma(v.re, c.im));
            let plus_i = |c: Complex<V>| Complex::new(root.fnma(v.im, c.re), root.fma(v.re, c.im));
            to.store::<V, BLOCKED>(3, lane, minus_i(c1));
            to.store::<V, BLOCKED>(7, lane, plus_i(c1));
        }
        lane += V::LANES;
    }
}

/// Joins four transforms of `size` blocks into one of `4 * size`: the four blocks at `place`, of 0 .. `size`. `table`
/// has four floats for each place: its factors w and w².
///
/// # Safety
/// The machine has `V`; `at` is valid to read for `4 * size` blocks and `to` to write, or they are the same.
#[inline(always)]
pub(crate) unsafe fn join_4<V: Vector, const OUT: u8>(
    at: *const f32,
    size: usize,
    table: *const f32,
    place: usize,
    to: BlockTarget,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let two = V::splat(2.0);
        let w1 = Complex::<V>::splat(table.add(4 * place));
        let w2 = Complex::<V>::splat(table.add(4 * place + 2));
        let from = BlockSource::new(at.add(place * BLOCK), size * BLOCK);
        let to = BlockTarget::new(to.at.add(place * to.step), size * to.step);
        let mut lane = 0;
        while lane < HALF {
            let x = |i| from.load::<V, BLOCKED>(i, lane);
            let (e0, e1) = x(0).butterfly(x(2), w2, two);
            let (o0, o1) = x(1).butterfly(x(3), w2, two);
            let (y0, y2) = e0.butterfly(o0, w1, two);
            let (y1, y3) = e1.butterfly_i(o1, w1, two);
            to.store::<V, OUT>(0, lane, y0);
            to.store::<V, OUT>(1, lane, y1);
            to.store::<V, OUT>(2, lane, y2);
            to.store::<V, OUT>(3, lane, y3);
            lane += V::LANES;
        }
    }
}

/// Joins eight transforms of `size` blocks into one of `8 * size`: the eight blocks at `place`. `table` has eight floats
/// for each place: w, w · exp(-2πi / 8), w² and w⁴.
///
/// # Safety
/// As for [`join_4`], with eight times as many blocks.
#[inline(always)]
pub(crate) unsafe fn join_8<V: Vector, const OUT: u8>(
    at: *const f32,
    size: usize,
    table: *const f32,
    place: usize,
    to: BlockTarget,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let two = V::splat(2.0);
        let w1 = Complex::<V>::splat(table.add(8 * place));
        let w1_eighth = Complex::<V>::splat(table.add(8 * place + 2));
        let w2 = Complex::<V>::splat(table.add(8 * place + 4));
        let w4 = Complex::<V>::splat(table.add(8 * place + 6));
        let from = BlockSource::new(at.add(place * BLOCK), size * BLOCK);
        let to = BlockTarget::new(to.at.add(place * to.step), size * to.step);
        let mut lane = 0;
        while lane < HALF {
            let x = |i| from.load::<V, BLOCKED>(i, lane);
            let (e0, e1) = x(0).butterfly(x(4), w4, two);
            let (o0, o1) = x(2).butterfly(x(6), w4, two);
            let (a0, a2) = e0.butterfly(o0, w2, two);
            let (a1, a3) = e1.butterfly_i(o1, w2, two);
            let (e0, e1) = x(1).butterfly(x(5), w4, two);
            let (o0, o1) = x(3).butterfly(x(7), w4, two);
            let (b0, b2) = e0.butterfly(o0, w2, two);
            let (b1, b3) = e1.butterfly_i(o1, w2, two);
            let (y0, y4) = a0.butterfly(b0, w1, two);
            let (y1, y5) = a1.butterfly(b1, w1_eighth, two);
            let (y2, y6) = a2.butterfly_i(b2, w1, two);
            let (y3, y7) = a3.butterfly_i(b3, w1_eighth, two);
            to.store::<V, OUT>(0, lane, y0);
            to.store::<V, OUT>(1, lane, y1);
            to.store::<V, OUT>(2, lane, y2);
            to.store::<V, OUT>(3, lane, y3);
            to.store::<V, OUT>(4, lane, y4);
            to.store::<V, OUT>(5, lane, y5);
            to.store::<V, OUT>(6, lane, y6);
            to.store::<V, OUT>(7, lane, y7);
            lane += V::LANES;
        }
    }
}

/// Joins four or eight transforms at some places.
///
/// # Safety
/// As for [`join_4`] and [`join_8`]; the places are less than `size`.
#[inline(always)]
pub(crate) unsafe fn join<V: Vector, const OUT: u8>(
    radix: usize,
    at: *const f32,
    size: usize,
    table: *const f32,
    places: Range<usize>,
    to: BlockTarget,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if radix == 4 {
            for place in places {
                join_4::<V, OUT>(at, size, table, place, to);
            }
        } else {
            for place in places {
                join_8::<V, OUT>(at, size, table, place, to);
            }
        }
    }
}
