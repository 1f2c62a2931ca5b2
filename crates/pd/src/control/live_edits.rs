//! Changes of a patch that plays live: messages to canvases wait for another thread, which makes them.

use super::canvases::{CanvasId, CanvasMessage};
use super::globals::Globals;
use super::jobs::JobResult;
use super::machine::Machine;
use super::slot::ObjectSlot;
use super::symbol::words;
use super::value::Value;
use super::wire::ObjectId;
use super::work::Work;

/// Work of one chain that the other thread does, at most: then the audio thread goes on with it.
const MAX_STEPS: u32 = 100_000;

/// Classes whose objects touch nothing of the signals, so that the thread which changes a patch runs their messages too: a loop that makes
/// boxes is done in one visit.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "canvas", "messagebox", "inlet", "outlet", "clone", "receive", "r", "send", "s", "loadbang", "print",
    "bang", "b", "float", "f", "int", "i", "symbol", "trigger", "t", "until", "pack", "unpack", "list", "makefilename",
    "+", "-", "*", "/", "mod", "div", "%", "min", "max", "pow", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "&", "|", "<<", ">>",
    "select", "sel", "route", "moses", "spigot", "swap", "change", "metro", "delay", "del", "random",
    "floatatom", "symbolatom", "listbox", "nbx", "hsl", "vsl", "tgl", "bng", "hradio", "vradio",
];

impl Machine {
    /// Changes the patch, or sets the chain of messages aside until another thread has done it.
    pub(super) fn edit_or_wait(&mut self, edit: Box<CanvasMessage>, depth: u32) {
        let is_made_here = !self.globals.jobs.is_deferred || self.chains.makes_changes;
        if is_made_here && !self.waits_for_signals(&edit) {
            self.edit(&edit, depth);
            self.globals.keep_edit(edit);
            return;
        }
        let rest = (&mut self.stack, &mut self.values);
        if let Err(edit) = self.chains.suspend(rest, edit, depth) {
            self.globals.keep_edit(edit);
            self.globals
                .print("error: canvas: too many changes at once");
        }
    }

    /// Makes room for changes of the patch while it plays live.
    ///
    /// Real-time: setup.
    pub(crate) fn reserve_edits(&mut self) {
        self.chains.reserve();
        self.globals.reserve_edits();
    }

    /// Returns true if messages wait for a change of the patch.
    ///
    /// Real-time: hot.
    pub(crate) fn waits_for_edits(&self) -> bool {
        !self.chains.waiting.is_empty()
    }

    /// Makes the changes that messages wait for, and those that follow them at once.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn make_edits(&mut self) {
        self.chains.makes_changes = true;
        self.chains.needs_signals = false;
        self.chains.first_new = self.object_count();
        while let Some(mut chain) = self.chains.waiting.pop_front() {
            let edit = chain.edit.as_ref();
            if edit.is_some_and(|edit| self.waits_for_signals(edit)) {
                self.chains.waiting.push_front(chain);
                self.chains.needs_signals = true;
                break;
            }
            std::mem::swap(&mut self.stack, &mut chain.stack);
            std::mem::swap(&mut self.values, &mut chain.values);
            if let Some(edit) = chain.edit.take() {
                self.edit(&edit, chain.depth);
                self.globals.keep_edit(edit);
            }
            let mut left = MAX_STEPS;
            while left > 0 && !self.stack.is_empty() && self.goes_on_here() {
                left -= 1;
                self.step();
            }
            std::mem::swap(&mut self.stack, &mut chain.stack);
            std::mem::swap(&mut self.values, &mut chain.values);
            self.chains.changed.push_back(chain);
        }
        self.chains.makes_changes = false;
    }

    /// Lets the thread that makes changes touch all signals, or no longer: none of them compute.
    pub(crate) fn have_signals(&mut self, has_signals: bool) {
        self.chains.has_signals = has_signals;
    }

    /// Returns true if the change that waits first needs all signals.
    ///
    /// Real-time: hot.
    pub(crate) fn needs_signals(&self) -> bool {
        self.chains.needs_signals
    }

    /// Returns true if a message makes a box that gives signals which compute now other blocks: those are prepared for the blocks that
    /// they have, which takes memory, so they must not compute meanwhile.
    fn waits_for_signals(&self, edit: &CanvasMessage) -> bool {
        let text = |at: usize| match edit.values.get(at) {
            Some(Value::Symbol(symbol)) => self.globals.symbols.text(*symbol),
            _ => "",
        };
        let may_change = self.layout.is_some() && self.chains.makes_changes;
        if !may_change || self.chains.has_signals {
            return false;
        }
        let canvas = self.canvases.get(edit.canvas);
        // Without arguments they are those of the canvas around.
        let sets_blocks = match self.globals.symbols.text(edit.selector) {
            "obj" => matches!(text(2), "block~" | "switch~") && edit.values.len() > 3,
            "paste" => self.clipboard.sets_blocks(),
            "duplicate" => {
                let boxes = canvas.selection.boxes.iter();
                let mut boxes = boxes.filter_map(|at| canvas.boxes.get(*at));
                boxes.any(|one| one.sets_blocks)
            }
            _ => false,
        };
        sets_blocks && self.has_playing(edit.canvas)
    }

    /// Says for how many blocks the patch was silent.
    ///
    /// Real-time: hot.
    pub(crate) fn print_silence(&mut self, blocks: u32) {
        let console = &mut self.globals.console;
        console.line(|line| write!(line, "signals: prepared anew, silent for {blocks} blocks"));
    }

    /// Returns true if signals of a canvas compute now.
    fn has_playing(&self, canvas: CanvasId) -> bool {
        let mut inside = Vec::new();
        self.canvases.objects(canvas, &mut inside);
        let mut playing = inside.into_iter().flatten().map(ObjectId);
        playing.any(|id| {
            let is_port = matches!(self.class(id), "inlet~" | "outlet~");
            id.0 < self.chains.first_new && !is_port && self.signal_object(id).is_some()
        })
    }

    /// Returns true if the next piece of work reaches a canvas, an object that touches nothing of the signals, or nothing.
    fn goes_on_here(&self) -> bool {
        let Some(mut work) = self.stack.last().map(|entry| entry.work) else {
            return false;
        };
        if let Some((object, outlet, next)) = work.next_connection() {
            let wires = self.wires[object.0 as usize].get(outlet);
            let wire = wires.and_then(|wires| wires.get(*next as usize));
            return wire.is_none_or(|wire| self.is_plain(wire.object));
        }
        let reached = match work {
            Work::Receivers { name, passed, .. } => {
                match self.globals.receivers.next(name, passed) {
                    Some((object, _)) => object,
                    None => return name != words::PD,
                }
            }
            Work::Resume { object, .. } | Work::Load { object } | Work::Object { object, .. } => {
                object
            }
            Work::Number { .. } | Work::Outlet { .. } | Work::Move { .. } => return false,
        };
        self.is_plain(reached)
    }

    /// Returns true for an object that touches nothing of the signals.
    fn is_plain(&self, id: ObjectId) -> bool {
        let is_control = matches!(self.objects[id.0 as usize], ObjectSlot::Control(_));
        is_control && PLAIN.contains(&self.class(id))
    }

    /// Goes on with the messages that waited for changes, and says in which block these took effect.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn go_on_after_edits(&mut self, block: u64) {
        let count = std::mem::take(&mut self.chains.made);
        let console = &mut self.globals.console;
        match count {
            // All signals are to be sent first.
            0 => {}
            1 => console.line(|line| write!(line, "canvas: changed in block {block}")),
            _ => console
                .line(|line| write!(line, "canvas: {count} changes took effect in block {block}")),
        }
        let Globals { arrays, jobs, .. } = &mut self.globals;
        while let Some((array, points)) = arrays.take_removed() {
            let keeps = false;
            jobs.retire(JobResult::Points {
                array,
                points,
                keeps,
            });
        }
        while (self.chains).resume(&mut self.stack, &mut self.values) {
            self.run();
        }
    }
}
