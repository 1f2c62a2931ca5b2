//! Messages on their way: the stack, and one piece of work after the other.

use super::context::Context;
use super::globals::Globals;
use super::machine::{MAX_MESSAGES, Machine};
use super::object::{Handled, Object};
use super::receivers::Passed;
use super::slot::ObjectSlot;
use super::symbol::{Symbol, words};
use super::value::{Message, Value};
use super::wire::{ObjectId, Wire};
use super::work::{Entry, Stored, Work};

/// Messages that cause each other, at most; Pd has the same limit and says "stack overflow".
pub(super) const MAX_DEPTH: u32 = 1000;

impl Machine {
    /// Works until no message waits. What most messages need is one loop; the rest are calls.
    #[inline(never)]
    pub(super) fn run(&mut self) {
        while !self.stack.is_empty() {
            if self.left == 0 {
                return self.leave_rest();
            }
            self.left -= u32::from(self.step());
        }
        self.values.clear();
    }

    /// Forgets what waits, and says so.
    #[cold]
    pub(super) fn leave_rest(&mut self) {
        self.stack.clear();
        self.values.clear();
        self.globals.console.line(|line| {
            write!(
                line,
                "error: more than {MAX_MESSAGES} messages in one tick: the rest is left out"
            )
        });
    }

    /// Does the piece of work on top of the stack. Returns true if it may cause messages: an outlet without a further connection does not count.
    /// Its fields are read one by one: a copy of the whole waits for those that were just written.
    #[inline(always)]
    pub(super) fn step(&mut self) -> bool {
        let Some(top) = self.stack.last_mut() else {
            return false;
        };
        self.values.truncate(top.keep as usize);
        let depth = top.depth;
        match &mut top.work {
            Work::Number {
                object,
                outlet,
                next,
                number,
            } => {
                let number = *number;
                let at = (*object, *outlet);
                let found = connection((&self.wires, self.connects), at, next);
                self.end_step(found);
                if let Some((wire, _)) = found {
                    self.deliver_number(wire, number, depth);
                }
                found.is_some()
            }
            Work::Outlet {
                object,
                outlet,
                next,
                message,
            } => {
                let message = *message;
                let at = (*object, *outlet);
                let found = connection((&self.wires, self.connects), at, next);
                self.end_step(found);
                if let Some((wire, _)) = found {
                    self.deliver(wire, message, depth);
                }
                found.is_some()
            }
            _ => {
                let entry = *top;
                self.end_step(None);
                self.step_aside(entry);
                true
            }
        }
    }

    /// Takes work from the stack, unless another connection waits.
    #[inline(always)]
    fn end_step(&mut self, found: Option<(Wire, bool)>) {
        if !matches!(found, Some((_, false))) {
            self.stack.truncate(self.stack.len().saturating_sub(1));
        }
    }

    /// Does a piece of work that goes along no connection.
    #[inline(never)]
    fn step_aside(&mut self, entry: Entry) {
        let depth = entry.depth;
        match entry.work {
            Work::Number { .. } | Work::Outlet { .. } => {}
            Work::Receivers { .. } => self.step_receivers(entry),
            Work::Object { object, message } => {
                self.deliver(Wire { object, inlet: 0 }, message, depth);
            }
            Work::Move { object, number } => {
                self.call(object, depth, |object, context| {
                    object.moved(number, context)
                });
            }
            Work::Load { object } => {
                self.call(object, depth, |object, context| object.loadbang(context));
            }
            Work::Resume { object, code } => {
                self.call(object, depth, |object, context| {
                    object.resume(code, context)
                });
            }
        }
    }

    /// Gives a message to the next object that receives under a name.
    fn step_receivers(&mut self, entry: Entry) {
        let Work::Receivers {
            name,
            passed,
            message,
            only,
            is_loud,
            follows,
        } = entry.work
        else {
            return;
        };
        let is_first = passed == Passed::NONE;
        let is_value = is_first && self.set_value(name, message);
        let Some((object, after)) = self.globals.receivers.next(name, passed) else {
            if is_first && name == words::PD {
                self.tell_pd(message);
            } else if is_first && is_loud && !is_value {
                self.globals.report_no_receiver(name);
            }
            return;
        };
        if is_first && is_loud && !is_value && after.is_last() {
            self.direct_to(object, name);
        }
        let work = Work::Receivers {
            name,
            passed: after,
            message,
            only,
            is_loud,
            follows,
        };
        self.stack.push(Entry { work, ..entry });
        if only.is_some_and(|patch| patch != self.patches.of(object)) {
            return;
        }
        self.deliver(Wire { object, inlet: 0 }, message, entry.depth);
    }

    /// Lets the messages that follow one to a name go to the only object that received it: Pd looks for a name once.
    ///
    /// Real-time: hot.
    fn direct_to(&mut self, object: ObjectId, of: Symbol) {
        for entry in self.stack.iter_mut().rev() {
            match entry.work {
                Work::Receivers {
                    name,
                    message,
                    follows: true,
                    ..
                } if name == of => entry.work = Work::Object { object, message },
                _ => return,
            }
        }
    }

    /// A number to all `value` boxes of a name; false if there is none.
    fn set_value(&mut self, name: Symbol, message: Stored) -> bool {
        if self.globals.values.is_empty() {
            return false;
        }
        let Some(value) = self.globals.values.get_mut(&name) else {
            return false;
        };
        let first = self.values[message.from as usize..message.to as usize].first();
        if let (words::FLOAT, Some(Value::Float(number))) = (message.selector, first) {
            *value = *number;
        }
        true
    }

    /// A message to Pd itself.
    fn tell_pd(&mut self, message: Stored) {
        match message.selector {
            words::DSP => {
                let first = self.values[message.from as usize..message.to as usize].first();
                self.globals.dsp = first.is_some_and(|value| value.number() != 0.0);
            }
            words::QUIT => self.globals.is_over = true,
            // A render waits for nothing, so there is nothing to pass over, as in Pd without audio.
            words::FORWARD if self.globals.children.is_live => {
                let why = "error: pd: fast-forward: a patch that plays takes its time";
                self.globals.print(why);
            }
            _ => {}
        }
    }

    /// Delivers a number.
    #[inline(always)]
    fn deliver_number(&mut self, wire: Wire, number: f32, depth: u32) {
        if depth > MAX_DEPTH {
            return self.report_depth(wire);
        }
        let handled = self.call_slot(wire.object, depth, |slot, context| {
            slot.take_number(wire.inlet as usize, number, context)
        });
        let (selector, values) = (words::FLOAT, &[][..]);
        self.end_delivery(handled, wire, Message { selector, values }, depth);
    }

    /// Delivers a bang to a left inlet.
    #[inline(always)]
    fn deliver_bang(&mut self, wire: Wire, depth: u32) {
        let handled = self.call_slot(wire.object, depth, ObjectSlot::take_bang);
        let (selector, values) = (words::BANG, &[][..]);
        self.end_delivery(handled, wire, Message { selector, values }, depth);
    }

    /// Delivers a message, which the object may change while it reads it.
    #[inline(never)]
    pub(super) fn deliver(&mut self, wire: Wire, stored: Stored, depth: u32) {
        if depth > MAX_DEPTH {
            return self.report_depth(wire);
        }
        let selector = stored.selector;
        match self.values[stored.from as usize..stored.to as usize] {
            [] if selector == words::BANG && wire.inlet == 0 => self.deliver_bang(wire, depth),
            [] => {
                let values = &[];
                self.hand_over(wire, Message { selector, values }, depth);
            }
            [Value::Float(number)] if selector == words::FLOAT => {
                self.deliver_number(wire, number, depth);
            }
            [value] => {
                let values = &[value];
                self.hand_over(wire, Message { selector, values }, depth);
            }
            [one, two] => {
                let values = &[one, two];
                self.hand_over(wire, Message { selector, values }, depth);
            }
            _ => self.deliver_words(wire, stored, depth),
        }
    }

    /// Delivers a message of several values.
    fn deliver_words(&mut self, wire: Wire, stored: Stored, depth: u32) {
        let selector = stored.selector;
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.clear();
        delivered.extend_from_slice(&self.values[stored.from as usize..stored.to as usize]);
        let values = &delivered[..];
        self.hand_over(wire, Message { selector, values }, depth);
        self.delivered = delivered;
    }

    /// Lets an object handle a message.
    fn hand_over(&mut self, wire: Wire, message: Message<'_>, depth: u32) {
        let inlets = self.inlets[wire.object.0 as usize] as usize;
        let handled = self.call_slot(wire.object, depth, |slot, context| {
            slot.take_message((wire.inlet as usize, inlets), message, context)
        });
        self.end_delivery(handled, wire, message, depth);
    }

    /// Says what was not understood, and begins a change of the patch that the object has asked for.
    #[inline(always)]
    fn end_delivery(
        &mut self,
        handled: Option<Handled>,
        wire: Wire,
        message: Message<'_>,
        depth: u32,
    ) {
        if handled == Some(Handled::No) {
            self.report_refused(wire, message);
        }
        if self.globals.edit.is_some() {
            self.begin_edit(depth);
        }
    }

    #[cold]
    fn begin_edit(&mut self, depth: u32) {
        if let Some(edit) = self.globals.edit.take() {
            self.edit_or_wait(edit, depth);
        }
    }

    /// Says that too many messages have caused each other.
    #[cold]
    fn report_depth(&mut self, wire: Wire) {
        let class = &self.classes[wire.object.0 as usize];
        let console = &mut self.globals.console;
        console.line(|line| write!(line, "error: {class}: stack overflow"));
    }

    /// Says that an object has no method for a message.
    #[cold]
    fn report_refused(&mut self, wire: Wire, message: Message<'_>) {
        let class = &self.classes[wire.object.0 as usize];
        let Globals {
            console, symbols, ..
        } = &mut self.globals;
        let selector = symbols.text(refused(wire.inlet, message));
        console.line(|line| match wire.inlet {
            0 => write!(line, "error: {class}: no method for '{selector}'"),
            _ => write!(line, "error: inlet: expected 'float' but got '{selector}'"),
        });
    }

    /// Calls a method of an object, then orders what it sent on the stack, so that the first is taken first. `None` if its patch is closed.
    pub(super) fn call<R>(
        &mut self,
        id: ObjectId,
        depth: u32,
        method: impl FnOnce(&mut dyn Object, &mut Context<'_>) -> R,
    ) -> Option<R> {
        self.call_slot(id, depth, |slot, context| {
            slot.with(|object| method(object, context))
        })
    }

    /// As [`call`](Self::call), with the place of the object.
    #[inline(always)]
    fn call_slot<R>(
        &mut self,
        id: ObjectId,
        depth: u32,
        method: impl FnOnce(&mut ObjectSlot, &mut Context<'_>) -> R,
    ) -> Option<R> {
        if self.patches.are_several() && !self.enter_patch_of(id) {
            return None;
        }
        let below = self.stack.len();
        let mut context = Context {
            object: id,
            stack: &mut self.stack,
            values: &mut self.values,
            globals: &mut self.globals,
            depth,
        };
        let result = method(&mut self.objects[id.0 as usize], &mut context);
        self.order_sent(below);
        Some(result)
    }

    /// Lets lines and MIDI count for the patch of an object; false if that is closed.
    #[inline(never)]
    fn enter_patch_of(&mut self, id: ObjectId) -> bool {
        let patch = self.patches.of(id);
        if self.patches.is_closed(patch) {
            return false;
        }
        self.globals.console.patch = patch;
        self.globals.midi_output.patch = patch;
        true
    }

    /// Orders what was sent, above `below`, so that the first is taken first.
    #[inline(always)]
    fn order_sent(&mut self, below: usize) {
        let keep = u32::try_from(self.values.len()).expect("fewer values than memory");
        match self.stack.get_mut(below..).unwrap_or_default() {
            [] => {}
            [one] => one.keep = keep,
            several => reverse(several, keep),
        }
    }
}

/// Lets the first of several that were sent be on top.
#[inline(never)]
fn reverse(sent: &mut [Entry], keep: u32) {
    sent.reverse();
    sent.iter_mut().for_each(|entry| entry.keep = keep);
}

/// Selector that Pd names where nothing takes a message: of a list at a left inlet the kind of its first word, which was tried last.
fn refused(inlet: u32, Message { selector, values }: Message<'_>) -> Symbol {
    match (inlet, selector) {
        (0, words::LIST) => Message::of_list(&values[..values.len().min(1)]).selector,
        _ => selector,
    }
}

/// The connection of an outlet at `next`, which moves on, and true if it is the last one: where messages connect boxes, that is known
/// when all that it causes has ended.
#[inline(always)]
fn connection(
    (wires, connects): (&[Vec<Vec<Wire>>], bool),
    (object, outlet): (ObjectId, u32),
    next: &mut u32,
) -> Option<(Wire, bool)> {
    let wires = wires[object.0 as usize].get(outlet as usize)?;
    let wire = *wires.get(*next as usize)?;
    *next += 1;
    Some((wire, wires.len() + usize::from(connects) == *next as usize))
}
