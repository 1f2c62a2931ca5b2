//! [`Scale`] and [`ScaleTwice`]: samples times factors that stand still, in vectors.
//!
//! Most blocks of a gain or a pan are such products, and little else: so a block of 64 frames is one strip in registers, and a factor of at
//! most 1 makes no sample larger, which then needs no bound.

use crate::sample::clamp_sample;
use rt::vectors::WideWork;
use std::slice::IterMut;

/// Each of `to` = `from` times its factor, in one pass. `is_small` says if [each makes no sample larger](is_small).
pub(crate) struct ScaleTwice<'a> {
    pub(crate) is_small: bool,
    pub(crate) factors: [f32; 2],
    pub(crate) from: &'a [f32],
    pub(crate) to: [&'a mut [f32]; 2],
}

impl WideWork for ScaleTwice<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.is_small {
            true => self.scale::<true>(),
            false => self.scale::<false>(),
        }
    }
}

impl ScaleTwice<'_> {
    #[inline(always)]
    fn scale<const SMALL: bool>(self) {
        let ([left, right], [to_left, to_right]) = (self.factors, self.to);
        let whole = (
            <&mut [f32; STRIP]>::try_from(&mut *to_left),
            <&mut [f32; STRIP]>::try_from(&mut *to_right),
        );
        if let (Ok(from), (Ok(to_left), Ok(to_right))) = (self.from.try_into(), whole) {
            // Both before one is written: else `from` would be read again.
            let both = [left, right].map(
                #[inline(always)]
                |factor| scaled_strip::<SMALL>(from, factor),
            );
            [*to_left, *to_right] = both;
            return;
        }
        let (mut to_left, mut to_right) = (to_left.iter_mut(), to_right.iter_mut());
        let mut from = self.from;
        while let Some((strip, rest)) = from.split_first_chunk::<STRIP>() {
            write_strip::<SMALL>(&mut to_left, strip, left);
            write_strip::<SMALL>(&mut to_right, strip, right);
            from = rest;
        }
        for ((to_left, to_right), x) in to_left.zip(to_right).zip(from) {
            *to_left = scaled::<SMALL>(*x, left);
            *to_right = scaled::<SMALL>(*x, right);
        }
    }
}

/// Returns true for a factor that makes no sample larger.
#[inline(always)]
pub(crate) fn is_small(factor: f32) -> bool {
    factor.abs() <= 1.0
}

/// `x` times a factor as a sample. Of a [small](is_small) one the product is within the range of samples, as a finite `x` is; an infinite one stays
/// infinite then.
#[inline(always)]
fn scaled<const SMALL: bool>(x: f32, factor: f32) -> f32 {
    match SMALL {
        true => x * factor + 0.0,
        false => clamp_sample(x * factor),
    }
}

/// Frames that are scaled in registers: nothing is compared with the place where they go.
const STRIP: usize = 64;

/// `strip` times `factor`.
#[inline(always)]
fn scaled_strip<const SMALL: bool>(strip: &[f32; STRIP], factor: f32) -> [f32; STRIP] {
    let mut strip = *strip;
    strip
        .iter_mut()
        .for_each(|x| *x = scaled::<SMALL>(*x, factor));
    strip
}

/// Writes `strip` times `factor` to the next places of `to`.
#[inline(always)]
fn write_strip<const SMALL: bool>(to: &mut IterMut<'_, f32>, strip: &[f32; STRIP], factor: f32) {
    let places = std::mem::take(to).into_slice();
    if let Some((places, rest)) = places.split_first_chunk_mut::<STRIP>() {
        *places = scaled_strip::<SMALL>(strip, factor);
        *to = rest.iter_mut();
    }
}

/// `to` = `from` times `factor`. `is_small` says if it [makes no sample larger](is_small).
pub(crate) struct Scale<'a> {
    pub(crate) is_small: bool,
    pub(crate) factor: f32,
    pub(crate) from: &'a [f32],
    pub(crate) to: &'a mut [f32],
}

impl WideWork for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.is_small {
            true => self.scale::<true>(),
            false => self.scale::<false>(),
        }
    }
}

impl Scale<'_> {
    #[inline(always)]
    fn scale<const SMALL: bool>(self) {
        // Blocks of 64 frames are the most frequent ones: their number is asked for once.
        let whole = <&mut [f32; STRIP]>::try_from(&mut *self.to);
        if let (Ok(from), Ok(to)) = (self.from.try_into(), whole) {
            *to = scaled_strip::<SMALL>(from, self.factor);
            return;
        }
        let (mut to, mut from) = (self.to.iter_mut(), self.from);
        while let Some((strip, rest)) = from.split_first_chunk::<STRIP>() {
            write_strip::<SMALL>(&mut to, strip, self.factor);
            from = rest;
        }
        for (y, x) in to.zip(from) {
            *y = scaled::<SMALL>(*x, self.factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_the_bits_of_single_samples() {
        let hard = [f32::MAX, -f32::MAX, f32::MIN_POSITIVE, -1.0, 0.0, -0.0, 0.3];
        let numbers = (0..300u16).map(|i| hard[usize::from(i % 7)] * (1.0 - f32::from(i) / 400.0));
        let samples: Vec<f32> = numbers.collect();
        for count in [1, 63, 64, 65, 128, 200] {
            for factors in [[0.5, -1.0], [1.0, 0.0], [0.7, 100.0], [-3.0, -0.2]] {
                let from = &samples[count / 2..count / 2 + count];
                let mut to = [vec![9.0; count], vec![9.0; count], vec![9.0; count]];
                let [left, right, alone] = &mut to;
                let to_both = [left, right].map(Vec::as_mut_slice);
                ScaleTwice {
                    is_small: factors.iter().all(|it| is_small(*it)),
                    factors,
                    from,
                    to: to_both,
                }
                .run();
                Scale {
                    is_small: is_small(factors[0]),
                    factor: factors[0],
                    from,
                    to: alone,
                }
                .run();
                let bits = |x: &f32| x.to_bits();
                for (to, factor) in to.iter().zip([factors[0], factors[1], factors[0]]) {
                    let wanted = from.iter().map(|x| clamp_sample(x * factor).to_bits());
                    assert!(to.iter().map(bits).eq(wanted), "{count}, {factor}");
                }
            }
        }
    }
}
