//! [`RowBuilder`]: bound steps in their order to those of a row, with what is computed together.

use super::arithmetic::Arithmetic;
use super::bound_step::BoundStep;
use super::chain::Chain;
use super::lanes::{LanePlace, Sliced, Slices};
use super::order::Step;
use super::place::ObjectPlace;
use super::recursion::RecursionKind;
use super::row_blocks::RowBlocks;
use super::row_step::{Action, RowStep, beside};
use super::together::OrderedSteps;
use super::traits::Traits;
use super::world::BufferId;
use crate::control::ObjectId;

/// The place of an object of signals, and what is known of it.
type Found = (ObjectPlace, Traits);

/// Builds the steps of a row.
pub(super) struct RowBuilder<F> {
    find: F,
    blocks: RowBlocks,
    steps: Vec<RowStep>,
    /// Role of each of them among those that are computed in slices.
    sliced: Vec<Sliced>,
    /// Number of objects that compute so far.
    objects: usize,
}

impl<F: Fn(ObjectId) -> Option<Found>> RowBuilder<F> {
    /// The steps of a row, and where their signals are; `find` gives the place of an object of signals.
    pub(super) fn build(
        find: F,
        steps: OrderedSteps,
        (inputs, outputs): (&[BufferId], &[BufferId]),
    ) -> (Vec<RowStep>, RowBlocks) {
        let mut new = Self {
            find,
            blocks: RowBlocks::new(&steps.steps, inputs, outputs),
            steps: Vec::with_capacity(steps.steps.len()),
            sliced: Vec::with_capacity(steps.steps.len()),
            objects: 0,
        };
        let mut bound = steps.steps.into_iter().enumerate();
        for (kind, count) in steps.together {
            let (first, mut places) = (new.steps.len(), Vec::new());
            for (at, bound) in bound.by_ref().take(count) {
                new.add(at, bound, kind.is_some(), &mut places);
            }
            if let Some(kind) = kind {
                new.put_side_by_side(kind, first, places);
            }
        }
        for (at, slices) in Slices::find(&new.sliced).into_iter().rev() {
            let step = RowStep::of_others(Action::Slice(slices));
            new.steps.insert(at, step);
        }
        (new.steps, new.blocks)
    }

    /// Adds the step `at`. Those that are side by side with others are no slices too.
    fn add(&mut self, at: usize, bound: BoundStep, is_beside: bool, places: &mut Vec<LanePlace>) {
        let place = bound.step.object().map(&self.find);
        if let Some(None) = place {
            // An object without signals writes none: its outlets are silent.
            return;
        }
        let place = place.flatten();
        let traits = place.as_ref().map(|(_, traits)| *traits);
        let performs = place.is_some() && !matches!(bound.step, Step::Fill { .. });
        let filter = traits.filter(|_| performs && !is_beside);
        let filter = filter.and_then(|traits| bound.filter(traits));
        let filter = filter.filter(|kind| kind.is_sliced());
        let (step, lane) = self.step((at, bound), place);
        if step.add_to(&mut self.steps) {
            let last = self.steps.last().map(|step| &step.action);
            self.sliced.push(match (filter, last) {
                (Some(kind), _) => Sliced::Filter(kind, lane),
                (None, Some(Action::Chain(_))) => Sliced::Chain,
                _ => Sliced::No,
            });
        }
        places.push(lane);
        self.objects += usize::from(performs);
    }

    /// Lets the steps from `first` on be computed side by side.
    fn put_side_by_side(&mut self, kind: RecursionKind, first: usize, places: Vec<LanePlace>) {
        let step = RowStep::recurring(kind, places);
        self.steps.insert(first, step);
        self.sliced.insert(first, Sliced::No);
    }

    /// The step `at` of the object at a place. Gives too where its signals are.
    fn step(
        &mut self,
        (at, bound): (usize, BoundStep),
        place: Option<Found>,
    ) -> (RowStep, LanePlace) {
        let (next, blocks) = (self.objects, &mut self.blocks);
        let [mut inlets, outlets] = blocks.of_step(at, &bound);
        let written = bound.step.outlets();
        let read = written.iter().zip(&outlets);
        let read = read.map(|(signal, block)| blocks.is_read(*signal).then_some(*block));
        let lane = LanePlace::new(next, &inlets, &Vec::from_iter(read));
        let numbers = bound.numbers.iter();
        let numbers = numbers.map(|(inlet, buffer)| (*inlet, blocks.block(*buffer)));
        let numbers = Box::from_iter(numbers);
        let chain = |of| {
            let has_one_reader = written.first().is_some_and(|to| blocks.has_one_reader(*to));
            let to = outlets.first().copied().unwrap_or_default();
            let numbers = numbers.clone();
            Action::Chain(Chain::new(of, &inlets, numbers, (to, has_one_reader)))
        };
        let traits = place.as_ref().map(|(_, traits)| *traits);
        let action = match (&bound.step, place) {
            (Step::Fill { inlet, .. }, Some((place, _))) => Action::Fill(place, *inlet),
            (_, Some((_, traits))) => match traits.arithmetic {
                Some(arithmetic) => chain((arithmetic, Some(next))),
                None => Action::Perform(next),
            },
            (_, None) => chain((Arithmetic::SUM, None)),
        };
        if let [outlet] = *outlets {
            let each = inlets.iter_mut();
            each.for_each(|block| *block = beside(*block, outlet));
        }
        let is_cut = traits.is_some_and(|traits| !traits.may_batch);
        let step = RowStep {
            action,
            numbers,
            inlets,
            outlets,
            grants: bound.grants,
            is_cut,
        };
        (step, lane)
    }
}
