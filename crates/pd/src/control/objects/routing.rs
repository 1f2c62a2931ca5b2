//! Ways for messages: `trigger`, `route`, `select` (`x_connective.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value, is_same_type};
use super::Making;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "trigger" => Box::new(Trigger {
            types: trigger_types(making),
        }),
        "route" => Box::new(Route {
            cases: cases(making),
        }),
        "select" => Box::new(Select {
            cases: cases(making),
        }),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum TriggerType {
    Bang,
    Float,
    Symbol,
    List,
    Pointer,
    Anything,
}

fn trigger_types(making: &Making<'_>) -> Vec<TriggerType> {
    let of_value = |value: &Value| match value {
        // Also a number, which 0.54 sends as it is.
        Value::Float(_) => TriggerType::Float,
        Value::Pointer(_) => TriggerType::Pointer,
        Value::Symbol(symbol) => match making.globals.symbols.text(*symbol).chars().next() {
            Some('b') => TriggerType::Bang,
            Some('s') => TriggerType::Symbol,
            Some('l') => TriggerType::List,
            Some('p') => TriggerType::Pointer,
            Some('a') => TriggerType::Anything,
            _ => TriggerType::Float,
        },
    };
    match making.values {
        [] => vec![TriggerType::Float; 2],
        values => values.iter().map(of_value).collect(),
    }
}

struct Trigger {
    types: Vec<TriggerType>,
}

impl Trigger {
    fn send(&self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let first = message.values.first().copied();
        for (outlet, kind) in self.types.iter().enumerate().rev() {
            match kind {
                TriggerType::Bang => context.send_bang(outlet),
                TriggerType::Float => context.send_float(outlet, first.map_or(0.0, Value::number)),
                TriggerType::Symbol => {
                    let symbol = match first {
                        Some(Value::Symbol(symbol)) => symbol,
                        Some(Value::Float(_)) => words::FLOAT,
                        Some(Value::Pointer(_)) => words::POINTER,
                        None => words::SYMBOL,
                    };
                    context.send_value(outlet, Value::Symbol(symbol));
                }
                TriggerType::List => context.send_list(outlet, message.values),
                TriggerType::Pointer => match first {
                    Some(value @ Value::Pointer(_)) => context.send_value(outlet, value),
                    _ => context.print_with(|_, line| line.write_str("error: unpack: bad pointer")),
                },
                TriggerType::Anything => context.send(outlet, message),
            }
        }
        Handled::Yes
    }
}

impl Object for Trigger {
    held!(; not types);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.send(
            Message {
                selector: words::BANG,
                values: &[],
            },
            context,
        )
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let (selector, values) = (words::FLOAT, &[Value::Float(number)][..]);
        self.send(Message { selector, values }, context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.send(Message::of_list(values), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        for (outlet, kind) in self.types.iter().enumerate().rev() {
            match kind {
                TriggerType::Bang => context.send_bang(outlet),
                TriggerType::Anything => context.send(outlet, message),
                _ => context.print_with(|_, line| {
                    line.write_str("error: trigger: can only convert 's' to 'b' or 'a'")
                }),
            }
        }
        Handled::Yes
    }
}

fn cases(making: &Making<'_>) -> Vec<Value> {
    match making.values {
        [] => vec![Value::Float(0.0)],
        values => values.to_vec(),
    }
}

struct Route {
    cases: Vec<Value>,
}

impl Route {
    fn by_selector(&self, selector: Symbol) -> Option<usize> {
        self.cases
            .iter()
            .position(|case| *case == Value::Symbol(selector))
    }
}

impl Object for Route {
    held!(cases; check |it| !it.cases.is_empty());

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.list(&[], context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let case = match self.cases[0] {
            Value::Float(_) => Value::Float(number),
            _ => Value::Symbol(words::FLOAT),
        };
        match self.cases.iter().position(|it| *it == case) {
            Some(outlet) if matches!(case, Value::Float(_)) => context.send_bang(outlet),
            Some(outlet) => context.send_float(outlet, number),
            None => context.send_float(self.cases.len(), number),
        }
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let is_numbers = matches!(self.cases[0], Value::Float(_));
        if is_numbers {
            let found = match values.first() {
                Some(first @ Value::Float(_)) => self.cases.iter().position(|case| case == first),
                _ => None,
            };
            match found {
                Some(outlet) => send_rest(outlet, &values[1..], context),
                None => context.send_list(self.cases.len(), values),
            }
            return Handled::Yes;
        }
        // Types are names here: `route float symbol list bang`.
        let message = Message::of_list(values);
        match self.by_selector(message.selector) {
            Some(outlet) if message.selector == words::LIST => send_rest(outlet, values, context),
            Some(outlet) => context.send_list(outlet, values),
            None => context.send(self.cases.len(), message),
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match self.by_selector(message.selector) {
            Some(outlet) => send_rest(outlet, message.values, context),
            None => context.send(self.cases.len(), message),
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_case(message, &mut self.cases[0])
    }
}

/// A number for a case that is one, else a symbol.
fn to_case(message: Message<'_>, case: &mut Value) -> Handled {
    match message.one_value() {
        Some(value) if is_same_type(case, &value) => {
            *case = value;
            Handled::Yes
        }
        _ => Handled::No,
    }
}

/// Sends the rest of a message: a symbol at its beginning is the selector, except of one alone.
pub(super) fn send_rest(outlet: usize, values: &[Value], context: &mut Context<'_>) {
    match values {
        [Value::Symbol(selector), rest @ ..] => context.send(
            outlet,
            Message {
                selector: *selector,
                values: rest,
            },
        ),
        values => context.send_list(outlet, values),
    }
}

struct Select {
    cases: Vec<Value>,
}

impl Select {
    fn compare(&self, value: Value, context: &mut Context<'_>) -> Handled {
        let mut is_found = false;
        for (outlet, case) in self.cases.iter().enumerate() {
            if *case == value {
                context.send_bang(outlet);
                is_found = true;
                break;
            }
        }
        if !is_found {
            context.send_value(self.cases.len(), value);
        }
        Handled::Yes
    }
}

impl Object for Select {
    held!(cases; check |it| !it.cases.is_empty());

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.compare(Value::Float(number), context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.compare(Value::Symbol(symbol), context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_case(message, &mut self.cases[0])
    }
}
