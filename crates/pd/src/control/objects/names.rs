//! `send`, `receive`, `value`, `print`.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::text::write_escaped;
use super::super::value::{Message, Value};
use super::{Making, Passage};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "send" => Box::new(Send(name(making))),
        // The machine delivers to it by its name.
        "receive" => Box::new(Passage),
        "value" => {
            let name = name(making);
            // `expr` knows the names of which there is a box.
            making.globals.values.entry(name).or_insert(0.0);
            Box::new(Shared(name))
        }
        "print" => Box::new(Print::new(making)),
        _ => return None,
    })
}

/// The first argument as a name; a number is a name too.
fn name(making: &mut Making<'_>) -> Symbol {
    match making.values.first() {
        Some(Value::Symbol(symbol)) => *symbol,
        Some(number) => {
            let text = number.text(&making.globals.symbols);
            making.globals.symbols.intern(&text)
        }
        None => words::EMPTY,
    }
}

struct Send(Symbol);

impl Object for Send {
    held!(tuple name);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.anything(
            Message {
                selector: words::BANG,
                values: &[],
            },
            context,
        )
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.anything(Message::of_list(values), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.send_to(self.0, message);
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.one_value() {
            Some(Value::Symbol(symbol)) => self.0 = symbol,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// `send NAME` of a box that holds a number.
pub(super) fn send_number(number: f32, message: Message<'_>, context: &mut Context<'_>) -> Handled {
    match (message.selector, message.values) {
        (words::SEND, [Value::Symbol(name), ..]) => {
            context.send_to_named(*name, Message::of_list(&[Value::Float(number)]));
        }
        _ => return Handled::No,
    }
    Handled::Yes
}

/// A number that all of one name share.
struct Shared(Symbol);

impl Object for Shared {
    held!(tuple name);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let number = *context.value_mut(self.0);
        context.send_float(0, number);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        *context.value_mut(self.0) = number;
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let number = *context.value_mut(self.0);
        send_number(number, message, context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.one_value() {
            Some(Value::Symbol(symbol)) => self.0 = symbol,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

struct Print {
    /// `name: `, or nothing for `-n`.
    prefix: String,
}

impl Print {
    fn new(making: &mut Making<'_>) -> Self {
        let texts: Vec<String> = making
            .values
            .iter()
            .map(|value| value.text(&making.globals.symbols))
            .collect();
        let prefix = match &texts[..] {
            [] => "print: ".to_owned(),
            [only] if only == "-n" => String::new(),
            texts => format!("{}: ", texts.join(" ")),
        };
        Self { prefix }
    }

    /// Prints a line: a word, if there is one, and values.
    fn line(&self, word: Option<Symbol>, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.print_with(|symbols, line| {
            line.write_str(&self.prefix)?;
            let first = word.map(|word| symbols.text(word)).unwrap_or("");
            line.write_str(first)?;
            for (at, value) in values.iter().enumerate() {
                line.write_str(if at > 0 || word.is_some() { " " } else { "" })?;
                match value {
                    Value::Symbol(symbol) => write_escaped(symbols.text(*symbol), line)?,
                    value => value.write(symbols, line)?,
                }
            }
            Ok(())
        });
        Handled::Yes
    }
}

impl Object for Print {
    held!(prefix);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.line(Some(words::BANG), &[], context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.line(None, &[Value::Float(number)], context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.line(Some(words::SYMBOL), &[Value::Symbol(symbol)], context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match values {
            [] => self.bang(context),
            [Value::Float(_), ..] | [Value::Pointer(_)] => self.line(None, values, context),
            [Value::Symbol(symbol)] => self.symbol(*symbol, context),
            values => self.line(Some(words::LIST), values, context),
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.line(Some(message.selector), message.values, context)
    }
}
