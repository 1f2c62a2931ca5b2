//! What runs in the nodes of a patch.

use super::job_server::{JobClient, JobServer};
use super::lines::LineReader;
use super::printer::{LineSender, Printer};
use crate::control::Machine;
use crate::signal::{BLOCK, BoundStep, MessageStep, SharedCell, SignalSource, Step, add};
use processor::{Block, Mode, ProcessStatus, Processor, Setup, Tail};

/// Where a step finds the signal of an inlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InletSource {
    /// At an input of its node.
    Port(u16),
    /// At an outlet of an earlier step of its node.
    Step {
        /// Its place among the steps of the node.
        step: u16,
        /// The outlet.
        outlet: u16,
    },
    /// The number at this inlet of its own object: the block of this index.
    Number(u16),
    /// Nowhere.
    Silence,
}

/// The messages of a patch.
pub(super) struct Messages {
    pub(super) step: MessageStep,
    /// Lines for the terminal.
    pub(super) console: LineSender,
    /// Messages from outside.
    pub(super) inbox: LineReader,
    /// Until a thread has it that may wait.
    pub(super) printer: Option<Printer>,
    /// True once the loadbangs were sent.
    pub(super) is_loaded: bool,
    /// Ends of the queues of jobs, when it plays live.
    pub(super) jobs: Option<JobClient>,
}

impl Processor for Messages {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        if let Some(printer) = self.printer.take()
            && setup.mode != Mode::DryRun
        {
            setup.services.spawn_background(Box::new(printer));
        }
        self.step.jobs().is_dry = setup.mode == Mode::DryRun;
        if !std::mem::replace(&mut self.is_loaded, true) {
            // What is read here is there before the first block.
            self.step.load();
        }
        if setup.mode == Mode::Live && self.jobs.is_none() {
            let jobs = self.step.jobs();
            jobs.is_deferred = true;
            let (server, client) = JobServer::new(jobs.access.clone());
            setup.services.spawn_background(Box::new(server));
            self.jobs = Some(client);
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.take_results();
        let count = block.input_count();
        let inbox = &mut self.inbox;
        let outside = |machine: &mut Machine| {
            while let Some(text) = inbox.read() {
                machine.send_text(text);
            }
        };
        self.step.run_with(outside, |at, to| match at < count {
            true => to.copy_from_slice(block.input(at).channel(0)),
            false => to.fill(0.0),
        });
        self.ask_for_jobs();
        let console = &mut self.console;
        self.step.drain_console(|line| console.send(line));
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

impl Messages {
    /// Takes the results that have come.
    fn take_results(&mut self) {
        let Some(jobs) = &mut self.jobs else {
            return;
        };
        while self.step.has_room() {
            let Ok((object, result)) = jobs.results.pop() else {
                return;
            };
            self.step.keep_result(object, result);
        }
    }

    /// Passes on what objects ask for, and gives back what they have used.
    fn ask_for_jobs(&mut self) {
        let Some(jobs) = &mut self.jobs else {
            return;
        };
        for job in self.step.jobs().drain() {
            // There is room: no more are under way than the queue takes.
            let _ = jobs.requests.push(job);
        }
        while !jobs.used.is_full()
            && let Some(used) = self.step.take_used()
        {
            let _ = jobs.used.push(used);
        }
    }
}

/// A step of a group.
pub(super) struct GroupStep {
    pub(super) step: BoundStep,
    pub(super) inlets: Box<[InletSource]>,
    /// The inlets that are numbers, each with a block of it.
    pub(super) numbers: Box<[(usize, Box<[f32]>)]>,
}

/// Steps that run one after the other in one node.
#[derive(Default)]
pub(super) struct Group {
    steps: Vec<GroupStep>,
    /// The blocks of each step's outlets.
    outlets: Vec<Box<[Box<[f32]>]>>,
    /// Step and outlet of each output of the node.
    pub(super) outputs: Box<[(usize, usize)]>,
}

/// Inlets of a step that read the inputs of the node and the outlets of earlier steps.
struct StepInlets<'b> {
    block: &'b Block<'b>,
    inlets: &'b [InletSource],
    numbers: &'b [(usize, Box<[f32]>)],
    earlier: &'b [Box<[Box<[f32]>]>],
}

const SILENCE: [f32; BLOCK] = [0.0; BLOCK];

impl SignalSource for StepInlets<'_> {
    fn signal(&self, at: usize) -> &[f32] {
        match self.inlets[at] {
            InletSource::Port(port) => self.block.input(port.into()).channel(0),
            InletSource::Step { step, outlet } => {
                &self.earlier[usize::from(step)][usize::from(outlet)]
            }
            InletSource::Number(at) => &self.numbers[usize::from(at)].1,
            InletSource::Silence => &SILENCE,
        }
    }

    fn count(&self) -> usize {
        self.inlets.len()
    }
}

impl Group {
    /// Adds a step, with blocks for its outlets.
    pub(super) fn add(&mut self, step: GroupStep, outlets: Box<[Box<[f32]>]>) {
        self.steps.push(step);
        self.outlets.push(outlets);
    }

    /// Number of its steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Computes a block.
    ///
    /// Real-time: hot.
    fn run(&mut self, block: &Block<'_>) {
        for (at, this) in self.steps.iter_mut().enumerate() {
            let (earlier, rest) = self.outlets.split_at_mut(at);
            let outlets = &mut *rest[0];
            this.step.read_numbers(&mut this.numbers);
            let inlets = StepInlets {
                block,
                inlets: &this.inlets,
                numbers: &this.numbers,
                earlier,
            };
            match &this.step.step {
                Step::Fill { inlet, .. } => this.step.fill(*inlet, &mut outlets[0]),
                Step::Add { .. } => add(inlets.signal(0), inlets.signal(1), &mut outlets[0]),
                Step::Perform { .. } => this.step.perform(&inlets, outlets),
            }
        }
    }
}

impl Processor for Group {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.run(block);
        for (mut output, (step, outlet)) in block.outputs().zip(&self.outputs) {
            output
                .channel(0)
                .copy_from_slice(&self.outlets[*step][*outlet]);
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// A patch that costs less than waking a worker: its messages, then all its steps.
pub(super) struct SmallPatch {
    pub(super) messages: Messages,
    pub(super) steps: Option<Group>,
    pub(super) outputs: Outputs,
}

impl Processor for SmallPatch {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.messages.setup(setup);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.messages.process(block);
        if let Some(steps) = &mut self.steps {
            steps.run(block);
        }
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
            output.channel(0).copy_from_slice(&from.read().samples);
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
