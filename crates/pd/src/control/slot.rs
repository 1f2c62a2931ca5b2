//! [`ObjectSlot`]: the place of an object in the machine.
//!
//! A control object belongs to the machine. A signal object is shared: its step touches it while signals are computed, messages do
//! before. Both claim it, so that a mistake in the order of steps is a panic and never a wrong sample.

use super::context::Context;
use super::globals::Globals;
use super::object::{Handled, Object};
use super::rules::{bang_to_inlet, message_to_inlet, number_to_inlet};
use super::value::Message;
use super::wire::ObjectId;
use crate::signal::ObjectPlace;

/// The place of an object.
pub(super) enum ObjectSlot {
    /// One that messages alone reach.
    Control(Box<dyn Object>),
    /// One with signals.
    Signal(ObjectPlace),
}

/// The object of a slot that is being changed.
struct Nothing;

impl Object for Nothing {
    crate::state::held!();
}

impl ObjectSlot {
    /// Makes the object one of signals.
    pub(super) fn share(&mut self, numbers: Box<[Option<f32>]>) {
        match std::mem::replace(self, Self::Control(Box::new(Nothing))) {
            Self::Control(object) => *self = Self::Signal(ObjectPlace::alone(object, numbers)),
            Self::Signal(place) => {
                place.write().set_numbers(numbers);
                *self = Self::Signal(place);
            }
        }
    }

    /// Takes the object out, whose box `own` is removed.
    pub(super) fn clear(&mut self, own: ObjectId, globals: &mut Globals) {
        // One of signals may be in use: it holds nothing that all share.
        if let Self::Control(object) = self {
            object.removed(own, globals);
        }
        *self = Self::Control(Box::new(Nothing));
    }

    /// Gives the object a number.
    #[inline(always)]
    pub(super) fn take_number(
        &mut self,
        inlet: usize,
        number: f32,
        context: &mut Context<'_>,
    ) -> Handled {
        match self {
            Self::Control(object) => number_to_inlet(&mut **object, inlet, number, context),
            Self::Signal(place) => give_number(place, inlet, number, context),
        }
    }

    /// Gives the object a bang.
    #[inline(always)]
    pub(super) fn take_bang(&mut self, context: &mut Context<'_>) -> Handled {
        match self {
            Self::Control(object) => bang_to_inlet(&mut **object, context),
            Self::Signal(place) => place.write().call(|object| bang_to_inlet(object, context)),
        }
    }

    /// Gives the object a message at an inlet, of `inlets` that its box has.
    #[inline]
    pub(super) fn take_message(
        &mut self,
        (inlet, inlets): (usize, usize),
        message: Message<'_>,
        context: &mut Context<'_>,
    ) -> Handled {
        let at = (inlet, inlets);
        match self {
            Self::Control(object) => {
                message_to_inlet(&mut **object, &mut |_, _| false, at, message, context)
            }
            Self::Signal(place) => place.write().call_with_numbers(|object, set| {
                message_to_inlet(object, set, at, message, context)
            }),
        }
    }

    /// Calls `method` with the object.
    #[inline]
    pub(super) fn with<R>(&mut self, method: impl FnOnce(&mut dyn Object) -> R) -> R {
        match self {
            Self::Control(object) => method(&mut **object),
            Self::Signal(place) => place.write().call(method),
        }
    }
}

/// Gives an object of signals a number.
#[inline(never)]
fn give_number(
    place: &ObjectPlace,
    inlet: usize,
    number: f32,
    context: &mut Context<'_>,
) -> Handled {
    let mut claim = place.write();
    match claim.set_number(inlet, number) {
        true => Handled::Yes,
        false => claim.call(|object| number_to_inlet(object, inlet, number, context)),
    }
}
