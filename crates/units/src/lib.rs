//! The types that every other crate uses: counts, rates and times that cannot be mixed up.
//!
//! Takes nothing, gives newtypes. May: compute. May not: allocate, do I/O, use `unsafe`.
#![no_std]
#![forbid(unsafe_code)]

use core::fmt::{self, Write};
use core::num::NonZeroU32;

mod pitch;

pub use pitch::{Pitch, PitchError};

/// Number of frames; a frame is one sample on each channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frames(pub u32);

/// Number of channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channels(pub u16);

/// A sample rate in frames a second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleRate(NonZeroU32);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Default for SampleRate {
    /// 48000 Hz.
    fn default() -> Self {
        Self(NonZeroU32::MIN.saturating_add(47_999))
    }
}

impl SampleRate {
    /// `None` for zero.
    pub const fn new(hz: u32) -> Option<Self> {
        match NonZeroU32::new(hz) {
            Some(hz) => Some(Self(hz)),
            None => None,
        }
    }

    /// Frames a second.
    pub const fn hz(self) -> u32 {
        self.0.get()
    }
}

impl Frames {
    /// Duration at `rate`, rounded down: a deadline must not be late.
    ///
    /// ```
    /// # use divisi_units::*;
    /// let rate = SampleRate::new(48_000).unwrap();
    /// assert_eq!(Frames(64).duration(rate), Nanos(1_333_333));
    /// ```
    pub const fn duration(self, rate: SampleRate) -> Nanos {
        Nanos(self.0 as u64 * 1_000_000_000 / rate.hz() as u64)
    }

    /// Number of frames in `seconds` at `rate`, rounded up, so that memory for a time holds it. Negative and non-finite
    /// times are 0 frames; a number that does not fit becomes `u32::MAX`.
    ///
    /// ```
    /// # use divisi_units::*;
    /// let rate = SampleRate::new(48_000).unwrap();
    /// assert_eq!(Frames::from_seconds_ceil(0.5, rate), Frames(24_000));
    /// assert_eq!(Frames::from_seconds_ceil(f64::NAN, rate), Frames(0));
    /// ```
    pub fn from_seconds_ceil(seconds: f64, rate: SampleRate) -> Self {
        let exact = seconds * f64::from(rate.hz());
        // A time written as a decimal lies a rounding error above a whole frame as often as below it.
        let nearest = (exact + 0.5) as u32;
        if (f64::from(nearest) - exact).abs() < 1e-6 {
            return Self(nearest);
        }
        let whole = exact as u32; // saturates; NaN is 0
        Self(if f64::from(whole) < exact {
            whole.saturating_add(1)
        } else {
            whole
        })
    }

    /// As an index.
    pub const fn count(self) -> usize {
        self.0 as usize
    }
}

impl Channels {
    /// As an index.
    pub const fn count(self) -> usize {
        self.0 as usize
    }
}

impl Nanos {
    /// The sum, or `u64::MAX` where it does not fit: costs come from files, and may be absurd.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The nearest whole nanosecond to `micros`; `None` where that is negative, not finite or over 584 years.
    pub fn from_micros(micros: f64) -> Option<Self> {
        let nanos = micros * 1e3;
        (nanos >= 0.0 && nanos < u64::MAX as f64).then_some(Self((nanos + 0.5) as u64))
    }

    /// In microseconds.
    pub fn micros(self) -> f64 {
        self.0 as f64 * 1e-3
    }
}

/// Greatest common divisor (Euclid); `gcd(a, 0)` is `a`.
///
/// ```
/// assert_eq!(divisi_units::gcd(44_100, 48_000), 300);
/// ```
pub const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Least common multiple; `None` where it does not fit or both numbers are 0.
///
/// ```
/// assert_eq!(divisi_units::lcm(64, 160), Some(320));
/// ```
pub const fn lcm(a: u128, b: u128) -> Option<u128> {
    match gcd(a, b) {
        0 => None,
        common => (a / common).checked_mul(b),
    }
}

/// Three digits and a unit: `980 ns`, `1.33 ms`, `25 s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        // From 999.5 on, three digits are those of the next unit.
        let (value, unit) = match self.0 {
            nanos if nanos < 1_000 => (ns, "ns"),
            nanos if nanos < 999_500 => (ns / 1e3, "µs"),
            nanos if nanos < 999_500_000 => (ns / 1e6, "ms"),
            _ => (ns / 1e9, "s"),
        };
        let digits = match value {
            value if value < 9.995 => 2,
            value if value < 99.95 => 1,
            _ => 0,
        };
        let mut text = ShortText::default();
        write!(text, "{value:.digits$}")?;
        if digits > 0 {
            text.trim_zeros();
        }
        write!(text, " {unit}")?;
        f.pad(text.as_str())
    }
}

/// A text on the stack: this crate does not allocate, and [`fmt::Formatter::pad`] takes a whole text.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 32],
    length: usize,
}

impl ShortText {
    /// Removes the zeros at the end of a decimal fraction, and its point if nothing is left of it.
    fn trim_zeros(&mut self) {
        let text = self.as_str().trim_end_matches('0').trim_end_matches('.');
        self.length = text.len();
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): the same
/// numbers for the same seed on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Distance from one state to the next: 2^64 divided by the golden ratio.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The number of a state.
    #[inline(always)]
    pub const fn mix(state: u64) -> u64 {
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        Self::mix(self.0)
    }

    /// A whole number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// A number from 0 to just below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A sample from -1 to just below 1.
    pub fn sample(&mut self) -> f32 {
        (self.bits() as i64 >> 40) as f32 / 8_388_608.0
    }
}

impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} frames", self.0)
    }
}

impl fmt::Display for SampleRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{format, string::ToString};

    use super::*;

    #[test]
    fn a_time_has_three_digits_and_the_unit_that_fits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1 µs"),
            (1_234, "1.23 µs"),
            (600_040, "600 µs"),
            (999_499, "999 µs"),
            (999_500, "1 ms"),
            (1_333_333, "1.33 ms"),
            (99_960_000, "100 ms"),
            (2_500_000_000, "2.5 s"),
            (1_234_567_000_000, "1235 s"),
        ] {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
        assert_eq!(format!("{:>8}", Nanos(7)), "    7 ns");
    }
}
