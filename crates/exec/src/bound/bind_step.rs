//! [`StepBinder`]: turns each step of a plan into a [`BoundStep`], whose ports point to slots.

use super::aligner::AlignerLines;
use super::ring::DelayLineMemory;
use super::stage_buffer::StageBufferMemory;
use super::step::{
    BoundStep, EventInput, Operation, PipelineLag, Preparation, StepCold, StepState, Sum,
};
use super::table::Table;
use crate::processors::{AWAKE, ProcessorEntry, ProcessorPool};
use graph::NodeId;
use plan::{
    ChannelSource, DelayLineId, Plan, SlotId, StageBufferId, Step, StepInput, StepOp, StepOutput,
};
use processor::{IoCold, RawChannel, RawDelayLine, RawEvents, RawPort, RawPorts, StepIo};
use rt::arena::Arena;
use rt::countdown::Countdown;
use std::cell::UnsafeCell;
use std::collections::HashSet;
use std::sync::Arc;

/// Binds steps, and collects the tables that their ports point into.
pub(super) struct StepBinder<'a> {
    pub(super) plan: &'a Plan,
    pub(super) processors: &'a ProcessorPool,
    pub(super) arena: &'a Arena,
    pub(super) silence: RawChannel,
    pub(super) events: &'a [UnsafeCell<RawEvents>],
    pub(super) lines: &'a [Arc<DelayLineMemory>],
    pub(super) stage_buffers: &'a [Arc<StageBufferMemory>],
    pub(super) aligners: &'a mut AlignerLines,
    /// The nodes that have duplicates.
    pub(super) with_copies: HashSet<NodeId>,
    /// For each of the plan's outputs: does a step read it?
    pub(super) is_read: Box<[bool]>,
    pub(super) channels: Table<RawChannel>,
    pub(super) ports: Table<RawPort>,
}

impl StepBinder<'_> {
    /// Binds `step`. A step inside a loop runs several times in a block, and keeps its inbox until the last.
    pub(super) fn bind(&mut self, step: &Step, is_in_loop: bool) -> BoundStep {
        let node = node_of(step.op);
        let (runs_node, line) = match step.op {
            StepOp::Process { line, .. } => (true, line),
            _ => (false, None),
        };
        let processor = node
            .filter(|_| runs_node)
            .and_then(|node| self.processors.get(node, step.copy))
            .cloned();
        let has_copies = runs_node && node.is_some_and(|n| self.with_copies.contains(&n));
        let (mut sums, mut event_inputs) = (Vec::new(), Vec::new());
        let mut inputs = Vec::new();
        for (port, input) in (0..).zip(step.inputs.of(&self.plan.inputs)) {
            inputs.push(self.input(port, input, &mut sums, &mut event_inputs));
        }
        let outputs = step.outputs.of(&self.plan.outputs);
        let event_outputs = self.event_outputs(outputs);
        let numbers = step.outputs.start as usize..;
        let outputs: Vec<RawPort> = outputs
            .iter()
            .zip(numbers)
            .map(|(output, number)| RawPort {
                is_read: self.is_read[number],
                ..self.output(output)
            })
            .collect();
        let contents: Box<[*mut u8]> = outputs.iter().flat_map(contents_of).collect();
        // Most steps have one, which takes no room of its own.
        let (mono_output, contents) = match *contents {
            [one] if outputs.len() == 1 => (one, Box::default()),
            _ => (std::ptr::null_mut(), contents),
        };
        let room = usize::from(step.event_room);
        let has_own_rate = step.every != 1 || step.lag > 0;
        let keeps_inbox = is_in_loop || has_own_rate || has_copies || !event_inputs.is_empty();
        let block_room = if keeps_inbox { room } else { 0 };
        let received = event_inputs.iter().flat_map(|input| &input.sources);
        let received: Box<[_]> = received.copied().collect();
        let sent = event_outputs.iter().filter(|buffer| !buffer.is_null());
        let sent: Box<[_]> = sent.copied().collect();
        let has_events = !event_inputs.is_empty() || !sent.is_empty();
        let preparation = match has_own_rate || has_copies || !sums.is_empty() {
            true => Preparation::Full,
            false if has_events => Preparation::Events,
            false => Preparation::None,
        };
        BoundStep {
            operation: self.operation(step.op, processor.as_deref()),
            mono_content: mono_output,
            preparation,
            row: 0,
            state: UnsafeCell::new(StepState::new(
                self.io((&inputs, &outputs), event_outputs, line, block_room),
                processor.as_ref().map_or((false, false), |it| {
                    (it.asleep_in() != AWAKE, it.is_quarantined())
                }),
                room,
            )),
            pending: Countdown::new(0),
            cold: Box::new(StepCold {
                every: step.every.max(1),
                phase: step.phase,
                reads_delay_line: line.is_some(),
                lag: (step.lag > 0).then(|| PipelineLag::new(step.lag, room)),
                sums: sums.into_boxed_slice(),
                event_inputs: event_inputs.into_boxed_slice(),
                received,
                sent,
                node,
                processor,
                contents,
                copy: step.copy,
                has_copies,
                bank: None,
                row: None,
            }),
        }
    }

    fn io(
        &mut self,
        (inputs, outputs): (&[RawPort], &[RawPort]),
        event_outputs: Box<[*mut RawEvents]>,
        line: Option<DelayLineId>,
        event_room: usize,
    ) -> StepIo {
        StepIo {
            inputs: self.ports(inputs),
            outputs: self.ports(outputs),
            has_events: false,
            cold: Box::new(IoCold {
                event_outputs,
                events: Vec::with_capacity(event_room),
                delay_line: line.map(|l| self.delay_line(l)),
                param_signals: Box::default(),
            }),
        }
    }

    fn operation(&mut self, op: StepOp, processor: Option<&ProcessorEntry>) -> Operation {
        match op {
            StepOp::Process { .. } => match processor {
                Some(processor) => Operation::Process(processor.pointer()),
                None => Operation::Silence,
            },
            StepOp::Silence { .. } => Operation::Silence,
            StepOp::WriteLine { line, .. } => Operation::WriteLine(Box::new(self.delay_line(line))),
            StepOp::Sink { .. } => Operation::Sink,
            StepOp::Send { buffer, .. } => Operation::Send(self.stage_buffer(buffer)),
            StepOp::Receive { buffer, .. } => Operation::Receive(self.stage_buffer(buffer)),
            StepOp::Align { aligner, .. } => {
                let aligner = &self.plan.aligners[aligner.0 as usize];
                Operation::Align(Box::new(self.aligners.operation(self.plan, aligner)))
            }
            StepOp::Loop(id) => {
                let run = self.plan.loops[id.0 as usize];
                Operation::Loop {
                    from: run.steps.start,
                    to: run.steps.end,
                    sub_block: run.sub_block.0.max(1),
                }
            }
        }
    }

    fn stage_buffer(&self, id: StageBufferId) -> Arc<StageBufferMemory> {
        self.stage_buffers[id.0 as usize].clone()
    }

    fn delay_line(&self, id: DelayLineId) -> RawDelayLine {
        let line = id.0 as usize;
        self.lines[line].for_line(&self.plan.delay_lines[line])
    }

    fn slot(&self, id: SlotId) -> RawChannel {
        slot(self.arena, id)
    }

    fn input(
        &mut self,
        port: u16,
        input: &StepInput,
        sums: &mut Vec<Sum>,
        event_inputs: &mut Vec<EventInput>,
    ) -> RawPort {
        let sources = match input {
            StepInput::Audio(sources) => sources.of(&self.plan.channel_sources),
            StepInput::Events(sources) => {
                let sources = sources.of(&self.plan.event_sources).iter();
                let sources = sources.map(|id| self.events[id.0 as usize].get()).collect();
                event_inputs.push(EventInput { port, sources });
                &[]
            }
        };
        let mut channels = Vec::with_capacity(sources.len());
        for source in sources {
            channels.push(match *source {
                ChannelSource::Silence => self.silence,
                ChannelSource::Slot(id) => self.slot(id),
                ChannelSource::Sum { from, into } => {
                    let from = from.of(&self.plan.summed_slots).iter();
                    let into = self.slot(into);
                    sums.push(Sum {
                        from: from.map(|s| self.slot(*s)).collect(),
                        into,
                    });
                    into
                }
            });
        }
        self.port(&channels)
    }

    fn output(&mut self, output: &StepOutput) -> RawPort {
        let slots = match output {
            StepOutput::Audio(slots) => slots.of(&self.plan.written_slots),
            StepOutput::Events(_) => &[],
        };
        let channels: Vec<RawChannel> = slots.iter().map(|s| self.slot(*s)).collect();
        self.port(&channels)
    }

    fn port(&mut self, channels: &[RawChannel]) -> RawPort {
        // SAFETY: the table keeps the rows as long as the plan lives.
        RawPort::new(unsafe { &*self.channels.add(channels) })
    }

    fn ports(&mut self, ports: &[RawPort]) -> RawPorts {
        // SAFETY: the table keeps the rows as long as the plan lives.
        RawPorts::new(unsafe { &*self.ports.add(ports) })
    }

    /// For each output port the buffer of its events, or null for audio. Empty if no port sends events.
    fn event_outputs(&self, outputs: &[StepOutput]) -> Box<[*mut RawEvents]> {
        if !outputs.iter().any(|o| matches!(o, StepOutput::Events(_))) {
            return Box::default();
        }
        let buffer = |o: &StepOutput| match o {
            StepOutput::Events(id) => self.events[id.0 as usize].get(),
            StepOutput::Audio(_) => std::ptr::null_mut(),
        };
        outputs.iter().map(buffer).collect()
    }
}

/// Content flags of each channel of a port.
fn contents_of(port: &RawPort) -> impl Iterator<Item = *mut u8> {
    let port = *port;
    // SAFETY: the port was made of as many channels, in a table that keeps them.
    (0..port.channels as usize).map(move |channel| unsafe { (*port.all.add(channel)).content })
}

/// The samples of a slot, and what is known of them.
pub(super) fn slot(arena: &Arena, slot: SlotId) -> RawChannel {
    RawChannel {
        data: arena.row(slot.0 as usize),
        content: arena.flag(slot.0 as usize),
    }
}

/// Number of channels of all ports of all steps. The table of channels has this length from the start: ports point into
/// it, so it must not move.
pub(super) fn count_channels(plan: &Plan) -> usize {
    let steps = || plan.steps.iter().chain(&plan.loop_steps);
    let inputs = steps().flat_map(|s| s.inputs.of(&plan.inputs));
    let outputs = steps().flat_map(|s| s.outputs.of(&plan.outputs));
    let inputs = inputs.map(|p| match p {
        StepInput::Audio(range) => range.len(),
        StepInput::Events(_) => 0,
    });
    let outputs = outputs.map(|p| match p {
        StepOutput::Audio(range) => range.len(),
        StepOutput::Events(_) => 0,
    });
    inputs.chain(outputs).sum()
}

pub(super) fn node_of(op: StepOp) -> Option<NodeId> {
    match op {
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
