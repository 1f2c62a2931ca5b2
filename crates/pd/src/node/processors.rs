//! What runs in the nodes of a patch.

mod batches;

use super::editor::Edited;
use super::job_server::{JobClient, live_services};
use super::mailbox::Mailbox;
use super::midi::MidiExchange;
use super::outside::Outside;
use crate::child::{Border, ChildPatch, block_number, prepare_named};
use crate::control::Machine;
use crate::signal::{BLOCK, BlockTimer, ChangedRow, MessageStep, Row, SharedCell};
use processor::{Block, Event, Events, Mode, ProcessStatus, Processor, Setup, StateError, Tail};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The messages of a patch, or of several that share their names.
pub(super) struct Messages {
    /// `None` while another thread changes the patch.
    step: Option<Box<MessageStep>>,
    timer: BlockTimer,
    /// Channels of `adc~`, for blocks whose messages come late.
    inputs: Box<[SharedCell]>,
    /// Boxes `pd~`, and sub-patches that have ended while the messages were away.
    borders: Vec<Arc<Border>>,
    ended: Vec<Box<dyn ChildPatch>>,
    /// Blocks that were computed without messages, which come late.
    missed: u32,
    /// Messages that have come back and make up for these.
    late: Option<Edited>,
    /// Events that have come meanwhile.
    waiting: Vec<Event>,
    /// Signals that were put in order anew.
    changed: Option<Box<ChangedRow>>,
    /// All signals, which come back, and the number of blocks in which they were away.
    whole: Option<Row>,
    silent: Option<u32>,
    /// By patch.
    outsides: Vec<Outside>,
    /// By patch, where there are several: what its node has got.
    mailboxes: Vec<Mailbox>,
    /// True once the loadbangs were sent.
    is_loaded: bool,
    /// Bytes of a state.
    state_bytes: usize,
    /// Ends of the queues of jobs, when it plays live.
    jobs: Option<JobClient>,
}

/// Boxes `pd~` for which there is room.
const ROOM_CHILDREN: usize = 64;
/// Blocks whose messages come late that are made up for in one block, at most: a block must not take as long as all of them.
const MAX_LATE: u32 = 8;
/// Events that wait while the patch is changed, at most.
const ROOM: usize = 4096;
/// Inputs of the node before the channels of `adc~`.
pub(super) const MIDI_INPUTS: usize = 1;

impl Processor for Messages {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        if let [outside] = &mut self.outsides[..] {
            outside.midi.setup(setup);
        }
        for outside in &mut self.outsides {
            if let Some(printer) = outside.printer.take()
                && setup.mode != Mode::DryRun
            {
                setup.services.spawn_background(Box::new(printer));
            }
        }
        let Some(step) = &mut self.step else {
            return;
        };
        step.jobs().is_dry = setup.mode == Mode::DryRun;
        let is_live = setup.mode == Mode::Live;
        step.machine().globals().children.is_live = is_live;
        if !std::mem::replace(&mut self.is_loaded, true) {
            // What is read here is there before the first block.
            step.load();
            self.state_bytes = step.state_bytes();
        }
        if is_live && self.jobs.is_none() {
            // Those of one set share theirs: none of them plays yet.
            let nodes = Vec::from_iter(self.outsides.iter().map(|it| it.names.node().to_owned()));
            let nodes = Vec::from_iter(nodes.iter().map(String::as_str));
            for outside in &mut self.outsides {
                let said = outside.names.apart(&nodes);
                said.iter().for_each(|line| outside.console.send(line));
            }
            self.outsides.iter().for_each(|it| it.names.begin());
            prepare_named(step);
            let mut spawn = |task| setup.services.spawn_background(task);
            self.jobs = Some(live_services(step, &mut spawn));
            self.waiting.reserve(ROOM);
            self.borders.reserve(ROOM_CHILDREN);
            self.ended.reserve(ROOM_CHILDREN);
            step.machine().globals().children.borders(&mut self.borders);
            step.machine().reserve_edits();
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let number = block_number(block);
        for outside in &mut self.outsides {
            outside.frame = block.position();
        }
        self.take_edited(number);
        let Some(step) = &mut self.step else {
            self.miss_block(block);
            return ProcessStatus::Continue;
        };
        step.machine().globals().children.block = Some(number);
        if let Some(jobs) = &mut self.jobs {
            jobs.take_results(step);
        }
        let has_run = match self.mailboxes.is_empty() {
            true => self.run_alone(block),
            false => self.run_joined(),
        };
        if let (Some(jobs), Some(step)) = (&mut self.jobs, &mut self.step) {
            jobs.ask(step);
        }
        let outsides = &mut self.outsides;
        if let Some(step) = &mut self.step
            && (has_run || step.has_output())
        {
            MidiExchange::send(outsides, step, block);
            step.drain_console(|patch, line| outsides[usize::from(patch)].console.send(line));
        }
        self.send_to_editor(None);
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, state: &mut Vec<u8>) {
        self.save_state(state);
    }

    fn unsaved(&self) -> usize {
        Self::unsaved(self)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.load_state(state)
    }
}

impl Messages {
    /// The messages of patches that were not loaded yet.
    pub(super) fn new(step: MessageStep, outsides: Vec<Outside>, mailboxes: Vec<Mailbox>) -> Self {
        Self {
            timer: step.block_timer(),
            inputs: step.input_cells(),
            step: Some(Box::new(step)),
            missed: 0,
            late: None,
            waiting: Vec::new(),
            borders: Vec::new(),
            ended: Vec::new(),
            changed: None,
            whole: None,
            silent: None,
            outsides,
            mailboxes,
            is_loaded: false,
            state_bytes: 0,
            jobs: None,
        }
    }

    /// Appends the state of the patch: that of its signals too, which lie with the messages between two blocks. While another thread
    /// changes the patch there is none.
    ///
    /// Real-time: hot if `state` has the capacity.
    pub(super) fn save_state(&self, state: &mut Vec<u8>) {
        let begin = state.len();
        let is_steady = self.late.is_none() && self.changed.is_none();
        match &self.step {
            Some(step) if is_steady => {
                step.save_state(state);
            }
            _ => state.resize(begin + self.state_bytes, 0),
        }
    }

    /// Arrays and delay lines for which its states have no room.
    pub(super) fn unsaved(&self) -> usize {
        self.step.as_ref().map_or(0, |step| step.unsaved())
    }

    /// Goes on from a state of the same patch.
    pub(super) fn load_state(&mut self, state: &[u8]) -> Result<(), StateError> {
        let is_steady = self.late.is_none() && self.changed.is_none();
        let step = self.step.as_mut().filter(|_| is_steady);
        let step = step.ok_or_else(|| StateError("the patch is being changed".into()))?;
        // Without a state it begins anew.
        let loaded = step.load_state(state).map(|_| ());
        loaded.map_err(|why| StateError(why.into()))
    }

    /// The messages themselves, where they are not being changed.
    pub(super) fn step(&mut self) -> Option<&mut MessageStep> {
        self.step.as_deref_mut()
    }

    /// Sends the messages to the thread that changes them, if they wait for that and nothing is left of the last change.
    ///
    /// Real-time: hot.
    pub(super) fn send_to_editor(&mut self, mut row: Option<&mut Option<Row>>) {
        let (Some(jobs), None) = (&mut self.jobs, &self.changed) else {
            return;
        };
        let had_row = matches!(row, Some(Some(_)));
        jobs.editor.send(&mut self.step, row.as_deref_mut());
        if had_row && matches!(row, Some(None)) {
            // This block computes none any more.
            self.silent = Some(1);
        }
    }

    /// Takes back all signals, if they were sent away for a change.
    ///
    /// Real-time: hot.
    pub(super) fn take_whole_row(&mut self) -> Option<Row> {
        self.whole.take()
    }

    /// Lets the objects move into signals that were put in order anew, and the row of these compute.
    ///
    /// Real-time: hot.
    pub(super) fn take_row(&mut self, row: &mut Option<Row>) {
        let (Some(step), Some(mut changed)) = (&mut self.step, self.changed.take()) else {
            return;
        };
        step.take_row(&mut changed);
        changed.swap_row(row);
        if let Some(jobs) = &mut self.jobs {
            jobs.editor.give_back(changed);
        }
    }

    /// Takes back the messages that another thread has changed, and runs those of the blocks meanwhile. Where these are many, it takes
    /// several blocks, which are late too.
    fn take_edited(&mut self, number: u64) {
        if self.late.is_none() {
            self.late = self.jobs.as_mut().and_then(|jobs| jobs.editor.take());
        }
        if self.late.is_some() {
            // What the messages say to sub-patches must not be what these read now.
            self.begin_children(number);
        }
        let Some(edited) = &mut self.late else {
            return;
        };
        let count = self.missed.min(MAX_LATE);
        self.missed -= count;
        for _ in 0..count {
            edited.messages.run_late();
        }
        if self.missed == 0
            && let Some(edited) = self.late.take()
        {
            self.go_on(edited);
        }
    }

    /// Goes on with messages that were changed and are not late any more.
    fn go_on(&mut self, edited: Edited) {
        let mut step = edited.messages;
        self.changed = edited.row;
        self.whole = edited.whole;
        for ended in self.ended.drain(..) {
            step.machine().retire_child(ended);
        }
        self.borders.clear();
        step.machine().globals().children.borders(&mut self.borders);
        step.go_on_after_edits();
        if let Some(blocks) = self.silent.take() {
            step.machine().print_silence(blocks);
        }
        if let [outside] = &mut self.outsides[..] {
            let events = Events::in_range(&self.waiting, 0, u32::MAX);
            step.run_between(|machine| outside.receive(0, events, machine));
            self.waiting.clear();
        }
        self.step = Some(step);
    }

    /// Begins a block of the sub-patches.
    fn begin_children(&mut self, number: u64) {
        let borders = self.borders.iter();
        let ended = borders.filter_map(|border| border.begin_block(Some(number)));
        self.ended.extend(ended);
    }

    /// Lets the signals compute a block whose messages come late.
    fn miss_block(&mut self, block: &Block<'_>) {
        self.missed += 1;
        self.silent.iter_mut().for_each(|blocks| *blocks += 1);
        self.timer.begin();
        self.begin_children(block_number(block));
        for mailbox in &self.mailboxes {
            mailbox.end_block();
        }
        let count = block.input_count();
        for (port, cell) in (MIDI_INPUTS..).zip(&self.inputs) {
            let to = &mut cell.write().samples[..BLOCK];
            match port < count {
                true => to.copy_from_slice(block.input(port).channel(0)),
                false => to.fill(0.0),
            }
        }
        if self.mailboxes.is_empty() {
            let room = self.waiting.capacity() - self.waiting.len();
            self.waiting.extend(block.events().iter().take(room));
        }
    }

    /// Runs the messages of a patch that is a node of its own. Returns false if there were none.
    fn run_alone(&mut self, block: &Block<'_>) -> bool {
        let (count, events) = (block.input_count(), block.events());
        let (Some(step), [outside, ..]) = (&mut self.step, &mut self.outsides[..]) else {
            return false;
        };
        let is_quiet = events.is_empty() && outside.words.is_empty();
        let receive = |machine: &mut Machine| outside.receive(0, events, machine);
        let receive = (!is_quiet).then_some(receive);
        step.run_with(receive, |at, to| match at + MIDI_INPUTS {
            port if port < count => to.copy_from_slice(block.input(port).channel(0)),
            _ => to.fill(0.0),
        })
    }

    /// Runs the messages of several patches, with what their nodes have got. Returns false if there were none.
    fn run_joined(&mut self) -> bool {
        let Some(step) = &mut self.step else {
            return false;
        };
        for (patch, mailbox) in (0..).zip(&self.mailboxes) {
            let is_closed = mailbox.end_block();
            step.machine().close_patch(patch, is_closed);
        }
        let (outsides, mailboxes) = (&mut self.outsides, &self.mailboxes);
        let receive = |machine: &mut Machine| {
            let all = outsides.iter_mut().zip(mailboxes);
            for (patch, (outside, mailbox)) in (0..).zip(all) {
                let mut mail = mailbox.mail.write();
                let events = Events::in_range(&mail.events, 0, u32::MAX);
                outside.receive(patch, events, machine);
                mail.events.clear();
            }
        };
        step.run_with(Some(receive), |_, _| {})
    }
}

/// Steps that run one after the other in one node.
pub(super) struct StepGroup {
    pub(super) row: Row,
    /// The blocks of the node's inputs.
    pub(super) inputs: Vec<u32>,
    /// The blocks of the node's outputs.
    pub(super) outputs: Vec<u32>,
    /// True once its patch was removed from others, which go on.
    pub(super) closed: Option<Arc<AtomicBool>>,
}

impl Processor for StepGroup {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        // Relaxed: the plan orders it behind the messages, which set it.
        if self.closed.as_ref().is_some_and(|it| it.load(Relaxed)) {
            block.silence_outputs();
            return ProcessStatus::Continue;
        }
        for (port, to) in self.inputs.iter().enumerate() {
            let to = self.row.block_mut(*to);
            to.copy_from_slice(block.input(port).channel(0));
        }
        self.row.run();
        for (mut output, from) in block.outputs().zip(&self.outputs) {
            output.channel(0).copy_from_slice(self.row.block(*from));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// The channels of `dac~`, once all have been added.
pub(super) struct Outputs {
    pub(super) channels: Box<[SharedCell]>,
}

impl Processor for Outputs {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for (mut output, from) in block.outputs().zip(&self.channels) {
            from.write().take_block(output.channel(0));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests;
