//! From a plan to a stage: every index becomes a place in memory. Here is where an executor allocates.

use crate::aligners::{Aligners, Aligning};
use crate::floor::SharedRuntime;
use crate::lines::{DelayLines, LineMemory};
use crate::passages::PassageMemory;
use crate::pipeline::Lagged;
use crate::pool::{ProcessorPool, Resident};
use crate::stage::{
    Act, Bound, EVENTS_A_STEP, EVENTS_PER_PORT, Hears, Memory, Own, Rare, Stage, Task, Troubles,
    Voice, Waiting,
};
use crate::sum::Sum;
use crate::table::Table;
use graph::NodeId;
use plan::{
    AlignerId, ChannelSource, DelayLineId, Plan, SlotId, StageBufferId, Step, StepInput, StepOp,
    StepOutput, TaskId,
};
use processor::{IoCold, RawChannel, RawDelayLine, RawEvents, RawPort, RawPorts, StepIo};
use rt::arena::Arena;
use rt::countdown::Countdown;
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use workers::DeferredJobs;

/// What an executor is made of.
pub struct Binding<'a> {
    /// What to do.
    pub plan: &'a Plan,
    /// Whom with. A node without a processor stays silent.
    pub processors: &'a ProcessorPool,
    /// The delay lines, which it takes over with what is in them.
    pub delay_lines: &'a mut DelayLines,
    /// Where.
    pub runtime: Arc<SharedRuntime>,
    /// How many of the device's input channels may be read.
    pub input_channels: u16,
}

/// So many steps of later stages can be posted to between two cycles.
const UNDATED: usize = 4096;

/// Binds a plan to processors and memory.
pub(crate) fn bind(binding: &mut Binding<'_>) -> Stage {
    let (plan, inputs) = (binding.plan, binding.input_channels);
    let block = plan.block.count();
    let arena = Arena::new(plan.slots as usize + 1 + usize::from(inputs), block);
    let silence = RawChannel {
        data: arena.row(plan.slots as usize),
        silent: arena.flag(plan.slots as usize),
    };
    // SAFETY: the arena is ours alone still. This row, the first behind the plan's, stays +0.0: no step writes it.
    unsafe { *silence.silent = 1 };
    let sends: Box<[_]> = (0..plan.event_buffers)
        .map(|_| UnsafeCell::new(room()))
        .collect();
    let lines: Vec<Arc<LineMemory>> = (plan.delay_lines.iter())
        .map(|l| binding.delay_lines.memory(l, plan.block))
        .collect();
    let passages = plan.stage_buffers.iter();
    let passages: Vec<_> = passages
        .map(|p| Arc::new(PassageMemory::new(p, plan.block)))
        .collect();
    binding.delay_lines.aligners.tidy();
    let mut binder = Binder {
        plan,
        pool: binding.processors,
        arena: &arena,
        silence,
        sends: &sends,
        lines: &lines,
        passages: &passages,
        aligners: &mut binding.delay_lines.aligners,
        copied: (plan.steps.iter())
            .filter(|step| step.copy > 0)
            .filter_map(|step| node_of(step.op))
            .collect(),
        channels: Table::new(count_channels(plan), silence),
        ports: Table::new(plan.inputs.len() + plan.outputs.len(), RawPort::new(&[])),
    };
    let steps: Box<[Bound]> = plan.steps.iter().map(|s| binder.step(s)).collect();
    let inner: Box<[Bound]> = plan.loop_steps.iter().map(|s| binder.step(s)).collect();
    let (channels, ports) = (binder.channels, binder.ports);
    let voices = plan.output_channels.iter().map(|sink| Voice {
        channel: sink.channel,
        from: slot(&arena, sink.slot),
    });
    let stage = Stage {
        block: plan.block,
        ahead: plan.latency_blocks,
        undated: UnsafeCell::new(Vec::with_capacity(if plan.latency_blocks > 0 {
            UNDATED
        } else {
            0
        })),
        steps_of: steps_of(&steps, &inner),
        copies: copies(&steps),
        tasks: plan.tasks.iter().map(task).collect(),
        successors: (plan.task_successors.iter())
            .map(|t| waiting(*t, &plan.tasks[t.0 as usize]))
            .collect(),
        voices: voices.collect(),
        deferred: deferred(&steps, &inner),
        steps,
        inner,
        troubles: Troubles::default(),
        device: (0..u32::from(inputs))
            .map(|i| slot(&arena, SlotId(plan.slots + 1 + i)))
            .collect(),
        _memory: Memory {
            _channels: channels,
            _ports: ports,
            _sends: sends,
            _lines: lines,
            _arena: arena,
        },
    };
    stage.arm_all();
    stage
}

fn task(task: &plan::Task) -> Task {
    Task {
        from: task.steps.start,
        to: task.steps.end,
        releases: (task.successors.start, task.successors.end),
        activation: task.activation,
    }
}

fn waiting(id: TaskId, task: &plan::Task) -> Waiting {
    Waiting {
        task: id.0,
        first: task.steps.start,
        activation: task.activation,
    }
}

fn deferred(steps: &[Bound], inner: &[Bound]) -> DeferredJobs {
    let residents = steps
        .iter()
        .chain(inner)
        .filter_map(|t| t.rare.resident.as_ref());
    DeferredJobs::new(residents.flat_map(|r| r.runners.iter().cloned()).collect())
}

fn raw_ports(ports: *const [RawPort]) -> RawPorts {
    // SAFETY: the table keeps the rows as long as the stage lives.
    RawPorts::new(unsafe { &*ports })
}

fn room() -> RawEvents {
    RawEvents {
        events: Vec::with_capacity(EVENTS_PER_PORT),
        dropped: 0,
    }
}

fn slot(arena: &Arena, slot: SlotId) -> RawChannel {
    RawChannel {
        data: arena.row(slot.0 as usize),
        silent: arena.flag(slot.0 as usize),
    }
}

/// How many channels all ports of all steps have together: their table must not move once ports point into it.
fn count_channels(plan: &Plan) -> usize {
    let steps = || plan.steps.iter().chain(&plan.loop_steps);
    let inputs = steps().flat_map(|s| s.inputs.of(&plan.inputs));
    let outputs = steps().flat_map(|s| s.outputs.of(&plan.outputs));
    let width = |span: &plan::IndexRange| span.len();
    inputs
        .map(|p| match p {
            StepInput::Audio(span) => width(span),
            StepInput::Events(_) => 0,
        })
        .chain(outputs.map(|p| match p {
            StepOutput::Audio(span) => width(span),
            StepOutput::Events(_) => 0,
        }))
        .sum()
}

fn node_of(work: StepOp) -> Option<NodeId> {
    match work {
        StepOp::Process { node, .. }
        | StepOp::WriteLine { node, .. }
        | StepOp::Sink { node }
        | StepOp::Silence { node }
        | StepOp::Send { node, .. }
        | StepOp::Receive { node, .. }
        | StepOp::Align { node, .. } => Some(node),
        StepOp::Loop(_) => None,
    }
}

/// The steps of copies, each with its original's.
fn copies(steps: &[Bound]) -> Box<[(u32, u32)]> {
    let shared = || (0..).zip(steps).filter(|(_, step)| step.rare.shared);
    let originals = shared().filter(|(_, step)| step.rare.copy == 0);
    let originals: HashMap<_, u32> = originals.map(|(at, step)| (step.rare.node, at)).collect();
    let copies = shared().filter(|(_, step)| step.rare.copy > 0);
    let mut all: Vec<_> = copies
        .filter_map(|(at, step)| Some((*originals.get(&step.rare.node)?, at)))
        .collect();
    all.sort_unstable();
    all.into_boxed_slice()
}

fn steps_of(steps: &[Bound], inner: &[Bound]) -> Box<[Option<(u32, bool)>]> {
    let all = || {
        let outer = steps
            .iter()
            .enumerate()
            .map(|(i, t)| (t, (i as u32, false)));
        let inner = inner.iter().enumerate().map(|(i, t)| (t, (i as u32, true)));
        // A delay has two steps, a relay two more, an aligner one; events are for the one that has the processor.
        outer
            .chain(inner)
            .filter(|(t, _)| t.act.is_own())
            // Copies are told by way of their original.
            .filter(|(t, _)| t.rare.copy == 0)
            .filter_map(|(t, at)| Some((t.rare.node?.0 as usize, at)))
    };
    let bound = all().map(|(node, _)| node + 1).max().unwrap_or(0);
    let mut table = vec![None; bound];
    for (node, at) in all() {
        table[node] = Some(at);
    }
    table.into_boxed_slice()
}

struct Binder<'a> {
    plan: &'a Plan,
    pool: &'a ProcessorPool,
    arena: &'a Arena,
    silence: RawChannel,
    sends: &'a [UnsafeCell<RawEvents>],
    lines: &'a [Arc<LineMemory>],
    passages: &'a [Arc<PassageMemory>],
    aligners: &'a mut Aligners,
    /// The nodes that have copies.
    copied: HashSet<NodeId>,
    channels: Table<RawChannel>,
    ports: Table<RawPort>,
}

impl Binder<'_> {
    fn step(&mut self, step: &Step) -> Bound {
        let node = node_of(step.op);
        let line = match step.op {
            StepOp::Process { line, .. } => line,
            _ => None,
        };
        let runs = matches!(step.op, StepOp::Process { .. });
        let resident = node
            .filter(|_| runs)
            .and_then(|n| self.pool.get(n, step.copy))
            .cloned();
        let act = self.act(step.op, resident.as_deref());
        let shared = runs && node.is_some_and(|n| self.copied.contains(&n));
        let mut sums = Vec::new();
        let mut hears = Vec::new();
        let inputs = step.inputs.of(&self.plan.inputs).iter().enumerate();
        let inputs: Vec<RawPort> = inputs
            .map(|(port, input)| self.input(port as u16, input, &mut sums, &mut hears))
            .collect();
        let outputs = step.outputs.of(&self.plan.outputs);
        let sends = self.sends_of(outputs);
        let outputs: Vec<RawPort> = outputs.iter().map(|o| self.output(o)).collect();
        let flag = match outputs.as_slice() {
            [one] if one.channels == 1 => one.first.silent,
            _ => std::ptr::null_mut(),
        };
        let (inputs, outputs) = (self.ports.add(&inputs), self.ports.add(&outputs));
        Bound {
            act,
            flag,
            special: step.lag > 0
                || shared
                || step.every != 1
                || !(sums.is_empty() && hears.is_empty() && sends.is_empty()),
            own: UnsafeCell::new(Own {
                io: StepIo {
                    inputs: raw_ports(inputs),
                    outputs: raw_ports(outputs),
                    has_events: false,
                    cold: Box::new(IoCold {
                        event_outputs: sends,
                        events: Vec::with_capacity(EVENTS_A_STEP),
                        delay_line: line.map(|l| self.line(l)),
                    }),
                },
                asleep: false,
                dead: resident.as_ref().is_some_and(|r| r.is_dead()),
                has_post: false,
                inbox: Vec::with_capacity(EVENTS_A_STEP),
            }),
            waits: Countdown::new(0),
            rare: Box::new(Rare {
                every: step.every.max(1),
                phase: step.phase,
                reads_line: line.is_some(),
                lagged: (step.lag > 0).then(|| Lagged::new(step.lag)),
                sums: sums.into_boxed_slice(),
                hears: hears.into_boxed_slice(),
                node,
                resident,
                copy: step.copy,
                shared,
            }),
        }
    }

    fn act(&mut self, work: StepOp, resident: Option<&Resident>) -> Act {
        match (work, resident) {
            (StepOp::Process { .. }, Some(resident)) => Act::Process(resident.pointer()),
            (StepOp::Process { .. }, None) | (StepOp::Silence { .. }, _) => Act::Mute,
            (StepOp::WriteLine { line, .. }, _) => Act::Write(Box::new(self.line(line))),
            (StepOp::Sink { .. }, _) => Act::Keep,
            (StepOp::Send { passage, .. }, _) => Act::Send(self.passage(passage)),
            (StepOp::Receive { passage, .. }, _) => Act::Receive(self.passage(passage)),
            (StepOp::Align { aligner, .. }, _) => Act::Align(Box::new(self.aligning(aligner))),
            (StepOp::Loop(id), _) => {
                let run = self.plan.loops[id.0 as usize];
                Act::Loop {
                    from: run.steps.start,
                    to: run.steps.end,
                    part: run.sub_block.0.max(1),
                }
            }
        }
    }

    fn aligning(&mut self, aligner: AlignerId) -> Aligning {
        let aligner = &self.plan.aligners[aligner.0 as usize];
        self.aligners.aligning(self.plan, aligner)
    }

    fn passage(&self, passage: StageBufferId) -> Arc<PassageMemory> {
        self.passages[passage.0 as usize].clone()
    }

    fn line(&self, line: DelayLineId) -> RawDelayLine {
        self.lines[line.0 as usize].raw(&self.plan.delay_lines[line.0 as usize])
    }

    fn slot(&self, id: SlotId) -> RawChannel {
        slot(self.arena, id)
    }

    fn input(
        &mut self,
        port: u16,
        input: &StepInput,
        sums: &mut Vec<Sum>,
        hears: &mut Vec<Hears>,
    ) -> RawPort {
        let feeds = match input {
            StepInput::Audio(feeds) => feeds.of(&self.plan.channel_sources),
            StepInput::Events(from) => {
                let from = from.of(&self.plan.event_sources);
                let rooms = from.iter().map(|s| self.sends[s.0 as usize].get());
                hears.push(Hears {
                    port,
                    rooms: rooms.collect(),
                });
                &[]
            }
        };
        let mut channels = Vec::with_capacity(feeds.len());
        for feed in feeds {
            channels.push(match *feed {
                ChannelSource::Silence => self.silence,
                ChannelSource::Slot(id) => self.slot(id),
                ChannelSource::Sum { from, into } => {
                    let from = from.of(&self.plan.summed_slots);
                    sums.push(Sum {
                        from: from.iter().map(|s| self.slot(*s)).collect(),
                        into: self.slot(into),
                    });
                    self.slot(into)
                }
            });
        }
        self.port(&channels)
    }

    fn port(&mut self, channels: &[RawChannel]) -> RawPort {
        // SAFETY: the table keeps the rows as long as the stage lives.
        RawPort::new(unsafe { &*self.channels.add(channels) })
    }

    fn output(&mut self, output: &StepOutput) -> RawPort {
        let slots = match output {
            StepOutput::Audio(slots) => slots.of(&self.plan.written_slots),
            StepOutput::Events(_) => &[],
        };
        let channels: Vec<RawChannel> = slots.iter().map(|s| self.slot(*s)).collect();
        self.port(&channels)
    }

    /// Nothing where no port sends events.
    fn sends_of(&self, outputs: &[StepOutput]) -> Box<[*mut RawEvents]> {
        if !outputs.iter().any(|o| matches!(o, StepOutput::Events(_))) {
            return Box::default();
        }
        let room = |o: &StepOutput| match o {
            StepOutput::Events(id) => self.sends[id.0 as usize].get(),
            StepOutput::Audio(_) => std::ptr::null_mut(),
        };
        outputs.iter().map(room).collect()
    }
}
