//! `textfile` and `qlist`: a text of one's own, line by line or in time (`x_text.c`).

use super::super::context::Context;
use super::super::jobs::JobResult;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::text::TextWord;
use super::super::value::{Message, Value};
use super::Making;
use super::texts::TextFile;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let held = Held {
        words: Vec::new(),
        at: usize::MAX,
        file: TextFile::new(making),
    };
    Some(match making.class {
        "textfile" => Box::new(Lines(held)),
        "qlist" => Box::new(List {
            held,
            tempo: 1.0,
            set_at: None,
            delay: 0.0,
            target: None,
            is_rewound: false,
            was_rewound: false,
            is_inside: false,
            drops: false,
            is_automatic: false,
        }),
        _ => return None,
    })
}

/// A text and a place in it.
struct Held {
    words: Vec<TextWord>,
    at: usize,
    file: TextFile,
}

impl crate::state::Held for Held {
    held!(words, at; not file);
}

impl Held {
    /// Takes a result; true if a text was read.
    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) -> bool {
        let mut text = std::mem::take(&mut self.words);
        let words = TextFile::words(result, &text, context);
        let is_read = words.is_some();
        if let Some(words) = words {
            std::mem::swap(&mut text, words);
            self.at = usize::MAX;
        }
        self.words = text;
        is_read
    }

    /// Messages that both understand.
    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let words = message.values.iter().map(|value| TextWord::Value(*value));
        match context.symbols().text(message.selector) {
            "clear" => self.words.clear(),
            "set" => {
                self.words.clear();
                self.words.extend(words.chain([TextWord::Semicolon]));
            }
            "add" => self.words.extend(words.chain([TextWord::Semicolon])),
            "add2" => self.words.extend(words),
            "read" => {
                if let Some(mut result) = self.file.read(message.values, context) {
                    self.reply(&mut result, context);
                }
            }
            "write" => {
                if let Some(mut result) = self.file.write(message.values, &self.words, context) {
                    self.reply(&mut result, context);
                }
            }
            "print" => self.print(context),
            "click" | "close" => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn print(&self, context: &mut Context<'_>) {
        context
            .print_with(|_, to| to.write_str("--------- textfile or qlist contents: -----------"));
        for line in self
            .words
            .split_inclusive(|word| *word == TextWord::Semicolon)
        {
            context.print_with(|symbols, to| {
                for word in line {
                    to.write_str(" ")?;
                    word.write(symbols, to)?;
                }
                Ok(())
            });
        }
    }
}

struct Lines(Held);

impl Object for Lines {
    held!(tuple held);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let Held { words, at, .. } = &mut self.0;
        let rest = words.get(*at..).unwrap_or_default();
        let skipped = rest.iter().take_while(|word| word.ends_line()).count();
        let rest = &rest[skipped..];
        let length = rest.iter().take_while(|word| !word.ends_line()).count();
        if length == 0 {
            *at = usize::MAX;
            context.send_bang(1);
            return Handled::Yes;
        }
        *at += skipped + length;
        context.with_line(|line, context| {
            let symbols = context.symbols();
            line.extend(rest[..length].iter().map(|word| word.plain_value(symbols)));
            match &line[..] {
                [Value::Symbol(selector), values @ ..] => context.send(
                    0,
                    Message {
                        selector: *selector,
                        values,
                    },
                ),
                values => context.send_list(0, values),
            }
        });
        Handled::Yes
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        self.0.reply(result, context);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "rewind" => self.0.at = 0,
            "clear" | "set" => {
                self.0.at = 0;
                return self.0.anything(message, context);
            }
            _ => return self.0.anything(message, context),
        }
        Handled::Yes
    }
}

struct List {
    held: Held,
    /// Factor of times.
    tempo: f32,
    /// Time at which the clock was set, in units.
    set_at: Option<f64>,
    /// Milliseconds for which it was set.
    delay: f32,
    /// Receiver of the messages up to the next semicolon.
    target: Option<Symbol>,
    is_rewound: bool,
    was_rewound: bool,
    /// True while its messages go out.
    is_inside: bool,
    drops: bool,
    is_automatic: bool,
}

impl List {
    fn rewind(&mut self, context: &mut Context<'_>) {
        self.held.at = 0;
        context.unset_clock(0);
        self.set_at = None;
        self.is_rewound = true;
    }

    fn next(&mut self, drops: bool, is_automatic: bool, context: &mut Context<'_>) {
        if self.is_inside {
            return context
                .print_with(|_, to| to.write_str("error: qlist sent 'next' from within itself"));
        }
        self.is_inside = true;
        self.drops = drops;
        self.is_automatic = is_automatic;
        self.target = None;
        self.go_on(context);
    }

    /// Up to the next message, the next time or the end.
    fn go_on(&mut self, context: &mut Context<'_>) {
        loop {
            let Some(word) = self.held.words.get(self.held.at).copied() else {
                self.held.at = usize::MAX;
                self.set_at = None;
                self.is_inside = false;
                return context.send_bang(1);
            };
            if word.ends_line() {
                if word == TextWord::Semicolon {
                    self.target = None;
                }
                self.held.at += 1;
                continue;
            }
            let rest = &self.held.words[self.held.at..];
            let is_number = |word: &&TextWord| matches!(word, TextWord::Value(Value::Float(_)));
            if self.target.is_none() && is_number(&&word) {
                let numbers = rest.iter().take_while(is_number).count();
                return self.time(numbers, context);
            }
            let values = rest.iter().map_while(|word| match word {
                TextWord::Value(value) => Some(*value),
                _ => None,
            });
            let mut line = std::mem::take(&mut context.globals().line);
            line.clear();
            line.extend(values);
            self.held.at += line.len().max(1);
            let is_sent = self.send(&line, context);
            context.globals().line = line;
            if is_sent {
                return context.resume(0);
            }
        }
    }

    fn time(&mut self, numbers: usize, context: &mut Context<'_>) {
        let from = self.held.at;
        self.held.at += numbers;
        self.is_inside = false;
        if self.is_automatic {
            let time = self.held.words[from].plain_value(context.symbols());
            self.delay = time.number() * self.tempo;
            context.set_clock(0, f64::from(self.delay));
            self.set_at = Some(context.clocks().now());
        } else {
            context.with_line(|line, context| {
                let times = self.held.words[from..from + numbers].iter();
                line.extend(times.map(|word| word.plain_value(context.symbols())));
                context.send_list(0, line);
            });
        }
    }

    /// Sends a message; false if there was none to be sent.
    fn send(&mut self, values: &[Value], context: &mut Context<'_>) -> bool {
        let (target, values) = match (self.target, values) {
            (Some(target), values) => (target, values),
            (None, [Value::Symbol(target), values @ ..]) => (*target, values),
            _ => return false,
        };
        self.target = Some(target);
        self.was_rewound = std::mem::replace(&mut self.is_rewound, false);
        let message = match values {
            [] => return false,
            [Value::Symbol(selector), values @ ..] => Message {
                selector: *selector,
                values,
            },
            values => Message {
                selector: words::LIST,
                values,
            },
        };
        if !self.drops {
            context.send_to_named(target, message);
        }
        true
    }
}

impl Object for List {
    held!(
        held,
        tempo,
        set_at,
        delay,
        target,
        is_rewound,
        was_rewound,
        is_inside,
        drops,
        is_automatic
    );

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.rewind(context);
        if self.is_inside {
            self.set_at = Some(context.clocks().now());
            self.delay = 0.0;
            context.set_clock(0, 0.0);
        } else {
            self.next(false, true, context);
        }
        Handled::Yes
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        if self.is_rewound {
            self.is_inside = false;
            return;
        }
        self.is_rewound = self.was_rewound;
        self.go_on(context);
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        self.set_at = None;
        self.next(false, true, context);
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        self.is_rewound |= self.held.reply(result, context);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "rewind" => self.rewind(context),
            "next" => self.next(message.number() != 0.0, false, context),
            "clear" | "set" => {
                self.rewind(context);
                return self.held.anything(message, context);
            }
            "read" => {
                let handled = self.held.anything(message, context);
                self.is_rewound = true;
                return handled;
            }
            "tempo" => {
                let tempo = 1.0 / message.number().clamp(1e-20, 1e20);
                if let Some(then) = self.set_at {
                    #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
                    let elapsed = context.clocks().ms_since(then) as f32;
                    let left = (self.delay - elapsed).max(0.0) * (tempo / self.tempo);
                    context.set_clock(0, f64::from(left));
                }
                self.tempo = tempo;
            }
            _ => return self.held.anything(message, context),
        }
        Handled::Yes
    }
}
