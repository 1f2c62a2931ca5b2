//! [`Arithmetic`]: operations of two numbers, which rows compute by themselves, without a call.

use super::loops::{Map, Zip};
use super::world::Inlets;
use rt::vectors::Wide;

/// An operation of a signal with another one, or with a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    pub operation: Operation,
    /// The number at the right.
    pub scalar: Option<f32>,
}

/// An operation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Larger,
    Smaller,
}

impl Arithmetic {
    /// The sum of two signals.
    pub(super) const SUM: Self = Self {
        operation: Operation::Add,
        scalar: None,
    };

    /// Computes a block.
    #[inline(always)]
    pub(super) fn run(self, inlets: &Inlets<'_>, to: &mut [f32]) {
        match self.operation {
            Operation::Add => self.each(inlets, to, |a, b| a + b),
            Operation::Subtract => self.each(inlets, to, |a, b| a - b),
            Operation::Multiply => self.each(inlets, to, |a, b| a * b),
            Operation::Larger => self.each(inlets, to, |a, b| if a > b { a } else { b }),
            Operation::Smaller => self.each(inlets, to, |a, b| if a < b { a } else { b }),
        }
    }

    #[inline(always)]
    fn each(self, inlets: &Inlets<'_>, to: &mut [f32], function: impl Fn(f32, f32) -> f32) {
        let from = inlets.get(0);
        match self.scalar {
            Some(scalar) => {
                let function = |x| function(x, scalar);
                Map { to, from, function }.run();
            }
            None => {
                let from = (from, inlets.get(1));
                Zip { to, from, function }.run();
            }
        }
    }
}
