//! [`Moves`]: objects that move from rows that compute into new ones.

use super::place::ObjectPlace;
use super::traits::Traits;
use crate::control::{Machine, Object, ObjectId};
use std::collections::HashMap;

/// Objects that move from the rows that compute to new ones.
#[derive(Default)]
pub(super) struct Moves {
    /// Each object with its new place.
    objects: Vec<(ObjectId, ObjectPlace)>,
    places: HashMap<ObjectId, usize>,
    /// Objects of `block~` in new places: what they are from now on.
    reblocks: Vec<(ObjectId, Box<dyn Object>)>,
    /// Facts about objects.
    traits: HashMap<ObjectId, Traits>,
}

impl Moves {
    /// No moves yet; `traits` are what is known of objects.
    pub(super) fn new(traits: HashMap<ObjectId, Traits>) -> Self {
        Self {
            traits,
            ..Self::default()
        }
    }

    /// Lets objects move to new places.
    pub(super) fn add(&mut self, ids: &[ObjectId], places: impl Iterator<Item = ObjectPlace>) {
        for (id, place) in ids.iter().zip(places) {
            self.places.insert(*id, self.objects.len());
            self.objects.push((*id, place));
        }
    }

    /// Lets the object of a `block~` become another one.
    pub(super) fn replace(&mut self, id: ObjectId, object: Box<dyn Object>) {
        self.reblocks.push((id, object));
    }

    /// The new place of an object.
    pub(super) fn place(&self, id: ObjectId) -> Option<&ObjectPlace> {
        Some(&self.objects[*self.places.get(&id)?].1)
    }

    /// Facts about an object.
    pub(super) fn traits(&self, id: ObjectId) -> Traits {
        self.traits.get(&id).copied().unwrap_or_default()
    }

    /// Moves the objects. Their old places stay here.
    ///
    /// Real-time: hot.
    pub(super) fn carry_out(&mut self, machine: &mut Machine) {
        for (id, place) in &mut self.objects {
            machine.move_object(*id, place);
        }
        for (id, object) in &mut self.reblocks {
            if let Some(place) = machine.signal_object(*id) {
                let there = &mut place.write().object;
                // A new one is on or off as its class is.
                if let Some(is_on) = there.is_on().or(object.is_on()) {
                    object.turn(is_on);
                }
                std::mem::swap(there, object);
            }
        }
    }
}
