//! Message boxes, inlets and outlets.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbols, words};
use super::super::value::{Message, Value};
use crate::file::Atom;
use crate::state::{Held, StateReader, StateWriter, Unfit, held, held_lists};

/// A message box: words with `$1`, sent by anything that comes in.
pub(in super::super) struct MessageBox {
    words: Vec<Word>,
    /// Words of one message, made anew for each.
    line: Vec<Value>,
}

/// A word of a message box.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    Value(Value),
    Comma,
    Semicolon,
    /// `$1`.
    Dollar(u32),
    /// `$1-name`.
    DollarSymbol(Box<str>),
}

impl Held for Word {
    fn save(&self, state: &mut StateWriter<'_>) {
        match self {
            Self::Value(value) => value.save(state),
            Self::Comma => state.put(&[3]),
            Self::Semicolon => state.put(&[4]),
            Self::Dollar(number) => {
                state.put(&[5]);
                number.save(state);
            }
            Self::DollarSymbol(text) => {
                state.put(&[6]);
                state.put_len(text.len());
                state.put(text.as_bytes());
            }
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut ahead = *state;
        let [sort] = ahead.array()?;
        *self = match sort {
            3 => Self::Comma,
            4 => Self::Semicolon,
            5 => Self::Dollar(ahead.u32()?),
            6 => {
                let mut text = String::new();
                text.load(&mut ahead)?;
                Self::DollarSymbol(text.into())
            }
            _ => {
                ahead = *state;
                let mut value = Value::Float(0.0);
                value.load(&mut ahead)?;
                Self::Value(value)
            }
        };
        *state = ahead;
        Ok(())
    }
}

held_lists!(Word: Word::Comma);

impl MessageBox {
    pub(in super::super) fn new(words: &[Atom], symbols: &mut Symbols) -> Self {
        let word = |atom: &Atom| match atom {
            Atom::Comma => Word::Comma,
            Atom::Semicolon => Word::Semicolon,
            Atom::Dollar(n) => Word::Dollar(*n),
            Atom::DollarSymbol(text) => Word::DollarSymbol(text.clone()),
            atom => Word::Value(Value::of(atom, symbols)),
        };
        Self {
            line: Vec::with_capacity(words.len()),
            words: words.iter().map(word).collect(),
        }
    }

    /// Sends every message of the box.
    fn run(&mut self, arguments: &[Value], context: &mut Context<'_>) -> Handled {
        let separates = |word: &Word| matches!(word, Word::Comma | Word::Semicolon);
        if self.words.is_empty() || self.words.iter().any(separates) {
            return self.run_parts(arguments, context);
        }
        self.line.clear();
        for word in &self.words {
            self.line.push(expand(word, arguments, context));
        }
        context.send(0, Message::of_words(&self.line));
        Handled::Yes
    }

    /// Sends the messages between `,` and `;`.
    fn run_parts(&mut self, arguments: &[Value], context: &mut Context<'_>) -> Handled {
        // Messages before the first `;` go to the outlet, each one behind it to the name that begins it.
        let parts = self.words.split(|word| *word == Word::Semicolon);
        for (part, words) in parts.enumerate() {
            let (mut to, mut is_said) = (None, false);
            for message in words.split(|word| *word == Word::Comma) {
                self.line.clear();
                for word in message {
                    let value = expand(word, arguments, context);
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
                    // Once for all messages to a name.
                    Some(name) if !is_said => {
                        is_said = true;
                        context.send_to_named(name, Message::of_words(line));
                    }
                    Some(name) => context.send_behind(name, Message::of_words(line)),
                    None => context.send(0, Message::of_words(line)),
                }
            }
        }
        Handled::Yes
    }

    /// `set`, `add` and the like, which change the box and send nothing.
    fn change(&mut self, message: Message<'_>) -> bool {
        let words = message.values.iter().map(|value| Word::Value(*value));
        match message.selector {
            words::SET => self.words.clear(),
            words::ADD | words::ADD2 => {}
            _ => return false,
        }
        self.words.extend(words);
        if message.selector == words::ADD {
            self.words.push(Word::Semicolon);
        }
        true
    }
}

/// A word with what was received in place of its dollars. `$0` is 0 here: a message belongs to no patch, in Pd as well.
fn expand(word: &Word, arguments: &[Value], context: &mut Context<'_>) -> Value {
    match word {
        Word::Value(value) => *value,
        Word::Dollar(0) => Value::Float(0.0),
        Word::Dollar(n) => match arguments.get(*n as usize - 1) {
            // As in Pd, a message box knows no pointers.
            Some(Value::Pointer(_)) => Value::Float(0.0),
            Some(value) => *value,
            None => {
                context.print_with(|_, line| {
                    write!(line, "error: ${n}: argument number out of range")
                });
                Value::Float(0.0)
            }
        },
        Word::DollarSymbol(text) => {
            let mut is_whole = true;
            let expanded = context.symbols().intern_with(|symbols, to| {
                // A `String` takes all.
                is_whole = expand_text(text, arguments, symbols, to).unwrap_or(true);
                if !is_whole {
                    // As it is written, where a word is missing.
                    to.clear();
                    to.push_str(text);
                }
            });
            if !is_whole {
                context.print_with(|_, line| {
                    write!(line, "error: {text}: argument number out of range")
                });
            }
            Value::Symbol(expanded)
        }
        // Messages were split at these.
        Word::Comma | Word::Semicolon => Value::Symbol(words::EMPTY),
    }
}

/// Writes a text with words in place of its dollars; false if one is missing.
fn expand_text(
    text: &str,
    arguments: &[Value],
    symbols: &Symbols,
    to: &mut String,
) -> Result<bool, std::fmt::Error> {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        to.push_str(before);
        let end = behind.find(|c: char| !c.is_ascii_digit());
        let (digits, behind) = behind.split_at(end.unwrap_or(behind.len()));
        let found = match digits.parse::<usize>() {
            Ok(0) => Some(Value::Float(0.0)),
            Ok(n) => arguments.get(n - 1).copied(),
            Err(_) => None,
        };
        match found {
            Some(value) => value.write(symbols, to)?,
            None => return Ok(false),
        }
        rest = behind;
    }
    to.push_str(rest);
    Ok(true)
}

impl Object for MessageBox {
    held!(words; not line);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.run(&[], context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.run(&[Value::Float(number)], context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.run(values, context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match self.change(message) {
            true => Handled::Yes,
            false => self.run(message.values, context),
        }
    }
}

/// An inlet or an outlet of a subpatch: passes everything on.
pub(in super::super) struct Passage;

impl Object for Passage {
    held!();

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
    held!();

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
