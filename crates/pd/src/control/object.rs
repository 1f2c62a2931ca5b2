//! [`Object`]: the contract of an object.

use super::context::Context;
use super::early_message::EarlyWords;
use super::globals::Globals;
use super::jobs::JobResult;
use super::pointer::Pointer;
use super::symbol::Symbol;
use super::value::{Message, Value};
use super::wire::ObjectId;
use crate::net::NetEvent;
use crate::signal::{Accesses, Arithmetic, Inlets, Recursion, RowFormat, SignalWorld};
use crate::state::{StateReader, StateWriter, Unfit};

/// Result of a method: the object understood the message, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    Yes,
    No,
}

/// A control object. What it has no method for is turned into another message, as Pd does: a float for an object that
/// takes lists is a list of one; a list for one that does not goes to its inlets one by one, as far as the box has some.
#[expect(unused_variables, reason = "names of defaults are documentation")]
pub(crate) trait Object: Send + Sync {
    /// `bang` at the left inlet.
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// A number at the left inlet.
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// A symbol at the left inlet.
    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// A list at the left inlet, of any length.
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// A pointer at the left inlet.
    fn pointer(&mut self, pointer: Pointer, context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// Any other message at the left inlet.
    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// A message at another inlet, from 1.
    fn cold(&mut self, inlet: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        Handled::No
    }

    /// A clock is due.
    fn clock(&mut self, slot: u32, context: &mut Context<'_>) {}

    /// What was sent before [`Context::resume`] has ended.
    fn resume(&mut self, code: u32, context: &mut Context<'_>) {}

    /// Takes the result of a job of [`Context::ask`]. Memory that the object replaces it leaves in `result`.
    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {}

    /// The box is removed: gives back what the object holds of what all share.
    ///
    /// Real-time: setup.
    fn removed(&mut self, own: ObjectId, globals: &mut Globals) {}

    /// Takes what has come through its socket with this number. It copies what it does not use at once.
    fn net(&mut self, number: u32, event: &NetEvent<'_>, context: &mut Context<'_>) {}

    /// Writes what the object holds, for [`Object::load`]; most say by `held!` what that is. One that does not begins anew.
    ///
    /// Real-time: hot.
    fn save(&self, state: &mut StateWriter<'_>) {
        state.begin_anew();
    }

    /// Goes on with what an object of the same box has written. It may come from anywhere, so it is checked; in the case of an error the
    /// object may hold some of it.
    ///
    /// # Errors
    ///
    /// It does not fit.
    ///
    /// Real-time: setup.
    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        Ok(())
    }

    /// A face has moved the box to a number.
    fn moved(&mut self, number: f32, context: &mut Context<'_>) {}

    /// The patch is loaded.
    fn loadbang(&mut self, context: &mut Context<'_>) {}

    /// The block length and rate of its canvas, before the first block and whenever they change.
    ///
    /// Real-time: setup.
    fn prepare(&mut self, format: &RowFormat) {}

    /// Returns true if it lets the canvas around it compute; `None` if that is not for it to say.
    fn is_on(&self) -> Option<bool> {
        None
    }

    /// Lets the canvas around it compute or not, where it takes the place of another one.
    ///
    /// Real-time: hot.
    fn turn(&mut self, is_on: bool) {}

    /// Declares what [`Object::perform`] shares with other objects. It gets nothing else.
    ///
    /// Real-time: setup.
    fn accesses(&self, list: &mut Accesses) {}

    /// The operation of two numbers that the object is, if it is one: its step computes it, and [`Object::perform`] is not called.
    ///
    /// Real-time: hot.
    fn arithmetic(&self) -> Option<Arithmetic> {
        None
    }

    /// The recursion that the object is, if it is one, at `rate` hertz and with `number` at its second inlet, where no signal is: its step
    /// may compute it beside equal ones, in place of [`Object::perform`], and gives back its state.
    ///
    /// Real-time: hot.
    fn recursion(&self, rate: f32, number: Option<f32>) -> Option<Recursion> {
        None
    }

    /// Takes the state of its [`Object::recursion`] behind a block.
    ///
    /// Real-time: hot.
    fn set_recursion(&mut self, state: [f32; 2]) {}

    /// Returns true if several short blocks may be computed as one: no sample depends on where a block ends.
    fn may_join(&self) -> bool {
        false
    }

    /// Returns true if one call of [`Object::perform`] may compute the blocks of a batch, with the sound of a call for each. Another object
    /// is called for each of them.
    fn may_batch(&self) -> bool {
        self.may_join()
    }

    /// Number of blocks that may be computed as one now, if [`Object::may_join`]. So many a batch has at
    /// most, of any object: one that sets a clock does so in the last of them.
    ///
    /// Real-time: hot.
    fn joins(&self, world: &SignalWorld<'_>) -> usize {
        usize::MAX
    }

    /// Returns true if a list of one number is a list for it, and not a number for its inlet.
    ///
    /// Real-time: hot.
    fn takes_short_lists(&self) -> bool {
        false
    }

    /// Returns true if it takes these words at an inlet also before the signals of earlier blocks are computed: they change nothing but what it
    /// holds, by [`Object::take_early`], nobody hears of it before its block, and [`Object::joins`] says the same with them.
    ///
    /// Real-time: hot.
    fn takes_early(&self, inlet: usize, words: EarlyWords) -> bool {
        false
    }

    /// Takes words that came at the logical time `ms`, in milliseconds, now that their block begins.
    ///
    /// Real-time: hot.
    fn take_early(&mut self, inlet: usize, words: EarlyWords, ms: f64) {}

    /// Computes a block of signals: reads its inlets, writes every sample of its outlets.
    ///
    /// Real-time: hot.
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
    }
}
