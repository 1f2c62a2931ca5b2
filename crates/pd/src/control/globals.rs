//! [`Globals`]: the state that all objects share.

use super::arrays::Arrays;
use super::canvases::{CanvasId, CanvasMessage};
use super::chains::{MAX_CHAINS, MAX_WORDS};
use super::clocks::Clocks;
use super::console::Console;
use super::data::{Beside, Data};
use super::job_queue::Jobs;
use super::midi::MidiOutput;
use super::net::Net;
use super::open_files::OpenFiles;
use super::receivers::Receivers;
use super::symbol::{Symbol, Symbols, words};
use super::text::Texts;
use super::value::Value;
use super::wire::ObjectId;
use crate::child::Children;
use crate::expression::LibraryRandom;
use std::collections::HashMap;

/// State that all objects share.
pub(crate) struct Globals {
    pub symbols: Symbols,
    pub clocks: Clocks,
    pub arrays: Arrays,
    pub receivers: Receivers,
    /// Numbers of `value`, by name.
    pub values: HashMap<Symbol, f32>,
    /// Random numbers of `expr`.
    /// Delay lines that are to be silent before the next signals: of each name once, with room for those of all boxes.
    pub silenced_lines: Vec<Symbol>,
    /// Number of `delwrite~` made.
    pub delay_lines: usize,
    pub random: LibraryRandom,
    /// Files and memory that objects ask for.
    pub jobs: Jobs,
    /// Sockets.
    pub net: Net,
    /// Texts of `text define`.
    pub texts: Texts,
    /// Data structures.
    pub data: Data,
    /// Files of `file handle`.
    pub open_files: OpenFiles,
    /// State from which the next `array random` gets its own.
    array_seed: u32,
    pub rate: f32,
    /// Where the channels of `adc~` and `dac~` of the patch begin that is being built.
    pub first_channel: usize,
    /// True once `; pd dsp 1` was sent, or the host turned it on.
    pub dsp: bool,
    /// Number of `random` and `noise~` made, from which their seeds follow.
    pub seeds: (u32, u32),
    pub console: Console,
    pub midi_output: MidiOutput,
    /// Sub-patches of `pd~`.
    pub children: Children,
    /// True once `; pd quit` was sent.
    pub is_over: bool,
    /// A message to a canvas, until the handler of its receiver has ended.
    pub(super) edit: Option<Box<CanvasMessage>>,
    /// Memory for such messages while the patch plays live.
    #[expect(clippy::vec_box, reason = "the boxes themselves go from hand to hand")]
    pub(super) spare_edits: Vec<Box<CanvasMessage>>,
    /// Words of a message that an object puts together.
    pub(super) line: Vec<Value>,
}

impl Globals {
    pub(super) fn new(rate: f32) -> Self {
        Self {
            symbols: Symbols::default(),
            clocks: Clocks::default(),
            arrays: Arrays::default(),
            receivers: Receivers::default(),
            values: HashMap::new(),
            silenced_lines: Vec::new(),
            delay_lines: 0,
            random: LibraryRandom::default(),
            jobs: Jobs::default(),
            net: Net::default(),
            texts: Texts::default(),
            data: Data::default(),
            open_files: OpenFiles::default(),
            array_seed: 584_926_371,
            rate,
            first_channel: 0,
            dsp: false,
            seeds: (0, 0),
            console: Console::default(),
            midi_output: MidiOutput::default(),
            children: Children::default(),
            is_over: false,
            edit: None,
            spare_edits: Vec::new(),
            line: Vec::with_capacity(256),
        }
    }

    /// Data structures, and what lies beside them.
    ///
    /// Real-time: hot.
    pub(crate) fn data(&mut self) -> (&mut Data, Beside<'_>, &mut Symbols) {
        let Self {
            data,
            texts,
            arrays,
            symbols,
            ..
        } = self;
        (data, Beside { texts, arrays }, symbols)
    }

    /// Prints a line.
    ///
    /// Real-time: hot.
    pub(crate) fn print(&mut self, line: &str) {
        self.console.line(|to| to.write_str(line));
    }

    /// Says that nothing receives under a name.
    ///
    /// Real-time: hot.
    pub(super) fn report_no_receiver(&mut self, name: Symbol) {
        let Self {
            console, symbols, ..
        } = self;
        let name = symbols.text(name);
        console.line(|line| write!(line, "error: {name}: no such object"));
    }

    /// Says what was wrong with scalars that were read.
    pub(super) fn report_restored(&mut self, result: Result<usize, String>) {
        match result {
            Ok(surplus) => {
                (0..surplus).for_each(|_| self.print("warning: word_restore: extra arguments"));
            }
            Err(why) => self.console.line(|line| write!(line, "error: {why}")),
        }
    }

    /// Makes memory for messages to canvases while the patch plays live.
    ///
    /// Real-time: setup.
    pub(super) fn reserve_edits(&mut self) {
        self.spare_edits.resize_with(MAX_CHAINS + 1, || {
            Box::new(CanvasMessage {
                canvas: CanvasId::default(),
                receiver: ObjectId(0),
                selector: words::EMPTY,
                values: Vec::with_capacity(MAX_WORDS),
            })
        });
    }

    /// Keeps the memory of a message to a canvas for the next one, where the patch plays live.
    ///
    /// Real-time: hot, while the patch plays live.
    pub(super) fn keep_edit(&mut self, edit: Box<CanvasMessage>) {
        if self.jobs.is_deferred && self.spare_edits.len() < self.spare_edits.capacity() {
            self.spare_edits.push(edit);
        }
    }

    /// State from which the next `array random` gets its own.
    pub(super) fn array_state(&self) -> u32 {
        self.array_seed
    }

    pub(super) fn array_state_mut(&mut self) -> &mut u32 {
        &mut self.array_seed
    }

    /// The state of a new `array random`.
    pub(crate) fn next_array_seed(&mut self) -> u32 {
        let next = self.array_seed.wrapping_mul(435_898_247);
        self.array_seed = next.wrapping_add(938_284_287);
        self.array_seed
    }
}
