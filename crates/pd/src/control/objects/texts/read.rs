//! `text get`, `text size` and `text tolist`.

use super::super::glue::to_number;
use super::super::sources::DataSource;
use super::shared::{find, line_number, rename};
use crate::control::context::Context;
use crate::control::globals::Globals;
use crate::control::object::{Handled, Object};
use crate::control::text::{TextWord, line_of};
use crate::control::value::{Message, Value};
use crate::state::held;

pub(super) struct Get {
    pub(super) name: DataSource,
    pub(super) field: f32,
    pub(super) count: f32,
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

pub(super) struct Size(pub(super) DataSource);

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

pub(super) struct ToList(pub(super) DataSource);

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
