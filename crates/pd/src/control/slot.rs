//! [`ObjectSlot`]: the place of an object in the machine.
//!
//! A control object belongs to the machine. A signal object is shared: its step touches it while signals are computed, messages do
//! before. Both claim it, so that a mistake in the order of steps is a panic and never a wrong sample.

use super::object::Object;
use crate::signal::{ObjectCell, SignalObject};
use std::sync::Arc;

/// The place of an object.
pub(super) enum ObjectSlot {
    /// One that messages alone reach.
    Control(Box<dyn Object>),
    /// One with signals.
    Signal(Arc<ObjectCell>),
}

/// The object of a slot that is being changed.
struct Nothing;

impl Object for Nothing {}

impl ObjectSlot {
    /// Makes the object one of signals.
    pub(super) fn share(&mut self, numbers: Box<[Option<f32>]>) {
        match std::mem::replace(self, Self::Control(Box::new(Nothing))) {
            Self::Control(object) => {
                let object = SignalObject::new(object, numbers);
                *self = Self::Signal(Arc::new(ObjectCell::new(object)));
            }
            Self::Signal(cell) => {
                cell.write().numbers = numbers;
                *self = Self::Signal(cell);
            }
        }
    }

    /// Sets the number at an inlet of signals; false if it is none.
    #[inline]
    pub(super) fn set_number(&self, inlet: usize, to: f32) -> bool {
        let Self::Signal(cell) = self else {
            return false;
        };
        match cell.write().numbers.get_mut(inlet) {
            Some(Some(number)) => *number = to,
            _ => return false,
        }
        true
    }

    /// Calls `method` with the object.
    #[inline]
    pub(super) fn with(&mut self, method: impl FnOnce(&mut dyn Object)) {
        match self {
            Self::Control(object) => method(&mut **object),
            Self::Signal(cell) => method(&mut *cell.write().object),
        }
    }
}
