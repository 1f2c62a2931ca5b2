//! Results of what objects have asked for, and the memory of symbols.

use super::globals::Globals;
use super::jobs::{Job, JobResult};
use super::machine::Machine;
use super::symbol::ROOM;
use super::wire::ObjectId;
use crate::child::{ChildPatch, ChildRunner};

impl Machine {
    /// Gives an object the result of what it has asked for. What was replaced is left in it.
    ///
    /// Real-time: hot; a copy of the array or of the symbols where they have grown.
    pub(crate) fn reply(&mut self, object: ObjectId, result: &mut JobResult) {
        let Globals {
            open_files, jobs, ..
        } = &mut self.globals;
        jobs.end_one();
        open_files.take_back(result, object, jobs);
        open_files.close_one(object, jobs);
        match result {
            JobResult::Points {
                array,
                points,
                keeps,
            } => {
                if !self.globals.arrays.replace(*array, points, *keeps) {
                    self.globals.print("error: array: no memory for its points");
                }
            }
            JobResult::Symbols(larger) => self.globals.symbols.move_into(larger),
            result => {
                self.call(object, 0, |object, context| object.reply(result, context));
                self.run();
            }
        }
    }

    /// Prints that the job of an object took effect in a block.
    ///
    /// Real-time: hot.
    pub(crate) fn print_served(&mut self, object: ObjectId, block: u64) {
        let class = &self.classes[object.0 as usize];
        let console = &mut self.globals.console;
        console.line(|line| write!(line, "{class}: file served in block {block}"));
    }

    /// Prints that an array was given its memory in a block.
    ///
    /// Real-time: hot.
    pub(crate) fn print_resized(&mut self, block: u64) {
        let console = &mut self.globals.console;
        console.line(|line| write!(line, "array: resized in block {block}"));
    }

    /// Returns true if there is room for the symbols of a result.
    pub(crate) fn fits(&self, result: &JobResult) -> bool {
        let (count, bytes) = result.symbol_counts();
        let room = self.globals.symbols.room();
        count <= room.0 && bytes <= room.1
    }

    /// Asks for memory for symbols where half of it is used up, or for those of a result.
    ///
    /// Real-time: hot.
    pub(crate) fn ask_for_symbols(&mut self, result: Option<&JobResult>) {
        let symbols = &self.globals.symbols;
        let (count, bytes) = result.map_or((0, 0), JobResult::symbol_counts);
        let job = Job::Symbols {
            count: symbols.len() + count,
            bytes: symbols.bytes() + bytes,
        };
        self.globals.jobs.keep(ObjectId(u32::MAX), job);
    }

    /// Returns true if half of the memory for new symbols is used up.
    pub(crate) fn is_short_of_symbols(&self) -> bool {
        let (count, bytes) = self.globals.symbols.room();
        count < ROOM.0 / 2 || bytes < ROOM.1 / 2
    }

    /// Takes what computes the sub-patches, for nodes of a plan, with names for the nodes.
    ///
    /// Real-time: setup.
    pub(crate) fn take_children(&mut self) -> Vec<(ChildRunner, String)> {
        let Globals {
            children, symbols, ..
        } = self.globals();
        children.take_runners(symbols)
    }

    /// Begins a block of the sub-patches.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_children(&mut self) {
        let Globals { children, jobs, .. } = &mut self.globals;
        children.begin_block(|ended| jobs.retire(JobResult::Ended(ended)));
    }

    /// Takes a sub-patch that has ended while the machine was away.
    ///
    /// Real-time: hot.
    pub(crate) fn retire_child(&mut self, ended: Box<dyn ChildPatch>) {
        self.globals.jobs.retire(JobResult::Ended(ended));
    }
}
