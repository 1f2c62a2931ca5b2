//! [`IrSwitch`]: the switch between the node's two responses, by the parameter `which`.
//!
//! A cross-fade begins with the internal block in which it is asked for. A further one waits until it has ended.

use crate::{Convolver, Exchange};
use processor::{Block, EventBody, EventTarget};
use std::ops::Range;

/// The switch between two responses.
pub(super) struct IrSwitch {
    /// Index of the parameter.
    which: u16,
    /// Filters of the response that is not in use, while no cross-fade is under way.
    spare: Option<Box<Exchange>>,
    has_other: bool,
    is_other: bool,
    wants_other: bool,
    starts_with_other: bool,
}

impl IrSwitch {
    /// Begins with the first response, or with the other one if there is one.
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

    /// Number of the file with which a new convolver begins.
    ///
    /// Real-time: setup.
    pub(super) fn first_file(&mut self) -> usize {
        self.spare = None;
        self.starts_with_other = self.wants_other;
        self.is_other = self.wants_other;
        usize::from(self.is_other)
    }

    /// Number of the file with which the convolver has begun.
    ///
    /// Real-time: setup.
    pub(super) fn number(&self) -> usize {
        usize::from(self.starts_with_other)
    }

    /// Keeps the filters to which it can switch.
    ///
    /// Real-time: setup.
    pub(super) fn set_spare(&mut self, spare: Option<Box<Exchange>>) {
        self.spare = spare;
    }

    /// Returns true if no switch is asked for or under way.
    ///
    /// Real-time: hot.
    pub(super) fn is_idle(&self, convolver: &Convolver) -> bool {
        self.wants_other == self.is_other && !convolver.is_exchanging()
    }

    /// Reads the events in frames `range` of `block`.
    ///
    /// Real-time: hot.
    pub(super) fn read_events(&mut self, block: &Block<'_>, range: Range<usize>) {
        for event in block.events().iter() {
            // What an edge drives glides: which side of the middle it is on counts at once.
            let (EventBody::Value(value) | EventBody::Glide(value)) = event.body else {
                continue;
            };
            if event.target == EventTarget::Param(self.which)
                && range.contains(&(event.frame as usize))
                && !value.is_nan()
            {
                self.wants_other = self.has_other && value >= 0.5;
            }
        }
    }

    /// Returns true if the other response is asked for.
    ///
    /// Real-time: hot.
    pub(super) fn wants_other(&self) -> bool {
        self.wants_other
    }

    /// Asks for the first response or for the other one.
    ///
    /// Real-time: hot.
    pub(super) fn ask(&mut self, other: bool) {
        self.wants_other = self.has_other && other;
    }

    /// Begins a cross-fade that is asked for, and takes the filters back that the last one has replaced.
    ///
    /// Real-time: hot.
    pub(super) fn advance(&mut self, convolver: &mut Convolver) {
        if let Some(retired) = convolver.take_retired() {
            self.spare = Some(retired);
        }
        if self.wants_other == self.is_other {
            return;
        }
        let is_begun = match self.spare.take() {
            // It is for this convolver, and none is pending: nothing is returned.
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

    /// Returns to the response that it began with. Gives the other filters, which the convolver needs for that.
    ///
    /// Real-time: hot.
    pub(super) fn reset(&mut self) -> Option<Box<Exchange>> {
        self.wants_other = self.starts_with_other;
        self.is_other = self.starts_with_other;
        self.spare.take()
    }
}
