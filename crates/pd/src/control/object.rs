//! [`Object`]: the contract of a control object, and [`Context`]: what it may do.

use super::arrays::{ArrayId, Arrays, MAX_SAMPLES};
use super::clocks::{Clocks, Due};
use super::early::EarlyWords;
use super::globals::Globals;
use super::jobs::{Job, JobResult, MAX_PARTS, Sum};
use super::pointer::Pointer;
use super::receivers::Passed;
use super::sums;
use super::symbol::{Symbol, Symbols, words};
use super::value::{Message, Value};
use super::wire::ObjectId;
use super::work::{Entry, Stored, Work, store};
use crate::net::{NetCommand, NetEvent, Served, SocketId};
use crate::signal::{Accesses, Arithmetic, Inlets, Recursion, RowFormat, SignalWorld};
use crate::state::{StateReader, StateWriter, Unfit};
use std::borrow::Cow;

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

/// Surroundings of an object while it handles a message.
pub(crate) struct Context<'m> {
    pub(super) object: ObjectId,
    /// The stack, with the messages that it sends on top, in order until the handler ends.
    pub(super) stack: &'m mut Vec<Entry>,
    /// Words of what it sends.
    pub(super) values: &'m mut Vec<Value>,
    pub(super) globals: &'m mut Globals,
    pub(super) depth: u32,
}

impl Context<'_> {
    /// Sends a message from an outlet, once this handler has ended.
    ///
    /// Real-time: hot, as long as no longer chain of messages than ever before is under way.
    pub(crate) fn send(&mut self, outlet: usize, message: Message<'_>) {
        if let (words::FLOAT, [Value::Float(number)]) = (message.selector, message.values) {
            return self.send_float(outlet, *number);
        }
        let message = store(self.values, message);
        self.send_stored(outlet, message);
    }

    fn send_stored(&mut self, outlet: usize, message: Stored) {
        let outlet = u32::try_from(outlet).expect("a box has few outlets");
        let object = self.object;
        self.push(
            Work::Outlet {
                object,
                outlet,
                next: 0,
                message,
            },
            self.depth + 1,
        );
    }

    /// Sends a bang.
    pub(crate) fn send_bang(&mut self, outlet: usize) {
        let at = u32::try_from(self.values.len()).expect("fewer values than memory");
        let (selector, from, to) = (words::BANG, at, at);
        self.send_stored(outlet, Stored { selector, from, to });
    }

    /// Sends a number.
    #[inline]
    pub(crate) fn send_float(&mut self, outlet: usize, number: f32) {
        let outlet = u32::try_from(outlet).expect("a box has few outlets");
        let object = self.object;
        self.push(
            Work::Number {
                object,
                outlet,
                next: 0,
                number,
            },
            self.depth + 1,
        );
    }

    /// Sends a number or a symbol.
    pub(crate) fn send_value(&mut self, outlet: usize, value: Value) {
        match value {
            Value::Float(number) => self.send_float(outlet, number),
            value => self.send(outlet, Message::of_list(&[value])),
        }
    }

    /// Sends a list, also where it is short: `list` with one value is a number or a symbol, an empty one a bang.
    pub(crate) fn send_list(&mut self, outlet: usize, values: &[Value]) {
        self.send(outlet, Message::of_list(values));
    }

    /// Sends two lists as one.
    pub(crate) fn send_joined(&mut self, outlet: usize, first: &[Value], second: &[Value]) {
        match (first, second) {
            ([], values) | (values, []) => self.send_list(outlet, values),
            (first, second) => {
                let mut message = Message::of_list(first);
                message.selector = words::LIST;
                let mut stored = store(self.values, message);
                stored.to = store(self.values, Message::of_list(second)).to;
                self.send_stored(outlet, stored);
            }
        }
    }

    /// Sends a message to everything that receives under a name.
    pub(crate) fn send_to(&mut self, name: Symbol, message: Message<'_>) {
        self.send_receivers(name, message, None, [false, false]);
    }

    /// As [`Context::send_to`]; says so where nothing receives, as Pd does for words of message boxes and texts.
    pub(crate) fn send_to_named(&mut self, name: Symbol, message: Message<'_>) {
        self.send_receivers(name, message, None, [true, false]);
    }

    /// As [`Context::send_to`], behind a message to the same name: where one object has received that, it goes to this object.
    pub(crate) fn send_behind(&mut self, name: Symbol, message: Message<'_>) {
        self.send_receivers(name, message, None, [false, true]);
    }

    /// As [`Context::send_to`], to what receives in one patch.
    pub(super) fn send_into(&mut self, patch: u16, name: Symbol, message: Message<'_>) {
        self.send_receivers(name, message, Some(patch), [false, false]);
    }

    fn send_receivers(
        &mut self,
        name: Symbol,
        message: Message<'_>,
        only: Option<u16>,
        [is_loud, follows]: [bool; 2],
    ) {
        let message = store(self.values, message);
        let work = Work::Receivers {
            name,
            passed: Passed::NONE,
            message,
            only,
            is_loud,
            follows,
        };
        self.push(work, self.depth + 1);
    }

    /// Sends a message to an object itself.
    pub(super) fn send_object(&mut self, object: ObjectId, message: Message<'_>) {
        let message = store(self.values, message);
        self.push(Work::Object { object, message }, self.depth + 1);
    }

    /// Moves a box as a face does.
    pub(super) fn send_move(&mut self, object: ObjectId, number: f32) {
        self.push(Work::Move { object, number }, self.depth + 1);
    }

    /// Calls [`Object::resume`] once what was sent until now has ended.
    pub(crate) fn resume(&mut self, code: u32) {
        self.push(
            Work::Resume {
                object: self.object,
                code,
            },
            self.depth,
        );
    }

    #[inline]
    fn push(&mut self, work: Work, depth: u32) {
        self.stack.push(Entry {
            work,
            keep: 0,
            depth,
        });
    }

    /// Sets one of the object's clocks.
    pub(crate) fn set_clock(&mut self, slot: u32, delay_ms: f64) {
        self.globals.clocks.set(
            Due {
                object: self.object,
                slot,
            },
            delay_ms,
        );
    }

    /// Sets a clock of an object inside a canvas that computes at a message.
    pub(crate) fn set_clock_of(&mut self, object: ObjectId, slot: u32, delay_ms: f64) {
        self.globals.clocks.set(Due { object, slot }, delay_ms);
    }

    /// Unsets it.
    pub(crate) fn unset_clock(&mut self, slot: u32) {
        self.globals.clocks.unset(Due {
            object: self.object,
            slot,
        });
    }

    /// Logical time.
    pub(crate) fn clocks(&self) -> &Clocks {
        &self.globals.clocks
    }

    /// Texts of symbols.
    pub(crate) fn symbols(&mut self) -> &mut Symbols {
        &mut self.globals.symbols
    }

    /// All arrays.
    pub(crate) fn arrays(&mut self) -> &mut Arrays {
        &mut self.globals.arrays
    }

    /// Asks for a file or for memory. Where the patch may wait, the result is there at once; else it comes by [`Object::reply`].
    ///
    /// Real-time: waits, on the disk, in a render; hot while a patch plays live.
    pub(crate) fn ask(&mut self, job: Job) -> Option<JobResult> {
        self.globals.jobs.ask(self.object, job)
    }

    /// The object's own number.
    pub(crate) fn own(&self) -> ObjectId {
        self.object
    }

    /// Asks for something of the object's socket of this number. A mistake is a sentence.
    ///
    /// Real-time: waits, on the system, in a render; hot while a patch plays live.
    pub(crate) fn serve_net(
        &mut self,
        number: u32,
        command: NetCommand<'_>,
    ) -> Result<Served, Cow<'static, str>> {
        if self.globals.jobs.is_dry {
            return Ok(Served::Later);
        }
        let object = self.object.0;
        self.globals.net.serve(SocketId { object, number }, command)
    }

    /// The symbol of a word that has come through a socket; `None` if too many were made already.
    ///
    /// Real-time: hot.
    pub(crate) fn symbol_from_outside(&mut self, text: &str) -> Option<Symbol> {
        let Globals { net, symbols, .. } = self.globals;
        net.symbol(text, symbols)
    }

    /// Changes the number of points of an array; prints why not. Where memory is needed while the patch plays live, it is done
    /// before a later block.
    ///
    /// Real-time: hot while a patch plays live.
    pub(crate) fn resize_array(&mut self, array: ArrayId, size: usize) {
        self.make_points(array, size, None);
    }

    /// Fills an array of `size` points with a sum of sine waves, or of cosine waves; as [`Context::resize_array`].
    pub(crate) fn make_points(
        &mut self,
        array: ArrayId,
        size: usize,
        sum: Option<(bool, &[Value])>,
    ) {
        let arrays = &mut self.globals.arrays;
        if self.globals.jobs.is_deferred && size > arrays.points_mut(array).capacity() {
            let sum = match sum.map(|(is_sine, partials)| Sum::new(is_sine, partials)) {
                Some(None) => {
                    return self.print_with(|_, line| {
                        write!(
                            line,
                            "error: array: more than {MAX_PARTS} partials while it plays"
                        )
                    });
                }
                sum => sum.flatten(),
            };
            if let Some(JobResult::Refused) = self.ask(Job::Points { array, size, sum }) {
                self.print_with(|_, line| line.write_str("error: array: too many jobs at once"));
            }
            return;
        }
        if !arrays.resize(array, size) {
            let name = self.globals.arrays.name(array).unwrap_or(words::EMPTY);
            return self.print_with(|symbols, line| {
                let name = symbols.text(name);
                write!(
                    line,
                    "error: {name}: {size} points are too many: arrays and delay lines hold at most {MAX_SAMPLES}"
                )
            });
        }
        if let Some((is_sine, partials)) = sum {
            let points = self.globals.arrays.points_mut(array);
            sums::fill(
                points,
                partials.iter().map(|partial| partial.number()),
                is_sine,
            );
        }
    }

    /// State that all objects share.
    pub(crate) fn globals(&mut self) -> &mut Globals {
        self.globals
    }

    /// The number of all `value` boxes of a name.
    pub(crate) fn value_mut(&mut self, name: Symbol) -> &mut f32 {
        self.globals.values.entry(name).or_insert(0.0)
    }

    /// Prints a line that the caller has put together: where one is printed seldom.
    ///
    /// Real-time: hot, but for the text.
    pub(crate) fn print(&mut self, line: String) {
        self.globals.print(&line);
    }

    /// Prints a line that `write` puts together.
    ///
    /// Real-time: hot.
    pub(crate) fn print_with(
        &mut self,
        write: impl FnOnce(&Symbols, &mut dyn std::fmt::Write) -> std::fmt::Result,
    ) {
        let Globals {
            console, symbols, ..
        } = self.globals;
        console.line(|line| write(symbols, line));
    }

    /// Calls `then` with the words of a message as a list: a selector that is not the name of a type is the first one.
    ///
    /// Real-time: hot, as long as no message is longer than ever before.
    pub(crate) fn with_list<R>(
        &mut self,
        message: Message<'_>,
        then: impl FnOnce(&[Value], &mut Self) -> R,
    ) -> R {
        match message.selector_word() {
            None => then(message.values, self),
            Some(word) => self.with_line(|line, context| {
                line.push(word);
                line.extend_from_slice(message.values);
                then(line, context)
            }),
        }
    }

    /// Calls `then` with an empty list to put words into.
    ///
    /// Real-time: hot, as long as no list is longer than ever before.
    pub(crate) fn with_line<R>(&mut self, then: impl FnOnce(&mut Vec<Value>, &mut Self) -> R) -> R {
        let mut line = std::mem::take(&mut self.globals.line);
        line.clear();
        let result = then(&mut line, self);
        self.globals.line = line;
        result
    }

    /// Lets the object receive under another name.
    ///
    /// Real-time: may allocate.
    pub(crate) fn rename_receiver(&mut self, from: Option<Symbol>, to: Option<Symbol>) {
        if let Some(from) = from {
            self.globals.receivers.remove(from, self.object);
        }
        if let Some(to) = to {
            self.globals.receivers.add(to, self.object);
        }
    }
}
