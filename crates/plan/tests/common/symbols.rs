//! The computation of a plan, in symbols: each value is a hash of its origin. A plan that is followed in any order
//! must give what the graph says.

use super::Patch;
use divisi_plan::{ChannelSource, Plan, SlotId, Step, StepId, StepInput, StepOp, StepOutput};
use graph::{NodeId, Role, Signal};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The result: by sink and by delay the value of each channel.
pub(crate) type Outcome = BTreeMap<(NodeId, usize), u64>;

pub(crate) fn hash(it: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    // 0 is silence.
    hasher.finish() | 1
}

fn sum(values: &[u64]) -> u64 {
    match values {
        [] => 0,
        [one] => *one,
        all => hash(all),
    }
}

/// Follows a plan on symbols.
pub(crate) struct Follower<'a> {
    plan: &'a Plan,
    slots: Vec<u64>,
    sends: Vec<u64>,
    /// By stage buffer, place and channel.
    buffers: Vec<Vec<Vec<u64>>>,
    outcome: Outcome,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            slots: vec![0; plan.slots as usize],
            sends: vec![0; plan.event_buffers as usize],
            buffers: (plan.stage_buffers.iter())
                .map(|p| vec![vec![0; p.channels.count()]; p.lag as usize + 1])
                .collect(),
            outcome: Outcome::new(),
        }
    }

    /// One cycle, its steps in one of the orders that the successors allow.
    pub(crate) fn cycle(&mut self, cycle: u32, seed: u64) -> Outcome {
        let mut waits: Vec<u32> = self.plan.steps.iter().map(|s| s.activation).collect();
        let ready = self
            .plan
            .steps_with_ids()
            .filter(|(_, s)| s.activation == 0);
        let mut ready: Vec<StepId> = ready.map(|(id, _)| id).collect();
        while !ready.is_empty() {
            let pick = hash((seed, cycle, ready.len())) as usize % ready.len();
            let id = ready.swap_remove(pick);
            let step = self.plan.steps[id.0 as usize];
            match step.op {
                StepOp::Loop(id) => {
                    let members = self.plan.loops[id.0 as usize].steps;
                    for member in members.of(&self.plan.loop_steps) {
                        self.step(member, (cycle, step.lag));
                    }
                }
                _ => self.step(&step, (cycle, step.lag)),
            }
            for next in self.plan.successors_of(id) {
                waits[next.0 as usize] -= 1;
                if waits[next.0 as usize] == 0 {
                    ready.push(*next);
                }
            }
        }
        let mut outcome = self.outcome.clone();
        let mut first = HashMap::new();
        for sink in &self.plan.output_channels {
            let base = *first.entry(sink.node).or_insert(sink.channel);
            let channel = usize::from(sink.channel - base);
            outcome.insert((sink.node, channel), self.slots[sink.slot.0 as usize]);
        }
        outcome
    }

    fn step(&mut self, step: &Step, (cycle, lag): (u32, u32)) {
        let Some(cycle) = cycle.checked_sub(lag) else {
            return;
        };
        if cycle % step.every != step.phase {
            return;
        }
        let inputs: Vec<Vec<u64>> = step
            .inputs
            .of(&self.plan.inputs)
            .iter()
            .map(|port| self.input(*port))
            .collect();
        for (port, output) in step.outputs.of(&self.plan.outputs).iter().enumerate() {
            let value = |channel| match step.op {
                StepOp::Sink { .. } => inputs[0][channel],
                StepOp::Silence { .. } => 0,
                StepOp::Process { node, .. } => hash((node, port, channel, cycle, &inputs)),
                StepOp::Align { .. } => inputs[0][channel],
                StepOp::Receive { buffer, .. } => {
                    let places = &self.buffers[buffer.0 as usize];
                    places[cycle as usize % places.len()][channel]
                }
                _ => unreachable!("the others have no outputs"),
            };
            match output {
                StepOutput::Events(send) => self.sends[send.0 as usize] = value(0),
                StepOutput::Audio(span) => {
                    for (channel, slot) in span.of(&self.plan.written_slots).iter().enumerate() {
                        self.slots[slot.0 as usize] = value(channel);
                    }
                }
            }
        }
        if let StepOp::Send { buffer, .. } = step.op {
            let places = &mut self.buffers[buffer.0 as usize];
            let place = cycle as usize % places.len();
            places[place].clone_from(&inputs[0]);
        }
        if let StepOp::WriteLine { node, .. } = step.op {
            for (channel, value) in inputs[0].iter().enumerate() {
                self.outcome.insert((node, channel), *value);
            }
        }
    }

    fn input(&mut self, port: StepInput) -> Vec<u64> {
        let plan = self.plan;
        match port {
            StepInput::Events(span) => {
                let sources = span.of(&plan.event_sources).iter();
                let sources: Vec<u64> = sources.map(|s| self.sends[s.0 as usize]).collect();
                vec![sum(&sources)]
            }
            StepInput::Audio(span) => span
                .of(&plan.channel_sources)
                .iter()
                .map(|f| self.feed(*f))
                .collect(),
        }
    }

    fn feed(&mut self, feed: ChannelSource) -> u64 {
        let slot = |id: SlotId| self.slots[id.0 as usize];
        match feed {
            ChannelSource::Silence => 0,
            ChannelSource::Slot(id) => slot(id),
            ChannelSource::Sum { from, into } => {
                let all = from.of(&self.plan.summed_slots).iter();
                let value = sum(&all.map(|s| slot(*s)).collect::<Vec<_>>());
                self.slots[into.0 as usize] = value;
                value
            }
        }
    }
}

/// The oracle: computes the graph itself, cycle by cycle. Its edges go forward or into delays.
#[derive(Default)]
pub(crate) struct Oracle {
    values: HashMap<(NodeId, usize, usize), u64>,
    kept: Outcome,
}

impl Oracle {
    /// One cycle; when a node runs, the plan says.
    pub(crate) fn cycle(&mut self, patch: &Patch, plan: &Plan, cycle: u32) -> Outcome {
        for (id, node) in patch.graph.nodes() {
            let rests = rests(plan, id, cycle);
            if rests {
                continue;
            }
            let delay = node.kind == "delay";
            let inputs = if delay {
                vec![]
            } else {
                self.inputs(patch, id)
            };
            for (port, output) in node.outputs.iter().enumerate() {
                let channels = match output.signal {
                    Signal::Audio(channels) => channels.count(),
                    _ => 1,
                };
                for channel in 0..channels {
                    let value = hash((id, port, channel, cycle, &inputs));
                    let value = if node.enabled { value } else { 0 };
                    self.values.insert((id, port, channel), value);
                }
            }
            let sink = patch.catalogue.get(&node.kind).map(|k| k.role) == Some(Role::Sink);
            if sink && node.enabled {
                self.keep(id, &inputs);
            }
        }
        for (id, node) in patch.graph.nodes() {
            if node.kind == "delay" && node.enabled {
                let inputs = self.inputs(patch, id);
                self.keep(id, &inputs);
            }
        }
        self.kept.clone()
    }

    fn keep(&mut self, id: NodeId, inputs: &[Vec<u64>]) {
        for (channel, value) in inputs[0].iter().enumerate() {
            self.kept.insert((id, channel), *value);
        }
    }

    fn inputs(&self, patch: &Patch, id: NodeId) -> Vec<Vec<u64>> {
        let node = patch.graph.node(id).expect("it is there");
        let mut all = Vec::new();
        for (port, input) in node.inputs.iter().enumerate() {
            let channels = match input.signal {
                Signal::Audio(channels) => channels.count(),
                _ => 1,
            };
            let edges = patch.graph.edges().iter();
            let edges = edges.filter(|e| e.to.node == id && usize::from(e.to.port) == port);
            let mut sources: Vec<_> = edges.map(|e| e.from).collect();
            sources.sort_unstable();
            let value = |channel: usize| {
                let values = sources.iter().flat_map(|from| {
                    let ports = &patch.graph.node(from.node).expect("it is there").outputs;
                    let width = match ports[usize::from(from.port)].signal {
                        Signal::Audio(width) => width.count(),
                        _ => 1,
                    };
                    // One channel spreads over all, and all are added into one; what has never run is silent.
                    let read = match channels {
                        1 => 0..width,
                        _ => channel.min(width - 1)..channel.min(width - 1) + 1,
                    };
                    let of = |c| self.values.get(&(from.node, usize::from(from.port), c));
                    read.map(move |c| of(c).copied().unwrap_or(0))
                });
                sum(&values.collect::<Vec<_>>())
            };
            all.push((0..channels).map(value).collect());
        }
        all
    }
}

/// Returns true if the node does not run in this cycle. A node that has never run puts out silence.
fn rests(plan: &Plan, id: NodeId, cycle: u32) -> bool {
    let own = |step: &&Step| match step.op {
        StepOp::Process { node, .. } | StepOp::Sink { node } | StepOp::Silence { node } => {
            node == id
        }
        _ => false,
    };
    let step = plan.steps.iter().chain(&plan.loop_steps).find(own);
    let step = step.expect("every node has a step");
    cycle % step.every != step.phase
}
