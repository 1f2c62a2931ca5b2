//! The steps of a patch with their wires: for which steps each one waits, and which signals go from group to group.

use super::bundles::bundle;
use super::groups::{MAX_GROUP_NS, StepCost, group};
use super::processors::StepGroup;
use crate::control::CHANNELS_OF_PATCH;
use crate::signal::{BoundStep, BufferId, MessageStep, OrderEdges, SharedName, Step};
use std::collections::{BTreeSet, HashMap};

/// A step with its wires.
struct WiredStep {
    bound: BoundStep,
    /// Its number in Pd's order, and its class.
    name: String,
    /// Signals of other steps that it reads.
    reads: Vec<BufferId>,
    cost: StepCost,
}

/// All steps of a patch.
pub(super) struct WiredSteps {
    steps: Vec<WiredStep>,
    /// The step that writes each signal.
    writers: HashMap<BufferId, usize>,
    /// By patch: steps for which its channels of `dac~` wait.
    pub(super) before_end: Vec<Vec<usize>>,
    /// By patch: steps that read its channels of `adc~`.
    pub(super) behind_input: Vec<Vec<usize>>,
}

impl WiredSteps {
    /// Wires `steps`, which come in Pd's order; `channels` has the numbers of those of `dac~`, by patch.
    pub(super) fn new(
        steps: Vec<BoundStep>,
        channels: &[usize],
        patch_of: impl Fn(&Step) -> Option<u16>,
    ) -> Self {
        let mut wired = Vec::with_capacity(steps.len());
        let mut order = OrderEdges::default();
        let mut writers = HashMap::new();
        let mut behind_input = vec![Vec::new(); channels.len()];
        let mut patch = 0;
        for (at, bound) in steps.into_iter().enumerate() {
            let mut reads = bound.step.inlets();
            reads.retain(|signal| writers.contains_key(signal));
            let mut before = order.before(at, &bound.accesses);
            before.extend(reads.iter().map(|signal| writers[signal]));
            for signal in bound.step.outlets() {
                writers.insert(signal, at);
            }
            // A sum belongs to the patch of the step before.
            patch = patch_of(&bound.step).unwrap_or(patch);
            if bound
                .accesses
                .iter()
                .any(|access| matches!(access.0, SharedName::Input(_)))
            {
                behind_input[usize::from(patch)].push(at);
            }
            let (class, cost_ns) = class_and_cost(&bound);
            wired.push(WiredStep {
                name: format!("{at} {class}"),
                reads,
                cost: StepCost {
                    before,
                    cost_ns,
                    patch,
                },
                bound,
            });
        }
        let end = wired.len();
        let before_end = channels.iter().enumerate().map(|(patch, count)| {
            let first = patch * CHANNELS_OF_PATCH;
            let reads = (first..first + count).map(|at| (SharedName::Output(at), false));
            order.before(end + patch, &Vec::from_iter(reads))
        });
        let before_end = before_end.collect();
        Self {
            steps: wired,
            writers,
            before_end,
            behind_input,
        }
    }

    /// Cost of a block of all steps, in nanoseconds.
    pub(super) fn cost_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.cost.cost_ns).sum()
    }

    /// The steps of each node: with `fuse` cheap ones together, else each alone.
    pub(super) fn groups(&self, fuse: bool) -> Vec<Vec<usize>> {
        let costs = Vec::from_iter(self.steps.iter().map(|step| &step.cost));
        if !fuse {
            return group(&costs, 0);
        }
        let classes = self.steps.iter().map(|step| &*step.bound.class);
        bundle(
            group(&costs, MAX_GROUP_NS),
            &costs,
            &Vec::from_iter(classes),
        )
    }

    /// All steps in one node.
    pub(super) fn one_group(&self) -> Vec<Vec<usize>> {
        let all = Vec::from_iter(0..self.steps.len());
        if all.is_empty() {
            Vec::new()
        } else {
            vec![all]
        }
    }

    /// The groups at `places`, in their order.
    pub(super) fn into_groups(self, places: &Places, messages: &mut MessageStep) -> Vec<MadeGroup> {
        let mut all = Vec::from_iter(places.groups.iter().map(|_| Vec::new()));
        for (at, step) in self.steps.into_iter().enumerate() {
            all[places.of_step[at]].push(step);
        }
        let all = all.into_iter().zip(&places.groups).enumerate();
        let made =
            all.map(|(at, (steps, group))| MadeGroup::new(at, steps, group, places, messages));
        made.collect()
    }
}

/// Signals that a group takes from others, and those that it gives to others, each once.
#[derive(Default)]
struct GroupPorts {
    inputs: Vec<BufferId>,
    outputs: Vec<BufferId>,
}

/// Places of steps in groups.
pub(super) struct Places {
    /// By step: its group.
    of_step: Vec<usize>,
    groups: Vec<GroupPorts>,
    /// By signal that goes from group to group: the group that gives it, and its output.
    pub(super) outputs: HashMap<BufferId, (usize, u16)>,
}

impl Places {
    pub(super) fn new(wired: &WiredSteps, groups: &[Vec<usize>]) -> Self {
        let mut places = Self {
            of_step: vec![0; wired.steps.len()],
            groups: groups.iter().map(|_| GroupPorts::default()).collect(),
            outputs: HashMap::new(),
        };
        for (group, steps) in groups.iter().enumerate() {
            for step in steps {
                places.of_step[*step] = group;
            }
        }
        for (at, step) in wired.steps.iter().enumerate() {
            for signal in &step.reads {
                places.connect(*signal, wired.writers[signal], at);
            }
        }
        places
    }

    /// Leads a signal from one step to another, between groups.
    fn connect(&mut self, signal: BufferId, from: usize, to: usize) {
        let (from, to) = (self.of_step[from], self.of_step[to]);
        if from == to {
            return;
        }
        if !self.groups[to].inputs.contains(&signal) {
            self.groups[to].inputs.push(signal);
        }
        let outputs = &mut self.groups[from].outputs;
        self.outputs.entry(signal).or_insert_with(|| {
            outputs.push(signal);
            let port = u16::try_from(outputs.len() - 1).expect("a node has few ports");
            (from, port)
        });
    }

    /// Number of signals that a group gives to others.
    pub(super) fn output_count(&self, group: usize) -> usize {
        self.groups[group].outputs.len()
    }

    /// The groups of `steps`, each once.
    pub(super) fn groups_of(&self, steps: &[usize]) -> BTreeSet<usize> {
        steps.iter().map(|step| self.of_step[*step]).collect()
    }
}

/// A group, and what its node needs.
pub(super) struct MadeGroup {
    pub(super) group: StepGroup,
    /// Its first steps by name.
    pub(super) name: String,
    pub(super) cost_ns: u64,
    pub(super) patch: u16,
    /// Signal at each input.
    pub(super) inputs: Vec<BufferId>,
    /// Groups for which it waits, beside sound.
    pub(super) before: BTreeSet<usize>,
}

impl MadeGroup {
    fn new(
        at: usize,
        steps: Vec<WiredStep>,
        ports: &GroupPorts,
        places: &Places,
        messages: &mut MessageStep,
    ) -> Self {
        let before = steps.iter().flat_map(|step| &step.cost.before);
        let mut before = places.groups_of(&Vec::from_iter(before.copied()));
        before.remove(&at);
        for signal in &ports.inputs {
            before.remove(&places.outputs[signal].0);
        }
        let name = name(&steps);
        let patch = steps.first().map_or(0, |step| step.cost.patch);
        let cost_ns = steps.iter().map(|step| step.cost.cost_ns).sum();
        let steps = steps.into_iter().map(|step| step.bound).collect();
        let (row, blocks) = messages.row(steps, (&ports.inputs, &ports.outputs));
        let in_blocks = |signals: &[BufferId]| signals.iter().map(|it| blocks.block(*it)).collect();
        Self {
            group: StepGroup {
                row,
                inputs: in_blocks(&ports.inputs),
                outputs: in_blocks(&ports.outputs),
                closed: None,
            },
            name,
            cost_ns,
            patch,
            inputs: ports.inputs.clone(),
            before,
        }
    }
}

/// Name of a group: the first step whole, three more by class, then dots.
fn name(steps: &[WiredStep]) -> String {
    let mut name = String::new();
    for (at, step) in steps.iter().enumerate().take(5) {
        match at {
            0 => name.push_str(&step.name),
            1..4 => {
                let class = step.name.split_once(' ').map_or("", |(_, class)| class);
                name.push(' ');
                name.push_str(class);
            }
            _ => name.push_str(" …"),
        }
    }
    name
}

/// Class of a step, for its name, and its typical cost of a block in nanoseconds.
fn class_and_cost(bound: &BoundStep) -> (&str, u64) {
    match &bound.step {
        Step::Fill { .. } => ("number", 10),
        Step::Add { .. } => ("+", 10),
        Step::Perform { .. } => (&bound.class, cost_ns(&bound.class)),
    }
}

/// Typical cost of a block of an object, in nanoseconds.
fn cost_ns(class: &str) -> u64 {
    match class {
        "vcf~" | "pow~" | "log~" | "tabosc4~" | "delread4~" | "vd~" | "tabread4~" | "biquad~" => {
            200
        }
        "osc~" | "lop~" | "hip~" | "bp~" | "rpole~" | "cpole~" | "cos~" | "env~" | "vline~" => 100,
        "exp~" | "mtof~" | "ftom~" | "dbtorms~" | "rmstodb~" | "sqrt~" | "phasor~" | "noise~" => 60,
        "block~" | "switch~" => 5000,
        _ => 20,
    }
}
