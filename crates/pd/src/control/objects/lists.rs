//! Lists: `list` and its functions (`x_list.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use super::glue::to_number;
use super::routing::send_rest;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "list" {
        return None;
    }
    let name = making.symbol(0);
    let text = name.map_or("append", |symbol| making.globals.symbols.text(symbol));
    let rest = making.values.get(1..).unwrap_or_default().to_vec();
    Some(match text {
        "append" => Box::new(Append { kept: rest }),
        "prepend" => Box::new(Prepend { kept: rest }),
        "split" => Box::new(Split(rest.first().map_or(0.0, |value| value.number()))),
        "trim" => Box::new(Trim),
        "length" => Box::new(Length),
        "fromsymbol" => Box::new(FromSymbol),
        "tosymbol" => Box::new(ToSymbol::default()),
        "store" => Box::new(Store { kept: rest }),
        _ => return None,
    })
}

struct Append {
    kept: Vec<Value>,
}

impl Object for Append {
    held!(kept);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_joined(0, values, &self.kept);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        keep(message, &mut self.kept);
        Handled::Yes
    }
}

struct Prepend {
    kept: Vec<Value>,
}

impl Object for Prepend {
    held!(kept);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_joined(0, &self.kept, values);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        keep(message, &mut self.kept);
        Handled::Yes
    }
}

/// Keeps the words of a message as a list.
fn keep(message: Message<'_>, kept: &mut Vec<Value>) {
    kept.clear();
    kept.extend(message.selector_word());
    kept.extend_from_slice(message.values);
}

struct Store {
    kept: Vec<Value>,
}

impl Store {
    /// The values that an index and a count name: 1 without a count, all of the rest if it is negative.
    fn range(&self, values: &[Value]) -> Option<std::ops::Range<usize>> {
        let from = values.first()?.number();
        let count = values.get(1).map_or(1.0, |value| value.number());
        if from < 0.0 {
            return None;
        }
        let from = index(from);
        let to = match count < 0.0 {
            true => self.kept.len(),
            false => from.saturating_add(index(count)),
        };
        (from <= to && to <= self.kept.len()).then_some(from..to)
    }

    /// Sends values, or a bang from the right outlet if they are not all there.
    fn get(&self, values: &[Value], context: &mut Context<'_>) {
        match (self.range(values), values) {
            (Some(range), _) => context.send_list(0, &self.kept[range]),
            (None, []) => {
                context.print_with(|_, to| {
                    to.write_str("error: list store: bad arguments for message 'get'")
                });
            }
            (None, _) => context.send_bang(1),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "below 0 is 0"
)]
fn index(number: f32) -> usize {
    number as usize
}

impl Object for Store {
    held!(kept);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_joined(0, values, &self.kept);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::APPEND => self.kept.extend_from_slice(message.values),
            words::PREPEND => {
                self.kept.splice(..0, message.values.iter().copied());
            }
            words::SET => {
                if let [Value::Float(at), values @ ..] = message.values {
                    let from = self.kept.iter_mut().skip(index(*at));
                    from.zip(values).for_each(|(kept, value)| *kept = *value);
                }
            }
            _ => match context.symbols().text(message.selector) {
                "get" => self.get(message.values, context),
                "delete" => {
                    if let Some(range) = self.range(message.values) {
                        self.kept.drain(range);
                    }
                }
                "insert" => {
                    if let [Value::Float(at), values @ ..] = message.values {
                        let at = index(*at).min(self.kept.len());
                        self.kept.splice(at..at, values.iter().copied());
                    }
                }
                _ => return Handled::No,
            },
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        keep(message, &mut self.kept);
        Handled::Yes
    }
}

struct Split(f32);

impl Object for Split {
    held!(tuple count);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative"
        )]
        let at = self.0.max(0.0) as usize;
        match at <= values.len() {
            true => {
                context.send_list(1, &values[at..]);
                context.send_list(0, &values[..at]);
            }
            false => context.send_list(2, values),
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.0)
    }
}

struct Trim;

impl Object for Trim {
    held!();

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        send_rest(0, values, context);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.send(0, message);
        Handled::Yes
    }
}

struct Length;

impl Object for Length {
    held!();

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        #[expect(clippy::cast_precision_loss, reason = "lists are short")]
        context.send_float(0, values.len() as f32);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }
}

struct FromSymbol;

impl Object for FromSymbol {
    held!();

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        context.with_line(|line, context| {
            let bytes = context.symbols().text(symbol).bytes();
            line.extend(bytes.map(|byte| Value::Float(f32::from(byte))));
            context.send_list(0, line);
        });
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match values.first() {
            Some(Value::Symbol(symbol)) => self.symbol(*symbol, context),
            _ => Handled::No,
        }
    }
}

#[derive(Default)]
struct ToSymbol {
    bytes: Vec<u8>,
}

impl Object for ToSymbol {
    held!(; not bytes);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a byte"
        )]
        let bytes = values.iter().map(|value| value.number() as i32 as u8);
        // A text of Pd ends there.
        let bytes = bytes.take_while(|byte| *byte != 0);
        self.bytes.clear();
        self.bytes.extend(bytes);
        let symbol = context.symbols().intern_with(|_, text| {
            for chunk in self.bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
        });
        context.send_value(0, Value::Symbol(symbol));
        Handled::Yes
    }
}
