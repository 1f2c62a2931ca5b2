//! `scalar define`: a scalar in a box (`x_scalar.c`).

use super::super::context::Context;
use super::super::data::Place;
use super::super::globals::Globals;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::text::TextWord;
use super::super::value::{Message, Value};
use super::super::wire::ObjectId;
use super::Making;
use super::texts::{restored, send_pointer};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "scalar" {
        return None;
    }
    let symbols = &making.globals.symbols;
    let names = making.values.iter().filter_map(|value| match value {
        Value::Symbol(name) => Some(*name),
        _ => None,
    });
    let mut names = names.filter(|name| !symbols.text(*name).starts_with('-'));
    match names.next().map(|name| symbols.text(name)) {
        None | Some("define" | "d") => {}
        Some(_) => return None,
    }
    let template = names.next().unwrap_or(words::FLOAT);
    let saved: Vec<TextWord> = match making.saved.first().map(Vec::as_slice) {
        Some([first, rest @ ..]) if first.as_symbol() == Some("set") => {
            let symbols = &mut making.globals.symbols;
            let words = rest.iter();
            words.map(|atom| TextWord::of_atom(atom, symbols)).collect()
        }
        _ => Vec::new(),
    };
    let (data, mut beside, symbols) = making.globals.data();
    let list = data.add_list(None);
    let is_known = data.fields(template).is_some();
    let made = data.insert(Place::Head(list), template, &mut beside);
    let line = made.err().map(|why| {
        let name = symbols.text(template);
        match is_known {
            true => format!("error: scalar define {name}: {why}"),
            false => format!("error: scalar define: couldn't find template {name}"),
        }
    });
    let mut new = ScalarBox { list, template };
    let restored = (!saved.is_empty()).then(|| new.restore(&saved, making));
    line.iter()
        .chain(&restored.flatten())
        .for_each(|line| making.globals.print(line));
    Some(Box::new(new))
}

struct ScalarBox {
    /// The list in which it is alone.
    list: u32,
    template: Symbol,
}

impl ScalarBox {
    /// Takes what was saved in place of the scalar that is there.
    fn restore(&mut self, words: &[TextWord], making: &mut Making<'_>) -> Option<String> {
        let (data, mut beside, symbols) = making.globals.data();
        data.clear_list(self.list, &mut beside);
        data.restore(self.list, words, symbols, &mut beside)
            .err()
            .map(|why| format!("error: {why}"))
    }

    fn place(&self, context: &mut Context<'_>) -> Option<Place> {
        context.globals().data.next(Place::Head(self.list))
    }
}

impl Object for ScalarBox {
    fn removed(&mut self, _: ObjectId, globals: &mut Globals) {
        let (data, mut beside, _) = globals.data();
        data.remove_list(self.list, &mut beside);
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some(place) = self.place(context) {
            let pointer = context.globals().data.pointer(place);
            context.send_value(0, Value::Pointer(pointer));
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SEND, values) => {
                let place = self.place(context);
                send_pointer(place, values, context);
            }
            (words::SET, [Value::Symbol(name), ..]) if *name == self.template => {
                let words = restored(message.values, context);
                let (data, mut beside, symbols) = context.globals().data();
                data.clear_list(self.list, &mut beside);
                let read = data.restore(self.list, &words, symbols, &mut beside);
                context.globals().report_restored(read);
            }
            (words::SET, _) => context
                .print_with(|_, line| line.write_str("error: scalar define: set: wrong template")),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
