//! `text define`: a text of a patch.

use super::super::Making;
use super::file::TextFile;
use super::shared::{restored, send_pointer};
use crate::control::context::Context;
use crate::control::data::{Datum, Place};
use crate::control::globals::Globals;
use crate::control::jobs::JobResult;
use crate::control::object::{Handled, Object};
use crate::control::symbol::words;
use crate::control::text::TextWord;
use crate::control::value::{Message, Value};
use crate::control::wire::ObjectId;
use crate::state::held;

/// Adds what was saved with the patch, then the object.
pub(super) fn define(making: &mut Making<'_>) -> Define {
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

pub(super) struct Define {
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
