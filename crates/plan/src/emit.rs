//! Last pass but the schedule: turns become steps, with slots, in flat arrays.

use crate::costs::cost;
use crate::levels::sum;
use crate::order::{Group, Order};
use crate::phases::phases;
use crate::slots::Slots;
use crate::turns::{Act, Relay, Turn, Turns};
use crate::wiring::{Part, Wire, Wiring};
use crate::{
    Aligner, AlignerId, ChannelSource, DelayLineId, EventBufferId, IndexRange, Loop, LoopId,
    OutputChannel, Plan, PlanOptions, SlotId, StageBuffer, StageBufferId, Step, StepId, StepInput,
    StepOp, StepOutput,
};
use graph::{NodeId, Signal};
use std::collections::HashMap;
use units::{Channels, Frames, Nanos};

/// What emitting needs and builds.
struct Emit<'a> {
    wiring: &'a Wiring<'a>,
    turns: &'a Turns,
    order: &'a Order,
    options: &'a PlanOptions,
    /// By member: how often it runs, and when.
    phases: Vec<(u32, u32)>,
    /// The first content of each turn: outputs counted through.
    contents: Vec<u32>,
    /// What each output became, by content.
    outs: Vec<StepOutput>,
    slots: Slots,
    /// By step: see [`Slots::heirs`].
    heirs: Vec<Option<u32>>,
    /// Slots that the current step has for itself.
    own: Vec<SlotId>,
    lines: HashMap<u32, DelayLineId>,
    plan: Plan,
}

/// Makes the plan's arrays; levels, phases and lanes are for later passes.
pub(crate) fn emit(
    wiring: &Wiring<'_>,
    turns: &Turns,
    order: &Order,
    options: &PlanOptions,
) -> Plan {
    let contents = number_contents(wiring, turns);
    let reads = reads(wiring, turns, order, &contents);
    let total = *contents.last().expect("there is one more than turns") as usize;
    let mut emit = Emit {
        wiring,
        turns,
        order,
        options,
        phases: phases(wiring, options),
        slots: Slots::new(order.groups.len(), total, reads),
        heirs: Slots::heirs(&order.waits),
        contents,
        outs: vec![StepOutput::Events(EventBufferId(u32::MAX)); total],
        own: Vec::new(),
        lines: HashMap::new(),
        plan: empty(options),
    };
    emit.plan.stage_buffers = turns
        .relays
        .iter()
        .map(|r| passage(wiring, turns, r))
        .collect();
    emit.aligners();
    for (index, group) in order.groups.iter().enumerate() {
        emit.step(index as u32, *group);
    }
    let mut plan = emit.plan;
    plan.slots = emit.slots.count;
    plan.delayed_edges.clone_from(&wiring.delayed);
    plan.output_channels.sort_by_key(|s| (s.channel, s.node));
    plan
}

fn empty(options: &PlanOptions) -> Plan {
    Plan {
        block: options.block,
        rate: options.rate,
        steps: Vec::new(),
        loop_steps: Vec::new(),
        loops: Vec::new(),
        successors: Vec::new(),
        tasks: Vec::new(),
        task_successors: Vec::new(),
        inputs: Vec::new(),
        channel_sources: Vec::new(),
        summed_slots: Vec::new(),
        event_sources: Vec::new(),
        outputs: Vec::new(),
        written_slots: Vec::new(),
        slots: 0,
        event_buffers: 0,
        delay_lines: Vec::new(),
        aligners: Vec::new(),
        taps: Vec::new(),
        delayed_edges: Vec::new(),
        stage_buffers: Vec::new(),
        latency_blocks: options.latency_blocks,
        output_channels: Vec::new(),
        static_levels: Vec::new(),
        worker_tasks: Vec::new(),
        latency: Frames(0),
    }
}

/// How many outputs a turn has; a sink's is the one it keeps.
fn output_count(wiring: &Wiring<'_>, turns: &Turns, turn: u32) -> usize {
    let turn = turns.all[turn as usize];
    match turn.act {
        Act::Write(_) | Act::Send(_) => 0,
        Act::Keep | Act::Receive(_) => 1,
        Act::Align(aligner) => wiring.aligners[aligner as usize].taps.len(),
        _ => wiring.members[turn.member as usize].node.outputs.len(),
    }
}

fn number_contents(wiring: &Wiring<'_>, turns: &Turns) -> Vec<u32> {
    let mut next = 0;
    let mut contents = vec![0];
    for turn in 0..turns.all.len() as u32 {
        next += output_count(wiring, turns, turn) as u32;
        contents.push(next);
    }
    contents
}

/// Which step reads which content of another step.
fn reads(wiring: &Wiring<'_>, turns: &Turns, order: &Order, contents: &[u32]) -> Vec<(u32, u32)> {
    let mut reads = Vec::with_capacity(wiring.wires.len());
    let mut read = |reader: u32, (giving, output): (u32, u16)| {
        let writer = order.step_of[giving as usize];
        let reader = order.step_of[reader as usize];
        if reader != writer {
            reads.push((reader, contents[giving as usize] + u32::from(output)));
        }
    };
    for wire in &wiring.wires {
        for turn in turns.all_taking(wire.to) {
            read(turn, turns.source(turn, wire));
        }
    }
    for relay in &turns.relays {
        read(relay.send, (turns.giving(relay.member), relay.output));
    }
    reads
}

fn passage(wiring: &Wiring<'_>, turns: &Turns, relay: &Relay) -> StageBuffer {
    let channels = match wiring.signal(relay.member, relay.output) {
        Signal::Audio(channels) => channels,
        _ => Channels(0),
    };
    let given = turns.all[turns.giving(relay.member) as usize].lag;
    StageBuffer {
        channels,
        lag: relay.stage - given,
    }
}

/// The part of an array that has been added since it was `start` long.
fn since<T>(all: &[T], start: usize) -> IndexRange {
    IndexRange {
        start: start as u32,
        end: all.len() as u32,
    }
}

impl Emit<'_> {
    fn aligners(&mut self) {
        for aligner in &self.wiring.aligners {
            let start = self.plan.taps.len();
            self.plan.taps.extend_from_slice(&aligner.taps);
            self.plan.aligners.push(Aligner {
                node: self.wiring.members[aligner.of as usize].id,
                output: aligner.output,
                signal: self.wiring.signal(aligner.of, aligner.output),
                taps: since(&self.plan.taps, start),
            });
        }
    }

    fn step(&mut self, index: u32, group: Group) {
        self.slots.enter(index);
        let order = self.order;
        let members = order.turns_of(group).iter();
        let steps: Vec<Step> = members.map(|t| self.turn(*t)).collect();
        let mut step = match group.round {
            Some(round) => self.looped(steps, round),
            None => steps[0],
        };
        let after = order.waits.successors(index);
        let start = self.plan.successors.len();
        self.plan
            .successors
            .extend(after.iter().map(|s| StepId(*s)));
        step.successors = since(&self.plan.successors, start);
        self.plan.steps.push(step);
        let own = std::mem::take(&mut self.own);
        self.slots.leave(index, &own, self.heirs[index as usize]);
    }

    fn looped(&mut self, steps: Vec<Step>, sub_block: Frames) -> Step {
        let start = self.plan.loop_steps.len();
        let cost = steps.iter().fold(Nanos(0), |all, s| sum(all, s.cost));
        let lag = steps[0].lag;
        self.plan.loop_steps.extend(steps);
        self.plan.loops.push(Loop {
            steps: since(&self.plan.loop_steps, start),
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
            copy: 0,
            cost,
        }
    }

    fn turn(&mut self, turn: u32) -> Step {
        let it = self.turns.all[turn as usize];
        let (every, phase) = match it.act {
            Act::Send(_) | Act::Receive(_) => (1, 0),
            _ => self.phases[it.member as usize],
        };
        // Inputs first: they find what earlier turns wrote, and a sum's room must not be an output's.
        let inputs = self.inputs(turn);
        Step {
            op: self.work(turn),
            inputs,
            outputs: self.outputs(turn, every > 1),
            successors: IndexRange::default(),
            activation: 0,
            every,
            phase,
            lag: it.lag,
            copy: it.copy,
            cost: cost(self.wiring, it, self.options),
        }
    }

    fn work(&mut self, turn: u32) -> StepOp {
        let it = self.turns.all[turn as usize];
        let node = self.wiring.members[it.member as usize].id;
        match it.act {
            Act::Run => StepOp::Process { node, line: None },
            Act::Keep => StepOp::Sink { node },
            Act::Mute => StepOp::Silence { node },
            Act::Send(relay) => StepOp::Send {
                node,
                passage: StageBufferId(relay),
            },
            Act::Receive(relay) => StepOp::Receive {
                node,
                passage: StageBufferId(relay),
            },
            Act::Align(aligner) => StepOp::Align {
                node,
                aligner: AlignerId(aligner),
            },
            Act::Read(_) => StepOp::Process {
                node,
                line: Some(self.line(it.member)),
            },
            Act::Write(_) => StepOp::WriteLine {
                node,
                line: self.line(it.member),
            },
        }
    }

    fn line(&mut self, member: u32) -> DelayLineId {
        let lines = &mut self.plan.delay_lines;
        let part = self.wiring.members[member as usize].part;
        *self.lines.entry(member).or_insert_with(|| {
            if let Part::Delay(line) = part {
                lines.push(line);
            }
            DelayLineId(lines.len() as u32 - 1)
        })
    }

    fn inputs(&mut self, turn: u32) -> IndexRange {
        let it = self.turns.all[turn as usize];
        let start = self.plan.inputs.len();
        if let Act::Send(relay) = it.act {
            let input = self.handed_on(relay);
            self.plan.inputs.push(input);
        } else if !matches!(it.act, Act::Read(_) | Act::Mute | Act::Receive(_)) {
            let wires = self.wiring.wires_to(it.member);
            for port in 0..self.input_count(it) {
                let wires = Wiring::wires_at(wires, port as u16);
                let input = match self.input_signal(it, port) {
                    Signal::Audio(channels) => self.audio(turn, channels, wires),
                    Signal::Control | Signal::Event => self.events(turn, wires),
                };
                self.plan.inputs.push(input);
            }
        }
        since(&self.plan.inputs, start)
    }

    /// How many inputs a turn that has its member's has.
    fn input_count(&self, turn: Turn) -> usize {
        match turn.act {
            Act::Align(_) => 1,
            _ => self.wiring.members[turn.member as usize].node.inputs.len(),
        }
    }

    fn input_signal(&self, turn: Turn, port: usize) -> Signal {
        match turn.act {
            Act::Align(_) => self.wiring.signal(turn.member, 0),
            _ => self.wiring.members[turn.member as usize].node.inputs[port].signal,
        }
    }

    fn output_signal(&self, turn: Turn, port: usize) -> Signal {
        match turn.act {
            Act::Keep => self.wiring.members[turn.member as usize].node.inputs[port].signal,
            Act::Receive(relay) => {
                let relay = self.turns.relays[relay as usize];
                self.wiring.signal(relay.member, relay.output)
            }
            _ => self.wiring.signal(turn.member, port as u16),
        }
    }

    fn source(&self, turn: u32, wire: &Wire) -> StepOutput {
        self.out(self.turns.source(turn, wire))
    }

    /// What an output of a turn became.
    fn out(&self, (turn, output): (u32, u16)) -> StepOutput {
        let first = self.contents[turn as usize];
        self.outs[first as usize + usize::from(output)]
    }

    /// The input of a relay's first half.
    fn handed_on(&mut self, relay: u32) -> StepInput {
        let it = self.turns.relays[relay as usize];
        let start = self.plan.channel_sources.len();
        if let StepOutput::Audio(slots) = self.out((self.turns.giving(it.member), it.output)) {
            let slots = slots.of(&self.plan.written_slots).iter();
            self.plan
                .channel_sources
                .extend(slots.map(|slot| ChannelSource::Slot(*slot)));
        }
        StepInput::Audio(since(&self.plan.channel_sources, start))
    }

    fn audio(&mut self, turn: u32, channels: Channels, wires: &[Wire]) -> StepInput {
        let start = self.plan.channel_sources.len();
        for channel in 0..channels.count() {
            let feed = self.feed(turn, channel, wires);
            self.plan.channel_sources.push(feed);
        }
        StepInput::Audio(since(&self.plan.channel_sources, start))
    }

    fn feed(&mut self, turn: u32, channel: usize, wires: &[Wire]) -> ChannelSource {
        let start = self.plan.summed_slots.len();
        for wire in wires {
            if let StepOutput::Audio(slots) = self.source(turn, wire) {
                // One channel spreads over all.
                let at = channel.min(slots.len() - 1);
                let slot = slots.of(&self.plan.written_slots)[at];
                self.plan.summed_slots.push(slot);
            }
        }
        match self.plan.summed_slots[start..] {
            [] => ChannelSource::Silence,
            [one] => {
                self.plan.summed_slots.pop();
                ChannelSource::Slot(one)
            }
            _ => {
                let from = since(&self.plan.summed_slots, start);
                let into = self.slots.take();
                self.own.push(into);
                ChannelSource::Sum { from, into }
            }
        }
    }

    fn events(&mut self, turn: u32, wires: &[Wire]) -> StepInput {
        let start = self.plan.event_sources.len();
        for wire in wires {
            if let StepOutput::Events(send) = self.source(turn, wire) {
                self.plan.event_sources.push(send);
            }
        }
        StepInput::Events(since(&self.plan.event_sources, start))
    }

    fn outputs(&mut self, turn: u32, kept: bool) -> IndexRange {
        let it = self.turns.all[turn as usize];
        let member = &self.wiring.members[it.member as usize];
        let count = output_count(self.wiring, self.turns, turn);
        let start = self.plan.outputs.len();
        for (port, content) in (0..count).zip(self.contents[turn as usize]..) {
            let kept = kept || it.act == Act::Keep;
            let out = match self.output_signal(it, port) {
                Signal::Audio(channels) => self.sound(content, channels, kept),
                Signal::Control | Signal::Event => {
                    self.plan.event_buffers += 1;
                    StepOutput::Events(EventBufferId(self.plan.event_buffers - 1))
                }
            };
            self.outs[content as usize] = out;
            self.plan.outputs.push(out);
            if let (Part::Sink { channel }, StepOutput::Audio(slots)) = (member.part, out) {
                self.play(slots, channel, member.id);
            }
        }
        since(&self.plan.outputs, start)
    }

    /// Makes the slots of a sink the program's outputs.
    fn play(&mut self, slots: IndexRange, first: u16, node: NodeId) {
        let slots = slots.of(&self.plan.written_slots).iter().copied();
        let outputs = slots.zip(first..).map(|(slot, channel)| OutputChannel {
            channel,
            slot,
            node,
        });
        self.plan.output_channels.extend(outputs);
    }

    fn sound(&mut self, content: u32, channels: Channels, kept: bool) -> StepOutput {
        let start = self.plan.written_slots.len();
        let slots = self.slots.write(content, channels.0, kept);
        self.plan.written_slots.extend_from_slice(slots);
        StepOutput::Audio(since(&self.plan.written_slots, start))
    }
}
