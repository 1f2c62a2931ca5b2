//! [`Traits`]: what a row must know of an object before it computes.

use super::arithmetic::Arithmetic;
use super::recursion::RecursionKind;
use crate::control::Object;

/// Facts about an object that never change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    /// The operation of two numbers that it is.
    pub arithmetic: Option<Arithmetic>,
    /// True if several short blocks of it may be computed as one.
    pub may_join: bool,
    /// True if one call computes the blocks of a batch.
    pub may_batch: bool,
    /// The filter that it is where a signal is at its second inlet, and where a number is.
    pub filter: [Option<RecursionKind>; 2],
}

impl Traits {
    /// Those of an object.
    pub(super) fn of(object: &dyn Object) -> Self {
        // Its kind depends on no rate.
        let kind = |number| Some(object.recursion(44_100.0, number)?.kind);
        Self {
            arithmetic: object.arithmetic(),
            may_join: object.may_join(),
            may_batch: object.may_batch(),
            filter: [kind(None), kind(Some(0.0))],
        }
    }
}
