//! A box of a class to its object, with the names under which it receives.

use super::{Builder, NotYet};
use crate::class::PortKind;
use crate::control::built::BuiltBox;
use crate::control::data::Place;
use crate::control::midi;
use crate::control::object::Object;
use crate::control::objects::{ArrayBox, Making, Passage, SignalInlet, make};
use crate::control::symbol::{Symbol, words};
use crate::control::value::Value;
use crate::control::wire::ObjectId;
use crate::file::Atom;
use crate::load::LoadedObject;
use std::path::{Path, PathBuf};

/// Points of an array, at most.
const MAX_POINTS: f32 = 268_435_456.0;

impl Builder<'_> {
    /// The object of a box of a class.
    pub(super) fn class(&mut self, class: &str, object: &LoadedObject) -> BuiltBox {
        if !self.has_signals && class.ends_with('~') {
            return self.not_built(class, object);
        }
        if let Some((name, points)) = array_definition(class, object) {
            let name = self.name(&name);
            return BuiltBox::Object(self.array(name, points, true));
        }
        match class {
            "inlet" | "outlet" | "inlet~" | "outlet~" => self.passage(class),
            "table" => self.table(object),
            _ => self.made(class, object),
        }
    }

    fn passage(&mut self, class: &str) -> BuiltBox {
        let object: Box<dyn Object> = match class {
            "inlet~" => Box::new(SignalInlet),
            _ => Box::new(Passage),
        };
        let id = self.machine.add(class, object);
        if class.ends_with('~') {
            self.machine.set_signal_inlets(id, [Some(0.0)].into());
        }
        BuiltBox::Object(id)
    }

    fn table(&mut self, object: &LoadedObject) -> BuiltBox {
        let size = object.arguments.get(1).and_then(Atom::as_float);
        if let Some(name) = object.arguments.first() {
            let name = self.name(name);
            self.array(name, silent_points(size.unwrap_or(100.0)), false);
        }
        BuiltBox::None
    }

    /// An array with its receiver; pointers lead to one that is defined by a box.
    pub(super) fn array(&mut self, name: Symbol, points: Vec<f32>, is_defined: bool) -> ObjectId {
        let globals = self.machine.globals();
        let array = globals.arrays.add(name, points);
        let (data, mut beside, _) = globals.data();
        let place = is_defined.then(|| {
            let datum = data.add_named(words::FLOAT, array);
            data.add_around(words::POINTS, datum, &mut beside)
        });
        let place = place.flatten();
        let made = ArrayBox {
            name,
            id: array,
            place,
        };
        let id = self.machine.add("array", Box::new(made));
        self.machine.receive(name, id);
        id
    }

    fn made(&mut self, class: &str, object: &LoadedObject) -> BuiltBox {
        let globals = self.machine.globals();
        let arguments = object.arguments.iter();
        let values = arguments.map(|atom| Value::of(atom, &mut globals.symbols));
        let values: Vec<Value> = values.collect();
        let folder = self.folders.get(usize::from(object.span.file));
        let mut making = Making {
            class,
            values: &values,
            globals,
            folder: folder.map_or(Path::new(""), PathBuf::as_path),
            saved: &object.saved,
            saved_around: &self.saved_around,
            canvas_arguments: &self.arguments,
        };
        let made = make(&mut making)
            .or_else(|| crate::child::make(&mut making))
            .or_else(|| crate::signal::make(&mut making));
        let Some(made) = made else {
            return self.not_built(class, object);
        };
        let id = self.machine.add(class, made);
        self.machine.set_inlets(id, object.ports.inlets.len());
        if class.ends_with('~') {
            let inlets = object.ports.inlets.iter().enumerate();
            let signals = inlets.map(|(at, kind)| {
                let number = crate::signal::initial_number(class, at, &values);
                (*kind == PortKind::Signal).then_some(number)
            });
            self.machine.set_signal_inlets(id, signals.collect());
        }
        self.enter(class, id, object);
        if let Some(name) = self.received_name(class, object, &values) {
            self.machine.receive(name, id);
        }
        BuiltBox::Object(id)
    }

    /// Enters a box where others look for what it is.
    fn enter(&mut self, class: &str, id: ObjectId, object: &LoadedObject) {
        match class {
            "struct" => self.template(&object.arguments, Some(id)),
            "pd~" => self.machine.globals().children.name_last(id),
            // Before all loadbangs, as Pd does it while it reads the patch.
            "savestate" | "netreceive" => self.machine.at_load(id),
            "namecanvas" => {
                let Some(name) = object.arguments.first() else {
                    return;
                };
                let name = self.name(name);
                let list = self.machine.canvases.get_mut(self.canvas).list;
                let receiver = self.machine.globals().data.receiver(Place::Head(list));
                if let Some(receiver) = receiver {
                    self.machine.receive(name, receiver);
                }
            }
            _ => {}
        }
    }

    /// The name under which a box receives, if its class has one.
    fn received_name(
        &mut self,
        class: &str,
        object: &LoadedObject,
        values: &[Value],
    ) -> Option<Symbol> {
        match (class, values) {
            ("receive", _) => object.arguments.first().map(|name| self.name(name)),
            ("text", [Value::Symbol(function), rest @ ..]) => {
                let function = self.machine.globals().symbols.text(*function);
                let names = rest
                    .iter()
                    .rev()
                    .filter(|_| matches!(function, "define" | "d"));
                let mut names = names.filter_map(|value| match value {
                    Value::Symbol(name) => Some(*name),
                    Value::Float(_) | Value::Pointer(_) => None,
                });
                names.next()
            }
            _ => midi::name_of(class),
        }
    }

    fn not_built(&mut self, class: &str, object: &LoadedObject) -> BuiltBox {
        self.not_yet.push(NotYet {
            class: class.into(),
            span: object.span,
        });
        BuiltBox::None
    }
}

/// So many points of 0, between 1 and the most.
fn silent_points(size: f32) -> Vec<f32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 2^28"
    )]
    let size = size.clamp(1.0, MAX_POINTS) as usize;
    vec![0.0; size]
}

/// The name and the points of an `array define`, with what was saved; `None` for another box.
fn array_definition(class: &str, object: &LoadedObject) -> Option<(Atom, Vec<f32>)> {
    let (function, rest) = match &object.arguments[..] {
        [first, rest @ ..] => (first.as_symbol(), rest),
        [] => (Some("define"), &[][..]),
    };
    if class != "array" || !matches!(function, Some("define" | "d")) {
        return None;
    }
    let (mut name, mut size, mut at) = (None, 100.0, 0);
    while let Some(word) = rest.get(at) {
        at += match word {
            Atom::Symbol(flag) if matches!(&**flag, "-yrange" | "-pix") => 3,
            Atom::Symbol(text) => {
                if !text.starts_with('-') {
                    name = Some(word);
                }
                1
            }
            word => {
                size = word.as_float().unwrap_or(size);
                1
            }
        };
    }
    let mut points = silent_points(size);
    for statement in &object.saved {
        if let [Atom::Float(first), numbers @ ..] = &statement[..] {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 0 is 0"
            )]
            let saved = points.iter_mut().skip(*first as usize).zip(numbers);
            saved.for_each(|(point, number)| *point = number.as_float().unwrap_or(0.0));
        }
    }
    let unnamed = Atom::symbol("");
    Some((name.unwrap_or(&unnamed).clone(), points))
}
