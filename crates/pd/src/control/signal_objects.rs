//! Objects of signals as the machine has them: where they lie, and what they share with messages.

use super::arrays::ArrayId;
use super::clocks::Due;
use super::layout::Layout;
use super::machine::Machine;
use super::slot::ObjectSlot;
use super::wire::{ObjectId, Wire};
use crate::signal::{ObjectGroup, ObjectPlace};
use std::ops::Range;
use std::sync::Arc;

impl Machine {
    /// Returns true if one of the objects has signals.
    pub(super) fn has_signals(&self, ranges: &[Range<u32>]) -> bool {
        let mut all = ranges.iter().flat_map(Clone::clone);
        all.any(|at| matches!(self.objects[at as usize], ObjectSlot::Signal(_)))
    }

    /// Returns true if messages may change signals.
    pub(crate) fn may_change_signals(&self) -> bool {
        self.layout.is_some()
    }

    /// The patch as it is now, if its signals were changed since the last call.
    ///
    /// Real-time: hot.
    pub(crate) fn take_changed_layout(&mut self) -> Option<Box<Layout>> {
        let changed = |layout: &mut Box<Layout>| std::mem::take(&mut layout.is_changed);
        self.layout.take_if(changed)
    }

    /// Gives a layout back.
    pub(crate) fn keep_layout(&mut self, layout: Box<Layout>) {
        self.layout = Some(layout);
    }

    /// Makes an object one of signals, with a number for each inlet that is one of signals.
    pub(super) fn set_signal_inlets(&mut self, id: ObjectId, numbers: Box<[Option<f32>]>) {
        self.objects[id.0 as usize].share(numbers);
    }

    /// The place of a signal object, which its step shares; `None` for another object.
    pub(crate) fn signal_object(&self, id: ObjectId) -> Option<&ObjectPlace> {
        match &self.objects[id.0 as usize] {
            ObjectSlot::Signal(place) => Some(place),
            ObjectSlot::Control(_) => None,
        }
    }

    /// Moves these objects of signals together. Copies of their places that were made before lead to nothing.
    ///
    /// Real-time: setup.
    pub(crate) fn join(&mut self, ids: &[ObjectId]) -> Arc<ObjectGroup> {
        let places = ids.iter().filter_map(|id| self.signal_object(*id));
        let objects = Vec::from_iter(places.map(ObjectPlace::take));
        let group = Arc::new(ObjectGroup::new(objects));
        let mut places = ObjectPlace::all_of(&group);
        for id in ids {
            if let ObjectSlot::Signal(place) = &mut self.objects[id.0 as usize] {
                *place = places.next().expect("as many as were taken");
            }
        }
        group
    }

    /// Moves an object of signals to another place; its old one is left in `place`.
    ///
    /// Real-time: hot.
    pub(crate) fn move_object(&mut self, id: ObjectId, place: &mut ObjectPlace) {
        if let ObjectSlot::Signal(old) = &mut self.objects[id.0 as usize] {
            old.exchange(place);
            std::mem::swap(old, place);
        }
    }

    /// Sets the clocks that an object has set while it computed.
    ///
    /// Real-time: hot.
    pub(crate) fn take_clocks(&mut self, id: ObjectId) {
        if let ObjectSlot::Signal(place) = &self.objects[id.0 as usize] {
            for (slot, delay_ms) in place.write().clocks.drain(..) {
                self.globals.clocks.set(Due { object: id, slot }, delay_ms);
            }
        }
    }

    /// Exchanges the points of an array with those of a step.
    ///
    /// Real-time: hot.
    pub(crate) fn swap_points(&mut self, array: ArrayId, points: &mut Vec<f32>) {
        std::mem::swap(self.globals.arrays.points_mut(array), points);
    }

    /// Objects whose outlets send messages to the left inlet of `to`.
    pub(crate) fn senders(&self, to: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let wire = Wire {
            object: to,
            inlet: 0,
        };
        let sends =
            move |outlets: &Vec<Vec<Wire>>| outlets.iter().any(|wires| wires.contains(&wire));
        let all = (0..).zip(&self.wires);
        all.filter(move |(_, outlets)| sends(outlets))
            .map(|(id, _)| ObjectId(id))
    }
}
