//! Sums of equal steps, as floats round them, all at once.
//!
//! A ramp adds its step to the sample before, and each sum is rounded. Between two powers of two the floats lie evenly, so the rounded sum
//! is the same number of them further every time, unless the step ends in the middle between two. There the bits of the samples are sums
//! of whole numbers, which wait for nothing:
//!
//! ```text
//!   x, x + s, (x + s) + s …     in bits   b, b + d, b + 2d …
//! ```

use crate::signal::loops::{RUN, each_in_turn};
use rt::vectors::{WideWork, widest};

/// Writes `x`, and sums of it and steps.
#[inline(always)]
pub(super) fn write(to: &mut [f32], mut x: f32, step: f32) {
    for to in to.chunks_mut(RUN) {
        x = match bits_between(x, step) {
            Some(bits) => {
                widest(Even((x.to_bits(), bits), to));
                f32::from_bits(after(x.to_bits(), bits, to.len()))
            }
            None => write_in_turn(to, x, step),
        };
    }
}

/// The loop of [`write`] where floats do not lie evenly. Gives the next sum.
#[inline(never)]
fn write_in_turn(to: &mut [f32], mut x: f32, step: f32) -> f32 {
    each_in_turn(to, |_| {
        let now = x;
        x += step;
        now
    });
    x
}

/// Writes `x` and sums of it and steps, each as a float. Gives the next sum.
#[inline(always)]
pub(super) fn write_doubles(to: &mut [f32], mut x: f64, step: f64) -> f64 {
    for to in to.chunks_mut(RUN) {
        x = match bits_between_doubles(x, step) {
            Some(bits) => {
                widest(EvenDoubles((x.to_bits(), bits), to));
                f64::from_bits(after_doubles(x.to_bits(), bits, to.len()))
            }
            None => write_doubles_in_turn(to, x, step),
        };
    }
    x
}

/// `x` after so many steps, [`RUN`] at most, each rounded; `None` where that takes them in turn.
#[inline(always)]
pub(super) fn doubles_after(x: f64, step: f64, count: usize) -> Option<f64> {
    let bits = bits_between_doubles(x, step)?;
    Some(f64::from_bits(after_doubles(x.to_bits(), bits, count)))
}

#[inline(never)]
fn write_doubles_in_turn(to: &mut [f32], mut x: f64, step: f64) -> f64 {
    for to in to {
        *to = narrow(x);
        x += step;
    }
    x
}

/// By how much the bits of sums differ, if a run of them from `x` on lies between the same two powers of two.
#[inline(always)]
fn bits_between(x: f32, step: f32) -> Option<u32> {
    const FRACTION: u32 = f32::MANTISSA_DIGITS - 1;
    let next = x + step;
    let between = next.to_bits().wrapping_sub(x.to_bits());
    // They go one way, and 64 times less than all numbers between two powers of two do not reach around.
    let last = after(x.to_bits(), between, RUN);
    let exponent = (x.to_bits() >> FRACTION) & 0xff;
    let stay = x.to_bits() >> FRACTION == last >> FRACTION
        && x.to_bits() >> FRACTION == next.to_bits() >> FRACTION;
    // Below the power itself they lie closer: a sum that is rounded up to it is another one.
    let is_above = last << (32 - FRACTION) != 0;
    // Half the way from one to the next one: rounded to even, which is not the same every time.
    let half = f64::from(f32::from_bits(x.to_bits() ^ 1) - x).abs() * 0.5;
    let miss = (f64::from(step) - (f64::from(next) - f64::from(x))).abs();
    let is_normal = exponent != 0 && exponent != 0xff;
    (stay && is_above && is_normal && miss < half).then_some(between)
}

/// As [`bits_between`].
#[inline(always)]
fn bits_between_doubles(x: f64, step: f64) -> Option<u64> {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let next = x + step;
    let between = next.to_bits().wrapping_sub(x.to_bits());
    let last = after_doubles(x.to_bits(), between, RUN);
    let exponent = (x.to_bits() >> FRACTION) & 0x7ff;
    let stay = x.to_bits() >> FRACTION == last >> FRACTION
        && x.to_bits() >> FRACTION == next.to_bits() >> FRACTION;
    let is_above = last << (64 - FRACTION) != 0;
    let half = (f64::from_bits(x.to_bits() ^ 1) - x).abs() * 0.5;
    // The step and what it comes to differ by half a unit at most: so their difference is exact.
    let miss = (step - (next - x)).abs();
    // The last of the small exponents have halves that are no numbers.
    let is_normal = exponent > u64::from(FRACTION) + 1 && exponent != 0x7ff;
    (stay && is_above && is_normal && miss < half).then_some(between)
}

#[expect(clippy::cast_possible_truncation, reason = "a run is short")]
#[inline(always)]
fn after(bits: u32, between: u32, count: usize) -> u32 {
    bits.wrapping_add(between.wrapping_mul(count as u32))
}

#[inline(always)]
fn after_doubles(bits: u64, between: u64, count: usize) -> u64 {
    bits.wrapping_add(between.wrapping_mul(count as u64))
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
#[inline(always)]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Floats whose bits rise evenly.
struct Even<'r>((u32, u32), &'r mut [f32]);

impl WideWork for Even<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self((mut bits, between), to) = self;
        for to in to {
            *to = f32::from_bits(bits);
            bits = bits.wrapping_add(between);
        }
    }
}

/// Doubles whose bits rise evenly, as floats.
struct EvenDoubles<'r>((u64, u64), &'r mut [f32]);

impl WideWork for EvenDoubles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self((mut bits, between), to) = self;
        for to in to {
            *to = narrow(f64::from_bits(bits));
            bits = bits.wrapping_add(between);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of any size and sign, among them powers of two and their neighbours.
    fn random(state: &mut u64) -> f64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bits = *state >> 20;
        let size = 2_f64.powi((bits % 61) as i32 - 40);
        let part = match (bits >> 8) % 4 {
            0 => 1.0,
            1 => 1.0 + ((bits >> 16) % 8) as f64 * 2_f64.powi(-25),
            2 => 1.0 + ((bits >> 16) % 8) as f64 * 2_f64.powi(-54),
            _ => 1.0 + ((bits >> 12) as u32) as f64 * 2_f64.powi(-32),
        };
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        sign * size * part
    }

    #[test]
    fn sums_all_at_once_are_those_in_turn() {
        let mut state = 7;
        let mut even = [0, 0];
        let special = [
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            1e-310,
            1e-42,
            3e38,
            1e308,
        ];
        for at in 0..400_000 {
            let mut number = || random(&mut state);
            let (x, step) = match at {
                0..64 => (special[at / 8], special[at % 8]),
                64..128 => (special[at % 8], number()),
                128..192 => (number(), special[at % 8]),
                _ => (number(), number()),
            };
            let step = if at % 3 == 0 { step * 1e-4 } else { step };
            let mut expected = [0.0; RUN];
            write_in_turn(&mut expected, narrow(x), narrow(step));
            let mut found = [0.0; RUN];
            write(&mut found, narrow(x), narrow(step));
            assert_eq!(
                found.map(f32::to_bits),
                expected.map(f32::to_bits),
                "{x:e} {step:e}"
            );
            even[0] += u32::from(bits_between(narrow(x), narrow(step)).is_some());

            let expected_next = write_doubles_in_turn(&mut expected, x, step);
            let next = write_doubles(&mut found, x, step);
            assert_eq!(next.to_bits(), expected_next.to_bits(), "{x:e} {step:e}");
            assert_eq!(
                found.map(f32::to_bits),
                expected.map(f32::to_bits),
                "{x:e} {step:e}"
            );
            even[1] += u32::from(bits_between_doubles(x, step).is_some());
            if let Some(after) = doubles_after(x, step, at % RUN) {
                let next = write_doubles_in_turn(&mut expected[..at % RUN], x, step);
                assert_eq!(after.to_bits(), next.to_bits(), "{x:e} {step:e} {at}");
            }
        }
        assert!(even.iter().all(|even| *even > 50_000), "{even:?}");
    }
}
