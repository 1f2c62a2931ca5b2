//! Inputs and outputs of steps: from edges between nodes to slots and event buffers.

use super::super::ops::{Op, OpKind, Ops};
use super::super::order::OpOrder;
use super::super::slots::SlotAllocator;
use super::super::wiring::{NodePart, WiredEdge, Wiring};
use crate::{
    ChannelSource, EventBufferId, IndexRange, OutputChannel, Plan, SlotId, StepInput, StepOutput,
};
use graph::{NodeId, Signal};
use std::ops::Range;
use units::Channels;

/// Writes ports into the arrays of a plan, step by step in topological order.
pub(super) struct PortWriter<'a> {
    wiring: &'a Wiring<'a>,
    ops: &'a Ops,
    /// By operation: number of its first output, if those of all operations are counted through.
    first_output: Vec<u32>,
    /// By number of output: where it is written.
    outputs: Vec<StepOutput>,
    slots: SlotAllocator,
}

impl<'a> PortWriter<'a> {
    pub(super) fn new(wiring: &'a Wiring<'a>, ops: &'a Ops, order: &OpOrder) -> Self {
        let mut count = 0;
        let mut first_output = vec![0];
        for op in &ops.all {
            count += output_count(wiring, op) as u32;
            first_output.push(count);
        }
        let reads = reads(wiring, ops, order, &first_output);
        Self {
            wiring,
            ops,
            first_output,
            outputs: vec![StepOutput::Events(EventBufferId(u32::MAX)); count as usize],
            slots: SlotAllocator::new(count as usize, reads, &order.dependencies),
        }
    }

    /// Number of slots so far.
    pub(super) fn slot_count(&self) -> u32 {
        self.slots.count
    }

    /// Makes `step` the one to which the ports belong that follow.
    pub(super) fn begin_step(&mut self, step: u32) {
        self.slots.begin_step(step);
    }

    /// Ends the step: what it has read may be freed.
    pub(super) fn end_step(&mut self, step: u32) {
        self.slots.end_step(step);
    }

    /// Writes the inputs of an operation.
    pub(super) fn inputs(&mut self, index: u32, plan: &mut Plan) -> IndexRange {
        let op = self.ops.all[index as usize];
        let start = plan.inputs.len();
        match op.kind {
            OpKind::Silence | OpKind::Receive(_) => {}
            OpKind::Send(relay) => {
                let input = self.relay_input(relay, plan);
                plan.inputs.push(input);
            }
            _ => {
                let edges = self.wiring.edges_to(op.node);
                for port in self.input_range(op) {
                    let edges = Wiring::edges_at(edges, port as u16);
                    let input = match self.input_signal(op, port, edges) {
                        Signal::Audio(channels) => self.audio_input(index, channels, edges, plan),
                        Signal::Control | Signal::Event => self.event_input(index, edges, plan),
                    };
                    plan.inputs.push(input);
                }
            }
        }
        IndexRange::since(&plan.inputs, start)
    }

    /// The ports of its node that an operation reads. Those that drive parameters belong to the processor; of a delay that
    /// is not the operation that fills the line.
    fn input_range(&self, op: Op) -> Range<usize> {
        let node = self.wiring.nodes[op.node as usize].node;
        let of_kind = node.kind_inputs().len();
        match op.kind {
            OpKind::Align(_) => 0..1,
            OpKind::ReadLine(_) => of_kind..node.inputs.len(),
            OpKind::WriteLine(_) => 0..of_kind,
            _ => 0..node.inputs.len(),
        }
    }

    /// The signal that an operation reads at a port. A port that drives a parameter and has no edge has no channels: its
    /// processor leaves it out.
    fn input_signal(&self, op: Op, port: usize, edges: &[WiredEdge]) -> Signal {
        if let OpKind::Align(_) = op.kind {
            return self.wiring.signal(op.node, 0);
        }
        let port = &self.wiring.nodes[op.node as usize].node.inputs[port];
        match (port.signal, port.modulation) {
            (Signal::Audio(_), Some(_)) if edges.is_empty() => Signal::Audio(Channels(0)),
            (signal, _) => signal,
        }
    }

    /// Slots to which an output of an operation is written.
    fn written(&self, (op, output): (u32, u16)) -> StepOutput {
        self.outputs[self.first_output[op as usize] as usize + usize::from(output)]
    }

    /// The input of the operation that sends.
    fn relay_input(&self, relay: u32, plan: &mut Plan) -> StepInput {
        let relay = self.ops.relays[relay as usize];
        let start = plan.channel_sources.len();
        let output = (self.ops.output_op(relay.node), relay.output);
        if let StepOutput::Audio(slots) = self.written(output) {
            let slots = slots.of(&plan.written_slots).iter();
            let sources = slots.map(|slot| ChannelSource::Slot(*slot));
            plan.channel_sources.extend(sources);
        }
        StepInput::Audio(IndexRange::since(&plan.channel_sources, start))
    }

    fn audio_input(
        &mut self,
        op: u32,
        channels: Channels,
        edges: &[WiredEdge],
        plan: &mut Plan,
    ) -> StepInput {
        let start = plan.channel_sources.len();
        for channel in 0..channels.count() {
            let at = (channel, channels);
            let source = self.channel_source(op, at, edges, plan);
            plan.channel_sources.push(source);
        }
        StepInput::Audio(IndexRange::since(&plan.channel_sources, start))
    }

    fn channel_source(
        &mut self,
        op: u32,
        (channel, channels): (usize, Channels),
        edges: &[WiredEdge],
        plan: &mut Plan,
    ) -> ChannelSource {
        let start = plan.summed_slots.len();
        for edge in edges {
            if let StepOutput::Audio(slots) = self.written(self.ops.source(op, edge)) {
                let slots = slots.of(&plan.written_slots);
                // One channel is copied to all, and all are added into one.
                let slots = match channels {
                    Channels(1) => slots,
                    _ => std::slice::from_ref(&slots[channel.min(slots.len() - 1)]),
                };
                plan.summed_slots.extend_from_slice(slots);
            }
        }
        match plan.summed_slots[start..] {
            [] => ChannelSource::Silence,
            [one] => {
                plan.summed_slots.pop();
                ChannelSource::Slot(one)
            }
            _ => ChannelSource::Sum {
                from: IndexRange::since(&plan.summed_slots, start),
                into: self.slots.temporary(),
            },
        }
    }

    fn event_input(&self, op: u32, edges: &[WiredEdge], plan: &mut Plan) -> StepInput {
        let start = plan.event_sources.len();
        for edge in edges {
            if let StepOutput::Events(buffer) = self.written(self.ops.source(op, edge)) {
                plan.event_sources.push(buffer);
            }
        }
        StepInput::Events(IndexRange::since(&plan.event_sources, start))
    }

    /// Writes the outputs of an operation. Slots that are `kept` are not used again.
    pub(super) fn outputs(&mut self, index: u32, kept: bool, plan: &mut Plan) -> IndexRange {
        let op = self.ops.all[index as usize];
        let node = &self.wiring.nodes[op.node as usize];
        let start = plan.outputs.len();
        let numbers = self.first_output[index as usize]..self.first_output[index as usize + 1];
        for (port, number) in numbers.enumerate() {
            let output = match self.output_signal(op, port) {
                Signal::Audio(channels) => {
                    let start = plan.written_slots.len();
                    let slots = self.slots.output(number, channels.0, kept);
                    plan.written_slots.extend_from_slice(slots);
                    StepOutput::Audio(IndexRange::since(&plan.written_slots, start))
                }
                Signal::Control | Signal::Event => {
                    plan.event_buffers += 1;
                    StepOutput::Events(EventBufferId(plan.event_buffers - 1))
                }
            };
            self.outputs[number as usize] = output;
            plan.outputs.push(output);
            if let (NodePart::Sink { channel }, StepOutput::Audio(slots)) = (node.part, output) {
                let slots = slots.of(&plan.written_slots);
                plan.output_channels
                    .extend(output_channels(slots, channel, node.id));
            }
        }
        IndexRange::since(&plan.outputs, start)
    }

    fn output_signal(&self, op: Op, port: usize) -> Signal {
        match op.kind {
            OpKind::Sink => self.wiring.nodes[op.node as usize].node.inputs[port].signal,
            OpKind::Receive(relay) => {
                let relay = self.ops.relays[relay as usize];
                self.wiring.signal(relay.node, relay.output)
            }
            _ => self.wiring.signal(op.node, port as u16),
        }
    }
}

/// The slots of a sink as output channels of the program, from `first` on.
fn output_channels(
    slots: &[SlotId],
    first: u16,
    node: NodeId,
) -> impl Iterator<Item = OutputChannel> + '_ {
    let slots = slots.iter().copied().zip(first..);
    slots.map(move |(slot, channel)| OutputChannel {
        channel,
        slot,
        node,
    })
}

/// Number of outputs of an operation; a sink's is the one that it keeps.
fn output_count(wiring: &Wiring<'_>, op: &Op) -> usize {
    match op.kind {
        OpKind::WriteLine(_) | OpKind::Send(_) => 0,
        OpKind::Sink | OpKind::Receive(_) => 1,
        OpKind::Align(aligner) => wiring.aligners[aligner as usize].taps.len(),
        _ => wiring.nodes[op.node as usize].node.outputs.len(),
    }
}

/// Pairs (step, number of an output of another step that it reads).
fn reads(wiring: &Wiring<'_>, ops: &Ops, order: &OpOrder, first_output: &[u32]) -> Vec<(u32, u32)> {
    let mut reads = Vec::with_capacity(wiring.edges.len());
    let mut add = |reader: u32, (writer, output): (u32, u16)| {
        let number = first_output[writer as usize] + u32::from(output);
        let [reader, writer] = [reader, writer].map(|op| order.step_of[op as usize]);
        if reader != writer {
            reads.push((reader, number));
        }
    };
    for edge in &wiring.edges {
        for op in ops.all_readers(edge) {
            add(op, ops.source(op, edge));
        }
    }
    for relay in &ops.relays {
        add(relay.send, (ops.output_op(relay.node), relay.output));
    }
    reads
}
