//! Templates and scalars of a patch.

use super::Builder;
use crate::control::data::{TemplateMistake, fields_of};
use crate::control::symbol::{Symbols, words};
use crate::control::text::TextWord;
use crate::control::value::Value;
use crate::control::wire::ObjectId;
use crate::file::Atom;

impl Builder<'_> {
    /// Defines the templates that a file begins with.
    pub(super) fn templates(&mut self, structs: &[Vec<Atom>]) {
        for words in structs {
            self.template(words, None);
        }
    }

    /// Defines a template: its name, then kinds and names of fields.
    pub(super) fn template(&mut self, words: &[Atom], by: Option<ObjectId>) {
        let globals = self.machine.globals();
        let symbols = &mut globals.symbols;
        let values: Vec<Value> = words.iter().map(|word| Value::of(word, symbols)).collect();
        let (name, fields) = match &values[..] {
            [Value::Symbol(name), fields @ ..] => (*name, fields),
            [_, fields @ ..] => (words::EMPTY, fields),
            [] => (words::EMPTY, &[][..]),
        };
        let mut mistakes = Vec::new();
        let fields = fields_of(fields, symbols, |why| {
            mistakes.push(format!("error: {why}"))
        });
        let (data, mut beside, symbols) = globals.data();
        match data.define(name, fields, by, &mut beside) {
            Ok(()) => {}
            Err(TemplateMistake::Exists) => {
                let name = symbols.text(name);
                mistakes.push(format!("template pd-{name}: warning: already exists."));
            }
            Err(TemplateMistake::Other(why)) => {
                mistakes.push(format!("error: pd-{}: {why}", symbols.text(name)));
            }
        }
        mistakes.iter().for_each(|line| globals.print(line));
    }

    /// Adds a scalar that was saved with the patch to its canvas.
    pub(super) fn scalar(&mut self, words: &[Atom]) {
        let list = self.machine.canvases.get_mut(self.canvas).list;
        let globals = self.machine.globals();
        let symbols = &mut globals.symbols;
        let word = |atom: &Atom, symbols: &mut Symbols| match atom {
            // One that was escaped once more belongs to a text.
            Atom::Symbol(text) => TextWord::Value(Value::Symbol(symbols.intern(text))),
            atom => TextWord::of_atom(atom, symbols),
        };
        let words: Vec<TextWord> = words.iter().map(|atom| word(atom, symbols)).collect();
        let (data, mut beside, symbols) = globals.data();
        let restored = data.restore(list, &words, symbols, &mut beside);
        globals.report_restored(restored);
    }
}
