//! Half-precision floats (IEEE 754 binary16), for storage only: conversion in portable code.
//!
//! ```text
//!  bit  15    14 ...... 10   9 ....... 0
//!       sign  exponent + 15  mantissa         0x3c00 is 1.0, 0x7bff is 65504, 0x7c00 is infinity
//! ```

/// Converts to the nearest half-precision value, ties to even. Values that are too large become infinite.
///
/// Real-time: hot.
pub fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00; // NaN
    }
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00; // rounds to infinity
    }
    if magnitude < 0x3880_0000 {
        // Below 2^-14 (subnormal): units of 2^-24. Adding 0.5 moves that unit to the last place of a float's mantissa.
        let rounded = f32::from_bits(magnitude) + 0.5;
        return sign | (rounded.to_bits() - 0x3f00_0000) as u16;
    }
    let odd = magnitude >> 13 & 1;
    let rounded = magnitude + 0xfff + odd - 0x3800_0000;
    sign | (rounded >> 13) as u16
}

/// Converts a half-precision value, exactly.
///
/// Real-time: hot.
#[inline]
pub fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    let value = match magnitude >> 10 {
        0 => magnitude as f32 * f32::from_bits(0x3380_0000), // times 2^-24, exact
        31 => f32::from_bits(0x7f80_0000 | (magnitude & 0x3ff) << 13),
        _ => f32::from_bits((magnitude << 13) + 0x3800_0000),
    };
    f32::from_bits(value.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_precision_value_survives_a_round_trip() {
        for half in 0..=u16::MAX {
            let value = to_f32(half);
            if value.is_nan() {
                assert!(to_f32(from_f32(value)).is_nan());
            } else {
                assert_eq!(from_f32(value), half, "{value}");
            }
        }
    }

    #[test]
    fn values_round_to_nearest_and_ties_to_even() {
        for half in 0..0x7bffu16 {
            let (low, high) = (to_f32(half), to_f32(half + 1));
            let middle = (low + high) / 2.0;
            let even = if half & 1 == 0 { half } else { half + 1 };
            assert_eq!(from_f32(middle), even, "{middle}");
            assert_eq!(from_f32(middle.next_down()), half);
            assert_eq!(from_f32(middle.next_up()), half + 1);
            assert_eq!(from_f32(-middle), even | 0x8000);
        }
        assert_eq!(from_f32(65520.0), 0x7c00);
        assert_eq!(from_f32(65519.9), 0x7bff);
    }
}
