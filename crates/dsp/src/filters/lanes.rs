//! [`Eight`]: eight numbers that are computed with at once, each as it would be alone; [`Number`]: one of them or all eight.

use std::ops::{Add, Div, Mul, Sub};

/// Number of lanes.
pub(crate) const LANES: usize = 8;

/// A number, or several at once.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The same in all lanes.
    fn of(x: f64) -> Self;

    /// Itself, where it is within the bounds; else the bound beyond which it is.
    fn within(self, low: f64, high: f64) -> Self;

    /// Itself, where it is below `bound`; else the bound.
    fn below(self, bound: f64) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn within(self, low: f64, high: f64) -> Self {
        self.clamp(low, high)
    }

    #[inline(always)]
    fn below(self, bound: f64) -> Self {
        if self < bound { self } else { bound }
    }
}

/// Eight numbers. A plain array is not taken apart into vectors where loops over it are nested; operators on values are.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Eight(pub(crate) [f64; LANES]);

impl Number for Eight {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn within(mut self, low: f64, high: f64) -> Self {
        for x in &mut self.0 {
            let risen = if *x < low { low } else { *x };
            *x = if risen > high { high } else { risen };
        }
        self
    }

    #[inline(always)]
    fn below(mut self, bound: f64) -> Self {
        for x in &mut self.0 {
            *x = if *x < bound { *x } else { bound };
        }
        self
    }
}

impl Eight {
    /// In each lane the larger one, `other` where none is.
    #[inline(always)]
    pub(crate) fn or_larger(mut self, other: Self) -> Self {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x = if *x > y { *x } else { y };
        }
        self
    }

    /// In each lane `low` where it is below `bound`, else `high`.
    #[inline(always)]
    pub(crate) fn choose_below(mut self, bound: f64, low: Self, high: Self) -> Self {
        for (x, (low, high)) in self.0.iter_mut().zip(low.0.into_iter().zip(high.0)) {
            *x = if *x < bound { low } else { high };
        }
        self
    }

    /// One sample of each lane.
    #[inline(always)]
    pub(crate) fn of_samples(samples: &[f32; LANES]) -> Self {
        let mut lanes = [0.0; LANES];
        for (x, sample) in lanes.iter_mut().zip(samples) {
            *x = f64::from(*sample);
        }
        Self(lanes)
    }
}

macro_rules! operator {
    ($name:ident, $function:ident, $sign:tt) => {
        impl $name for Eight {
            type Output = Self;

            #[inline(always)]
            fn $function(mut self, other: Self) -> Self {
                for (x, y) in self.0.iter_mut().zip(other.0) {
                    *x $sign y;
                }
                self
            }
        }
    };
}
operator!(Add, add, +=);
operator!(Sub, sub, -=);
operator!(Mul, mul, *=);
operator!(Div, div, /=);
