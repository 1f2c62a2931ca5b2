//! `text set`, `text insert`, `text delete` and `text fromlist`.

use super::super::glue::to_number;
use super::super::sources::DataSource;
use super::shared::{find, line_number, rename, restored};
use crate::control::context::Context;
use crate::control::object::{Handled, Object};
use crate::control::text::{TextWord, line_of};
use crate::control::value::{Message, Value};
use crate::state::held;

pub(super) struct Set {
    pub(super) name: DataSource,
    pub(super) line: f32,
    pub(super) field: f32,
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

pub(super) struct Insert {
    pub(super) name: DataSource,
    pub(super) line: f32,
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

pub(super) struct Delete(pub(super) DataSource);

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

pub(super) struct FromList(pub(super) DataSource);

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
