//! Lists: `list`, `pack`, `unpack`, `trigger`, `route`, `select` (`x_connective.c`, `x_list.c`).

use super::super::object::{Context, Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use super::glue::to_number;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "pack" => Box::new(Pack::new(making)),
        "unpack" => Box::new(Unpack {
            is_symbol: types(making, &['f', 'f'])
                .iter()
                .map(|t| *t == 's')
                .collect(),
        }),
        "trigger" => Box::new(Trigger {
            types: trigger_types(making),
        }),
        "route" => Box::new(Route {
            cases: cases(making),
        }),
        "select" => Box::new(Select {
            cases: cases(making),
        }),
        "list" => return list(making),
        _ => return None,
    })
}

fn list(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
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

/// The first letter of each argument; a number is an `f`.
fn types(making: &Making<'_>, default: &[char]) -> Vec<char> {
    let letter = |value: &Value| match value {
        Value::Float(_) => 'f',
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

struct Pack {
    is_symbol: Vec<bool>,
    values: Vec<Value>,
}

impl Pack {
    fn new(making: &mut Making<'_>) -> Self {
        let types = types(making, &['f', 'f']);
        let initial = |at: usize, letter: char| match (making.values.get(at), letter) {
            (Some(Value::Float(number)), _) => Value::Float(*number),
            (_, 's') => Value::Symbol(words::SYMBOL),
            _ => Value::Float(0.0),
        };
        let values = types
            .iter()
            .enumerate()
            .map(|(at, letter)| initial(at, *letter))
            .collect();
        Self {
            is_symbol: types.iter().map(|letter| *letter == 's').collect(),
            values,
        }
    }

    fn set(&mut self, at: usize, value: Value) -> bool {
        match (self.is_symbol.get(at), value) {
            (Some(true), Value::Symbol(_)) | (Some(false), Value::Float(_)) => {
                self.values[at] = value
            }
            _ => return false,
        }
        true
    }
}

impl Object for Pack {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
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
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(value) if self.set(inlet, *value) => Handled::Yes,
            _ => Handled::No,
        }
    }
}

fn wrong_type(class: &str, context: &mut Context<'_>) -> Handled {
    context.print_with(|_, line| write!(line, "error: {class}: wrong type"));
    Handled::Yes
}

struct Unpack {
    is_symbol: Vec<bool>,
}

impl Object for Unpack {
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let count = values.len().min(self.is_symbol.len());
        for (outlet, value) in values[..count].iter().enumerate().rev() {
            match (self.is_symbol[outlet], value) {
                (true, Value::Symbol(_)) | (false, Value::Float(_)) => {
                    context.send_value(outlet, *value)
                }
                _ => context.print_with(|_, line| line.write_str("error: unpack: type mismatch")),
            }
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        context.with_list(message, |values, context| self.list(values, context))
    }
}

#[derive(Clone, Copy)]
enum TriggerType {
    Bang,
    Float,
    Symbol,
    List,
    Anything,
    /// A number of the patch's own.
    Constant(f32),
}

fn trigger_types(making: &Making<'_>) -> Vec<TriggerType> {
    let of_value = |value: &Value| match value {
        Value::Float(number) => TriggerType::Constant(*number),
        Value::Symbol(symbol) => match making.globals.symbols.text(*symbol).chars().next() {
            Some('b') => TriggerType::Bang,
            Some('s') => TriggerType::Symbol,
            Some('l') => TriggerType::List,
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
                TriggerType::Constant(number) => context.send_float(outlet, *number),
                TriggerType::Float => context.send_float(outlet, first.map_or(0.0, Value::number)),
                TriggerType::Symbol => {
                    let symbol = match first {
                        Some(Value::Symbol(symbol)) => symbol,
                        Some(Value::Float(_)) => words::FLOAT,
                        None => words::SYMBOL,
                    };
                    context.send_value(outlet, Value::Symbol(symbol));
                }
                TriggerType::List => context.send_list(outlet, message.values),
                TriggerType::Anything => context.send(outlet, message),
            }
        }
        Handled::Yes
    }
}

impl Object for Trigger {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.send(
            Message {
                selector: words::BANG,
                values: &[],
            },
            context,
        )
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.send(Message::of_list(values), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        for (outlet, kind) in self.types.iter().enumerate().rev() {
            match kind {
                TriggerType::Bang => context.send_bang(outlet),
                TriggerType::Constant(number) => context.send_float(outlet, *number),
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
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.list(&[], context)
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
        match message.values.first() {
            Some(value) => self.cases[0] = *value,
            None => return Handled::No,
        }
        Handled::Yes
    }
}

/// Sends the rest of a message: a symbol at its beginning is the selector, except of one alone.
fn send_rest(outlet: usize, values: &[Value], context: &mut Context<'_>) {
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
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.compare(Value::Float(number), context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.compare(Value::Symbol(symbol), context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(value) => self.cases[0] = *value,
            None => return Handled::No,
        }
        Handled::Yes
    }
}

struct Append {
    kept: Vec<Value>,
}

impl Object for Append {
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
                _ => {
                    return context
                        .with_list(message, |values, context| self.list(values, context));
                }
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
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a byte"
        )]
        let bytes = values.iter().map(|value| value.number() as i32 as u8);
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
