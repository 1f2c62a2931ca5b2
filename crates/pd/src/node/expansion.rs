//! The steps of a patch as nodes and edges.

use super::lines::lines;
use super::order_edges::OrderEdges;
use super::printer::{LineSender, Printer};
use super::processors::{Add, Fill, InletSource, Messages, Outputs, Perform};
use crate::signal::{BLOCK, BoundStep, BufferId, PatchSteps, SharedName, Step};
use graph::{Node, Port, Signal};
use processor::{Expansion, InnerPort, ORDER, Processor};
use std::collections::{HashMap, HashSet};
use units::{Channels, Nanos};

/// Kind of the inner nodes. No session can have it: names of kinds in sessions have no space.
pub(super) const STEP_KIND: &str = "pd step";

/// Signal of one channel.
const SOUND: Signal = Signal::Audio(Channels(1));

/// Number of the node of the messages.
const MESSAGES: u32 = 0;

/// Makes the nodes of a patch; `messages` are its first.
pub(super) fn expand(
    patch: PatchSteps,
    (console, printer): (LineSender, Option<Printer>),
) -> Expansion {
    let PatchSteps {
        messages,
        steps,
        outputs,
        ..
    } = patch;
    let mut nodes = Nodes {
        made: Vec::with_capacity(steps.len() + 1),
        edges: Vec::new(),
        sources: HashMap::new(),
        readers: readers(&steps),
        own_numbers: own_numbers(&steps),
        order: OrderEdges::default(),
        node_of_step: Vec::with_capacity(steps.len()),
    };
    for step in steps {
        nodes.add(step);
    }
    let outputs = nodes.add_outputs(outputs);
    let (mut outside, inbox) = lines();
    Expansion {
        head: Box::new(Messages {
            step: messages,
            console,
            inbox,
            printer,
            is_loaded: false,
            jobs: None,
        }),
        head_outputs: vec![Port::new("order", ORDER)],
        nodes: nodes.made,
        edges: nodes.edges,
        outputs,
        inbox: Some(Box::new(move |text| outside.write(text))),
    }
}

/// Where a buffer is written.
#[derive(Clone, Copy)]
enum Source {
    Port(InnerPort),
    /// A number at an inlet of the only object that reads it.
    Number(usize),
}

struct Nodes {
    made: Vec<(Node, Box<dyn Processor>)>,
    edges: Vec<(InnerPort, InnerPort)>,
    /// By buffer. One without a source is silent.
    sources: HashMap<u32, Source>,
    /// By buffer: steps that read it.
    readers: HashMap<u32, Vec<usize>>,
    order: OrderEdges,
    /// Steps that give a number to the object that reads it.
    own_numbers: HashSet<usize>,
    /// By step: its node. Those that have become a part of their reader have none.
    node_of_step: Vec<Option<u32>>,
}

/// Steps that read each buffer.
fn readers(steps: &[BoundStep]) -> HashMap<u32, Vec<usize>> {
    let mut all: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, bound) in steps.iter().enumerate() {
        match &bound.step {
            Step::Fill { .. } => {}
            Step::Add { new, sum, .. } => {
                for buffer in [new, sum] {
                    all.entry(buffer.0).or_default().push(at);
                }
            }
            Step::Perform { inlets, .. } => {
                for buffer in inlets {
                    all.entry(buffer.0).or_default().push(at);
                }
            }
        }
    }
    all
}

impl Nodes {
    /// Number of the node that is made next.
    fn next(&self) -> u32 {
        u32::try_from(self.made.len() + 1).expect("steps are bounded")
    }

    fn add(&mut self, step: BoundStep) {
        let at = self.node_of_step.len();
        match step.step.clone() {
            Step::Fill { inlet, to, .. } => {
                let readers = self.readers.get(&to.0).map_or(&[][..], Vec::as_slice);
                // The next step is the object's own, or it is that of a canvas.
                let is_own = readers.len() == 1 && self.own_numbers.contains(&at);
                if is_own {
                    self.sources.insert(to.0, Source::Number(inlet));
                    return self.node_of_step.push(None);
                }
                let node = self.node(at, &step, "number", 20);
                let processor = Box::new(Fill { step, inlet });
                self.push(node, processor, &[], &[to], &[]);
            }
            Step::Add { new, sum, to } => {
                let node = self.node(at, &step, "+", 20);
                self.push(node, Box::new(Add), &[new, sum], &[to], &[]);
            }
            Step::Perform {
                inlets, outlets, ..
            } => {
                let before = self.order.before(at, &step.accesses);
                let (class, cost) = (step.class.clone(), cost_ns(&step.class));
                let node = self.node(at, &step, &class, cost);
                let (sources, ports, numbers) = self.inlets(&inlets);
                let silence = || vec![0.0; BLOCK].into_boxed_slice();
                let processor = Perform {
                    step,
                    inlets: sources,
                    numbers: numbers
                        .into_iter()
                        .map(|inlet| (inlet, silence()))
                        .collect(),
                    outlets: outlets.iter().map(|_| silence()).collect(),
                };
                self.push(node, Box::new(processor), &ports, &outlets, &before);
            }
        }
    }

    fn node(&self, at: usize, _: &BoundStep, class: &str, cost_ns: u64) -> Node {
        let mut node = Node::new(format!("{at} {class}"), STEP_KIND);
        node.cost = Some(Nanos(cost_ns));
        node
    }

    /// Where each inlet finds its signal, the buffers that become inputs of the node, and the inlets that are numbers.
    fn inlets(&self, inlets: &[BufferId]) -> (Box<[InletSource]>, Vec<BufferId>, Vec<usize>) {
        let (mut ports, mut numbers) = (Vec::new(), Vec::new());
        let sources = inlets
            .iter()
            .map(|buffer| match self.sources.get(&buffer.0) {
                Some(Source::Port(_)) => {
                    ports.push(*buffer);
                    InletSource::Port(clamp(ports.len() - 1))
                }
                Some(Source::Number(inlet)) => {
                    numbers.push(*inlet);
                    InletSource::Number(clamp(numbers.len() - 1))
                }
                None => InletSource::Silence,
            });
        (sources.collect(), ports, numbers)
    }

    /// Adds a node that reads `inputs` and writes `outputs`, after the steps `before`.
    fn push(
        &mut self,
        mut node: Node,
        processor: Box<dyn Processor>,
        inputs: &[BufferId],
        outputs: &[BufferId],
        before: &[usize],
    ) {
        let number = self.next();
        for (port, buffer) in (0..).zip(inputs) {
            node.inputs
                .push(Port::new(format!("in{}", port + 1), SOUND));
            if let Some(Source::Port(from)) = self.sources.get(&buffer.0) {
                self.edges.push((*from, InnerPort { node: number, port }));
            }
        }
        for (port, buffer) in (0..).zip(outputs) {
            node.outputs
                .push(Port::new(format!("out{}", port + 1), SOUND));
            self.sources
                .insert(buffer.0, Source::Port(InnerPort { node: number, port }));
        }
        self.wait(&mut node, number, before);
        node.outputs.push(Port::new("order", ORDER));
        self.made.push((node, processor));
        self.node_of_step.push(Some(number));
    }

    /// Lets a node wait for steps, or for the messages if it waits for nothing else.
    fn wait(&mut self, node: &mut Node, number: u32, before: &[usize]) {
        let port = clamp(node.inputs.len());
        node.inputs.push(Port::new("order", ORDER));
        let to = InnerPort { node: number, port };
        let waits_for_sound = self
            .edges
            .iter()
            .rev()
            .take(node.inputs.len())
            .any(|(_, to)| to.node == number);
        let before: Vec<u32> = before
            .iter()
            .filter_map(|step| self.node_of_step[*step])
            .collect();
        if before.is_empty() && !waits_for_sound {
            self.edges.push((
                InnerPort {
                    node: MESSAGES,
                    port: 0,
                },
                to,
            ));
        }
        for step in before {
            let port = clamp(self.made[step as usize - 1].0.outputs.len() - 1);
            self.edges.push((InnerPort { node: step, port }, to));
        }
    }

    /// Adds the node that gives the channels of `dac~`.
    fn add_outputs(&mut self, channels: Box<[crate::signal::SharedCell]>) -> Vec<InnerPort> {
        let at = self.node_of_step.len();
        let reads: Vec<(SharedName, bool)> = (0..channels.len())
            .map(|channel| (SharedName::Output(channel), false))
            .collect();
        let before = self.order.before(at, &reads);
        let mut node = Node::new("out", STEP_KIND);
        node.cost = Some(Nanos(20));
        let number = self.next();
        let mut outputs = Vec::new();
        for port in 0..clamp(channels.len()) {
            node.outputs
                .push(Port::new(format!("out{}", port + 1), SOUND));
            outputs.push(InnerPort { node: number, port });
        }
        self.wait(&mut node, number, &before);
        self.made.push((node, Box::new(Outputs { channels })));
        outputs
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
