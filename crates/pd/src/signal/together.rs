//! Steps that a row computes together, and which of them hand their signals on.

use super::batch::may_batch;
use super::bound_step::BoundStep;
use super::joined_blocks::may_join;
use super::order::Step;
use super::recursion::RecursionKind;
use super::schedule::schedule;
use super::traits::Traits;
use super::world::BufferId;
use crate::control::ObjectId;
use std::collections::HashMap;

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

/// Finds lanes that hand their signals on to the next ones.
pub(super) struct Links {
    /// Number of readers of each signal.
    readers: HashMap<BufferId, usize>,
    /// The lanes before, and what they write first.
    last: Option<(usize, Vec<Option<BufferId>>)>,
}

impl Links {
    pub(super) fn new(steps: &[BoundStep], outputs: &[BufferId]) -> Self {
        let mut readers = HashMap::new();
        let read = steps.iter().flat_map(|step| step.step.inlets());
        for signal in read.chain(outputs.iter().copied()) {
            *readers.entry(signal).or_default() += 1;
        }
        let last = None;
        Self { readers, last }
    }

    /// Finds the lanes before those at `at`, which read and write these signals, if all that those before write first goes to them alone.
    pub(super) fn link(
        &mut self,
        at: usize,
        signals: &[(Vec<BufferId>, Vec<BufferId>)],
    ) -> Option<usize> {
        let reads = signals.iter().map(|(inlets, _)| inlets.first().copied());
        let reads = Vec::from_iter(reads);
        let writes = signals.iter().map(|(_, outlets)| outlets.first().copied());
        let last = self.last.replace((at, writes.collect()));
        let is_alone = |signal: &Option<BufferId>| {
            signal.is_some_and(|signal| self.readers.get(&signal) == Some(&1))
        };
        let (before, _) = last.filter(|it| it.1 == reads && reads.iter().all(is_alone))?;
        Some(before)
    }
}
