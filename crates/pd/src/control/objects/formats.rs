//! Messages as bytes and back: `oscformat`, `oscparse`, `fudiformat`, `fudiparse` (`x_misc.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::words;
use super::super::text::{TextWord, parse_text, write_escaped};
use super::super::value::{Message, Value};
use super::Making;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let texts = || {
        making
            .values
            .iter()
            .map(|value| value.text(&making.globals.symbols))
    };
    Some(match making.class {
        "oscparse" => Box::new(OscParse {
            bytes: Vec::with_capacity(ROOM),
        }),
        "oscformat" => {
            let mut words: Vec<String> = texts().collect();
            let mut format = String::new();
            if words.len() >= 2 && words[0] == "-f" {
                format = words.remove(1);
                words.remove(0);
            }
            Box::new(OscFormat {
                path: path(&words),
                format,
                types: String::with_capacity(ROOM),
                data: Vec::with_capacity(ROOM),
                bytes: Vec::with_capacity(ROOM),
            })
        }
        "fudiparse" => Box::new(FudiParse { bytes: Vec::new() }),
        "fudiformat" => Box::new(FudiFormat {
            has_end: !texts().any(|text| text == "-u"),
            text: String::with_capacity(ROOM),
        }),
        _ => return None,
    })
}

fn path(words: &[String]) -> String {
    words
        .iter()
        .map(|word| format!("/{}", word.trim_start_matches('/')))
        .collect()
}

/// Bytes of a message for which no memory is taken while a patch plays.
const ROOM: usize = 8192;

/// The byte that a number is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a byte"
)]
fn byte(value: Value) -> u8 {
    value.number() as i32 as u8
}

/// The bytes of a list of numbers, behind others.
fn push_bytes(values: &[Value], to: &mut Vec<u8>) {
    to.extend(values.iter().map(|value| byte(*value)));
}

/// The byte that a value is in a blob: a symbol is its first letter, as in Pd.
fn blob_byte(value: Value, context: &mut Context<'_>) -> u8 {
    match value {
        Value::Symbol(symbol) => context.symbols().text(symbol).bytes().next().unwrap_or(0),
        value => byte(value),
    }
}

fn send_bytes(bytes: &[u8], context: &mut Context<'_>) {
    context.with_line(|line, context| {
        let values = bytes.iter();
        line.extend(values.map(|byte| Value::Float(f32::from(*byte))));
        context.send_list(0, line);
    });
}

struct OscParse {
    bytes: Vec<u8>,
}

/// A text that zeros fill up to four bytes.
fn padded_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let next = (end + 4) & !3;
    Some((&bytes[..end], bytes.get(next..).unwrap_or_default()))
}

impl OscParse {
    /// Messages within one another, at most.
    const MAX_DEPTH: u32 = 16;

    fn packet(bytes: &[u8], depth: u32, context: &mut Context<'_>) -> Option<()> {
        if let Some(mut rest) = bytes.strip_prefix(b"#bundle\0") {
            rest = rest.get(8..)?;
            while let Some((length, behind)) = rest.split_first_chunk::<4>() {
                let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
                if depth < Self::MAX_DEPTH {
                    Self::packet(behind.get(..length)?, depth + 1, context)?;
                }
                rest = behind.get(length..)?;
            }
            return Some(());
        }
        let (path, rest) = padded_text(bytes)?;
        let (types, mut rest) = padded_text(rest)?;
        context.with_line(|values, context| {
            let path = String::from_utf8_lossy(path);
            let parts = path.split('/').filter(|part| !part.is_empty());
            for part in parts {
                values.push(Value::Symbol(context.symbols().intern(part)));
            }
            Self::arguments(types, &mut rest, values, context)?;
            context.send_list(0, values);
            Some(())
        })
    }

    /// Adds the arguments of a message.
    fn arguments(
        types: &[u8],
        data: &mut &[u8],
        values: &mut Vec<Value>,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let mut rest = *data;
        for kind in types.strip_prefix(b",")? {
            match kind {
                b'i' | b'f' => {
                    let (number, behind) = rest.split_first_chunk::<4>()?;
                    #[expect(clippy::cast_precision_loss, reason = "Pd's numbers are floats")]
                    let number = match kind {
                        b'i' => i32::from_be_bytes(*number) as f32,
                        _ => f32::from_be_bytes(*number),
                    };
                    // What is no number would stay in every sum.
                    values.push(Value::Float(if number.is_finite() { number } else { 0.0 }));
                    rest = behind;
                }
                b's' => {
                    let (text, behind) = padded_text(rest)?;
                    let text = String::from_utf8_lossy(text);
                    values.push(Value::Symbol(context.symbols().intern(&text)));
                    rest = behind;
                }
                b'b' => {
                    let (length, behind) = rest.split_first_chunk::<4>()?;
                    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
                    let blob = behind.get(..length)?;
                    #[expect(clippy::cast_precision_loss, reason = "Pd's numbers are floats")]
                    values.push(Value::Float(length as f32));
                    values.extend(blob.iter().map(|byte| Value::Float(f32::from(*byte))));
                    rest = behind
                        .get(length.checked_add(3)? & !3..)
                        .unwrap_or_default();
                }
                _ => return None,
            }
        }
        *data = rest;
        Some(())
    }
}

impl Object for OscParse {
    held!(; not bytes);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if values.is_empty() {
            return Handled::Yes;
        }
        self.bytes.clear();
        push_bytes(values, &mut self.bytes);
        if Self::packet(&self.bytes, 0, context).is_none() {
            context.print_with(|_, line| {
                line.write_str(
                    "error: oscparse: the message is cut short, or of a type that is not known",
                )
            });
        }
        Handled::Yes
    }
}

struct OscFormat {
    path: String,
    /// Types of the first values; the others follow from what they are.
    format: String,
    /// The types of a message, its values, and all of it.
    types: String,
    data: Vec<u8>,
    bytes: Vec<u8>,
}

/// Adds a text, and zeros up to four bytes.
fn push_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend(text.bytes());
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

impl OscFormat {
    /// Puts a message together; false for a value that has another type than is wanted.
    fn write(&mut self, values: &[Value], context: &mut Context<'_>) -> bool {
        let Self { types, data, .. } = self;
        types.clear();
        types.push(',');
        data.clear();
        let mut formats = self.format.chars();
        // Values that a blob has taken.
        let mut left_out = 0;
        for (at, value) in values.iter().enumerate() {
            if left_out > 0 {
                left_out -= 1;
                continue;
            }
            let kind = formats.next().unwrap_or(match value {
                Value::Symbol(_) => 's',
                Value::Float(_) | Value::Pointer(_) => 'f',
            });
            types.push(kind);
            match (kind, value) {
                #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
                ('i', value) => data.extend((value.number() as i32).to_be_bytes()),
                ('s', Value::Symbol(symbol)) => push_text(context.symbols().text(*symbol), data),
                ('s', _) => {
                    context.print_with(|_, line| {
                        let at = at + 1;
                        write!(line, "error: oscformat: expected symbol for argument {at}")
                    });
                    return false;
                }
                ('b', _) => {
                    // Its length comes before it; without one it is all that is left.
                    let blob = &values[at + 1..];
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "not negative; larger ones saturate"
                    )]
                    let length = match value {
                        Value::Float(length) if *length > -1.0 => *length as usize,
                        _ => usize::MAX,
                    };
                    let blob = &blob[..length.min(blob.len())];
                    data.extend(u32::try_from(blob.len()).unwrap_or(0).to_be_bytes());
                    data.extend(blob.iter().map(|value| blob_byte(*value, context)));
                    data.resize(data.len().next_multiple_of(4), 0);
                    left_out = blob.len();
                }
                (_, value) => data.extend(value.number().to_be_bytes()),
            }
        }
        self.bytes.clear();
        push_text(&self.path, &mut self.bytes);
        push_text(&self.types, &mut self.bytes);
        self.bytes.extend_from_slice(&self.data);
        true
    }
}

impl Object for OscFormat {
    held!(path, format; not types, data, bytes);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if self.write(values, context) {
            send_bytes(&self.bytes, context);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let texts = message
            .values
            .iter()
            .map(|value| value.text(context.symbols()));
        let texts: Vec<String> = texts.collect();
        match (message.selector, context.symbols().text(message.selector)) {
            (words::SET, _) => self.path = path(&texts),
            (_, "format") => self.format = texts.first().cloned().unwrap_or_default(),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

struct FudiFormat {
    /// True if messages end with a semicolon and a new line.
    has_end: bool,
    text: String,
}

impl FudiFormat {
    fn write(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let text = &mut self.text;
        text.clear();
        let selector = Value::Symbol(message.selector);
        for (at, value) in std::iter::once(selector)
            .chain(message.values.iter().copied())
            .enumerate()
        {
            if at > 0 {
                text.push(' ');
            }
            match value {
                Value::Symbol(symbol) => write_escaped(context.symbols().text(symbol), text),
                value => value.write(context.symbols(), text),
            }
            .expect("a text has room");
        }
        if self.has_end {
            text.push_str(";\n");
        }
        send_bytes(text.as_bytes(), context);
        Handled::Yes
    }
}

impl Object for FudiFormat {
    held!(; not has_end, text);

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.write(message, context)
    }
}

struct FudiParse {
    /// Those of the messages that are still to be sent.
    bytes: Vec<TextWord>,
}

impl Object for FudiParse {
    held!(; not bytes);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let mut bytes = Vec::with_capacity(values.len());
        push_bytes(values, &mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        self.bytes = parse_text(&text, false, context.symbols());
        self.resume(0, context);
        Handled::Yes
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        let skipped = self
            .bytes
            .iter()
            .take_while(|word| word.ends_line())
            .count();
        self.bytes.drain(..skipped);
        let length = self
            .bytes
            .iter()
            .take_while(|word| !word.ends_line())
            .count();
        if length == 0 {
            return;
        }
        let symbols = context.symbols();
        let line: Vec<Value> = self
            .bytes
            .drain(..length)
            .map(|word| word.plain_value(symbols))
            .collect();
        context.send(0, Message::of_words(&line));
        context.resume(0);
    }
}
