//! [`BoundStep`]: a step with all that it touches.

use super::order::Step;
use super::recursion::RecursionKind;
use super::shared::{Grants, SharedName};
use super::traits::Traits;
use super::world::BufferId;
use crate::control::ObjectId;
use std::collections::{HashMap, HashSet};

/// A step with all that it touches.
pub(crate) struct BoundStep {
    pub(crate) step: Step,
    /// Class of its object.
    pub(crate) class: Box<str>,
    /// Inlets that are numbers of its object, each with the signal that it becomes.
    pub(super) numbers: Vec<(usize, BufferId)>,
    pub(super) grants: Grants,
    /// What it shares with other steps, and true where it changes that.
    pub(crate) accesses: Vec<(SharedName, bool)>,
    /// True if objects within it, of a canvas with blocks of its own, set clocks.
    pub(super) hides_clocks: bool,
}

impl BoundStep {
    /// The object that it lets compute.
    pub(super) fn performed(&self) -> Option<ObjectId> {
        match &self.step {
            Step::Perform { object, .. } => Some(*object),
            _ => None,
        }
    }

    /// The filter that it is, as an object of these traits.
    pub(super) fn filter(&self, traits: Traits) -> Option<RecursionKind> {
        let mut numbers = self.numbers.iter();
        let has_number = numbers.any(|(inlet, _)| *inlet == 1);
        traits.filter[usize::from(has_number)]
    }

    /// A step that touches nothing.
    #[cfg(test)]
    pub(super) fn unbound(step: Step) -> Self {
        Self {
            step,
            class: "".into(),
            numbers: Vec::new(),
            grants: Grants::default(),
            accesses: Vec::new(),
            hides_clocks: false,
        }
    }
}

/// Takes away the steps that fill a signal with a number of the object that reads it: its own step does that, where the number has
/// changed.
pub(super) fn fold_numbers(steps: Vec<BoundStep>) -> Vec<BoundStep> {
    let mut filled = HashMap::new();
    for bound in &steps {
        if let Step::Fill { object, inlet, to } = &bound.step {
            filled.insert(*to, (*object, *inlet));
        }
    }
    let mut own = HashSet::new();
    let mut steps = steps;
    for bound in &mut steps {
        let Some(id) = bound.performed() else {
            continue;
        };
        for signal in bound.step.inlets() {
            match filled.get(&signal) {
                Some((object, inlet)) if *object == id => {
                    bound.numbers.push((*inlet, signal));
                    own.insert(signal);
                }
                _ => {}
            }
        }
    }
    steps.retain(|bound| !matches!(&bound.step, Step::Fill { to, .. } if own.contains(to)));
    steps
}
