//! Pass 8: operations become steps, with slots, in the flat arrays of the plan.
//!
//! `ports` writes the inputs and outputs of each step, this file the rest.

mod ports;

use self::ports::PortWriter;
use super::costs::cost;
use super::limits::event_room;
use super::ops::{OpKind, Ops, Relay};
use super::order::{Group, OpOrder};
use super::phases::phases;
use super::wiring::{NodePart, Wiring};
use crate::{
    Aligner, AlignerId, DelayLineId, IndexRange, Loop, LoopId, Plan, PlanOptions, StageBuffer,
    StageBufferId, Step, StepId, StepOp,
};
use graph::Signal;
use std::collections::HashMap;
use units::{Channels, Frames, Nanos};

/// Builds all of the plan but tasks and schedule.
pub(super) fn emit(wiring: &Wiring<'_>, ops: &Ops, order: &OpOrder, options: &PlanOptions) -> Plan {
    let mut emitter = Emitter {
        wiring,
        ops,
        order,
        options,
        phases: phases(wiring, options),
        ports: PortWriter::new(wiring, ops, order),
        lines: HashMap::new(),
        plan: Plan::empty(options.block, options.rate),
    };
    let relays = ops.relays.iter();
    emitter.plan.stage_buffers = relays.map(|r| stage_buffer(wiring, ops, r)).collect();
    emitter.aligners();
    for (index, group) in (0..).zip(&order.groups) {
        emitter.step(index, *group);
    }
    let mut plan = emitter.plan;
    plan.slots = emitter.ports.slot_count();
    plan.delayed_edges.clone_from(&wiring.delayed);
    plan.output_channels.sort_by_key(|s| (s.channel, s.node));
    for id in &plan.successors {
        plan.steps[id.0 as usize].activation += 1;
    }
    plan.latency_blocks = options.latency_blocks;
    let lag = options.latency_blocks.saturating_mul(options.block.0);
    plan.latency = Frames(wiring.latency.0.saturating_add(lag));
    plan.static_levels = plan.step_levels();
    plan
}

fn stage_buffer(wiring: &Wiring<'_>, ops: &Ops, relay: &Relay) -> StageBuffer {
    let channels = match wiring.signal(relay.node, relay.output) {
        Signal::Audio(channels) => channels,
        _ => Channels(0),
    };
    StageBuffer {
        channels,
        lag: relay.stage - ops.all[relay.send as usize].lag,
    }
}

struct Emitter<'a> {
    wiring: &'a Wiring<'a>,
    ops: &'a Ops,
    order: &'a OpOrder,
    options: &'a PlanOptions,
    /// By node: (`every`, `phase`).
    phases: Vec<(u32, u32)>,
    ports: PortWriter<'a>,
    /// By node: the line of a delay whose first half is emitted.
    lines: HashMap<u32, DelayLineId>,
    plan: Plan,
}

impl Emitter<'_> {
    fn aligners(&mut self) {
        for aligner in &self.wiring.aligners {
            let start = self.plan.taps.len();
            self.plan.taps.extend_from_slice(&aligner.taps);
            self.plan.aligners.push(Aligner {
                node: self.wiring.nodes[aligner.node as usize].id,
                output: aligner.output,
                signal: self.wiring.signal(aligner.node, aligner.output),
                taps: IndexRange::since(&self.plan.taps, start),
            });
        }
    }

    fn step(&mut self, index: u32, group: Group) {
        self.ports.begin_step(index);
        let order = self.order;
        let ops = order.ops_of(group).iter();
        let steps: Vec<Step> = ops.map(|op| self.op(*op)).collect();
        let mut step = match group.sub_block {
            Some(sub_block) => self.loop_step(steps, sub_block),
            None => steps[0],
        };
        let start = self.plan.successors.len();
        let after = order.dependencies.successors(index).iter();
        self.plan.successors.extend(after.map(|s| StepId(*s)));
        step.successors = IndexRange::since(&self.plan.successors, start);
        self.plan.steps.push(step);
        self.ports.end_step(index);
    }

    fn loop_step(&mut self, steps: Vec<Step>, sub_block: Frames) -> Step {
        let start = self.plan.loop_steps.len();
        let costs = steps.iter().map(|s| s.cost);
        let cost = costs.fold(Nanos(0), Nanos::saturating_add);
        let lag = steps[0].lag;
        self.plan.loop_steps.extend(steps);
        self.plan.loops.push(Loop {
            steps: IndexRange::since(&self.plan.loop_steps, start),
            sub_block,
        });
        Step {
            op: StepOp::Loop(LoopId(self.plan.loops.len() as u32 - 1)),
            inputs: IndexRange::default(),
            outputs: IndexRange::default(),
            successors: IndexRange::default(),
            activation: 0,
            every: 1,
            phase: 0,
            lag,
            event_room: 0,
            copy: 0,
            cost,
        }
    }

    fn op(&mut self, index: u32) -> Step {
        let op = self.ops.all[index as usize];
        let (every, phase) = match op.kind {
            OpKind::Send(_) | OpKind::Receive(_) => (1, 0),
            _ => self.phases[op.node as usize],
        };
        // Inputs first: they find what earlier operations wrote, and a sum's slot must not be an output's.
        let inputs = self.ports.inputs(index, &mut self.plan);
        let is_kept = every > 1 || op.kind == OpKind::Sink;
        let is_node = matches!(op.kind, OpKind::Process | OpKind::ReadLine(_));
        let kind = is_node.then(|| self.wiring.nodes[op.node as usize].kind);
        let event_room = event_room(kind, inputs.of(&self.plan.inputs), self.options.block);
        Step {
            op: self.step_op(index),
            inputs,
            outputs: self.ports.outputs(index, is_kept, &mut self.plan),
            successors: IndexRange::default(),
            activation: 0,
            every,
            phase,
            lag: op.lag,
            event_room,
            copy: op.copy,
            cost: cost(self.wiring, op, self.options),
        }
    }

    fn step_op(&mut self, index: u32) -> StepOp {
        let op = self.ops.all[index as usize];
        let node = self.wiring.nodes[op.node as usize].id;
        match op.kind {
            OpKind::Process => StepOp::Process { node, line: None },
            OpKind::ReadLine(_) => StepOp::Process {
                node,
                line: Some(self.line(op.node)),
            },
            OpKind::WriteLine(_) => StepOp::WriteLine {
                node,
                line: self.line(op.node),
            },
            OpKind::Sink => StepOp::Sink { node },
            OpKind::Silence => StepOp::Silence { node },
            OpKind::Send(relay) => StepOp::Send {
                node,
                buffer: StageBufferId(relay),
            },
            OpKind::Receive(relay) => StepOp::Receive {
                node,
                buffer: StageBufferId(relay),
            },
            OpKind::Align(aligner) => StepOp::Align {
                node,
                aligner: AlignerId(aligner),
            },
        }
    }

    /// The delay line of a node, added when its first half is emitted.
    fn line(&mut self, node: u32) -> DelayLineId {
        let lines = &mut self.plan.delay_lines;
        let part = self.wiring.nodes[node as usize].part;
        *self.lines.entry(node).or_insert_with(|| {
            if let NodePart::Delay(line) = part {
                lines.push(line);
            }
            DelayLineId(lines.len() as u32 - 1)
        })
    }
}
