//! Elementary functions in single precision, without branches, for loops that run in vectors.
//!
//! Exponential and logarithm are those of Moshier's Cephes library (`expf.c`, `logf.c`): an argument reduced with the logarithm of 2 in
//! two parts, then a polynomial. The bits are the same on every machine.

use std::sync::LazyLock;

/// 1.5 × 2^23: what is added to it loses its fraction, to the nearest whole number.
const ROUND: f32 = 12_582_912.0;
/// The logarithm of 2 in two parts: the product of the first with a whole number up to 256 is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// The exponential of `x`, with a relative error below 2e-7. Results below 2^-125 are 0.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let held = x.clamp(-87.0, 88.722_83);
    let rounded = held * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let r = held - whole * LN_2_HIGH - whole * LN_2_LOW;
    let bent = 8.333_452e-3 + r * (1.398_2e-3 + r * 1.987_569_2e-4);
    let bent = 0.5 + r * (0.166_666_65 + r * (4.166_579_6e-2 + r * bent));
    // The low bits of `rounded` are the whole number, in two's complement. One power of two is left to the end: 2^128 is none.
    let power = rounded.to_bits().wrapping_shl(23).wrapping_add(126 << 23);
    let result = (1.0 + (r + r * r * bent)) * f32::from_bits(power) * 2.0;
    let result = if x < -86.643_4 { 0.0 } else { result };
    let result = if x > 88.722_83 { f32::INFINITY } else { result };
    if x.is_nan() { x } else { result }
}

/// The frequency of a key, as Pd computes it: in doubles. An error of one unit in the last place is heard as another phase later.
#[inline(always)]
pub(super) fn mtof(key: f32) -> f32 {
    // 1.5 × 2^52, and the logarithm of 2 in two parts: as in `exp`.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // One over the factorials from 12 down to 2.
    const TERMS: [f64; 11] = [
        2.087_675_698_786_81e-9,
        2.505_210_838_544_172e-8,
        2.755_731_922_398_589e-7,
        2.755_731_922_398_589e-6,
        2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4,
        1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3,
        4.166_666_666_666_666e-2,
        0.166_666_666_666_666_66,
        0.5,
    ];
    let x = 0.057_762_265_0 * f64::from(key.clamp(-1500.0, 1499.0));
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let r = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let bent = TERMS.iter().fold(0.0, |sum, term| sum * r + term);
    let power = rounded.to_bits().wrapping_shl(52).wrapping_add(1023 << 52);
    let exp = (1.0 + (r + r * r * bent)) * f64::from_bits(power);
    let hertz = narrow(8.175_798_915_64 * exp);
    if key <= -1500.0 { 0.0 } else { hertz }
}

/// The natural logarithm of a positive `x`, with an error below 2e-7 of the result. Denormal numbers count as 2^-126.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let bits = x.max(f32::MIN_POSITIVE).to_bits();
    // Mantissas from the root of 1/2 to the root of 2.
    let exponent = bits.wrapping_sub(0x3f35_04f3).cast_signed() >> 23;
    let mantissa = bits.wrapping_sub(exponent.cast_unsigned() << 23);
    let m = f32::from_bits(mantissa) - 1.0;
    #[expect(clippy::cast_precision_loss, reason = "eight bits")]
    let exponent = exponent as f32;
    let bent = 1.166_899_9e-1 + m * (-1.151_461e-1 + m * 7.037_684e-2);
    let bent = -1.666_805_7e-1 + m * (1.424_932_3e-1 + m * (-1.242_014_1e-1 + m * bent));
    let bent = 3.333_333e-1 + m * (-2.499_999_4e-1 + m * (2.000_071_5e-1 + m * bent));
    let square = m * m;
    let rest = m * square * bent + LN_2_LOW * exponent - 0.5 * square;
    let result = (m + rest) + LN_2_HIGH * exponent;
    if x < f32::INFINITY { result } else { x }
}

/// `x` less the next whole number below it.
#[inline(always)]
pub(super) fn wrap(x: f32) -> f32 {
    // Above 2^23 all are whole. Below, what is added to it loses its fraction, to the nearest whole number.
    const ROUND: f32 = 8_388_608.0;
    let size = x.abs();
    let nearest = ((size + ROUND) - ROUND).copysign(x) + 0.0;
    let floor = if nearest > x { nearest - 1.0 } else { nearest };
    x - if size < ROUND { floor } else { x }
}

/// Pd's tables for roots: one over the root of each exponent, and of each mantissa of ten bits.
pub(super) struct RootTables {
    exponents: [f32; 256],
    mantissas: [f32; 1024],
}

static ROOTS: LazyLock<RootTables> = LazyLock::new(|| {
    let inverse_root = |bits: usize| {
        let x = f32::from_bits(u32::try_from(bits).expect("32 bits"));
        narrow(1.0 / f64::from(x).sqrt())
    };
    RootTables {
        exponents: std::array::from_fn(|at| if at == 0 { 0.0 } else { inverse_root(at << 23) }),
        mantissas: std::array::from_fn(|at| inverse_root(0x3f80_0000 | (at << 13))),
    }
});

impl RootTables {
    /// The tables of this process.
    pub(super) fn get() -> &'static Self {
        &ROOTS
    }

    /// One over the root of `x`, 0 below 0: a guess by the tables, good to three digits.
    #[inline(always)]
    pub(super) fn rough_inverse_root(&self, x: f32) -> f32 {
        let bits = x.to_bits();
        let exponent = self.exponents[(bits >> 23) as usize & 255];
        let root = exponent * self.mantissas[(bits >> 13) as usize & 1023];
        if x < 0.0 { 0.0 } else { root }
    }

    /// One over the root of `x`, 0 below 0: a guess by the tables, and one step of Newton's method in doubles.
    #[inline(always)]
    pub(super) fn inverse_root(&self, x: f32) -> f32 {
        let bits = x.to_bits();
        let exponent = self.exponents[(bits >> 23) as usize & 255];
        let guess = f64::from(exponent * self.mantissas[(bits >> 13) as usize & 1023]);
        let root = narrow(1.5 * guess - 0.5 * guess * guess * guess * f64::from(x));
        if x < 0.0 { 0.0 } else { root }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
#[inline(always)]
fn narrow(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::{exp, ln, mtof, wrap};

    /// Relative error.
    fn error(found: f32, truth: f64) -> f64 {
        (f64::from(found) - truth).abs() / truth.abs().max(f64::MIN_POSITIVE)
    }

    #[test]
    fn the_exponential_is_exact_to_two_units_in_the_last_place() {
        for i in -86_000_i32..=88_700 {
            let x = i as f32 / 1000.0;
            let truth = f64::from(x).exp();
            assert!(error(exp(x), truth) < 2e-7, "{x}: {} {truth}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(
            (exp(-100.0), exp(f32::NEG_INFINITY), exp(89.0)),
            (0.0, 0.0, f32::INFINITY)
        );
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn the_frequency_of_a_key_has_the_bits_of_doubles() {
        let mut wrong = 0;
        for i in -1_500_000_i32..=1_600_000 {
            let key = i as f32 / 1000.0 + 0.000_37;
            let truth = 8.175_798_915_64 * (0.057_762_265_0 * f64::from(key.min(1499.0))).exp();
            let truth = if key <= -1500.0 { 0.0 } else { truth as f32 };
            wrong += u32::from(mtof(key).to_bits() != truth.to_bits());
        }
        // Where a double lies at the middle between two floats its own last bit decides.
        assert!(wrong < 3, "{wrong}");
    }

    #[test]
    fn the_logarithm_is_exact_to_two_units_in_the_last_place() {
        let mut x = 1.2e-38_f32;
        while x < 3e38 {
            let truth = f64::from(x).ln();
            assert!(error(ln(x), truth) < 2e-7, "{x:e}: {} {truth}", ln(x));
            x *= 1.0001;
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(f32::INFINITY), f32::INFINITY);
        assert!(ln(f32::NAN).is_nan());
    }

    #[test]
    fn wrapping_is_the_distance_to_the_floor() {
        for x in [
            0.0,
            0.25,
            1.0,
            -0.25,
            -1.0,
            7.75,
            -7.75,
            1e9,
            -1e9,
            3e9,
            -3e9,
            1e30,
            -0.0,
            4_194_304.5,
            -4_194_304.5,
            8_388_607.5,
            -8_388_607.5,
            -1e-9,
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
        ] {
            assert_eq!(wrap(x), x - x.floor(), "{x}");
        }
        assert_eq!(wrap(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert!(wrap(f32::NAN).is_nan() && wrap(f32::INFINITY).is_nan());
    }
}
