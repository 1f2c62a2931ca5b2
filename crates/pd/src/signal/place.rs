//! [`ObjectPlace`]: where a signal object lies, which messages and its step share.
//!
//! Objects that are computed one after the other by one node lie together, and are claimed together: once a block, not once an object.

use super::claimed::Claimed;
use crate::control::{EarlyMessage, Object};
use rt::claim_cell::WriteClaim;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// State of blocks that are filled with the numbers of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    Done,
    /// A message has changed a number.
    New,
    /// A number has changed while blocks of another length were in use.
    Late,
}

/// The numbers that are filled in while a row computes.
pub(super) struct Filling {
    /// Number of times that some were new, with this one.
    pub round: u64,
    /// True if some are new now.
    pub has_new: bool,
}

/// A signal object: between two blocks it belongs to the messages, within a block to its step.
pub(crate) struct SignalObject {
    pub object: Box<dyn Object>,
    /// Numbers at its inlets of signals, for those that nothing is connected to.
    numbers: Box<[Option<f32>]>,
    /// State of the blocks that hold them.
    pub(super) fill: Fill,
    /// [`Filling::round`] in which they were new.
    pub(super) new_in: u64,
    /// The number at the right of one that is an operation.
    pub(super) scalar: f32,
    /// Clocks that it has set in this block: number and delay in milliseconds.
    pub clocks: Vec<(u32, f64)>,
    /// Words that came before the signals of their block, in their order, where there is room for such.
    early: Vec<EarlyMessage>,
}

impl SignalObject {
    /// Clocks that an object may set in a block.
    const MAX_CLOCKS: usize = 16;

    /// Words that it keeps for the blocks of a batch.
    const MAX_EARLY: usize = 32;

    /// An object with the numbers at its inlets.
    fn new(object: Box<dyn Object>, numbers: Box<[Option<f32>]>) -> Self {
        Self {
            scalar: scalar(&*object),
            object,
            numbers,
            fill: Fill::New,
            new_in: 0,
            clocks: Vec::with_capacity(Self::MAX_CLOCKS),
            early: Vec::new(),
        }
    }

    /// Makes room for words that come before the signals of their block.
    ///
    /// Real-time: setup.
    pub(super) fn allow_early(&mut self) {
        self.early.reserve_exact(Self::MAX_EARLY);
    }

    /// Keeps words until the signals of their block are computed; false if that cannot be.
    ///
    /// Real-time: hot.
    pub(crate) fn keep_early(&mut self, message: EarlyMessage) -> bool {
        let EarlyMessage { inlet, words, .. } = message;
        let may = self.early.len() < self.early.capacity() && self.object.takes_early(inlet, words);
        if may {
            self.early.push(message);
        }
        may
    }

    /// Returns true if it keeps words.
    #[inline(always)]
    pub(super) fn keeps_early(&self) -> bool {
        !self.early.is_empty()
    }

    /// Gives the object the words that it keeps for the blocks up to `block`.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn take_kept(&mut self, block: u64) {
        if self.keeps_early() {
            self.take_due(block);
        }
    }

    fn take_due(&mut self, block: u64) {
        let due = self.early.iter().take_while(|it| it.block <= block).count();
        for EarlyMessage {
            ms, inlet, words, ..
        } in self.early.drain(..due)
        {
            self.object.take_early(inlet, words, ms);
        }
    }

    /// Calls a method of the object for a message.
    #[inline]
    pub(crate) fn call<R>(&mut self, method: impl FnOnce(&mut dyn Object) -> R) -> R {
        let result = method(&mut *self.object);
        self.scalar = scalar(&*self.object);
        result
    }

    /// As [`call`](Self::call), with what sets the number at an inlet; that gives false if the inlet has none.
    pub(crate) fn call_with_numbers<R>(
        &mut self,
        method: impl FnOnce(&mut dyn Object, &mut dyn FnMut(usize, f32) -> bool) -> R,
    ) -> R {
        let (numbers, fill) = (&mut self.numbers, &mut self.fill);
        let mut set = |inlet, to| set_number(numbers, fill, inlet, to);
        let result = method(&mut *self.object, &mut set);
        self.scalar = scalar(&*self.object);
        result
    }

    /// The number at an inlet.
    pub(super) fn number(&self, inlet: usize) -> f32 {
        self.numbers.get(inlet).copied().flatten().unwrap_or(0.0)
    }

    /// Returns true if its numbers are to be filled into their blocks, and notes that this is done. In most blocks it is not: then nothing
    /// is written.
    #[inline(always)]
    pub(super) fn take_numbers(&mut self, filling: &mut Filling) -> bool {
        match self.fill {
            Fill::Done => false,
            _ => self.note_filled(filling),
        }
    }

    #[cold]
    fn note_filled(&mut self, filling: &mut Filling) -> bool {
        if self.fill == Fill::New {
            self.new_in = filling.round;
            filling.has_new = true;
        }
        self.fill = Fill::Done;
        true
    }

    /// The numbers at its inlets.
    pub(super) fn own_numbers(&self) -> impl Iterator<Item = &f32> {
        self.numbers.iter().flatten()
    }

    /// The numbers at its inlets, to be changed.
    pub(super) fn own_numbers_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.numbers.iter_mut().flatten()
    }

    /// Sets the number at an inlet; false if it has none.
    #[inline]
    pub(crate) fn set_number(&mut self, inlet: usize, to: f32) -> bool {
        set_number(&mut self.numbers, &mut self.fill, inlet, to)
    }

    /// Gives its inlets other numbers.
    pub(crate) fn set_numbers(&mut self, numbers: Box<[Option<f32>]>) {
        (self.numbers, self.fill) = (numbers, Fill::New);
    }
}

/// Sets one of the numbers at inlets; false if the inlet has none.
#[inline]
fn set_number(numbers: &mut [Option<f32>], fill: &mut Fill, inlet: usize, to: f32) -> bool {
    match numbers.get_mut(inlet) {
        Some(Some(number)) => *number = to,
        _ => return false,
    }
    *fill = Fill::New;
    true
}

/// The number at the right of an object that is an operation; 0 of another one.
fn scalar(object: &dyn Object) -> f32 {
    let arithmetic = object.arithmetic();
    arithmetic.and_then(|it| it.scalar).unwrap_or_default()
}

/// An object that does nothing, where one was taken away.
struct Nothing;

impl Object for Nothing {
    crate::state::held!();
}

/// Signal objects that lie together.
pub(crate) type ObjectGroup = Claimed<Vec<SignalObject>>;

/// Place of a signal object.
#[derive(Clone)]
pub(crate) struct ObjectPlace {
    group: Arc<ObjectGroup>,
    at: usize,
}

impl ObjectPlace {
    /// A place for an object alone.
    pub(crate) fn alone(object: Box<dyn Object>, numbers: Box<[Option<f32>]>) -> Self {
        let objects = vec![SignalObject::new(object, numbers)];
        Self {
            group: Arc::new(Claimed::new(objects)),
            at: 0,
        }
    }

    /// Claims the object, and those that lie with it.
    ///
    /// # Panics
    ///
    /// A step computes one of them now: the plan lacks an order.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn write(&self) -> ObjectClaim<'_> {
        let (group, at) = (self.group.write(), self.at);
        ObjectClaim { group, at }
    }

    /// Takes the object away.
    ///
    /// Real-time: setup.
    pub(crate) fn take(&self) -> SignalObject {
        let nothing = SignalObject::new(Box::new(Nothing), Box::default());
        std::mem::replace(&mut *self.write(), nothing)
    }

    /// Exchanges the objects of two places of different groups. The numbers at their inlets count as new.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange(&self, other: &Self) {
        let (mut one, mut other) = (self.write(), other.write());
        std::mem::swap(&mut *one, &mut *other);
        one.fill = Fill::New;
        other.fill = Fill::New;
    }

    /// A group of `count` places without objects.
    ///
    /// Real-time: setup.
    pub(crate) fn empty_group(count: usize) -> Arc<ObjectGroup> {
        let nothing = || SignalObject::new(Box::new(Nothing), Box::default());
        let objects = std::iter::repeat_with(nothing).take(count).collect();
        Arc::new(Claimed::new(objects))
    }

    /// The places of all objects of a group.
    pub(crate) fn all_of(group: &Arc<ObjectGroup>) -> impl Iterator<Item = Self> + use<> {
        let group = group.clone();
        let count = group.read().len();
        (0..count).map(move |at| Self {
            group: group.clone(),
            at,
        })
    }
}

/// A claim on an object.
pub(crate) struct ObjectClaim<'p> {
    group: WriteClaim<'p, Vec<SignalObject>>,
    at: usize,
}

impl Deref for ObjectClaim<'_> {
    type Target = SignalObject;

    fn deref(&self) -> &SignalObject {
        &self.group[self.at]
    }
}

impl DerefMut for ObjectClaim<'_> {
    fn deref_mut(&mut self) -> &mut SignalObject {
        &mut self.group[self.at]
    }
}
