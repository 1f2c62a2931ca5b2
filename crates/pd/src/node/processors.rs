//! What runs in the nodes of a patch.

use super::job_server::{JobClient, live_services};
use super::lines::LineReader;
use super::mailbox::Mailbox;
use super::midi::MidiExchange;
use super::printer::{LineSender, Printer};
use crate::child::prepare_named;
use crate::control::{Machine, Symbol};
use crate::signal::{MessageStep, Row, SharedCell};
use processor::{
    Block, EventBody, EventTarget, Events, Mode, ProcessStatus, Processor, Setup, Tail,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The messages of a patch, or of several that share their names.
pub(super) struct Messages {
    pub(super) step: MessageStep,
    /// By patch.
    pub(super) outsides: Vec<Outside>,
    /// By patch, where there are several: what its node has got.
    pub(super) mailboxes: Vec<Mailbox>,
    /// True once the loadbangs were sent.
    pub(super) is_loaded: bool,
    /// Ends of the queues of jobs, when it plays live.
    pub(super) jobs: Option<JobClient>,
}

/// Ways between a patch and the outside.
pub(super) struct Outside {
    /// Lines for the terminal.
    pub(super) console: LineSender,
    /// Messages from outside.
    pub(super) inbox: LineReader,
    /// Until a thread has it that may wait.
    pub(super) printer: Option<Printer>,
    pub(super) midi: MidiExchange,
    pub(super) own_params: OwnParams,
}

impl Outside {
    /// Sends what has come for a patch.
    ///
    /// Real-time: as [`Machine::tick`].
    fn receive(&mut self, patch: u16, events: Events<'_>, machine: &mut Machine) {
        self.own_params.receive(patch, events, machine);
        self.midi.receive(patch, events, machine);
        while let Some(text) = self.inbox.read() {
            machine.send_text(patch, text);
        }
    }
}

/// The names that a patch receives, as parameters of its node.
pub(super) struct OwnParams {
    /// Index of the first.
    pub(super) first: usize,
    pub(super) names: Box<[Symbol]>,
}

impl OwnParams {
    /// Sends the changes of a block.
    ///
    /// Real-time: as [`Machine::send_number`].
    fn receive(&self, patch: u16, events: Events<'_>, machine: &mut Machine) {
        for event in events.iter() {
            if let EventTarget::Param(param) = event.target
                && let Some(at) = usize::from(param).checked_sub(self.first)
                && let Some(name) = self.names.get(at)
                && let EventBody::Value(number) | EventBody::Glide(number) = event.body
            {
                machine.send_number(patch, *name, number);
            }
        }
    }
}

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
        self.step.jobs().is_dry = setup.mode == Mode::DryRun;
        let is_live = setup.mode == Mode::Live;
        self.step.machine().globals().children.is_live = is_live;
        if !std::mem::replace(&mut self.is_loaded, true) {
            // What is read here is there before the first block.
            self.step.load();
        }
        if is_live && self.jobs.is_none() {
            prepare_named(&mut self.step);
            let mut spawn = |task| setup.services.spawn_background(task);
            self.jobs = Some(live_services(&mut self.step, &mut spawn));
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if let Some(jobs) = &mut self.jobs {
            jobs.take_results(&mut self.step);
        }
        match self.mailboxes.is_empty() {
            true => self.run_alone(block),
            false => self.run_joined(),
        }
        MidiExchange::send(&mut self.outsides, &mut self.step, block);
        if let Some(jobs) = &mut self.jobs {
            jobs.ask(&mut self.step);
        }
        let outsides = &mut self.outsides;
        self.step
            .drain_console(|patch, line| outsides[usize::from(patch)].console.send(line));
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

impl Messages {
    /// Runs the messages of a patch that is a node of its own.
    fn run_alone(&mut self, block: &Block<'_>) {
        let (count, events) = (block.input_count(), block.events());
        let outside = &mut self.outsides[0];
        let receive = |machine: &mut Machine| outside.receive(0, events, machine);
        self.step
            .run_with(receive, |at, to| match at + MIDI_INPUTS {
                port if port < count => to.copy_from_slice(block.input(port).channel(0)),
                _ => to.fill(0.0),
            });
    }

    /// Runs the messages of several patches, with what their nodes have got.
    fn run_joined(&mut self) {
        for (patch, mailbox) in (0..).zip(&self.mailboxes) {
            let is_closed = mailbox.end_block();
            self.step.machine().close_patch(patch, is_closed);
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
        self.step.run_with(receive, |_, _| {});
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

/// A patch that costs less than waking a worker, or whose messages change its signals: its messages, then all its steps.
pub(super) struct SmallPatch {
    pub(super) messages: Messages,
    pub(super) steps: Option<Row>,
    pub(super) outputs: Outputs,
}

impl SmallPatch {
    /// Puts the signals in order anew where messages have changed them: while the patch is loaded, or in a render.
    fn take_changes(&mut self) {
        if let Some(row) = self.messages.step.take_changed_row() {
            self.steps = Some(row);
        }
    }
}

impl Processor for SmallPatch {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.messages.setup(setup);
        self.take_changes();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.messages.process(block);
        self.take_changes();
        if let Some(steps) = &mut self.steps {
            steps.run();
        }
        self.messages.step.run_children();
        self.outputs.process(block)
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
