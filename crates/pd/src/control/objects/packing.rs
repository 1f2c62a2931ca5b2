//! Lists from values and values from lists: `pack`, `unpack` (`x_connective.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::pointer::Pointer;
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "pack" => Box::new(Pack::new(making)),
        "unpack" => Box::new(Unpack {
            taken: types(making, &['f', 'f'])
                .into_iter()
                .map(Taken::of_letter)
                .collect(),
        }),
        _ => return None,
    })
}

/// The first letter of each argument; a number is an `f`.
fn types(making: &Making<'_>, default: &[char]) -> Vec<char> {
    let letter = |value: &Value| match value {
        Value::Float(_) | Value::Pointer(_) => 'f',
        Value::Symbol(symbol) => making
            .globals
            .symbols
            .text(*symbol)
            .chars()
            .next()
            .unwrap_or('f'),
    };
    match making.values {
        [] => default.to_vec(),
        values => values.iter().map(letter).collect(),
    }
}

/// Type that `pack` and `unpack` take at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Float,
    Symbol,
    Pointer,
}

impl Taken {
    fn of_letter(letter: char) -> Self {
        match letter {
            's' => Self::Symbol,
            'p' => Self::Pointer,
            _ => Self::Float,
        }
    }

    fn takes(self, value: Value) -> bool {
        match value {
            Value::Float(_) => self == Self::Float,
            Value::Symbol(_) => self == Self::Symbol,
            Value::Pointer(_) => self == Self::Pointer,
        }
    }
}

struct Pack {
    taken: Vec<Taken>,
    values: Vec<Value>,
}

impl Pack {
    fn new(making: &mut Making<'_>) -> Self {
        let types = types(making, &['f', 'f']);
        let initial = |at: usize, letter: char| match (making.values.get(at), letter) {
            (Some(Value::Float(number)), _) => Value::Float(*number),
            (_, 's') => Value::Symbol(words::SYMBOL),
            (_, 'p') => Value::Pointer(Pointer::default()),
            _ => Value::Float(0.0),
        };
        let values = types
            .iter()
            .enumerate()
            .map(|(at, letter)| initial(at, *letter))
            .collect();
        Self {
            taken: types.into_iter().map(Taken::of_letter).collect(),
            values,
        }
    }

    fn set(&mut self, at: usize, value: Value) -> bool {
        let takes = self.taken.get(at).is_some_and(|taken| taken.takes(value));
        if takes {
            self.values[at] = value;
        }
        takes
    }
}

impl Object for Pack {
    held!(values; not taken; check |it| it.values.len() == it.taken.len());

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let data = &context.globals().data;
        let is_stale = |value: &Value| match value {
            Value::Pointer(pointer) => data.place(Some(*pointer)).is_none(),
            _ => false,
        };
        if self.values.iter().any(is_stale) {
            context.print_with(|_, line| line.write_str("error: pack: stale pointer"));
            return Handled::Yes;
        }
        context.send(
            0,
            Message {
                selector: words::LIST,
                values: &self.values,
            },
        );
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        match self.set(0, Value::Float(number)) {
            true => self.bang(context),
            false => wrong_type("pack", context),
        }
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        match self.set(0, Value::Symbol(symbol)) {
            true => self.bang(context),
            false => wrong_type("pack", context),
        }
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let [first, rest @ ..] = values else {
            return self.bang(context);
        };
        for (at, value) in rest.iter().enumerate() {
            self.set(at + 1, *value);
        }
        match first {
            Value::Float(number) => self.float(*number, context),
            Value::Symbol(symbol) => self.symbol(*symbol, context),
            Value::Pointer(pointer) => self.pointer(*pointer, context),
        }
    }

    fn pointer(&mut self, pointer: Pointer, context: &mut Context<'_>) -> Handled {
        match self.set(0, Value::Pointer(pointer)) {
            true => self.bang(context),
            false => wrong_type("pack", context),
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.one_value() {
            Some(value) if self.set(inlet, value) => Handled::Yes,
            _ => Handled::No,
        }
    }
}

fn wrong_type(class: &str, context: &mut Context<'_>) -> Handled {
    context.print_with(|_, line| write!(line, "error: {class}: wrong type"));
    Handled::Yes
}

struct Unpack {
    taken: Vec<Taken>,
}

impl Object for Unpack {
    held!(; not taken);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let count = values.len().min(self.taken.len());
        for (outlet, value) in values[..count].iter().enumerate().rev() {
            match self.taken[outlet].takes(*value) {
                true => context.send_value(outlet, *value),
                false => {
                    context.print_with(|_, line| line.write_str("error: unpack: type mismatch"))
                }
            }
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }
}
