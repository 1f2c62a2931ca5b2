//! `text` and its functions (`x_text.c`).

use super::super::data::{Datum, Place};
use super::super::globals::Globals;
use super::super::jobs::{Job, JobResult};
use super::super::object::{Context, Handled, Object};
use super::super::symbol::{Symbols, words};
use super::super::text::{TextWord, line_of, text_bytes, write_text};
use super::super::value::{Message, Value};
use super::super::wire::ObjectId;
use super::Making;
use super::glue::to_number;
use super::sequence::Sequence;
use super::sources::DataSource;
use crate::disk::{FileName, FileReply, FileRequest, ShortText};
use crate::state::held;
use std::path::Path;
use std::sync::Arc;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "text" {
        return None;
    }
    let function = making.symbol(0);
    let function = function.map_or("define", |symbol| making.globals.symbols.text(symbol));
    let function = function.to_owned();
    if matches!(function.as_str(), "define" | "d") {
        return Some(Box::new(define(making)));
    }
    let (name, numbers) = DataSource::of(making.values.get(1..).unwrap_or_default(), making);
    let number = |at: usize, default: f32| numbers.get(at).map_or(default, |value| value.number());
    Some(match function.as_str() {
        "get" => Box::new(Get {
            name,
            field: number(0, -1.0),
            count: number(1, 1.0),
        }),
        "set" => Box::new(Set {
            name,
            line: number(0, 0.0),
            field: number(1, -1.0),
        }),
        "insert" => Box::new(Insert {
            name,
            line: number(0, 0.0),
        }),
        "delete" => Box::new(Delete(name)),
        "size" => Box::new(Size(name)),
        "tolist" => Box::new(ToList(name)),
        "fromlist" => Box::new(FromList(name)),
        "search" => Box::new(Search {
            name,
            keys: keys(making, numbers),
        }),
        "sequence" => Box::new(Sequence::new(making, name, numbers)),
        _ => return None,
    })
}

/// Words of a text, or a line that says that there is none.
pub(super) fn find<'c>(
    source: DataSource,
    context: &'c mut Context<'_>,
) -> Option<&'c mut Vec<TextWord>> {
    let number = source.text(context)?;
    Some(context.globals().texts.words(number))
}

/// Values of a message as words, and the other way round.
pub(super) fn restored(values: &[Value], context: &mut Context<'_>) -> Vec<TextWord> {
    let symbols = context.symbols();
    values
        .iter()
        .map(|value| TextWord::of_value(*value, symbols))
        .collect()
}

/// A number of a line: at least 0.
fn line_number(line: f32) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative"
    )]
    (line > -1.0).then_some(line as usize)
}

/// `read` and `write` of everything that holds a text.
pub(super) struct TextFile {
    folder: Arc<Path>,
}

impl TextFile {
    pub(super) fn new(making: &Making<'_>) -> Self {
        Self {
            folder: making.folder.into(),
        }
    }

    /// Files whose names count from a folder.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The file that a message names, and true for lines: `-c` or `cr`.
    fn name(&self, values: &[Value], context: &mut Context<'_>) -> Option<(FileName, bool)> {
        let (mut by_lines, mut name) = (false, None);
        for value in values {
            match value {
                Value::Symbol(symbol) if matches!(context.symbols().text(*symbol), "-c" | "cr") => {
                    by_lines = true;
                }
                value if name.is_none() => name = Some(*value),
                _ => {}
            }
        }
        let Some(name) = name else {
            context.print_with(|_, line| line.write_str("error: text: no file name given"));
            return None;
        };
        let symbol = match name {
            Value::Symbol(symbol) => symbol,
            number => context.symbols().intern_with(|symbols, to| {
                // A text has room.
                let _ = number.write(symbols, to);
            }),
        };
        let Some(name) = ShortText::new(&[context.symbols().text(symbol)]) else {
            context.print_with(|_, line| line.write_str("error: text: the name is too long"));
            return None;
        };
        let folder = self.folder.clone();
        Some((FileName { folder, name }, by_lines))
    }

    pub(super) fn read(&self, values: &[Value], context: &mut Context<'_>) -> Option<JobResult> {
        let (name, by_lines) = self.name(values, context)?;
        context.ask(Job::ReadText { name, by_lines })
    }

    pub(super) fn write(
        &self,
        values: &[Value],
        text: &[TextWord],
        context: &mut Context<'_>,
    ) -> Option<JobResult> {
        let (name, by_lines) = self.name(values, context)?;
        let bytes = text_bytes(text, by_lines, context.symbols());
        context.ask(Job::WriteText {
            name,
            by_lines,
            bytes,
        })
    }

    /// Takes a result: gives the words that came. `text` is written where memory for it has come.
    pub(super) fn words<'r>(
        result: &'r mut JobResult,
        text: &[TextWord],
        context: &mut Context<'_>,
    ) -> Option<&'r mut Vec<TextWord>> {
        let print = |what: &str, why: &str, context: &mut Context<'_>| {
            context.print_with(|_, line| write!(line, "error: {why}: {what} failed"));
        };
        match result {
            JobResult::Text(Ok(parsed)) => return Some(parsed.resolve(context.symbols())),
            JobResult::Text(Err(why)) => print("read", why, context),
            JobResult::File(FileReply::TextWritten(Err(why))) => print("write", why, context),
            JobResult::WriteText {
                name,
                by_lines,
                text: memory,
            } => {
                let job = filled(name, *by_lines, memory, text, context.symbols());
                if let Some(JobResult::File(FileReply::TextWritten(Err(why)))) = context.ask(job) {
                    print("write", &why, context);
                }
            }
            JobResult::Refused => print("text", "too many files at once", context),
            _ => {}
        }
        None
    }
}

/// The file to be written; memory again if the text has grown since.
fn filled(
    name: &FileName,
    by_lines: bool,
    memory: &mut String,
    text: &[TextWord],
    symbols: &Symbols,
) -> Job {
    let bytes = text_bytes(text, by_lines, symbols);
    let name = name.clone();
    if bytes > memory.capacity() {
        return Job::WriteText {
            name,
            by_lines,
            bytes: bytes * 2,
        };
    }
    let mut memory = std::mem::take(memory);
    // A text has room.
    let _ = write_text(text, by_lines, symbols, &mut memory);
    Job::File(FileRequest::WriteText(name, memory))
}

/// Adds what was saved with the patch, then the object.
fn define(making: &mut Making<'_>) -> Define {
    let symbols = &mut making.globals.symbols;
    let mut saved = Vec::new();
    for statement in making.saved {
        if let [first, rest @ ..] = &statement[..]
            && first.as_symbol() == Some("set")
        {
            saved.extend(rest.iter().map(|atom| TextWord::of_atom(atom, symbols)));
        }
    }
    let name = making.values.iter().skip(1).find_map(|value| match value {
        Value::Symbol(name) if !making.globals.symbols.text(*name).starts_with('-') => Some(*name),
        _ => None,
    });
    let number = making.globals.texts.add(name, saved);
    let datum = Datum::Text(u32::try_from(number).unwrap_or(u32::MAX));
    let (data, mut beside, _) = making.globals.data();
    Define {
        number,
        place: data.add_around(words::TEXT, datum, &mut beside),
        file: TextFile::new(making),
    }
}

/// Sends a pointer to what receives under a name.
pub(super) fn send_pointer(place: Option<Place>, values: &[Value], context: &mut Context<'_>) {
    if let (Some(place), [Value::Symbol(name), ..]) = (place, values) {
        let pointer = context.globals().data.pointer(place);
        context.send_to(*name, Message::of_list(&[Value::Pointer(pointer)]));
    }
}

struct Define {
    number: usize,
    /// The place of pointers to it.
    place: Option<Place>,
    file: TextFile,
}

impl Object for Define {
    held!(; not number, place, file);

    fn removed(&mut self, _: ObjectId, globals: &mut Globals) {
        let (data, mut beside, _) = globals.data();
        data.remove_around(self.place, &mut beside);
        globals.texts.forget(self.number);
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some(place) = self.place {
            let pointer = context.globals().data.pointer(place);
            context.send_value(0, Value::Pointer(pointer));
        }
        Handled::Yes
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        let mut text = std::mem::take(context.globals().texts.words(self.number));
        if let Some(words) = TextFile::words(result, &text, context) {
            std::mem::swap(&mut text, words);
        }
        *context.globals().texts.words(self.number) = text;
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(message.selector) {
            "clear" => context.globals().texts.words(self.number).clear(),
            "set" | "addline" => {
                let words = restored(message.values, context);
                context.globals().texts.words(self.number).extend(words);
            }
            "read" => {
                if let Some(mut result) = self.file.read(message.values, context) {
                    self.reply(&mut result, context);
                }
            }
            "write" => {
                let text = std::mem::take(context.globals().texts.words(self.number));
                let result = self.file.write(message.values, &text, context);
                *context.globals().texts.words(self.number) = text;
                if let Some(mut result) = result {
                    self.reply(&mut result, context);
                }
            }
            "send" => send_pointer(self.place, message.values, context),
            "click" | "close" | "notify" => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// A name, or a pointer, at the last inlet.
fn rename(message: Message<'_>, source: &mut DataSource) -> Handled {
    source.change(message)
}

struct Get {
    name: DataSource,
    field: f32,
    count: f32,
}

impl Object for Get {
    held!(name, field, count);

    fn float(&mut self, line: f32, context: &mut Context<'_>) -> Handled {
        let Some(words) = find(self.name, context) else {
            return Handled::Yes;
        };
        let range = line_number(line).and_then(|line| line_of(words, line));
        let Some(range) = range else {
            if self.field < 0.0 {
                context.send_float(1, 2.0);
                context.send_list(0, &[]);
            }
            return Handled::Yes;
        };
        let is_comma = words.get(range.end) == Some(&TextWord::Comma);
        context.with_line(|line, context| {
            if let Some(number) = self.name.text(context) {
                let Globals { texts, symbols, .. } = context.globals();
                let words = texts.get(number)[range].iter();
                line.extend(words.map(|word| word.plain_value(symbols)));
            }
            self.send(line, is_comma, context);
        });
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            1 => to_number(message, &mut self.field),
            2 => to_number(message, &mut self.count),
            _ => rename(message, &mut self.name),
        }
    }
}

impl Get {
    /// Sends the line, or the fields of it that are wanted.
    fn send(&self, line: &[Value], is_comma: bool, context: &mut Context<'_>) {
        if self.field < 0.0 {
            context.send_float(1, f32::from(u8::from(is_comma)));
            return context.send_list(0, line);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0"
        )]
        let (from, count) = (self.field as usize, self.count as usize);
        match line.get(from..from.saturating_add(count)) {
            Some(fields) => context.send_list(0, fields),
            None => context.print_with(|_, line| {
                write!(
                    line,
                    "error: text get: field request ({from} {count}) out of range"
                )
            }),
        }
    }
}

struct Set {
    name: DataSource,
    line: f32,
    field: f32,
}

impl Object for Set {
    held!(name, line, field);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let new = values.iter().map(|value| TextWord::Value(*value));
        let (line, field) = (self.line, line_number(self.field));
        let Some(words) = find(self.name, context) else {
            return Handled::Yes;
        };
        let Some(line) = line_number(line) else {
            context.print_with(|_, to| write!(to, "error: text set: line number ({line}) < 0"));
            return Handled::Yes;
        };
        match (line_of(words, line), field) {
            (Some(range), None) => {
                words.splice(range, new);
            }
            (Some(range), Some(field)) if field < range.len() => {
                let from = range.start + field;
                let fields = words[from..range.end].iter_mut();
                fields.zip(new).for_each(|(field, new)| *field = new);
            }
            (Some(_), Some(field)) => {
                context.print_with(|_, to| {
                    write!(
                        to,
                        "error: text set: field number ({field}) past end of line"
                    )
                });
            }
            (None, None) => {
                if words.last().is_some_and(|last| !last.ends_line()) {
                    words.push(TextWord::Semicolon);
                }
                words.extend(new);
                words.push(TextWord::Semicolon);
            }
            (None, Some(_)) => {
                context.print_with(|_, to| write!(to, "text set: {line}: line number out of range"))
            }
        }
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            1 => to_number(message, &mut self.line),
            2 => to_number(message, &mut self.field),
            _ => rename(message, &mut self.name),
        }
    }
}

struct Insert {
    name: DataSource,
    line: f32,
}

impl Object for Insert {
    held!(name, line);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let line = self.line;
        let Some(words) = find(self.name, context) else {
            return Handled::Yes;
        };
        let Some(line) = line_number(line) else {
            context.print_with(|_, to| write!(to, "error: text insert: line number ({line}) < 0"));
            return Handled::Yes;
        };
        let at = line_of(words, line).map_or(words.len(), |range| range.start);
        let new = values.iter().map(|value| TextWord::Value(*value));
        words.splice(at..at, new.chain([TextWord::Semicolon]));
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            1 => to_number(message, &mut self.line),
            _ => rename(message, &mut self.name),
        }
    }
}

struct Delete(DataSource);

impl Object for Delete {
    held!(tuple name);

    fn float(&mut self, line: f32, context: &mut Context<'_>) -> Handled {
        let Some(words) = find(self.0, context) else {
            return Handled::Yes;
        };
        match line_number(line).map(|line| line_of(words, line)) {
            None => words.clear(),
            Some(Some(range)) => {
                let end = words.len().min(range.end + 1);
                words.drain(range.start..end);
            }
            Some(None) => context
                .print_with(|_, to| write!(to, "text delete: {line}: line number out of range")),
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        rename(message, &mut self.0)
    }
}

struct Size(DataSource);

impl Object for Size {
    held!(tuple name);

    #[expect(clippy::cast_precision_loss, reason = "texts are short")]
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some(words) = find(self.0, context) {
            let is_open = words.last().is_some_and(|last| !last.ends_line());
            let lines = words.iter().filter(|word| word.ends_line()).count() + usize::from(is_open);
            context.send_float(0, lines as f32);
        }
        Handled::Yes
    }

    #[expect(clippy::cast_precision_loss, reason = "texts are short")]
    fn float(&mut self, line: f32, context: &mut Context<'_>) -> Handled {
        if let Some(words) = find(self.0, context) {
            let range = line_number(line).and_then(|line| line_of(words, line));
            context.send_float(0, range.map_or(-1.0, |range| range.len() as f32));
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        rename(message, &mut self.0)
    }
}

struct ToList(DataSource);

impl Object for ToList {
    held!(tuple name);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some(words) = find(self.0, context) {
            let words = words.clone();
            let symbols = context.symbols();
            let values: Vec<Value> = words.iter().map(|word| word.to_value(symbols)).collect();
            context.send_list(0, &values);
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        rename(message, &mut self.0)
    }
}

struct FromList(DataSource);

impl Object for FromList {
    held!(tuple name);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let new = restored(values, context);
        if let Some(words) = find(self.0, context) {
            *words = new;
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        rename(message, &mut self.0)
    }
}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// Everything fits, and the nearest best.
    Near,
}

fn keys(making: &Making<'_>, values: &[Value]) -> Vec<(usize, Relation)> {
    let mut keys = Vec::new();
    let mut relation = Relation::Equal;
    for value in values {
        match value {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative"
            )]
            Value::Float(field) => {
                keys.push((field.max(0.0) as usize, relation));
                relation = Relation::Equal;
            }
            Value::Pointer(_) => {}
            Value::Symbol(symbol) => {
                relation = match making.globals.symbols.text(*symbol) {
                    ">" => Relation::Greater,
                    ">=" => Relation::GreaterOrEqual,
                    "<" => Relation::Less,
                    "<=" => Relation::LessOrEqual,
                    "near" => Relation::Near,
                    _ => Relation::Equal,
                };
            }
        }
    }
    if keys.is_empty() {
        keys.push((0, Relation::Equal));
    }
    keys
}

struct Search {
    name: DataSource,
    keys: Vec<(usize, Relation)>,
}

impl Search {
    /// The field for the value at `at`: beyond the keys the fields follow one another.
    fn key(&self, at: usize) -> (usize, Relation) {
        let last = self.keys.len() - 1;
        match self.keys.get(at) {
            Some(key) => *key,
            None => (self.keys[last].0 + (at - last), self.keys[last].1),
        }
    }

    fn fits(&self, line: &[TextWord], values: &[Value]) -> bool {
        values.iter().enumerate().all(|(at, value)| {
            let (field, relation) = self.key(at);
            match (line.get(field), value) {
                (Some(TextWord::Value(Value::Float(found))), Value::Float(wanted)) => {
                    match relation {
                        Relation::Equal => found == wanted,
                        Relation::Greater => found > wanted,
                        Relation::GreaterOrEqual => found >= wanted,
                        Relation::Less => found < wanted,
                        Relation::LessOrEqual => found <= wanted,
                        Relation::Near => true,
                    }
                }
                (Some(TextWord::Value(Value::Symbol(found))), Value::Symbol(wanted)) => {
                    relation == Relation::Equal && found == wanted
                }
                _ => false,
            }
        })
    }

    /// Returns true if a line fits better than the best one so far.
    fn is_better(&self, line: &[TextWord], best: &[TextWord], values: &[Value]) -> bool {
        let number = |line: &[TextWord], field: usize| match line.get(field) {
            Some(TextWord::Value(value)) => value.number(),
            _ => 0.0,
        };
        for (at, value) in values.iter().enumerate() {
            let Value::Float(wanted) = value else {
                continue;
            };
            let (field, relation) = self.key(at);
            let (new, old) = (number(line, field), number(best, field));
            let (new, old) = match relation {
                Relation::Equal => continue,
                Relation::Greater | Relation::GreaterOrEqual => (new, old),
                Relation::Less | Relation::LessOrEqual => (old, new),
                Relation::Near => ((new - wanted).abs(), (old - wanted).abs()),
            };
            if new != old {
                return new < old;
            }
        }
        false
    }
}

impl Object for Search {
    held!(name; not keys);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let Some(words) = find(self.name, context) else {
            return Handled::Yes;
        };
        let mut best: Option<(usize, &[TextWord])> = None;
        for (number, line) in words.split(|word| word.ends_line()).enumerate() {
            let is_better = best.is_none_or(|(_, best)| self.is_better(line, best, values));
            if self.fits(line, values) && is_better {
                best = Some((number, line));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "texts are short")]
        let found = best.map_or(-1.0, |(number, _)| number as f32);
        context.send_float(0, found);
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        rename(message, &mut self.name)
    }
}
