//! [`Work`]: what waits on the stack of the machine.

use super::receivers::Passed;
use super::symbol::Symbol;
use super::value::{Message, Value};
use super::wire::ObjectId;

/// Work that waits for its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub work: Work,
    /// Length of the values when it was put on the stack: whatever lies above belongs to work that has ended.
    pub keep: u32,
    /// Number of messages that caused each other until here.
    pub depth: u32,
}

/// One kind of work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// A number to the connections of an outlet, from `next` on. Most messages are this.
    Number {
        object: ObjectId,
        outlet: u32,
        next: u32,
        number: f32,
    },
    /// A message to the connections of an outlet, from `next` on.
    Outlet {
        object: ObjectId,
        outlet: u32,
        next: u32,
        message: Stored,
    },
    /// A message to those that receive under a name, behind those that have got it: `only` those of one patch.
    Receivers {
        name: Symbol,
        passed: Passed,
        message: Stored,
        only: Option<u16>,
        /// True if it is said where nothing receives.
        is_loud: bool,
        /// True if it goes to what the message before it has reached, whatever its name is now.
        follows: bool,
    },
    /// A message to an object.
    Object { object: ObjectId, message: Stored },
    /// A face moves a box.
    Move { object: ObjectId, number: f32 },
    /// The object learns that the patch is loaded.
    Load { object: ObjectId },
    /// The object goes on.
    Resume { object: ObjectId, code: u32 },
}

impl Work {
    /// Object, outlet, and number of the next connection, of what goes along connections.
    pub(super) fn next_connection(&mut self) -> Option<(ObjectId, usize, &mut u32)> {
        match self {
            Self::Number {
                object,
                outlet,
                next,
                ..
            }
            | Self::Outlet {
                object,
                outlet,
                next,
                ..
            } => Some((*object, *outlet as usize, next)),
            _ => None,
        }
    }
}

/// A message whose values lie in the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub selector: Symbol,
    pub from: u32,
    pub to: u32,
}

/// Puts the values of a message behind the others.
pub(super) fn store(values: &mut Vec<Value>, message: Message<'_>) -> Stored {
    let clamp = |n: usize| u32::try_from(n).expect("fewer values than memory");
    let from = clamp(values.len());
    match message.values {
        [] => {}
        [value] => values.push(*value),
        several => values.extend_from_slice(several),
    }
    Stored {
        selector: message.selector,
        from,
        to: clamp(values.len()),
    }
}
