//! [`Store`]: templates and scalars of a patch that does not play.

use super::axes::Axes;
use crate::control::{
    Arrays, Beside, DRAWING_CLASSES, Data, Datum, FieldKind, ObjectId, Place, Symbol, Symbols,
    TextWord, Texts, Value, fields_of,
};
use crate::file::Atom;
use crate::load::{Instance, LoadedObject, ObjectBody};
use std::collections::HashMap;

/// Templates and scalars.
#[derive(Default)]
pub(super) struct Store {
    pub(super) symbols: Symbols,
    pub(super) data: Data,
    texts: Texts,
    arrays: Arrays,
    /// `struct` boxes so far.
    boxes: u32,
    /// Boxes that draw the scalars of a template: those in the canvas of its first `struct`.
    pub(super) drawers: HashMap<Symbol, Vec<Drawer>>,
    /// Lists of the canvases that are shown.
    pub(super) shown: Vec<(u32, Axes)>,
}

/// A box that draws.
#[derive(Clone, Debug)]
pub(super) struct Drawer {
    pub(super) class: Box<str>,
    pub(super) arguments: Vec<Atom>,
}

impl Store {
    /// Reads the patch around `shown`, of which the scalars are kept.
    pub(super) fn read(&mut self, root: &Instance, shown: &Instance) {
        self.data.add_own_templates(&mut self.symbols);
        self.read_canvas(root, shown, None);
    }

    fn read_canvas(&mut self, canvas: &Instance, shown: &Instance, on_parent: Option<Axes>) {
        let is_shown = std::ptr::eq(canvas, shown);
        let axes = on_parent.or_else(|| is_shown.then(|| Axes::of_window(canvas.coordinates)));
        let list = axes.map(|axes| {
            let list = self.data.add_list(None);
            self.shown.push((list, axes));
            list
        });
        for words in &canvas.structs {
            self.define(words, None);
        }
        for object in &canvas.objects {
            match &object.body {
                ObjectBody::Class(class) if &**class == "struct" => {
                    self.define(&object.arguments, Some(canvas));
                }
                ObjectBody::Scalar => {
                    if let Some(list) = list {
                        self.restore(list, &object.arguments);
                    }
                }
                ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => {
                    let graph = inner.coordinates.filter(|it| is_shown && it.shown > 0);
                    let axes = graph.map(|graph| Axes::of_graph(graph, object.position));
                    self.read_canvas(inner, shown, axes);
                }
                ObjectBody::Clones { instances, .. } => {
                    instances
                        .iter()
                        .for_each(|inner| self.read_canvas(inner, shown, None));
                }
                _ => {}
            }
        }
    }

    /// Defines a template; with a box in `canvas` it is drawn by the boxes there.
    fn define(&mut self, words: &[Atom], canvas: Option<&Instance>) {
        let values = words.iter().map(|word| Value::of(word, &mut self.symbols));
        let values: Vec<Value> = values.collect();
        let [Value::Symbol(name), fields @ ..] = &values[..] else {
            return;
        };
        let fields = fields_of(fields, &self.symbols, |_| {});
        let by = canvas.map(|_| {
            self.boxes += 1;
            ObjectId(self.boxes)
        });
        let mut beside = Beside {
            texts: &mut self.texts,
            arrays: &mut self.arrays,
        };
        // Mistakes are said where the patch is played.
        let _ = self.data.define(*name, fields, by, &mut beside);
        if let Some(canvas) = canvas {
            let drawers = || canvas.objects.iter().filter_map(drawer).collect();
            self.drawers.entry(*name).or_insert_with(drawers);
        }
    }

    fn restore(&mut self, list: u32, words: &[Atom]) {
        let word = |atom: &Atom, symbols: &mut Symbols| match atom {
            // One that was escaped once more belongs to a text.
            Atom::Symbol(text) => TextWord::Value(Value::Symbol(symbols.intern(text))),
            atom => TextWord::of_atom(atom, symbols),
        };
        let words = words.iter().map(|atom| word(atom, &mut self.symbols));
        let words: Vec<TextWord> = words.collect();
        let mut beside = Beside {
            texts: &mut self.texts,
            arrays: &mut self.arrays,
        };
        let _ = self
            .data
            .restore(list, &words, &mut self.symbols, &mut beside);
    }

    /// The word of a field.
    pub(super) fn datum(&mut self, place: Place, name: Symbol) -> Option<Datum> {
        let template = self.data.template(place)?;
        let (at, _) = self.data.field(template, name)?;
        let beside = Beside {
            texts: &mut self.texts,
            arrays: &mut self.arrays,
        };
        self.data.get(place, at, &beside)
    }

    /// The number of a field.
    pub(super) fn number(&mut self, place: Place, name: Symbol) -> Option<f32> {
        match self.datum(place, name)? {
            Datum::Float(number) => Some(number),
            _ => None,
        }
    }

    /// Number of the elements of an array.
    pub(super) fn length(&self, array: u32) -> u32 {
        u32::try_from(self.data.array_len(array, &self.arrays)).unwrap_or(u32::MAX)
    }

    /// Returns true if a template has a number of this name.
    pub(super) fn has_number(&self, template: Symbol, name: Symbol) -> bool {
        let field = self.data.field(template, name);
        field.is_some_and(|(_, kind)| kind == FieldKind::Float)
    }

    /// A word of a scalar as it is written.
    pub(super) fn text(&self, datum: Datum) -> String {
        match datum {
            Datum::Float(number) => Atom::Float(number).to_string(),
            Datum::Symbol(symbol) => self.symbols.text(symbol).to_owned(),
            Datum::Text(text) => {
                let words = self.texts.get(text as usize).iter();
                let words = words.map(|word| self.written(*word));
                words.collect::<Vec<_>>().join(" ")
            }
            Datum::Array(_) => String::new(),
        }
    }

    fn written(&self, word: TextWord) -> String {
        match word {
            TextWord::Value(Value::Float(number)) => Atom::Float(number).to_string(),
            TextWord::Value(Value::Symbol(symbol)) => self.symbols.text(symbol).to_owned(),
            TextWord::Comma => ",".to_owned(),
            TextWord::Semicolon => ";".to_owned(),
            _ => String::new(),
        }
    }
}

fn drawer(object: &LoadedObject) -> Option<Drawer> {
    match &object.body {
        ObjectBody::Class(class) if DRAWING_CLASSES.contains(&&**class) => Some(Drawer {
            class: class.clone(),
            arguments: object.arguments.clone(),
        }),
        _ => None,
    }
}
