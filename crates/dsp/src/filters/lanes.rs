//! [`Eight`]: eight numbers that are computed with at once, each as it would be alone; [`Number`]: one of them or all eight.

use std::ops::{Add, Mul, Sub};

/// Number of lanes.
pub(crate) const LANES: usize = 8;

/// A number, or several at once.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// The same in all lanes.
    fn of(x: f64) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
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
