//! Changes of a patch that plays live: messages to canvases wait for another thread, which makes them.

use super::canvases::CanvasMessage;
use super::machine::Machine;
use super::symbol::words;
use super::work::Work;

impl Machine {
    /// Changes the patch, or sets the chain of messages aside until another thread has done it.
    pub(super) fn edit_or_wait(&mut self, edit: Box<CanvasMessage>, depth: u32) {
        if !self.globals.jobs.is_deferred || self.chains.makes_changes {
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
        while let Some(mut chain) = self.chains.waiting.pop_front() {
            std::mem::swap(&mut self.stack, &mut chain.stack);
            std::mem::swap(&mut self.values, &mut chain.values);
            if let Some(edit) = chain.edit.take() {
                self.edit(&edit, chain.depth);
                self.globals.keep_edit(edit);
            }
            while self.comes_to_a_canvas()
                && let Some(entry) = self.stack.pop()
            {
                self.values.truncate(entry.keep as usize);
                self.step(entry);
            }
            std::mem::swap(&mut self.stack, &mut chain.stack);
            std::mem::swap(&mut self.values, &mut chain.values);
            self.chains.changed.push_back(chain);
        }
        self.chains.makes_changes = false;
    }

    /// Returns true if the next piece of work is a message to a canvas, or none.
    fn comes_to_a_canvas(&self) -> bool {
        match self.stack.last().map(|entry| entry.work) {
            Some(Work::Receivers { name, next, .. }) => {
                let next = self.globals.receivers.next(name, next);
                next.map_or(name != words::PD, |(id, _)| self.class(id) == "canvas")
            }
            Some(Work::Outlet {
                object,
                outlet,
                next,
                ..
            }) => {
                let wires = self.wires[object.0 as usize].get(outlet as usize);
                wires.is_none_or(|wires| wires.len() <= next as usize)
            }
            _ => false,
        }
    }

    /// Goes on with the messages that waited for changes, and says in which block these took effect.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn go_on_after_edits(&mut self, block: u64) {
        let count = std::mem::take(&mut self.chains.made);
        let console = &mut self.globals.console;
        console.line(|line| match count {
            1 => write!(line, "canvas: changed in block {block}"),
            _ => write!(line, "canvas: {count} changes took effect in block {block}"),
        });
        while (self.chains).resume(&mut self.stack, &mut self.values) {
            self.run();
        }
    }
}
