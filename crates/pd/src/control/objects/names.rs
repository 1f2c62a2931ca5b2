//! `send`, `receive`, `value`, `makefilename`, `print`.

use super::super::object::{Context, Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::{Making, Passage};
use crate::file::Atom;

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
        "makefilename" => {
            let format = making.symbol(0);
            let text = format.map_or("file.%d", |symbol| making.globals.symbols.text(symbol));
            Box::new(FileName(text.to_owned()))
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
        match message.values {
            [Value::Symbol(symbol)] => self.0 = *symbol,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// A number that all of one name share.
struct Shared(Symbol);

impl Object for Shared {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let number = *context.value_mut(self.0);
        context.send_float(0, number);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        *context.value_mut(self.0) = number;
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values {
            [Value::Symbol(symbol)] => self.0 = *symbol,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// A text with one place for a value.
struct FileName(String);

impl FileName {
    fn output(&self, value: Option<Value>, context: &mut Context<'_>) -> Handled {
        let text = match value {
            Some(value) => format_one(&self.0, value, context),
            None => self.0.clone(),
        };
        let symbol = context.symbols().intern(&text);
        context.send_value(0, Value::Symbol(symbol));
        Handled::Yes
    }
}

/// Replaces the first `%d`, `%s`, `%f`, `%g` and the like, with flags and width.
fn format_one(format: &str, value: Value, context: &mut Context<'_>) -> String {
    let Some(at) = format.find('%') else {
        return format.to_owned();
    };
    let spec = &format[at + 1..];
    let Some(end) = spec.find(|c: char| c.is_ascii_alphabetic()) else {
        return format.to_owned();
    };
    let (flags, rest) = spec.split_at(end);
    let (width, precision) = flags.split_once('.').unwrap_or((flags, ""));
    let number = f64::from(value.number());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "as C casts it; larger ones saturate"
    )]
    let whole = number as i64;
    let places = precision.parse::<usize>().unwrap_or(6).min(60);
    let shown = match &rest[..1] {
        "d" | "i" | "u" => whole.to_string(),
        "c" => {
            char::from_u32(u32::try_from(whole).unwrap_or(0)).map_or_else(String::new, String::from)
        }
        "x" => format!("{whole:x}"),
        "X" => format!("{whole:X}"),
        "o" => format!("{whole:o}"),
        "f" | "F" => format!("{number:.places$}"),
        _ => value.text(context.symbols()),
    };
    let is_zero_padded = width.starts_with('0');
    let is_left = width.starts_with('-');
    let width = width
        .trim_start_matches(['0', '-', '+', ' '])
        .parse::<usize>()
        .unwrap_or(0)
        .min(1000);
    let shown = match (is_zero_padded, is_left) {
        (true, _) => match shown.strip_prefix('-') {
            Some(digits) => format!("-{digits:0>width$}", width = width.saturating_sub(1)),
            None => format!("{shown:0>width$}"),
        },
        (_, true) => format!("{shown:<width$}"),
        _ => format!("{shown:>width$}"),
    };
    format!("{}{shown}{}", &format[..at], &rest[1..])
}

impl Object for FileName {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.output(None, context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.output(Some(Value::Float(number)), context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.output(Some(Value::Symbol(symbol)), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(symbol), ..]) => {
                self.0 = context.symbols().text(*symbol).to_owned();
            }
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

    fn line(&self, words: &[&str], values: &[Value], context: &mut Context<'_>) -> Handled {
        let mut line = self.prefix.clone();
        let texts = values.iter().map(|value| value.text(context.symbols()));
        let all: Vec<String> = words
            .iter()
            .map(|&word| word.to_owned())
            .chain(texts)
            .collect();
        line += &all.join(" ");
        context.print(line);
        Handled::Yes
    }
}

impl Object for Print {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.line(&["bang"], &[], context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let text = Atom::Float(number).to_string();
        self.line(&[&text], &[], context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.line(&["symbol"], &[Value::Symbol(symbol)], context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match values {
            [] => self.bang(context),
            [Value::Float(_), ..] if values.len() > 1 => self.line(&[], values, context),
            [Value::Float(number)] => self.float(*number, context),
            [Value::Symbol(symbol)] => self.symbol(*symbol, context),
            values => self.line(&["list"], values, context),
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let selector = context.symbols().text(message.selector).to_owned();
        self.line(&[&selector], message.values, context)
    }
}
