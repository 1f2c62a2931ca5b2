//! [`Context`]: what an object may do while it handles a message.

use super::arrays::{ArrayId, Arrays, MAX_SAMPLES};
use super::clocks::{Clocks, Due};
use super::globals::Globals;
use super::jobs::{Job, JobResult, MAX_PARTS, Sum};
use super::receivers::Passed;
use super::sums;
use super::symbol::{Symbol, Symbols, words};
use super::value::{Message, Value};
use super::wire::ObjectId;
use super::work::{Entry, Stored, Work, store};
use crate::net::{NetCommand, Served, SocketId};
use std::borrow::Cow;

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

    /// Sets one of the object's clocks, to so many units of logical time from now.
    pub(crate) fn set_clock_after(&mut self, slot: u32, delay: f64) {
        let object = self.object;
        self.globals.clocks.set_after(Due { object, slot }, delay);
    }

    /// Units of logical time until one of the object's clocks is due, if it is set.
    pub(crate) fn clock_left(&self, slot: u32) -> Option<f64> {
        let object = self.object;
        self.globals.clocks.left(Due { object, slot })
    }

    /// Brings those of the object's clocks first that were set last.
    pub(crate) fn newest_first(&self, slots: &mut [u32]) {
        let object = self.object;
        let number = |slot: &u32| {
            self.globals.clocks.number(Due {
                object,
                slot: *slot,
            })
        };
        slots.sort_unstable_by_key(|slot| std::cmp::Reverse(number(slot)));
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
