//! `text sequence`: a text as messages in time.

use super::super::Making;
use super::super::sources::DataSource;
use super::super::tempo::Tempo;
use super::shared::find;
use crate::control::context::Context;
use crate::control::object::{Handled, Object};
use crate::control::symbol::{Symbol, words};
use crate::control::text::{TextWord, line_of};
use crate::control::value::{Message, Value};
use crate::state::held;

/// Sends the lines of a text, and waits where numbers, or a word, say so.
pub(super) struct Sequence {
    name: DataSource,
    /// Index of the next word; `None` at the end.
    at: Option<usize>,
    arguments: Vec<Value>,
    /// Arguments of this run alone.
    once: Vec<Value>,
    wait_word: Option<Symbol>,
    /// Numbers at the beginning of a line that are a time, at most.
    wait_numbers: usize,
    /// Sends to the receivers that lines name.
    is_global: bool,
    has_wait_outlet: bool,
    tempo: Tempo,
    next_delay: f32,
    /// The first word of the line before, if a comma has ended it.
    last_to: Option<Symbol>,
    has_waited: bool,
    is_running: bool,
    is_automatic: bool,
}

impl Sequence {
    /// From the words behind the name.
    pub(super) fn new(making: &Making<'_>, name: DataSource, flags: &[Value]) -> Self {
        let mut new = Self {
            name,
            at: None,
            arguments: Vec::new(),
            once: Vec::new(),
            wait_word: None,
            wait_numbers: 0,
            is_global: false,
            has_wait_outlet: false,
            tempo: Tempo::default(),
            next_delay: 0.0,
            last_to: None,
            has_waited: false,
            is_running: false,
            is_automatic: false,
        };
        let text = |value: &Value| value.text(&making.globals.symbols);
        let mut at = 0;
        while let Some(flag) = flags.get(at) {
            match (text(flag).as_str(), flags.get(at + 1), flags.get(at + 2)) {
                ("-w", Some(Value::Symbol(word)), _) => new.wait_word = Some(*word),
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below 0 is 0"
                )]
                ("-w", Some(Value::Float(count)), _) => new.wait_numbers = *count as usize,
                ("-g", ..) => new.is_global = true,
                ("-t", Some(amount), Some(unit)) => {
                    let rate = making.globals.rate;
                    new.tempo = Tempo::of(amount.number(), &text(unit), rate).unwrap_or_default();
                    at += 1;
                }
                _ => {}
            }
            at += if text(flag) == "-g" { 1 } else { 2 };
        }
        if new.is_global {
            new.wait_numbers = usize::MAX;
        }
        new.has_wait_outlet = new.is_global || new.wait_word.is_some() || new.wait_numbers > 0;
        new
    }

    /// Outlets from the left: lists, waiting times, the end. Those that are not there move the others.
    fn wait_outlet(&self) -> usize {
        usize::from(!self.is_global)
    }

    fn end_outlet(&self) -> usize {
        self.wait_outlet() + usize::from(self.has_wait_outlet)
    }

    fn end(&mut self, context: &mut Context<'_>) {
        self.at = None;
        self.is_running = false;
        self.is_automatic = false;
        context.send_bang(self.end_outlet());
    }

    /// Does one line, or one time.
    fn step(&mut self, context: &mut Context<'_>) {
        let Some(words) = find(self.name, context) else {
            return self.end(context);
        };
        let Some(begin) = self.at.filter(|at| *at < words.len()) else {
            return self.end(context);
        };
        let rest = &words[begin..];
        let is_number = |word: &&TextWord| matches!(word, TextWord::Value(Value::Float(_)));
        let line = rest.iter().take_while(|word| !word.ends_line()).count();
        let numbers = rest
            .iter()
            .take_while(is_number)
            .count()
            .min(self.wait_numbers);
        let is_wait_word =
            matches!(rest[0], TextWord::Value(Value::Symbol(word)) if Some(word) == self.wait_word);
        let is_time = self.last_to.is_none() && ((numbers > 0 && !self.has_waited) || is_wait_word);
        let (from, count) = match (is_time, is_wait_word) {
            (true, true) => (1, line - 1),
            (true, false) => (0, numbers),
            _ => (0, line),
        };
        let has_comma = !is_time && rest.get(line) == Some(&TextWord::Comma);
        let taken = rest[from..from + count].to_vec();
        let next = begin + from + count + usize::from(!is_time || is_wait_word);
        self.at = (next < words.len()).then_some(next);
        self.has_waited = is_time;
        let values: Vec<Value> = taken
            .iter()
            .map(|word| self.realized(*word, context))
            .collect();
        match is_time {
            true => self.wait(&values, context),
            false if self.is_global => self.send_line(&values, has_comma, context),
            false => self.output_line(values, has_comma, context),
        }
    }

    /// A word with arguments in place.
    fn realized(&self, word: TextWord, context: &mut Context<'_>) -> Value {
        let arguments = if self.once.is_empty() {
            &self.arguments
        } else {
            &self.once
        };
        let argument = |number: u32| arguments.get(usize::try_from(number).ok()?.checked_sub(1)?);
        match word {
            TextWord::Value(value) => value,
            TextWord::Dollar(number) => match argument(number) {
                Some(value) => *value,
                None => {
                    context
                        .print_with(|_, to| write!(to, "error: argument ${number} out of range"));
                    Value::Float(0.0)
                }
            },
            TextWord::DollarSymbol(symbol) => {
                let text = context.symbols().text(symbol).to_owned();
                let mut out = String::new();
                let mut rest = text.as_str();
                while let Some(at) = rest.find('$') {
                    out += &rest[..at];
                    rest = &rest[at + 1..];
                    let end = rest
                        .find(|c: char| !c.is_ascii_digit())
                        .unwrap_or(rest.len());
                    let Some(value) = rest[..end].parse().ok().and_then(argument) else {
                        context.print(format!("error: {text}: not enough arguments supplied"));
                        return Value::Symbol(words::SYMBOL);
                    };
                    out += &value.text(context.symbols());
                    rest = &rest[end..];
                }
                out += rest;
                Value::Symbol(context.symbols().intern(&out))
            }
            TextWord::Comma | TextWord::Semicolon => word.to_value(context.symbols()),
        }
    }

    fn wait(&mut self, values: &[Value], context: &mut Context<'_>) {
        self.is_running = false;
        self.last_to = None;
        if let ([Value::Float(delay)], true) = (values, self.is_automatic) {
            self.next_delay = *delay;
        } else if self.has_wait_outlet {
            self.is_automatic = false;
            context.send_list(self.wait_outlet(), values);
        }
    }

    fn output_line(&mut self, mut values: Vec<Value>, has_comma: bool, context: &mut Context<'_>) {
        let first = match values.first() {
            Some(Value::Symbol(symbol)) => Some(*symbol),
            _ => None,
        };
        let before = self.last_to;
        if let Some(to) = before {
            values.insert(0, Value::Symbol(to));
        }
        self.last_to = if has_comma { before.or(first) } else { None };
        context.send_list(0, &values);
    }

    fn send_line(&mut self, values: &[Value], has_comma: bool, context: &mut Context<'_>) {
        let (to, rest) = match (self.last_to, values) {
            (Some(to), values) => (to, values),
            (None, [Value::Symbol(to), rest @ ..]) => (*to, rest),
            _ => return,
        };
        self.last_to = has_comma.then_some(to);
        let message = match rest {
            [Value::Symbol(selector), values @ ..] => Message {
                selector: *selector,
                values,
            },
            values => Message::of_list(values),
        };
        context.send_to(to, message);
    }

    /// Goes on: through the lines up to a time, then to the time.
    fn go_on(&mut self, context: &mut Context<'_>) {
        if !self.is_running && self.is_automatic {
            if self.next_delay > 0.0 {
                return context.set_clock_after(0, self.tempo.units(self.next_delay));
            }
            self.is_running = true;
        }
        if self.is_running {
            self.step(context);
            context.resume(0);
        }
    }
}

impl Object for Sequence {
    held!(name, at, arguments, once, tempo, next_delay, last_to, has_waited, is_running, is_automatic; not wait_word, wait_numbers, is_global, has_wait_outlet);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.once = values.to_vec();
        self.is_running = true;
        self.go_on(context);
        Handled::Yes
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        self.last_to = None;
        self.is_running = self.is_automatic;
        self.go_on(context);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let selector = context.symbols().text(message.selector).to_owned();
        match selector.as_str() {
            "stop" | "step" => {
                self.is_running = false;
                if std::mem::replace(&mut self.is_automatic, false) {
                    context.unset_clock(0);
                }
                if selector == "step" {
                    self.once.clear();
                    self.step(context);
                }
            }
            "auto" => {
                context.unset_clock(0);
                self.once.clear();
                self.last_to = None;
                self.is_automatic = true;
                self.is_running = true;
                self.go_on(context);
            }
            "line" => {
                self.last_to = None;
                self.has_waited = false;
                let line = message.number();
                if let Some(words) = find(self.name, context) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "below 0 is 0"
                    )]
                    let range = line_of(words, line as usize);
                    self.at = range.map(|range| range.start);
                    if self.at.is_none() {
                        context.print_with(|_, to| {
                            write!(to, "error: text sequence: line number {line} out of range")
                        });
                    }
                }
            }
            "args" => self.arguments = message.values.to_vec(),
            "tempo" => return self.tempo.message(message.values, context),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        self.name.change(message)
    }
}
