//! [`Arithmetic`]: operations of two numbers, which rows compute by themselves, without a call.

use super::loops::{Map, Zip};
use rt::vectors::WideWork;

/// An operation of a signal with another one, or with a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    pub operation: Operation,
    /// The number at the right.
    pub scalar: Option<f32>,
}

/// Blocks of an operation: numbers of those of a row.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    left: u32,
    right: u32,
    to: u32,
}

impl Operands {
    /// Operands at inlets; a second one that is missing is the first.
    pub(super) fn new(inlets: &[u32], to: u32) -> Self {
        let left = inlets.first().copied().unwrap_or_default();
        let right = inlets.get(1).copied().unwrap_or(left);
        Self { left, right, to }
    }

    /// Computes the operation.
    #[inline(always)]
    pub(super) fn compute(self, arithmetic: Arithmetic, blocks: &mut [Box<[f32]>]) {
        // Taken out meanwhile: nobody reads the block that is written.
        let mut to = std::mem::take(&mut blocks[self.to as usize]);
        let from = (&*blocks[self.left as usize], &*blocks[self.right as usize]);
        arithmetic.run(from, &mut to);
        blocks[self.to as usize] = to;
    }
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

    /// Computes a block of two.
    #[inline(always)]
    pub(super) fn run(self, from: (&[f32], &[f32]), to: &mut [f32]) {
        match self.operation {
            Operation::Add => self.each(from, to, |a, b| a + b),
            Operation::Subtract => self.each(from, to, |a, b| a - b),
            Operation::Multiply => self.each(from, to, |a, b| a * b),
            Operation::Larger => self.each(from, to, |a, b| if a > b { a } else { b }),
            Operation::Smaller => self.each(from, to, |a, b| if a < b { a } else { b }),
        }
    }

    #[inline(always)]
    fn each(self, from: (&[f32], &[f32]), to: &mut [f32], function: impl Fn(f32, f32) -> f32) {
        match self.scalar {
            Some(scalar) => {
                let (from, function) = (from.0, |x| function(x, scalar));
                Map { to, from, function }.run();
            }
            None => Zip { to, from, function }.run(),
        }
    }
}
