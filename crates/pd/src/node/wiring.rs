//! The steps of a patch with their wires: where each inlet finds its signal, and for which steps each one waits.

use super::groups::{MAX_GROUP_NS, StepCost, group};
use super::order_edges::OrderEdges;
use super::processors::{GroupStep, StepGroup};
use crate::signal::{BoundStep, BufferId, SharedName, Step};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A step, and its outlet.
pub(super) type Outlet = (usize, usize);

/// Source of an inlet's signal.
#[derive(Clone, Copy)]
enum Source {
    /// At an outlet of a step.
    Outlet(Outlet),
    /// At an inlet of its own object, which is a number.
    Number(usize),
    /// Nowhere.
    Silence,
}

/// A step with its wires.
struct WiredStep {
    bound: BoundStep,
    /// Its number in Pd's order, and its class.
    name: String,
    inlets: Vec<Source>,
    outlets: usize,
    cost: StepCost,
}

/// All steps but those that only give a number to their own object.
pub(super) struct WiredSteps {
    steps: Vec<WiredStep>,
    /// Steps for which the channels of `dac~` wait.
    pub(super) before_end: Vec<usize>,
}

impl WiredSteps {
    /// Wires `steps`, which come in Pd's order; `dac~` has `channels` channels.
    pub(super) fn new(steps: Vec<BoundStep>, channels: usize) -> Self {
        let (readers, own_numbers) = (readers(&steps), own_numbers(&steps));
        let mut wired = Vec::with_capacity(steps.len());
        let mut order = OrderEdges::default();
        let mut sources = HashMap::new();
        for (at, bound) in steps.into_iter().enumerate() {
            let this = wired.len();
            if let Step::Fill { inlet, to, .. } = &bound.step {
                let is_read_once = readers.get(&to.0) == Some(&1);
                if is_read_once && own_numbers.contains(&at) {
                    sources.insert(to.0, Source::Number(*inlet));
                    continue;
                }
            }
            let (inlets, outlets) = buffers(&bound.step);
            let find = |buffer: &BufferId| sources.get(&buffer.0).copied();
            let inlets = inlets.iter().map(|it| find(it).unwrap_or(Source::Silence));
            let inlets: Vec<Source> = inlets.collect();
            let mut before = order.before(this, &bound.accesses);
            before.extend(inlets.iter().filter_map(|source| match source {
                Source::Outlet((step, _)) => Some(*step),
                _ => None,
            }));
            let (class, cost_ns) = class_and_cost(&bound);
            for (outlet, buffer) in outlets.iter().enumerate() {
                sources.insert(buffer.0, Source::Outlet((this, outlet)));
            }
            wired.push(WiredStep {
                name: format!("{at} {class}"),
                inlets,
                outlets: outlets.len(),
                cost: StepCost { before, cost_ns },
                bound,
            });
        }
        let reads = (0..channels).map(|channel| (SharedName::Output(channel), false));
        let before_end = order.before(wired.len(), &Vec::from_iter(reads));
        Self {
            steps: wired,
            before_end,
        }
    }

    /// Cost of a block of all steps, in nanoseconds.
    pub(super) fn cost_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.cost.cost_ns).sum()
    }

    /// The steps of each node: with `fuse` cheap ones together, else each alone.
    pub(super) fn groups(&self, fuse: bool) -> Vec<Vec<usize>> {
        let costs = self.steps.iter().map(|step| &step.cost);
        group(&Vec::from_iter(costs), if fuse { MAX_GROUP_NS } else { 0 })
    }

    /// The groups at `places`, in their order.
    pub(super) fn into_groups(self, places: &Places) -> Vec<MadeGroup> {
        let inputs = self.inputs(places);
        let mut made: Vec<MadeGroup> = inputs.into_iter().map(MadeGroup::new).collect();
        for (at, step) in self.steps.into_iter().enumerate() {
            let group = places.of_step[at];
            made[group].add(at, step, (group, places));
        }
        for (made, outputs) in made.iter_mut().zip(&places.outputs) {
            let blocks = outputs.iter().map(|outlet| made.blocks[outlet]);
            made.group.outputs = blocks.collect();
        }
        made
    }

    /// By group: the outlets of other groups that it reads, each once.
    fn inputs(&self, places: &Places) -> Vec<Vec<Outlet>> {
        let mut inputs = vec![Vec::new(); places.outputs.len()];
        for (step, group) in self.steps.iter().zip(&places.of_step) {
            for source in &step.inlets {
                if let Source::Outlet(outlet) = source
                    && places.of_step[outlet.0] != *group
                    && !inputs[*group].contains(outlet)
                {
                    inputs[*group].push(*outlet);
                }
            }
        }
        inputs
    }
}

/// Places of steps in groups.
pub(super) struct Places {
    /// By step: its group.
    pub(super) of_step: Vec<usize>,
    /// By group: outlets of its steps that other groups read.
    outputs: Vec<Vec<Outlet>>,
    /// By outlet: the output of its group.
    pub(super) ports: HashMap<Outlet, u16>,
}

impl Places {
    pub(super) fn new(wired: &WiredSteps, groups: &[Vec<usize>]) -> Self {
        let mut places = Self {
            of_step: vec![0; wired.steps.len()],
            outputs: vec![Vec::new(); groups.len()],
            ports: HashMap::new(),
        };
        for (group, steps) in groups.iter().enumerate() {
            for step in steps {
                places.of_step[*step] = group;
            }
        }
        for (at, step) in wired.steps.iter().enumerate() {
            for source in &step.inlets {
                if let Source::Outlet(outlet) = *source
                    && places.of_step[outlet.0] != places.of_step[at]
                {
                    places.give(outlet);
                }
            }
        }
        places
    }

    /// Makes an outlet an output of its group.
    fn give(&mut self, outlet: Outlet) {
        let outputs = &mut self.outputs[self.of_step[outlet.0]];
        self.ports.entry(outlet).or_insert_with(|| {
            outputs.push(outlet);
            u16::try_from(outputs.len() - 1).expect("a node has few ports")
        });
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
    /// Outlet at each input.
    pub(super) inputs: Vec<Outlet>,
    /// Groups for which it waits, beside sound.
    pub(super) before: BTreeSet<usize>,
    /// The block of each outlet that is there.
    blocks: HashMap<Outlet, BufferId>,
}

/// The block of [`StepGroup::blocks`] that stays silent.
const SILENCE: BufferId = BufferId(0);

impl MadeGroup {
    /// A group without steps that reads `inputs`.
    fn new(inputs: Vec<Outlet>) -> Self {
        let mut made = Self {
            group: StepGroup::default(),
            name: String::new(),
            cost_ns: 0,
            before: BTreeSet::new(),
            blocks: HashMap::new(),
            inputs,
        };
        made.group.add_block();
        for outlet in &made.inputs {
            let block = made.group.add_block();
            made.group.inputs.push(block);
            made.blocks.insert(*outlet, block);
        }
        made
    }

    /// Adds the step `at`.
    fn add(&mut self, at: usize, step: WiredStep, (group, places): (usize, &Places)) {
        let mut numbers = Vec::new();
        let inlets = step.inlets.iter().map(|source| match source {
            Source::Silence => SILENCE,
            Source::Outlet(outlet) => self.blocks[outlet],
            Source::Number(inlet) => {
                let block = self.group.add_block();
                numbers.push((*inlet, block));
                block
            }
        });
        let inlets = inlets.collect();
        let sound = self.inputs.iter().map(|outlet| places.of_step[outlet.0]);
        let sound: BTreeSet<usize> = sound.collect();
        let before = places.groups_of(&step.cost.before).into_iter();
        (self.before).extend(before.filter(|other| *other != group && !sound.contains(other)));
        self.cost_ns += step.cost.cost_ns;
        self.add_name(&step.name);
        let first = self.group.blocks.len();
        for outlet in 0..step.outlets {
            self.blocks.insert((at, outlet), self.group.add_block());
        }
        self.group.steps.push(GroupStep {
            step: step.bound,
            inlets,
            numbers: numbers.into(),
            outlets: first..first + step.outlets,
        });
    }

    /// Adds the name of a step: the first whole, three more by class, then dots.
    fn add_name(&mut self, step: &str) {
        match self.group.steps.len() {
            0 => self.name.push_str(step),
            1..4 => {
                let class = step.split_once(' ').map_or(step, |(_, class)| class);
                self.name.push(' ');
                self.name.push_str(class);
            }
            4 => self.name.push_str(" …"),
            _ => {}
        }
    }
}

/// Buffers that a step reads and writes.
fn buffers(step: &Step) -> (Vec<BufferId>, Vec<BufferId>) {
    match step {
        Step::Fill { to, .. } => (Vec::new(), vec![*to]),
        Step::Add { new, sum, to } => (vec![*new, *sum], vec![*to]),
        Step::Perform {
            inlets, outlets, ..
        } => (inlets.clone(), outlets.clone()),
    }
}

/// Number of steps that read each buffer.
fn readers(steps: &[BoundStep]) -> HashMap<u32, usize> {
    let mut counts = HashMap::new();
    for bound in steps {
        let distinct: HashSet<u32> = buffers(&bound.step).0.iter().map(|it| it.0).collect();
        for buffer in distinct {
            *counts.entry(buffer).or_insert(0) += 1;
        }
    }
    counts
}

/// Class of a step, for its name, and its typical cost of a block in nanoseconds.
fn class_and_cost(bound: &BoundStep) -> (&str, u64) {
    match &bound.step {
        Step::Fill { .. } => ("number", 20),
        Step::Add { .. } => ("+", 20),
        Step::Perform { .. } => (&bound.class, cost_ns(&bound.class)),
    }
}

/// Typical cost of a block of an object, in nanoseconds.
fn cost_ns(class: &str) -> u64 {
    match class {
        "osc~" | "tabosc4~" | "delread4~" | "vd~" | "tabread4~" | "cos~" | "sqrt~" | "bp~" => 250,
        "vcf~" | "pow~" | "log~" | "exp~" | "mtof~" | "ftom~" | "dbtorms~" | "rmstodb~" => 800,
        "lop~" | "hip~" | "biquad~" | "phasor~" | "noise~" | "vline~" | "env~" | "cpole~" => 150,
        "block~" | "switch~" => 5000,
        _ => 40,
    }
}

/// The steps that fill a buffer with a number of the object that reads it.
fn own_numbers(steps: &[BoundStep]) -> HashSet<usize> {
    let mut filled = HashMap::new();
    let mut own = HashSet::new();
    for (at, bound) in steps.iter().enumerate() {
        match &bound.step {
            Step::Fill { object, to, .. } => {
                filled.insert(to.0, (at, *object));
            }
            Step::Perform { object, inlets, .. } => {
                let fills = inlets.iter().filter_map(|buffer| filled.get(&buffer.0));
                own.extend(fills.filter(|(_, of)| of == object).map(|(at, _)| *at));
            }
            Step::Add { .. } => {}
        }
    }
    own
}
