//! [`Arithmetic`]: operations of two numbers, which rows compute by themselves, without a call (`chain`).

/// An operation of a signal with another one, or with a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    pub operation: Operation,
    /// The number at the right. Whether there is one never changes.
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
}
