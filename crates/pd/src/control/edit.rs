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
        let mut layout = self.layout.take();
        let mut builder = Builder::new(self, loader.folders());
        builder.has_signals = layout.is_some();
        for object in loaded {
            let built = builder.add(canvas, &object);
            if let Some(layout) = &mut layout {
                layout.add(canvas, object, built);
            }
        }
        let not_yet = builder.not_yet;
        self.layout = layout;
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
            true => self.connect(object, port, wire),
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
mod tests {
    use crate::control::Machine;
    use crate::load::{MAX_PATCH_BOXES, SearchPath, load_patch};

    /// Lines that a patch prints. Live, its changes are made as by another thread.
    fn printed(name: &str, lines: &str, is_live: bool) -> Vec<String> {
        let name = format!("divisi-edit-{name}-{}.pd", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, format!("#N canvas 0 0 9 9 12;\n{lines}")).expect("writable");
        let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        let (mut machine, _) = Machine::build(&loaded, 44_100.0);
        if is_live {
            machine.globals().jobs.is_deferred = true;
            machine.reserve_edits();
        }
        machine.load();
        for block in 0..10 {
            while machine.waits_for_edits() {
                machine.make_edits();
                machine.go_on_after_edits(block);
            }
            machine.tick();
        }
        std::fs::remove_file(&path).expect("it is ours");
        let mut lines = machine.take_console();
        lines.retain(|line| !line.starts_with("canvas: "));
        lines
    }

    /// Lines that a patch prints, which are the same when it plays live.
    fn printed_both(name: &str, lines: &str) -> Vec<String> {
        let found = printed(name, lines, false);
        assert_eq!(printed(name, lines, true), found);
        found
    }

    /// The machine of a patch that plays live.
    fn live(name: &str, patch: &str) -> Machine {
        let file = format!("divisi-edit-{name}-{}.pd", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, patch).expect("writable");
        let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
        std::fs::remove_file(&path).expect("it is ours");
        let (mut machine, _) = Machine::build(&loaded, 44_100.0);
        machine.load();
        machine.globals().jobs.is_deferred = true;
        machine.reserve_edits();
        machine
    }

    #[test]
    fn messages_behind_a_change_wait_for_it_and_others_do_not() {
        let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X msg 0 0 \\; pd-s obj 0 0 r x \\, obj 0 0 abs \\, obj 0 0 print made \\, connect 0 0 1 0 \\, connect 1 0 2 0 \\, vis 1 \\; x 7;\n\
                     #X connect 0 0 1 0;\n#N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n#X obj 0 0 r other;\n#X obj 0 0 print other;\n#X connect 3 0 4 0;\n";
        let mut machine = live("wait", patch);
        machine.send_text(0, "go");
        machine.send_text(0, "other 1");
        assert_eq!(machine.take_console(), ["other: 1"]);
        assert!(machine.waits_for_edits());
        machine.make_edits();
        assert!(machine.take_console().is_empty());
        machine.go_on_after_edits(5);
        let said = ["canvas: 5 changes took effect in block 5", "made: 7"];
        assert_eq!(machine.take_console(), said);
        // As many as wait at once find room; a further one is refused, and nothing is lost for later.
        assert!((0..17).all(|_| machine.send_text(0, "go")));
        let said = machine.take_console();
        let error = "error: canvas: too many changes at once";
        assert_eq!(said, [error, error, error, error, error, "made: 7"]);
        machine.make_edits();
        machine.go_on_after_edits(6);
        machine.take_console();
        machine.send_text(0, "go");
        assert!(machine.waits_for_edits());
    }

    #[test]
    fn arrays_and_sub_patches_that_clear_removes_leave_nothing_behind() {
        let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X msg 0 0 \\; pd-s obj 0 0 pd~ \\, obj 0 0 table big 1000000 \\, clear;\n\
                     #X connect 0 0 1 0;\n#N canvas 0 0 9 9 s 0;\n#X obj 0 0 table first 1000;\n#X restore 0 0 pd s;\n#X obj 0 0 s~ x;\n";
        let mut machine = live("leak", patch);
        let all = crate::control::MAX_SAMPLES;
        for block in 0..80 {
            machine.send_text(0, "go");
            machine.make_edits();
            machine.go_on_after_edits(block);
            let budget = machine.globals().arrays.budget.clone();
            assert!(budget.claim(all), "block {block}: samples are lost");
            budget.give_back(all);
            let mut borders = Vec::new();
            machine.globals().children.borders(&mut borders);
            assert!(borders.is_empty(), "block {block}: {}", borders.len());
        }
        assert!(machine.globals().arrays.names().next().is_none());
    }

    #[test]
    fn a_canvas_that_removes_itself_and_absurd_numbers_do_no_harm() {
        let patch = "#N canvas 0 0 9 9 s 0;\n#X obj 0 0 r go;\n#X obj 0 0 t b b b;\n#X obj 0 0 print still;\n#X msg 0 0 \\; pd-s clear;\n\
                     #X obj 0 0 metro 1;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 1 1 3 0;\n#X connect 1 2 4 0;\n#X restore 0 0 pd s;\n\
                     #X obj 0 0 loadbang;\n#X msg 0 0 \\; go 1 \\; pd-s connect -1 1e30 7 x \\, connect \\, disconnect 0 0 0 0 \\, obj \\, obj 1 \\, obj a b c \\, \
                     loadbang \\, msg 0 0 \\, text \\, array \\, array a -5 \\, floatatom 1 1 \\, obj 1 1 clone s 3 \\, obj 1 1 pd s \\, rename \\; go 2;\n#X connect 1 0 2 0;\n";
        let found = printed_both("absurd", patch);
        assert!(
            !found.iter().any(|line| line.starts_with("still")),
            "{found:?}"
        );
        assert!(found.len() >= 5, "{found:?}");
    }

    #[test]
    fn no_more_boxes_are_made_than_a_patch_may_have() {
        let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r go;\n#X msg 0 0 \\; pd-s obj 0 0 r x;\n#X connect 0 0 1 0;\n\
                     #N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n";
        let mut machine = live("limit", patch);
        machine.canvases.boxes = MAX_PATCH_BOXES - 1;
        for block in 1..=2 {
            machine.send_text(0, "go");
            machine.make_edits();
            machine.go_on_after_edits(block);
        }
        let mut said = machine.take_console();
        said.retain(|line| !line.starts_with("canvas: "));
        assert_eq!(said, ["error: pd-s: obj: at most 2097152 boxes are made"]);
        assert_eq!(machine.canvases.counts().0, MAX_PATCH_BOXES);
    }

    #[test]
    fn a_patch_that_makes_itself_comes_to_an_end() {
        let own = format!("divisi-edit-own-{}", std::process::id());
        let patch = format!(
            "#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd-{own}.pd obj 0 0 {own} \\, obj 0 0 pd deep \\; made;\n#X obj 0 0 r made;\n\
             #X obj 0 0 print made;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n"
        );
        // The new one receives under the same names, and nothing is sent to it by the message that makes it.
        assert_eq!(printed_both("own", &patch), ["made: bang", "made: bang"]);
    }

    #[test]
    fn canvases_in_canvases_are_bounded() {
        let patch = "#X obj 0 0 loadbang;\n#X obj 0 0 2000;\n#X obj 0 0 until;\n#X msg 0 0 \\; pd-s obj 0 0 pd t \\, rename u \\; pd-t rename s;\n\
                     #X obj 0 0 loadbang;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n\
                     #N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n#X msg 0 0 \\; pd-bounded loadbang;\n";
        let found = printed_both("deep", patch);
        assert!(found.iter().any(|line| line.contains("at most 256 deep")));
    }
}
