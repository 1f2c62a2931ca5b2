//! Message boxes, boxes that show a value, inlets and outlets.

use super::super::object::{Context, Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use crate::file::{Atom, Gui, GuiKind};

/// A message box: words with `$1`, sent by anything that comes in.
pub(in super::super) struct MessageBox {
    words: Vec<Atom>,
    /// `$0`.
    number: f32,
    /// Words of one message, made anew for each.
    line: Vec<Value>,
}

impl MessageBox {
    pub(in super::super) fn new(words: Vec<Atom>, number: u32) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "numbers of patches are small")]
        let number = number as f32;
        Self {
            line: Vec::with_capacity(words.len()),
            words,
            number,
        }
    }

    /// Sends every message of the box.
    fn run(&mut self, arguments: &[Value], context: &mut Context<'_>) -> Handled {
        // Messages before the first `;` go to the outlet, each one behind it to the name that begins it.
        let parts = self.words.split(|word| *word == Atom::Semicolon);
        for (part, words) in parts.enumerate() {
            let mut to = None;
            for message in words.split(|word| *word == Atom::Comma) {
                self.line.clear();
                for word in message {
                    let value = expand(word, arguments, self.number, context);
                    self.line.push(value);
                }
                let mut line = &self.line[..];
                if part > 0 && to.is_none() {
                    let Some((Value::Symbol(name), rest)) = line.split_first() else {
                        break;
                    };
                    (to, line) = (Some(*name), rest);
                    if line.is_empty() && message.len() == 1 && words.len() > 1 {
                        continue;
                    }
                }
                if message.is_empty() && part == 0 {
                    continue;
                }
                match to {
                    Some(name) => context.send_to(name, Message::of_words(line)),
                    None => context.send(0, Message::of_words(line)),
                }
            }
        }
        Handled::Yes
    }

    /// `set`, `add` and the like, which change the box and send nothing.
    fn change(&mut self, message: Message<'_>, context: &mut Context<'_>) -> bool {
        let mut atoms = |values: &[Value]| -> Vec<Atom> {
            let atom = |value: &Value| match value {
                Value::Float(number) => Atom::Float(*number),
                Value::Symbol(symbol) => Atom::symbol(context.symbols().text(*symbol)),
            };
            values.iter().map(atom).collect()
        };
        match message.selector {
            words::SET => self.words = atoms(message.values),
            words::ADD => {
                self.words.extend(atoms(message.values));
                self.words.push(Atom::Semicolon);
            }
            words::ADD2 => self.words.extend(atoms(message.values)),
            _ => return false,
        }
        true
    }
}

/// A word with what was received in place of its dollars.
fn expand(word: &Atom, arguments: &[Value], number: f32, context: &mut Context<'_>) -> Value {
    match word {
        Atom::Dollar(0) => Value::Float(number),
        Atom::Dollar(n) => match arguments.get(*n as usize - 1) {
            Some(value) => *value,
            None => {
                context.print(format!("error: ${n}: argument number out of range"));
                Value::Float(0.0)
            }
        },
        Atom::DollarSymbol(text) => {
            let symbols = context.symbols();
            let mut expanded = String::new();
            let mut rest = &**text;
            while let Some(at) = rest.find('$') {
                expanded += &rest[..at];
                rest = &rest[at + 1..];
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                let (digits, behind) = rest.split_at(end);
                let found = match digits.parse::<usize>() {
                    Ok(0) => Some(Value::Float(number)),
                    Ok(n) => arguments.get(n - 1).copied(),
                    Err(_) => None,
                };
                match found {
                    Some(value) => expanded += &value.text(symbols),
                    None => {
                        expanded.push('$');
                        expanded += digits;
                    }
                }
                rest = behind;
            }
            expanded += rest;
            Value::Symbol(symbols.intern(&expanded))
        }
        word => Value::of(word, context.symbols()),
    }
}

impl Object for MessageBox {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.run(&[], context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.run(values, context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match self.change(message, context) {
            true => Handled::Yes,
            false => self.run(message.values, context),
        }
    }
}

/// An inlet or an outlet of a subpatch: passes everything on.
pub(in super::super) struct Passage;

impl Object for Passage {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_bang(0);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        context.send_float(0, number);
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_list(0, values);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.send(0, message);
        Handled::Yes
    }
}

/// An inlet of a signal: a number is the signal where nothing is connected; other messages leave by the second outlet.
pub(in super::super) struct SignalInlet;

impl Object for SignalInlet {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_bang(1);
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        context.send_list(1, values);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.send(1, message);
        Handled::Yes
    }
}

/// Messages that change how a box looks, and send nothing.
const LOOKS: [&str; 20] = [
    "size",
    "delta",
    "pos",
    "flashtime",
    "color",
    "send",
    "receive",
    "label",
    "label_pos",
    "label_font",
    "init",
    "range",
    "lin",
    "log",
    "steady",
    "nonzero",
    "orient",
    "number",
    "width",
    "log_height",
];

/// A box that shows a value.
pub(in super::super) struct GuiBox {
    gui: Gui,
    send: Option<Symbol>,
    value: Value,
}

impl GuiBox {
    pub(in super::super) fn new(gui: Gui, send: Option<Symbol>) -> Self {
        let value = match gui.kind {
            GuiKind::Symbol => Value::Symbol(words::SYMBOL),
            _ => Value::Float(gui.value),
        };
        Self { gui, send, value }
    }

    /// Sends the value: by the outlet, and under its name.
    fn output(&self, context: &mut Context<'_>) -> Handled {
        match self.gui.kind {
            GuiKind::Canvas | GuiKind::Meter => {}
            GuiKind::Bang => {
                context.send_bang(0);
                if let Some(name) = self.send {
                    context.send_to(
                        name,
                        Message {
                            selector: words::BANG,
                            values: &[],
                        },
                    );
                }
            }
            _ => {
                context.send_value(0, self.value);
                if let Some(name) = self.send {
                    context.send_to(name, Message::of_list(&[self.value]));
                }
            }
        }
        Handled::Yes
    }

    fn limited(&self, number: f32) -> f32 {
        let [low, high] = self.gui.range;
        match self.gui.kind {
            GuiKind::Float if low == 0.0 && high == 0.0 => number,
            GuiKind::Float | GuiKind::Number => number.max(low).min(high),
            // A slider sends what comes in as it is, and shows the nearest place.
            GuiKind::HorizontalRadio | GuiKind::VerticalRadio => number.trunc().max(0.0),
            _ => number,
        }
    }
}

impl Object for GuiBox {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if self.gui.kind == GuiKind::Toggle {
            let is_off = self.value.number() == 0.0;
            self.value = Value::Float(if is_off { self.gui.on_value } else { 0.0 });
        }
        self.output(context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        if self.gui.kind == GuiKind::Toggle && number != 0.0 {
            self.gui.on_value = number;
        }
        self.value = Value::Float(self.limited(number));
        self.output(context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        if matches!(self.gui.kind, GuiKind::Symbol | GuiKind::List) {
            self.value = Value::Symbol(symbol);
        }
        self.output(context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [value, ..]) => self.value = *value,
            (words::LIST, [value, ..]) => {
                self.value = *value;
                return self.output(context);
            }
            (selector, _)
                if self.gui.kind == GuiKind::Bang
                    && !LOOKS.contains(&context.symbols().text(selector)) =>
            {
                return self.output(context);
            }
            _ => {}
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }

    fn loadbang(&mut self, context: &mut Context<'_>) {
        self.output(context);
    }
}
