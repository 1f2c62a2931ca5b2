//! What runs in the nodes of a patch.

use super::job_server::{JobClient, JobServer};
use super::lines::LineReader;
use super::printer::{LineSender, Printer};
use crate::control::Machine;
use crate::signal::{BLOCK, BoundStep, BufferId, MessageStep, SharedCell, Step, add};
use processor::{Block, Mode, ProcessStatus, Processor, Setup, Tail};
use std::ops::Range;

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
    /// The block at each inlet.
    pub(super) inlets: Box<[BufferId]>,
    /// The inlets that are numbers, each with the block that is filled with it.
    pub(super) numbers: Box<[(usize, BufferId)]>,
    /// The blocks of its outlets: behind all that it reads.
    pub(super) outlets: Range<usize>,
}

/// Steps that run one after the other in one node.
///
/// ```text
///   blocks │ silence │ inputs of the node │ numbers of a step │ its outlets │ numbers of the next │ its outlets │ …
/// ```
#[derive(Default)]
pub(super) struct StepGroup {
    pub(super) steps: Vec<GroupStep>,
    pub(super) blocks: Vec<Box<[f32]>>,
    /// The blocks of the node's inputs.
    pub(super) inputs: Vec<BufferId>,
    /// The blocks of the node's outputs.
    pub(super) outputs: Vec<BufferId>,
}

impl StepGroup {
    /// Adds a silent block.
    pub(super) fn add_block(&mut self) -> BufferId {
        self.blocks.push(vec![0.0; BLOCK].into_boxed_slice());
        BufferId(u32::try_from(self.blocks.len() - 1).expect("steps are bounded"))
    }

    /// Computes a block.
    ///
    /// Real-time: hot.
    fn run(&mut self, block: &Block<'_>) {
        for (port, to) in self.inputs.iter().enumerate() {
            self.blocks[to.0 as usize].copy_from_slice(block.input(port).channel(0));
        }
        for this in &self.steps {
            let outlets = this.outlets.clone();
            match &this.step.step {
                Step::Fill { inlet, .. } => {
                    this.step.fill(*inlet, &mut self.blocks[outlets.start]);
                }
                Step::Add { .. } => {
                    let (read, to) = self.blocks.split_at_mut(outlets.start);
                    let [new, sum] = [0, 1].map(|at| &read[this.inlets[at].0 as usize]);
                    add(new, sum, &mut to[0]);
                }
                Step::Perform { .. } => {
                    let (numbers, inlets) = (&this.numbers, &this.inlets);
                    (this.step).perform_among(&mut self.blocks, numbers, inlets, outlets);
                }
            }
        }
    }
}

impl Processor for StepGroup {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.run(block);
        for (mut output, from) in block.outputs().zip(&self.outputs) {
            output
                .channel(0)
                .copy_from_slice(&self.blocks[from.0 as usize]);
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
    pub(super) steps: Option<StepGroup>,
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
