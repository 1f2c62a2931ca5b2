//! `file`: paths, and files as the disk has them (`x_file.c`).

use super::super::context::Context;
use super::super::jobs::{Job, JobResult};
use super::super::object::{Handled, Object};
use super::super::symbol::Symbol;
use super::super::value::{Message, Value};
use super::Making;
use crate::disk::{
    FileAnswer, FileName, FileQuery, FileQuestion, FileReply, FileRequest, ShortText,
};
use crate::state::held;
use std::path::Path;
use std::sync::Arc;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "file" {
        return None;
    }
    if let Some(handle) = super::handles::make(making) {
        return Some(handle);
    }
    let function = making.symbol(0)?;
    Some(match making.globals.symbols.text(function) {
        "split" => Box::new(PathFunction(split)),
        "splitext" => Box::new(PathFunction(split_extension)),
        "splitname" => Box::new(PathFunction(split_name)),
        "join" => Box::new(Join),
        name => {
            let function = match name {
                "which" => Function::Asks(FileQuestion::Which),
                "glob" => Function::Asks(FileQuestion::Glob),
                "stat" | "size" => Function::Asks(FileQuestion::Stat),
                "isfile" => Function::IsKind("isfile"),
                "isdirectory" => Function::IsKind("isdirectory"),
                "mkdir" => Function::Asks(FileQuestion::MakeFolder),
                "delete" => Function::Asks(FileQuestion::Delete),
                "copy" => Function::Asks(FileQuestion::Copy),
                "move" => Function::Asks(FileQuestion::Move),
                _ => return None,
            };
            let function = match name {
                "size" => Function::IsKind("size"),
                _ => function,
            };
            Box::new(Files {
                // As in Pd all others count from the folder in which the program was started.
                folder: match function {
                    Function::Asks(FileQuestion::Which) => making.folder.into(),
                    _ => Path::new(".").into(),
                },
                function,
                asked: Vec::with_capacity(MAX_ASKED),
            })
        }
    })
}

/// A function of a path.
struct PathFunction(fn(Symbol, &mut Context<'_>));

impl Object for PathFunction {
    held!(nothing);

    fn symbol(&mut self, path: Symbol, context: &mut Context<'_>) -> Handled {
        (self.0)(path, context);
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match values {
            [Value::Symbol(path), ..] => self.symbol(*path, context),
            _ => Handled::No,
        }
    }
}

/// A part of a symbol as a symbol.
fn part(of: Symbol, from: usize, to: usize, context: &mut Context<'_>) -> Value {
    let symbols = context.symbols();
    Value::Symbol(symbols.intern_with(|symbols, text| text.push_str(&symbols.text(of)[from..to])))
}

/// The parts between slashes; from the right outlet `/` for a path that ends with one.
fn split(path: Symbol, context: &mut Context<'_>) {
    let slash = Value::Symbol(context.symbols().intern("/"));
    let text = context.symbols().text(path);
    let (length, begins) = (text.len(), text.starts_with('/'));
    match text.ends_with('/') {
        true => context.send_value(1, slash),
        false => context.send_bang(1),
    }
    context.with_line(|line, context| {
        line.extend(begins.then_some(slash));
        let mut from = 0;
        while from < length {
            let rest = &context.symbols().text(path)[from..];
            let end = from + rest.find('/').unwrap_or(rest.len());
            if end > from {
                line.push(part(path, from, end, context));
            }
            from = end + 1;
        }
        context.send_list(0, line);
    });
}

fn split_extension(path: Symbol, context: &mut Context<'_>) {
    let text = context.symbols().text(path);
    let (length, name) = (text.len(), text.rfind('/').map_or(0, |at| at + 1));
    match text.rfind('.') {
        Some(dot) if dot >= name && dot + 1 < length => {
            let both = [
                part(path, 0, dot, context),
                part(path, dot + 1, length, context),
            ];
            context.send_list(0, &both);
        }
        _ => context.send_value(1, Value::Symbol(path)),
    }
}

fn split_name(path: Symbol, context: &mut Context<'_>) {
    let text = context.symbols().text(path);
    let length = text.len();
    match text.rfind('/') {
        Some(slash) if slash > 0 && slash + 1 == length => {
            let folder = part(path, 0, slash, context);
            context.send_value(0, folder);
        }
        Some(slash) if slash > 0 => {
            let both = [
                part(path, 0, slash, context),
                part(path, slash + 1, length, context),
            ];
            context.send_list(0, &both);
        }
        _ => context.send_value(1, Value::Symbol(path)),
    }
}

/// Parts to a path, with one slash between them.
struct Join;

impl Object for Join {
    held!();

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let path = context.symbols().intern_with(|symbols, text| {
            for value in values {
                let begin = text.len();
                if begin > 0 && !text.ends_with('/') {
                    text.push('/');
                }
                // A text has room.
                let _ = match value {
                    Value::Symbol(symbol) if begin > 0 => {
                        text.push_str(symbols.text(*symbol).trim_start_matches('/'));
                        Ok(())
                    }
                    value => value.write(symbols, text),
                };
            }
        });
        context.send_value(0, Value::Symbol(path));
        Handled::Yes
    }
}

/// Questions of one box that wait, at most.
const MAX_ASKED: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Asks(FileQuestion),
    /// One of the facts.
    IsKind(&'static str),
}

struct Files {
    folder: Arc<Path>,
    function: Function,
    /// Names that were asked for, in order.
    asked: Vec<[Option<Symbol>; 2]>,
}

impl Files {
    fn ask(&mut self, name: Symbol, to: Option<Symbol>, context: &mut Context<'_>) -> Handled {
        let question = match self.function {
            Function::Asks(question) => question,
            Function::IsKind(_) => FileQuestion::Stat,
        };
        let mut file = |name: Symbol| {
            let folder = self.folder.clone();
            let name = ShortText::new(&[context.symbols().text(name)])?;
            Some(FileName { folder, name })
        };
        let query = file(name).map(|name| FileQuery {
            question,
            name,
            to: to.and_then(&mut file),
        });
        let Some(query) = query.filter(|_| self.asked.len() < MAX_ASKED) else {
            context.print_with(|_, line| {
                line.write_str("error: file: a name is too long, or too many files at once")
            });
            if question.is_write() {
                context.globals().jobs.access.count_lost();
            }
            context.send_bang(1);
            return Handled::Yes;
        };
        self.asked.push([Some(name), to]);
        if let Some(mut result) = context.ask(Job::File(FileRequest::Query(query))) {
            if matches!(result, JobResult::Refused) {
                // It is the last of those that wait.
                self.asked.rotate_right(1);
            }
            self.reply(&mut result, context);
        }
        Handled::Yes
    }

    /// Sends what is known of a file.
    fn send_facts(&self, facts: &crate::disk::FileFacts, context: &mut Context<'_>) {
        if let Function::IsKind(kind) = self.function {
            let fact = facts.numbers.iter().find(|(name, _)| *name == kind);
            return context.send_float(0, fact.map_or(0.0, |fact| fact.1));
        }
        let send = |name: &str, values: &[Value], context: &mut Context<'_>| {
            let selector = context.symbols().intern(name);
            context.send(0, Message { selector, values });
        };
        for (name, number) in facts.numbers {
            send(name, &[Value::Float(number)], context);
        }
        let kind = Value::Symbol(context.symbols().intern(facts.kind));
        send("type", &[kind], context);
        for (name, [year, month, day, hour, minute, second]) in
            ["atime", "mtime"].iter().zip(facts.times)
        {
            let time = [year, month, day, hour, minute, second, 0.0].map(Value::Float);
            send(name, &time, context);
        }
    }
}

impl Object for Files {
    held!(; not folder, function, asked);

    fn symbol(&mut self, name: Symbol, context: &mut Context<'_>) -> Handled {
        if matches!(
            self.function,
            Function::Asks(FileQuestion::Copy | FileQuestion::Move)
        ) {
            context.print_with(|_, line| {
                line.write_str(
                    "error: file: bad arguments: should be 'source:symbol destination:symbol'",
                )
            });
            return Handled::Yes;
        }
        self.ask(name, None, context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match (self.function, values) {
            (
                Function::Asks(FileQuestion::Copy | FileQuestion::Move),
                [Value::Symbol(from), Value::Symbol(to)],
            ) => self.ask(*from, Some(*to), context),
            (_, [Value::Symbol(name), ..]) => self.symbol(*name, context),
            _ => Handled::No,
        }
    }

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        if self.asked.is_empty() {
            return;
        }
        let [name, to] = self.asked.remove(0);
        let JobResult::File(FileReply::Answer(answer)) = result else {
            return context.send_bang(1);
        };
        match answer {
            FileAnswer::Facts(facts) => self.send_facts(facts, context),
            FileAnswer::Found(found) => {
                for (path, is_folder) in found {
                    let path = Value::Symbol(context.symbols().intern(path));
                    let is_folder = Value::Float(f32::from(u8::from(*is_folder)));
                    context.send_list(0, &[path, is_folder]);
                }
            }
            FileAnswer::Done => {
                let both = [name, to].map(|name| name.map(Value::Symbol));
                match both {
                    [Some(from), Some(to)] => context.send_list(0, &[from, to]),
                    [Some(name), _] => context.send_value(0, name),
                    _ => {}
                }
            }
            FileAnswer::No(why) => {
                if let Some(why) = why {
                    context.print_with(|_, line| write!(line, "error: file: {why}"));
                }
                match (self.function, name) {
                    (Function::Asks(FileQuestion::Which), Some(name)) => {
                        context.send_value(1, Value::Symbol(name));
                    }
                    _ => context.send_bang(1),
                }
            }
        }
    }
}
