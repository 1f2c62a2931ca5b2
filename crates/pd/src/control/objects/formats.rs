//! Messages as bytes and back: `oscformat`, `oscparse`, `fudiformat`, `fudiparse` (`x_misc.c`).

use super::super::object::{Context, Handled, Object};
use super::super::symbol::words;
use super::super::text::{TextWord, parse_text, write_escaped};
use super::super::value::{Message, Value};
use super::Making;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let texts = || {
        making
            .values
            .iter()
            .map(|value| value.text(&making.globals.symbols))
    };
    Some(match making.class {
        "oscparse" => Box::new(OscParse),
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
            })
        }
        "fudiparse" => Box::new(FudiParse { bytes: Vec::new() }),
        "fudiformat" => Box::new(FudiFormat {
            has_end: !texts().any(|text| text == "-u"),
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

/// The bytes of a list of numbers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a byte"
)]
fn bytes_of(values: &[Value]) -> Vec<u8> {
    values
        .iter()
        .map(|value| value.number() as i32 as u8)
        .collect()
}

fn send_bytes(bytes: &[u8], context: &mut Context<'_>) {
    let values: Vec<Value> = bytes
        .iter()
        .map(|byte| Value::Float(f32::from(*byte)))
        .collect();
    context.send_list(0, &values);
}

struct OscParse;

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
        let symbols = context.symbols();
        let path = String::from_utf8_lossy(path);
        let parts = path.split('/').filter(|part| !part.is_empty());
        let mut values: Vec<Value> = parts
            .map(|part| Value::Symbol(symbols.intern(part)))
            .collect();
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
                    values.push(Value::Symbol(
                        symbols.intern(&String::from_utf8_lossy(text)),
                    ));
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
        context.send_list(0, &values);
        Some(())
    }
}

impl Object for OscParse {
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if values.is_empty() {
            return Handled::Yes;
        }
        if Self::packet(&bytes_of(values), 0, context).is_none() {
            context.print(
                "error: oscparse: the message is cut short, or of a type that is not known".into(),
            );
        }
        Handled::Yes
    }
}

struct OscFormat {
    path: String,
    /// Types of the first values; the others follow from what they are.
    format: String,
}

fn push_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend(text.bytes());
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

impl OscFormat {
    fn write(&self, values: &[Value], context: &mut Context<'_>) -> Option<Vec<u8>> {
        let (mut types, mut data) = (String::from(","), Vec::new());
        let mut formats = self.format.chars();
        for (at, value) in values.iter().enumerate() {
            let kind = formats.next().unwrap_or(match value {
                Value::Symbol(_) => 's',
                Value::Float(_) => 'f',
            });
            types.push(kind);
            match (kind, value) {
                #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
                ('i', value) => data.extend((value.number() as i32).to_be_bytes()),
                ('s', Value::Symbol(symbol)) => {
                    push_text(context.symbols().text(*symbol), &mut data)
                }
                ('s', _) => {
                    context.print(format!(
                        "error: oscformat: expected symbol for argument {}",
                        at + 1
                    ));
                    return None;
                }
                ('b', _) => {
                    let blob = bytes_of(&values[at..]);
                    data.extend(u32::try_from(blob.len()).unwrap_or(0).to_be_bytes());
                    data.extend(&blob);
                    data.resize(data.len().next_multiple_of(4), 0);
                    break;
                }
                (_, value) => data.extend(value.number().to_be_bytes()),
            }
        }
        let mut bytes = Vec::new();
        push_text(&self.path, &mut bytes);
        push_text(&types, &mut bytes);
        bytes.extend(data);
        Some(bytes)
    }
}

impl Object for OscFormat {
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if let Some(bytes) = self.write(values, context) {
            send_bytes(&bytes, context);
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
}

impl FudiFormat {
    fn write(&self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let mut text = String::new();
        let selector = Value::Symbol(message.selector);
        for (at, value) in std::iter::once(selector)
            .chain(message.values.iter().copied())
            .enumerate()
        {
            if at > 0 {
                text.push(' ');
            }
            match value {
                Value::Symbol(symbol) => {
                    write_escaped(context.symbols().text(symbol), &mut text)
                        .expect("a text has room");
                }
                value => text += &value.text(context.symbols()),
            }
        }
        if self.has_end {
            text += ";\n";
        }
        send_bytes(text.as_bytes(), context);
        Handled::Yes
    }
}

impl Object for FudiFormat {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.write(
            Message {
                selector: words::BANG,
                values: &[],
            },
            context,
        )
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.write(Message::of_list(values), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.write(message, context)
    }
}

struct FudiParse {
    /// Those of the messages that are still to be sent.
    bytes: Vec<TextWord>,
}

impl Object for FudiParse {
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let bytes = bytes_of(values);
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
