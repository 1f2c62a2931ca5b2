//! The smallest parts of a transform: four or eight blocks at a time, whatever their lanes are.

use crate::simd::{BLOCK, Complex, form::BLOCKED};
use crate::simd::{HALF, Vector};
use std::ops::Range;

/// How many floats of factors a place in a pass of `radix` needs.
pub(crate) const fn factors(radix: usize) -> usize {
    match radix {
        4 => 4,
        _ => 8,
    }
}

/// Where the blocks of one butterfly lie: `step` floats apart.
#[derive(Clone, Copy)]
pub(crate) struct From {
    pub(crate) at: *const f32,
    pub(crate) step: usize,
}

/// Where the results of one butterfly go: `step` floats apart.
#[derive(Clone, Copy)]
pub(crate) struct To {
    pub(crate) at: *mut f32,
    pub(crate) step: usize,
}

impl From {
    /// # Safety
    /// The machine has `V`; block `i` is good to read.
    #[inline(always)]
    unsafe fn get<V: Vector, const FORM: u8>(self, i: usize, lane: usize) -> Complex<V> {
        // SAFETY: the caller's promise.
        unsafe { Complex::load::<FORM>(self.at.add(i * self.step), lane) }
    }
}

impl To {
    /// # Safety
    /// As for `get`, good to write.
    #[inline(always)]
    unsafe fn put<V: Vector, const FORM: u8>(self, i: usize, lane: usize, value: Complex<V>) {
        // SAFETY: the caller's promise.
        unsafe { value.store::<FORM>(self.at.add(i * self.step), lane) }
    }
}

/// A transform of four blocks.
///
/// # Safety
/// The machine has `V`; four blocks are good to read and to write.
#[inline(always)]
pub(crate) unsafe fn leaf_4<V: Vector, const IN: u8>(from: From, to: To) {
    let mut lane = 0;
    while lane < HALF {
        // SAFETY: the caller's promise.
        unsafe {
            let x = |i| from.get::<V, IN>(i, lane);
            let (x0, x1, x2, x3) = (x(0), x(1), x(2), x(3));
            let (a, b) = (x0.add(x2), x0.sub(x2));
            let (c, d) = (x1.add(x3), x1.sub(x3));
            to.put::<V, BLOCKED>(0, lane, a.add(c));
            to.put::<V, BLOCKED>(1, lane, b.sub_i(d));
            to.put::<V, BLOCKED>(2, lane, a.sub(c));
            to.put::<V, BLOCKED>(3, lane, b.add_i(d));
        }
        lane += V::LANES;
    }
}

/// A transform of eight blocks.
///
/// # Safety
/// The machine has `V`; eight blocks are good to read and to write.
#[inline(always)]
pub(crate) unsafe fn leaf_8<V: Vector, const IN: u8>(from: From, to: To) {
    let mut lane = 0;
    while lane < HALF {
        // SAFETY: the caller's promise.
        unsafe {
            let root = V::splat(std::f32::consts::FRAC_1_SQRT_2);
            let x = |i| from.get::<V, IN>(i, lane);
            let (x0, x4, x2, x6) = (x(0), x(4), x(2), x(6));
            let (a0, b0) = (x0.add(x4), x0.sub(x4));
            let (a2, b2) = (x2.add(x6), x2.sub(x6));
            let (x1, x5, x3, x7) = (x(1), x(5), x(3), x(7));
            let (a1, b1) = (x1.add(x5), x1.sub(x5));
            let (a3, b3) = (x3.add(x7), x3.sub(x7));

            let (s0, s1) = (a0.add(a2), a0.sub(a2));
            let (s2, s3) = (a1.add(a3), a1.sub(a3));
            to.put::<V, BLOCKED>(0, lane, s0.add(s2));
            to.put::<V, BLOCKED>(2, lane, s1.sub_i(s3));
            to.put::<V, BLOCKED>(4, lane, s0.sub(s2));
            to.put::<V, BLOCKED>(6, lane, s1.add_i(s3));

            let (c0, c1) = (b0.sub_i(b2), b0.add_i(b2));
            let (p, q) = (b1.add(b3), b1.sub(b3));
            let (u, v) = (q.sub_i(p), p.sub_i(q));
            let plus = |c: Complex<V>, re, im| Complex {
                re: root.fma(re, c.re),
                im: root.fma(im, c.im),
            };
            let minus = |c: Complex<V>, re, im| Complex {
                re: root.fnma(re, c.re),
                im: root.fnma(im, c.im),
            };
            to.put::<V, BLOCKED>(1, lane, plus(c0, u.re, u.im));
            to.put::<V, BLOCKED>(5, lane, minus(c0, u.re, u.im));
            let turned = |c: Complex<V>| Complex {
                re: root.fma(v.im, c.re),
                im: root.fnma(v.re, c.im),
            };
            let back = |c: Complex<V>| Complex {
                re: root.fnma(v.im, c.re),
                im: root.fma(v.re, c.im),
            };
            to.put::<V, BLOCKED>(3, lane, turned(c1));
            to.put::<V, BLOCKED>(7, lane, back(c1));
        }
        lane += V::LANES;
    }
}

/// Four transforms of `size` blocks become one of four times as many: the four blocks at `place`, of 0 .. `size`.
/// `table` has four floats for each place: its factors w and w².
///
/// # Safety
/// The machine has `V`; `at` is good to read for `4 * size` blocks and `to` to write, or they are the same.
#[inline(always)]
pub(crate) unsafe fn join_4<V: Vector, const OUT: u8>(
    at: *const f32,
    size: usize,
    table: *const f32,
    place: usize,
    to: To,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let two = V::splat(2.0);
        let w1 = Complex::<V>::splat(table.add(4 * place));
        let w2 = Complex::<V>::splat(table.add(4 * place + 2));
        let from = From {
            at: at.add(place * BLOCK),
            step: size * BLOCK,
        };
        let to = To {
            at: to.at.add(place * to.step),
            step: size * to.step,
        };
        let mut lane = 0;
        while lane < HALF {
            let x = |i| from.get::<V, BLOCKED>(i, lane);
            let (e0, e1) = x(0).butterfly(x(2), w2, two);
            let (o0, o1) = x(1).butterfly(x(3), w2, two);
            let (y0, y2) = e0.butterfly(o0, w1, two);
            let (y1, y3) = e1.butterfly_i(o1, w1, two);
            to.put::<V, OUT>(0, lane, y0);
            to.put::<V, OUT>(1, lane, y1);
            to.put::<V, OUT>(2, lane, y2);
            to.put::<V, OUT>(3, lane, y3);
            lane += V::LANES;
        }
    }
}

/// Eight transforms of `size` blocks become one of eight times as many: the eight blocks at `place`. `table` has eight
/// floats for each place: w, w turned by an eighth, w² and w⁴.
///
/// # Safety
/// As for [`join_4`], with eight times as many blocks.
#[inline(always)]
pub(crate) unsafe fn join_8<V: Vector, const OUT: u8>(
    at: *const f32,
    size: usize,
    table: *const f32,
    place: usize,
    to: To,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let two = V::splat(2.0);
        let w1 = Complex::<V>::splat(table.add(8 * place));
        let w1_turned = Complex::<V>::splat(table.add(8 * place + 2));
        let w2 = Complex::<V>::splat(table.add(8 * place + 4));
        let w4 = Complex::<V>::splat(table.add(8 * place + 6));
        let from = From {
            at: at.add(place * BLOCK),
            step: size * BLOCK,
        };
        let to = To {
            at: to.at.add(place * to.step),
            step: size * to.step,
        };
        let mut lane = 0;
        while lane < HALF {
            let x = |i| from.get::<V, BLOCKED>(i, lane);
            let (e0, e1) = x(0).butterfly(x(4), w4, two);
            let (o0, o1) = x(2).butterfly(x(6), w4, two);
            let (a0, a2) = e0.butterfly(o0, w2, two);
            let (a1, a3) = e1.butterfly_i(o1, w2, two);
            let (e0, e1) = x(1).butterfly(x(5), w4, two);
            let (o0, o1) = x(3).butterfly(x(7), w4, two);
            let (b0, b2) = e0.butterfly(o0, w2, two);
            let (b1, b3) = e1.butterfly_i(o1, w2, two);
            let (y0, y4) = a0.butterfly(b0, w1, two);
            let (y1, y5) = a1.butterfly(b1, w1_turned, two);
            let (y2, y6) = a2.butterfly_i(b2, w1, two);
            let (y3, y7) = a3.butterfly_i(b3, w1_turned, two);
            to.put::<V, OUT>(0, lane, y0);
            to.put::<V, OUT>(1, lane, y1);
            to.put::<V, OUT>(2, lane, y2);
            to.put::<V, OUT>(3, lane, y3);
            to.put::<V, OUT>(4, lane, y4);
            to.put::<V, OUT>(5, lane, y5);
            to.put::<V, OUT>(6, lane, y6);
            to.put::<V, OUT>(7, lane, y7);
            lane += V::LANES;
        }
    }
}

/// Some places of a join of four or eight transforms.
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
    to: To,
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
