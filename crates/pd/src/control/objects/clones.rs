//! The two sides of `clone`: what comes in is distributed to instances, what comes out gets the number of its instance.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::words;
use super::super::value::{Message, Value};
use crate::state::held;

/// Sends each message to one instance, to the next, or to all.
pub(in super::super) struct Distributor {
    first: i32,
    count: usize,
    inlets: usize,
    /// The instance that had the last message of `next` or `this`.
    last: usize,
}

impl Distributor {
    /// For `count` instances of `inlets` inlets each, the first of which has this number. Outlet `i * inlets + k` leads to
    /// inlet `k` of instance `i`.
    pub(in super::super) fn new(first: i32, count: usize, inlets: usize) -> Self {
        Self {
            first,
            count,
            inlets,
            last: count - 1,
        }
    }

    fn take(&mut self, inlet: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let values = message.values;
        match (message.selector, values) {
            (words::LIST | words::FLOAT, [Value::Float(number), rest @ ..]) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a float as large as this saturates"
                )]
                let at = (*number as i32).checked_sub(self.first);
                match at
                    .and_then(|at| usize::try_from(at).ok())
                    .filter(|at| *at < self.count)
                {
                    Some(at) => context.send(at * self.inlets + inlet, Message::of_words(rest)),
                    None => context
                        .print_with(|_, line| write!(line, "error: clone: no instance {number}")),
                }
            }
            (words::NEXT, values) => {
                self.last = (self.last + 1) % self.count;
                context.send(self.last * self.inlets + inlet, Message::of_words(values));
            }
            (words::THIS, values) => {
                context.send(self.last * self.inlets + inlet, Message::of_words(values))
            }
            (words::SET, [number, ..]) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below 0 is 0"
                )]
                let at = (number.number() as i32).saturating_sub(self.first).max(0) as usize;
                self.last = at.min(self.count - 1);
            }
            (words::ALL, values) => {
                for at in 0..self.count {
                    context.send(at * self.inlets + inlet, Message::of_words(values));
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

impl Object for Distributor {
    held!(last; not first, count, inlets; check |it| it.last < it.count);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.take(
            0,
            Message {
                selector: words::LIST,
                values,
            },
            context,
        )
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.take(0, message, context)
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.take(inlet, message, context)
    }
}

/// Puts the number of an instance before what it sends.
pub(in super::super) struct Numbered {
    pub(in super::super) number: i32,
}

impl Object for Numbered {
    held!(; not number);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        #[expect(clippy::cast_precision_loss, reason = "numbers of clones are small")]
        let number = [Value::Float(self.number as f32)];
        context.send_joined(0, &number, values);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        #[expect(clippy::cast_precision_loss, reason = "numbers of clones are small")]
        let number = Value::Float(self.number as f32);
        context.with_line(|line, context| {
            line.extend([number, Value::Symbol(message.selector)]);
            line.extend_from_slice(message.values);
            context.send_list(0, line);
        });
        Handled::Yes
    }
}

/// Passes on what instances send: inlet `k` to outlet `k`.
pub(in super::super) struct Collector;

impl Object for Collector {
    held!();

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_list(0, values);
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.send(inlet, message);
        Handled::Yes
    }
}
