//! The steps of a patch with their wires: where each inlet finds its signal, and for which steps each one waits.

use super::groups::{MAX_GROUP_NS, StepCost, group};
use super::order_edges::OrderEdges;
use super::processors::{Group, GroupStep, InletSource};
use crate::signal::{BLOCK, BoundStep, BufferId, SharedName, Step};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Where an inlet finds its signal.
#[derive(Clone, Copy)]
enum Source {
    /// At an outlet of a step.
    Step(usize, usize),
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
                Source::Step(step, _) => Some(*step),
                _ => None,
            }));
            let (class, cost_ns) = class_and_cost(&bound);
            for (outlet, buffer) in outlets.iter().enumerate() {
                sources.insert(buffer.0, Source::Step(this, outlet));
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
        let mut made: Vec<MadeGroup> = (0..places.outputs.len())
            .map(|_| MadeGroup::default())
            .collect();
        for (at, step) in self.steps.into_iter().enumerate() {
            let (group, _) = places.of_step[at];
            made[group].add(step, group, places);
        }
        for (made, outputs) in made.iter_mut().zip(&places.outputs) {
            made.group.outputs = outputs
                .iter()
                .map(|(step, outlet)| (places.of_step[*step].1, *outlet))
                .collect();
        }
        made
    }
}

/// Where steps lie.
pub(super) struct Places {
    /// By step: its group, and its place in it.
    pub(super) of_step: Vec<(usize, usize)>,
    /// By group: outlets of its steps that other groups read.
    outputs: Vec<Vec<(usize, usize)>>,
    /// By step and outlet: the output of its group.
    pub(super) ports: HashMap<(usize, usize), u16>,
}

impl Places {
    pub(super) fn new(wired: &WiredSteps, groups: &[Vec<usize>]) -> Self {
        let mut of_step = vec![(0, 0); wired.steps.len()];
        for (group, steps) in groups.iter().enumerate() {
            for (place, step) in steps.iter().enumerate() {
                of_step[*step] = (group, place);
            }
        }
        let mut places = Self {
            of_step,
            outputs: vec![Vec::new(); groups.len()],
            ports: HashMap::new(),
        };
        for (at, step) in wired.steps.iter().enumerate() {
            for source in &step.inlets {
                if let Source::Step(from, outlet) = *source
                    && places.of_step[from].0 != places.of_step[at].0
                {
                    places.give(from, outlet);
                }
            }
        }
        places
    }

    /// Makes an outlet an output of its group.
    fn give(&mut self, step: usize, outlet: usize) {
        let outputs = &mut self.outputs[self.of_step[step].0];
        self.ports.entry((step, outlet)).or_insert_with(|| {
            outputs.push((step, outlet));
            clamp(outputs.len() - 1)
        });
    }

    /// The groups of `steps`, each once.
    pub(super) fn groups_of(&self, steps: &[usize]) -> Vec<usize> {
        let groups = steps.iter().map(|step| self.of_step[*step].0);
        BTreeSet::from_iter(groups).into_iter().collect()
    }
}

/// A group, and what its node needs.
#[derive(Default)]
pub(super) struct MadeGroup {
    pub(super) group: Group,
    /// Its first steps by name.
    pub(super) name: String,
    pub(super) cost_ns: u64,
    /// Step and outlet of each input.
    pub(super) inputs: Vec<(usize, usize)>,
    /// Groups for which it waits, beside sound.
    pub(super) before: Vec<usize>,
}

impl MadeGroup {
    fn add(&mut self, step: WiredStep, group: usize, places: &Places) {
        let mut numbers = Vec::new();
        let inlets = step.inlets.iter().map(|source| match *source {
            Source::Silence => InletSource::Silence,
            Source::Number(inlet) => {
                numbers.push((inlet, silence()));
                InletSource::Number(clamp(numbers.len() - 1))
            }
            Source::Step(from, outlet) if places.of_step[from].0 == group => InletSource::Step {
                step: clamp(places.of_step[from].1),
                outlet: clamp(outlet),
            },
            Source::Step(from, outlet) => InletSource::Port(clamp(self.input(from, outlet))),
        });
        let inlets: Box<[InletSource]> = inlets.collect();
        let sound: BTreeSet<usize> = (self.inputs.iter())
            .map(|(step, _)| places.of_step[*step].0)
            .collect();
        let before = places.groups_of(&step.cost.before).into_iter();
        self.before.extend(before.filter(|other| *other != group));
        self.before.retain(|other| !sound.contains(other));
        self.before.sort_unstable();
        self.before.dedup();
        self.cost_ns += step.cost.cost_ns;
        self.add_name(&step.name);
        self.group.add(
            GroupStep {
                step: step.bound,
                inlets,
                numbers: numbers.into(),
            },
            (0..step.outlets).map(|_| silence()).collect(),
        );
    }

    /// The input that carries an outlet of another group.
    fn input(&mut self, step: usize, outlet: usize) -> usize {
        let known = self.inputs.iter().position(|it| *it == (step, outlet));
        known.unwrap_or_else(|| {
            self.inputs.push((step, outlet));
            self.inputs.len() - 1
        })
    }

    /// Adds the name of a step: the first whole, three more by class, then dots.
    fn add_name(&mut self, step: &str) {
        match self.group.len() {
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

fn silence() -> Box<[f32]> {
    vec![0.0; BLOCK].into_boxed_slice()
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

fn clamp(number: usize) -> u16 {
    u16::try_from(number).expect("a node has few ports")
}
