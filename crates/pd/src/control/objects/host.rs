//! Boxes that ask the host, and boxes that keep things for it: `bag`, `trace`, `stdout`, `savestate`, `pdcontrol`, `loadbang`'s relatives.

use super::super::context::Context;
use super::super::globals::Globals;
use super::super::object::{Handled, Object};
use super::super::symbol::Symbol;
use super::super::text::TextWord;
use super::super::value::{Message, Value};
use super::{Making, Passage};
use crate::state::{Held, StateReader, StateWriter, Unfit, held};
use std::path::PathBuf;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "bag" => Box::new(Bag {
            numbers: Vec::new(),
            adds: making.number(0, 0.0) != 0.0,
        }),
        // How messages came here is not kept.
        "trace" => Box::new(Trace),
        "stdout" => Box::new(StandardOutput),
        "savestate" => Box::new(SaveState {
            saved: saved(making),
        }),
        "pdcontrol" => Box::new(Control {
            folder: making.folder.to_owned(),
            arguments: making.canvas_arguments.to_vec(),
        }),
        _ => return None,
    })
}

/// Numbers that wait for `flush`.
struct Bag {
    numbers: Vec<f32>,
    adds: bool,
}

impl Object for Bag {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.numbers.save(state);
        self.adds.save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let count = { *state }.len()?;
        self.numbers.resize(count, 0.0);
        self.numbers.load(state)?;
        self.adds.load(state)
    }

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        if self.adds {
            self.numbers.push(number);
        } else if let Some(at) = self.numbers.iter().position(|kept| *kept == number) {
            self.numbers.remove(at);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "flush" => {
                for number in self.numbers.drain(..) {
                    context.send_float(0, number);
                }
            }
            "clear" => self.numbers.clear(),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(Value::Float(number)) => self.adds = *number != 0.0,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

struct Trace;

impl Object for Trace {
    held!();

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        Passage.bang(context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_list(0, values);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.send(0, message);
        Handled::Yes
    }

    fn cold(&mut self, _: usize, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }
}

/// Words with a semicolon, to where `print` goes; in a sub-patch of `pd~` a message to the patch around it.
struct StandardOutput;

impl StandardOutput {
    fn print(first: Option<Symbol>, values: &[Value], context: &mut Context<'_>) -> Handled {
        let words = first
            .map(Value::Symbol)
            .into_iter()
            .chain(values.iter().copied());
        if context.globals().children.replies.is_some() {
            let first = first.unwrap_or(Message::of_list(values).selector);
            let words = [Value::Symbol(first)]
                .into_iter()
                .chain(values.iter().copied());
            context.with_line(|line, context| {
                line.extend(words);
                let Globals {
                    children, symbols, ..
                } = context.globals();
                // What finds no room is counted there.
                children
                    .replies
                    .as_mut()
                    .map(|to| to.message(symbols, line));
            });
            return Handled::Yes;
        }
        context.print_with(|symbols, line| {
            for (at, word) in words.enumerate() {
                if at > 0 {
                    line.write_str(" ")?;
                }
                word.write(symbols, line)?;
            }
            line.write_str(";")
        });
        Handled::Yes
    }
}

impl Object for StandardOutput {
    held!();

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        Self::print(None, values, context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        Self::print(Some(message.selector), message.values, context)
    }
}

/// Lists that the patch around has saved for the abstraction.
fn saved(making: &mut Making<'_>) -> Vec<Vec<Value>> {
    let symbols = &mut making.globals.symbols;
    let lists = making
        .saved_around
        .iter()
        .filter_map(|statement| match &statement[..] {
            [first, rest @ ..] if first.as_symbol() == Some("saved") => Some(rest),
            _ => None,
        });
    let value = |atom| TextWord::of_atom(atom, symbols).plain_value(symbols);
    let mut value = value;
    lists
        .map(|list| list.iter().map(&mut value).collect())
        .collect()
}

struct SaveState {
    saved: Vec<Vec<Value>>,
}

impl Object for SaveState {
    held!(; not saved);

    fn loadbang(&mut self, context: &mut Context<'_>) {
        for list in self.saved.drain(..) {
            context.send_list(0, &list);
        }
    }

    fn list(&mut self, _: &[Value], _: &mut Context<'_>) -> Handled {
        // What would be saved: nothing saves here.
        Handled::Yes
    }
}

struct Control {
    folder: PathBuf,
    /// Arguments of the abstraction.
    arguments: Vec<Value>,
}

impl Object for Control {
    held!(; not folder, arguments);

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "isvisible" => context.send_float(0, 0.0),
            "args" => context.send_list(0, &self.arguments),
            "dir" => {
                let mut path = self.folder.clone();
                if let Some(Value::Symbol(name)) = message.values.get(1) {
                    path.push(context.symbols().text(*name));
                }
                let symbol = context.symbols().intern(&path.to_string_lossy());
                context.send_value(0, Value::Symbol(symbol));
            }
            "browse" | "sendcanvas" => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
