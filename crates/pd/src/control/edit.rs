//! Messages to canvases, which change the patch: boxes made, connected and removed, as Pd does it, between two messages.
//!
//! Objects are made where a patch is rendered, or while it is loaded. Where messages may change signals, these are put in order anew
//! before they compute next.

use super::build::Builder;
use super::canvases::{CanvasId, CanvasMessage};
use super::machine::Machine;
use super::selection::Selection;
use super::symbol::words;
use super::value::Value;
use super::wire::ObjectId;
use crate::class::PortKind;
use crate::file::PatchBox;
use crate::load::{BoxLoader, LoadedObject, MAX_PATCH_BOXES, Scope};
use graph::Diagnostic;
use std::fmt::Write;
use std::sync::Arc;

/// Canvases around a canvas in which messages make boxes, at most.
pub(super) const MAX_DEPTH: usize = 256;

impl Machine {
    /// Does what a message to a canvas says.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn edit(&mut self, message: &CanvasMessage, depth: u32) {
        self.chains.made += 1;
        let done = match message.selector {
            words::CONNECT | words::DISCONNECT => self.connect_boxes(message),
            words::CLEAR => self.clear_canvas(message.canvas),
            words::RENAME => {
                self.rename_canvas(message);
                Ok(())
            }
            words::LOADBANG => {
                let mut objects = Vec::new();
                self.canvases.loadbangs(message.canvas, &mut objects);
                self.load_objects(&objects, depth + 1);
                Ok(())
            }
            selector => match self.globals().symbols.text(selector) {
                "selectall" | "deselectall" | "mouse" | "mouseup" => {
                    self.select_boxes(message);
                    Ok(())
                }
                "cut" => self.cut_boxes(message.canvas),
                "copy" => self.copy_boxes(message.canvas),
                "paste" => self.paste_boxes(message.canvas, depth),
                "duplicate" => self.duplicate_boxes(message.canvas, depth),
                _ => self.make_boxes(message),
            },
        };
        if let Err(why) = done {
            let canvas = self.canvases.get(message.canvas).name;
            let globals = self.globals();
            let symbols = &globals.symbols;
            let name = canvas.map_or("canvas", |name| symbols.text(name));
            let line = format!("error: {name}: {}: {why}", symbols.text(message.selector));
            globals.print(&line);
        }
    }

    /// Makes the boxes of a statement.
    fn make_boxes(&mut self, message: &CanvasMessage) -> Result<(), String> {
        let canvas = message.canvas;
        let (boxes, _) = self.canvases.counts();
        if boxes >= MAX_PATCH_BOXES {
            return Err(format!("at most {MAX_PATCH_BOXES} boxes are made"));
        }
        if self.canvases.get(canvas).depth >= MAX_DEPTH {
            return Err(format!("canvases are nested at most {MAX_DEPTH} deep"));
        }
        let statement = self.statement(message);
        self.load_with(canvas, |loader, scope, counts| {
            loader.load(&statement, scope, counts)
        });
        Ok(())
    }

    /// Makes boxes that were copied.
    pub(super) fn load_boxes(&mut self, canvas: CanvasId, copies: &[PatchBox]) {
        self.load_with(canvas, |loader, scope, counts| {
            loader.load_boxes(copies, scope, counts)
        });
    }

    /// Makes the boxes that `load` gives, in a canvas.
    fn load_with(
        &mut self,
        canvas: CanvasId,
        load: impl FnOnce(
            &mut BoxLoader,
            &Arc<Scope>,
            (usize, usize),
        ) -> (Vec<LoadedObject>, Vec<Diagnostic>),
    ) {
        let counts = self.canvases.counts();
        let scope = self.canvases.get(canvas).scope.clone();
        let patch = self.globals().console.patch;
        let place = self.canvases.loaders.get_mut(usize::from(patch));
        let Some(mut loader) = place.and_then(Option::take) else {
            return;
        };
        let first = ObjectId(self.object_count());
        self.patches.continue_with(first, patch);
        let (loaded, found) = load(&mut loader, &scope, counts);
        let has_signals = self.layout.is_some();
        let mut builder = Builder::new(self, loader.folders());
        builder.has_signals = has_signals;
        let boxes = loaded.into_iter().map(|object| {
            let built = builder.add(canvas, &object);
            (object, built)
        });
        let made: Vec<_> = boxes.collect();
        let not_yet = builder.not_yet;
        if let Some(layout) = &mut self.layout {
            layout.add(canvas, made);
        }
        self.canvases.loaders[usize::from(patch)] = Some(loader);
        let objects = self.object_count() as usize;
        self.globals().clocks.reserve(objects);
        for one in found {
            self.globals().print(&format!("error: {}", one.message));
        }
        for one in not_yet {
            let why = match one.class.ends_with('~') {
                true if self.layout.is_none() => {
                    "signals change only where `pd-` and `obj` stand in message boxes: this box computes none"
                }
                true => "there is no such class here",
                false => "this class is not built yet",
            };
            let line = format!("error: {}: {why}", one.class);
            self.globals().print(&line);
        }
    }

    /// The message as it would stand in a file.
    fn statement(&mut self, message: &CanvasMessage) -> String {
        let symbols = &self.globals().symbols;
        let mut statement = symbols.text(message.selector).to_owned();
        for value in &message.values {
            statement.push(' ');
            match value {
                Value::Float(number) => {
                    let _ = write!(statement, "{number}");
                }
                Value::Symbol(symbol) => escape(symbols.text(*symbol), &mut statement),
                Value::Pointer(_) => statement.push_str("(pointer)"),
            }
        }
        statement
    }

    /// `connect BOX OUTLET BOX INLET`, or `disconnect`.
    fn connect_boxes(&mut self, message: &CanvasMessage) -> Result<(), String> {
        let mut numbers = [0; 4];
        for (at, number) in numbers.iter_mut().enumerate() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number below 0 is 0, one that is too large saturates"
            )]
            let index = message.values.get(at).map_or(0.0, |value| value.number()) as usize;
            *number = index;
        }
        self.wire(message.canvas, numbers, message.selector == words::CONNECT)
    }

    /// Connects two boxes of a canvas, or disconnects them.
    pub(super) fn wire(
        &mut self,
        canvas: CanvasId,
        numbers: [usize; 4],
        connects: bool,
    ) -> Result<(), String> {
        let [from, outlet, to, inlet] = numbers;
        let source = self.canvases.outlet(canvas, from, outlet);
        let target = self.canvases.inlet(canvas, to, inlet);
        let (Some(((object, port), kind)), Some((wire, _))) = (source, target) else {
            return Err(format!(
                "there is no connection from {from} {outlet} to {to} {inlet}"
            ));
        };
        if connects && self.is_connected(object, port, wire) {
            return Err(format!(
                "outlet {outlet} of {from} is connected to inlet {inlet} of {to} already"
            ));
        }
        if kind == PortKind::Signal {
            let Some(layout) = &mut self.layout else {
                return Err(
                    "signals change only where `pd-` and `obj` stand in message boxes".into(),
                );
            };
            if !layout.connect(canvas, numbers, connects) {
                return Err("there is no such connection of signals".to_owned());
            }
        }
        match connects {
            true => {
                self.connects = true;
                self.connect(object, port, wire);
            }
            false if self.disconnect(object, port, wire) => {}
            false => return Err("there is no such connection".to_owned()),
        }
        if let (PortKind::Message, Some(layout)) = (kind, &mut self.layout) {
            layout.note_wire(canvas, numbers, connects);
        }
        Ok(())
    }

    /// Removes all boxes of a canvas.
    pub(super) fn clear_canvas(&mut self, canvas: CanvasId) -> Result<(), String> {
        let mut objects = Vec::new();
        self.canvases.objects(canvas, &mut objects);
        if self.layout.is_none() && self.has_signals(&objects) {
            return Err("signals change only where `pd-` and `obj` stand in message boxes".into());
        }
        if let Some(layout) = &mut self.layout {
            layout.clear(canvas);
        }
        let mut lists = Vec::new();
        self.canvases.lists(canvas, &mut lists);
        let (data, mut beside, _) = self.globals().data();
        for list in lists {
            data.clear_list(list, &mut beside);
        }
        self.remove(&objects);
        let canvas = self.canvases.get_mut(canvas);
        canvas.boxes.clear();
        canvas.selection = Selection::default();
        Ok(())
    }

    /// `rename NAME`. Without a name the canvas receives under none.
    fn rename_canvas(&mut self, message: &CanvasMessage) {
        let to = match message.values.first() {
            Some(Value::Symbol(to)) => Some(*to),
            _ => None,
        };
        let globals = self.globals();
        let text = to.map_or("Pd", |to| globals.symbols.text(to));
        // Pd's name for a canvas without one.
        let name = (text != "Pd").then(|| format!("pd-{text}"));
        let name = name.map(|text| globals.symbols.intern(&text));
        let canvas = self.canvases.get_mut(message.canvas);
        let before = std::mem::replace(&mut canvas.name, name);
        let receivers = &mut self.globals().receivers;
        if let Some(before) = before {
            receivers.remove(before, message.receiver);
        }
        if let Some(name) = name {
            receivers.add(name, message.receiver);
        }
    }
}

/// Writes a symbol as a file has it.
fn escape(text: &str, to: &mut String) {
    for letter in text.chars() {
        if matches!(letter, ' ' | ',' | ';' | '\\') {
            to.push('\\');
        }
        to.push(letter);
    }
}

#[cfg(test)]
pub(super) mod tests;
