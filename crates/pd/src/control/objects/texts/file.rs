//! [`TextFile`]: `read` and `write` of everything that holds a text.

use super::super::Making;
use crate::control::context::Context;
use crate::control::jobs::{Job, JobResult};
use crate::control::symbol::Symbols;
use crate::control::text::{TextWord, text_bytes, write_text};
use crate::control::value::Value;
use crate::disk::{FileName, FileReply, FileRequest, ShortText};
use std::path::Path;
use std::sync::Arc;

/// `read` and `write` of everything that holds a text.
pub(in crate::control::objects) struct TextFile {
    folder: Arc<Path>,
}

impl TextFile {
    pub(in crate::control::objects) fn new(making: &Making<'_>) -> Self {
        Self {
            folder: making.folder.into(),
        }
    }

    /// Files whose names count from a folder.
    pub(in crate::control::objects) fn in_folder(folder: &Path) -> Self {
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

    pub(in crate::control::objects) fn read(
        &self,
        values: &[Value],
        context: &mut Context<'_>,
    ) -> Option<JobResult> {
        let (name, by_lines) = self.name(values, context)?;
        context.ask(Job::ReadText { name, by_lines })
    }

    pub(in crate::control::objects) fn write(
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
    pub(in crate::control::objects) fn words<'r>(
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
