//! Which of two responses is heard, and the way from one to the other.
//!
//! A change begins with the internal block in which it is asked for. One that is asked for on the way waits until it is
//! there.

use crate::{Convolver, Exchange};
use processor::{Block, EventBody, EventTarget};
use std::ops::Range;

/// See the module.
pub(super) struct Change {
    /// The parameter's place among the kind's.
    which: u16,
    /// The responses that are not heard, while no change is under way.
    spare: Option<Box<Exchange>>,
    has_other: bool,
    is_other: bool,
    wants_other: bool,
    starts_with_other: bool,
}

impl Change {
    /// Begins with the first response, or with the other, if there is one.
    pub(super) fn new(which: u16, has_other: bool, is_other: bool) -> Self {
        let is_other = has_other && is_other;
        Self {
            which,
            spare: None,
            has_other,
            is_other,
            wants_other: is_other,
            starts_with_other: is_other,
        }
    }

    /// Which response is heard first when it is set up now.
    ///
    /// Real-time: setup.
    pub(super) fn first(&mut self) -> usize {
        self.spare = None;
        self.starts_with_other = self.wants_other;
        self.is_other = self.wants_other;
        usize::from(self.is_other)
    }

    /// What it can change to.
    ///
    /// Real-time: setup.
    pub(super) fn set_spare(&mut self, spare: Option<Box<Exchange>>) {
        self.spare = spare;
    }

    /// Whether nothing is asked for and nothing under way.
    ///
    /// Real-time: hot.
    pub(super) fn is_over(&self, convolver: &Convolver) -> bool {
        self.wants_other == self.is_other && !convolver.is_exchanging()
    }

    /// Hears what is asked for in frames `range` of `block`.
    ///
    /// Real-time: hot.
    pub(super) fn listen(&mut self, block: &Block<'_>, range: Range<usize>) {
        for event in block.events().iter() {
            if let (EventTarget::Param(index), EventBody::Value(value)) = (event.target, event.body)
                && index == self.which
                && range.contains(&(event.frame as usize))
                && !value.is_nan()
            {
                self.wants_other = self.has_other && value >= 0.5;
            }
        }
    }

    /// Begins a change that is wanted, and takes back what one that is over has left.
    ///
    /// Real-time: hot.
    pub(super) fn go_on(&mut self, convolver: &mut Convolver) {
        if let Some(left) = convolver.take_retired() {
            self.spare = Some(left);
        }
        if self.wants_other == self.is_other {
            return;
        }
        let is_begun = match self.spare.take() {
            // It is this convolver's, and none waits: nothing comes back.
            Some(next) => {
                self.spare = convolver.exchange(next);
                true
            }
            None => convolver.exchange_kept(),
        };
        if is_begun {
            self.is_other = self.wants_other;
        }
    }

    /// Hears what it began with, at once. Gives what the convolver needs for that.
    ///
    /// Real-time: hot.
    pub(super) fn reset(&mut self) -> Option<Box<Exchange>> {
        self.wants_other = self.starts_with_other;
        self.is_other = self.starts_with_other;
        self.spare.take()
    }
}
