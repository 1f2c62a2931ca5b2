//! Steps that a row computes together.

use super::batch::may_batch;
use super::bound_step::BoundStep;
use super::joined_blocks::may_join;
use super::order::Step;
use super::recursion::RecursionKind;
use super::schedule::schedule;
use super::traits::Traits;
use crate::control::ObjectId;

/// Of steps that are computed together the recursion and the number; each other one is alone.
pub(super) type Together = Vec<(Option<RecursionKind>, usize)>;

/// Steps in the order of [`schedule`].
pub(super) struct OrderedSteps {
    pub steps: Vec<BoundStep>,
    pub together: Together,
    /// True if several short blocks of them may be computed as one.
    pub may_join: bool,
    /// True if batches of blocks may be computed step by step.
    pub may_batch: bool,
}

impl OrderedSteps {
    /// Puts steps in order; `traits` has what is known of an object that computes.
    pub(super) fn new(steps: Vec<BoundStep>, traits: impl Fn(ObjectId) -> Option<Traits>) -> Self {
        let kind = |step: &BoundStep| {
            let filter = step.filter(traits(step.performed()?)?)?;
            filter.waits().then_some(filter)
        };
        let kinds = Vec::from_iter(steps.iter().map(kind));
        let may_join = may_join(&steps, &traits);
        let may_batch = may_batch(&steps, &traits);
        let order = schedule(&steps, &kinds);
        let is_chain = |at: usize| match &steps[at].step {
            Step::Add { .. } => true,
            _ => {
                let traits = steps[at].performed().and_then(&traits);
                traits.is_some_and(|traits| traits.arithmetic.is_some())
            }
        };
        let together = together(&order, &kinds, is_chain);
        let mut steps = Vec::from_iter(steps.into_iter().map(Some));
        let ordered = order.iter().flatten().filter_map(|at| steps[*at].take());
        Self {
            steps: ordered.collect(),
            together,
            may_join,
            may_batch,
        }
    }
}

/// Steps of an order that are computed together. Two that come right behind one filter are not: with it they are computed in slices.
fn together(
    order: &[Vec<usize>],
    kinds: &[Option<RecursionKind>],
    is_chain: impl Fn(usize) -> bool,
) -> Together {
    let mut found = Vec::with_capacity(order.len());
    // Filters, one behind the other, with sums and products between them.
    let mut before = 0;
    for steps in order {
        let (first, count) = (steps[0], steps.len());
        let kind = kinds[first].filter(|kind| count >= kind.least());
        let may_slice = kinds[first].is_some_and(RecursionKind::is_sliced);
        if kind.is_some() && count == 2 && before == 1 && may_slice {
            found.extend([(None, 1), (None, 1)]);
            before = 3;
            continue;
        }
        before = match kinds[first] {
            Some(_) if count == 1 && may_slice => before + 1,
            None if is_chain(first) => before,
            _ => 0,
        };
        found.push((kind, count));
    }
    found
}
