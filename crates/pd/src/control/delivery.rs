//! Messages on their way: the stack, one piece of work after the other, and Pd's rules for messages without a method.

use super::globals::Globals;
use super::machine::{MAX_MESSAGES, Machine};
use super::object::{Context, Handled, Object};
use super::receivers::Passed;
use super::symbol::{Symbol, words};
use super::value::{Message, Value};
use super::wire::{ObjectId, Wire};
use super::work::{Entry, Stored, Work};

/// Messages that cause each other, at most; Pd has the same limit and says "stack overflow".
const MAX_DEPTH: u32 = 1000;

impl Machine {
    /// Works until no message waits.
    pub(super) fn run(&mut self) {
        while let Some(entry) = self.stack.pop() {
            if self.left == 0 {
                self.stack.clear();
                self.values.clear();
                return self.globals.console.line(|line| {
                    write!(
                        line,
                        "error: more than {MAX_MESSAGES} messages in one tick: the rest is left out"
                    )
                });
            }
            self.left -= 1;
            self.values.truncate(entry.keep as usize);
            self.step(entry);
        }
        self.values.clear();
    }

    /// Does one piece of work.
    pub(super) fn step(&mut self, entry: Entry) {
        let depth = entry.depth;
        match entry.work {
            Work::Outlet {
                object,
                outlet,
                next,
                message,
            } => {
                let wires = self.wires[object.0 as usize].get(outlet as usize);
                let Some((wire, rest)) = wires.and_then(|w| w.get(next as usize..)?.split_first())
                else {
                    return;
                };
                let wire = *wire;
                if !rest.is_empty() {
                    let work = Work::Outlet {
                        object,
                        outlet,
                        next: next + 1,
                        message,
                    };
                    self.stack.push(Entry { work, ..entry });
                }
                self.deliver(wire, message, depth);
            }
            Work::Receivers {
                name,
                passed,
                message,
                only,
                is_loud,
                follows,
            } => {
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
                self.deliver(Wire { object, inlet: 0 }, message, depth);
            }
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

    pub(super) fn deliver(&mut self, wire: Wire, stored: Stored, depth: u32) {
        if depth > MAX_DEPTH {
            let class = &self.classes[wire.object.0 as usize];
            return self
                .globals
                .console
                .line(|line| write!(line, "error: {class}: stack overflow"));
        }
        let selector = stored.selector;
        match self.values[stored.from as usize..stored.to as usize] {
            [value] => {
                if let (words::FLOAT | words::LIST, Value::Float(number)) = (selector, value)
                    && self.objects[wire.object.0 as usize].set_number(wire.inlet as usize, number)
                {
                    return;
                }
                let values = &[value];
                self.hand_over(wire, Message { selector, values }, depth);
            }
            _ => self.deliver_words(wire, stored, depth),
        }
    }

    /// Delivers a message of no or several values, which the object may change while it reads them.
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
    #[inline]
    fn hand_over(&mut self, wire: Wire, message: Message<'_>, depth: u32) {
        let inlet = wire.inlet as usize;
        let mut handled = Handled::Yes;
        self.call(wire.object, depth, |object, context| {
            handled = match inlet {
                0 => to_left_inlet(object, message, context),
                inlet => object.cold(inlet, message, context),
            };
        });
        if handled == Handled::No {
            self.report_refused(wire, message.selector);
        }
        if let Some(edit) = self.globals.edit.take() {
            self.edit_or_wait(edit, depth);
        }
    }

    /// Says that an object has no method for a message.
    #[cold]
    fn report_refused(&mut self, wire: Wire, selector: Symbol) {
        let class = &self.classes[wire.object.0 as usize];
        let Globals {
            console, symbols, ..
        } = &mut self.globals;
        let selector = symbols.text(selector);
        console.line(|line| match wire.inlet {
            0 => write!(line, "error: {class}: no method for '{selector}'"),
            _ => write!(line, "error: inlet: expected 'float' but got '{selector}'"),
        });
    }

    /// Calls a method of an object, then puts what it sent on the stack, so that the first is taken first.
    pub(super) fn call(
        &mut self,
        id: ObjectId,
        depth: u32,
        method: impl FnOnce(&mut dyn Object, &mut Context<'_>),
    ) {
        if self.patches.are_several() {
            let patch = self.patches.of(id);
            if self.patches.is_closed(patch) {
                return;
            }
            self.globals.console.patch = patch;
            self.globals.midi_output.patch = patch;
        }
        let mut context = Context {
            object: id,
            sent: &mut self.sent,
            values: &mut self.values,
            globals: &mut self.globals,
            depth,
        };
        self.objects[id.0 as usize].with(|object| method(object, &mut context));
        let keep = u32::try_from(self.values.len()).expect("fewer values than memory");
        while let Some(entry) = self.sent.pop() {
            self.stack.push(Entry { keep, ..entry });
        }
    }
}

/// Pd's rules for messages that a class has no method of its own for (`m_class.c`).
fn to_left_inlet(
    object: &mut dyn Object,
    message: Message<'_>,
    context: &mut Context<'_>,
) -> Handled {
    let exact = match (message.selector, message.values) {
        (words::BANG, _) => object.bang(context),
        (words::FLOAT, [Value::Float(number), ..]) => object.float(*number, context),
        (words::FLOAT, []) => object.float(0.0, context),
        (words::FLOAT, [Value::Symbol(_) | Value::Pointer(_), ..]) => return Handled::No,
        (words::SYMBOL, [Value::Symbol(symbol), ..]) => object.symbol(*symbol, context),
        (words::SYMBOL, _) => object.symbol(words::EMPTY, context),
        (words::LIST, values) => return to_list(object, values, context),
        (words::POINTER, [Value::Pointer(pointer)]) => object.pointer(*pointer, context),
        _ => return object.anything(message, context),
    };
    if exact == Handled::Yes {
        return exact;
    }
    match object.list(message.values, context) {
        Handled::Yes => Handled::Yes,
        Handled::No => object.anything(message, context),
    }
}

/// A list: for its own method, else as the value that it is, else spread over the inlets, the left one last.
fn to_list(object: &mut dyn Object, values: &[Value], context: &mut Context<'_>) -> Handled {
    if object.list(values, context) == Handled::Yes {
        return Handled::Yes;
    }
    let short = match values {
        [] => object.bang(context),
        [Value::Float(number)] => object.float(*number, context),
        [Value::Symbol(symbol)] => object.symbol(*symbol, context),
        [Value::Pointer(pointer)] => object.pointer(*pointer, context),
        _ => Handled::No,
    };
    if short == Handled::Yes {
        return short;
    }
    let message = Message {
        selector: words::LIST,
        values,
    };
    if object.anything(message, context) == Handled::Yes {
        return Handled::Yes;
    }
    for (inlet, value) in values.iter().enumerate().skip(1) {
        object.cold(
            inlet,
            Message::of_list(std::slice::from_ref(value)),
            context,
        );
    }
    match values.first() {
        Some(Value::Float(number)) => object.float(*number, context),
        Some(Value::Symbol(symbol)) => object.symbol(*symbol, context),
        Some(Value::Pointer(pointer)) => object.pointer(*pointer, context),
        None => Handled::No,
    }
}
