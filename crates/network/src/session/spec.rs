//! [`NetworkSpec`]: a network that was read, and from which any number of [`Network`]s can be built.

use super::actors::{create, whole};
use crate::actor::Actor;
use crate::checks::{self, CheckError, CheckResult};
use crate::network::Network;
use crate::topology::{QueueSpec, Topology};
use graph::{Graph, Node, NodeId, SourceSpan};
use units::gcd;

/// A network that was read, without errors.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    topology: Topology,
    /// Its nodes as the text has them, numbered as in `topology`.
    graph: Graph,
    check_result: CheckResult,
}

impl NetworkSpec {
    pub(super) fn new(topology: Topology, graph: Graph, check_result: CheckResult) -> Self {
        Self {
            topology,
            graph,
            check_result,
        }
    }

    /// The network as plain data.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Repetition vector and queue sizes, from the static check.
    pub fn check_result(&self) -> &CheckResult {
        &self.check_result
    }

    fn node(&self, id: NodeId) -> &Node {
        self.graph
            .node(id)
            .expect("the graph has the network's nodes")
    }

    /// Name of a node's kind.
    pub fn kind(&self, node: NodeId) -> &str {
        &self.node(node).kind
    }

    /// Returns true if a node transforms to the frequency domain, with kernels that this machine chose.
    pub(crate) fn has_transforms(&self) -> bool {
        let mut nodes = self.graph.nodes();
        nodes.any(|(_, node)| matches!(node.kind.as_str(), "overlap_save" | "stft" | "istft"))
    }

    /// Place of a node in the text.
    pub fn place(&self, node: NodeId) -> SourceSpan {
        self.node(node).span
    }

    fn only(&self, kind: &str) -> NodeId {
        let mut nodes = self.graph.nodes();
        let found = nodes.find(|(_, node)| node.kind == kind);
        found
            .expect("a network is read with one input and one output only")
            .0
    }

    /// The node where sound enters.
    pub fn input_node(&self) -> NodeId {
        self.only("input")
    }

    /// The node where sound leaves.
    pub fn output_node(&self) -> NodeId {
        self.only("output")
    }

    /// Channels, and frames that a firing moves, of the input and of the output.
    pub fn io_formats(&self) -> [(usize, usize); 2] {
        [self.input_node(), self.output_node()].map(|id| {
            let node = self.node(id);
            (whole(node, "channels"), whole(node, "piece"))
        })
    }

    /// Frames that come out for frames that go in: a fraction in lowest terms.
    pub fn ratio(&self) -> (u128, u128) {
        let [(_, input), (_, output)] = self.io_formats();
        let frames = |node: NodeId, piece: usize| {
            u128::from(self.check_result.repetitions[node.0 as usize]) * piece as u128
        };
        let (over, under) = (
            frames(self.output_node(), output),
            frames(self.input_node(), input),
        );
        let common = gcd(over, under).max(1);
        (over / common, under / common)
    }

    /// The same network with an input and an output that move one frame a firing.
    ///
    /// # Errors
    ///
    /// A size that the text sets is too small for that.
    pub(crate) fn frame_by_frame(&self) -> Result<Self, CheckError> {
        let mut spec = self.clone();
        for id in [self.input_node(), self.output_node()] {
            let node = spec.graph.node_mut(id).expect("the graph has it");
            node.set("piece", graph::ParamValue::Number(1.0));
            let ports = &mut spec.topology.nodes[id.0 as usize].ports;
            for input in &mut ports.inputs {
                (input.window, input.consume) = (1, 1);
            }
            for output in &mut ports.outputs {
                (output.window, output.produce) = (1, 1);
            }
        }
        spec.check_result = checks::check(&spec.topology)?;
        Ok(spec)
    }

    /// Puts `frames` frames of silence into the queue before the output, whose size becomes at least `size`.
    pub(crate) fn delay(&mut self, frames: usize, size: usize) {
        let output = self.output_node();
        let ends_there = |queue: &QueueSpec| queue.to.node == output;
        let found = self.topology.queues.iter().position(ends_there);
        let queue = found.expect("a queue ends at the output");
        self.topology.queues[queue].initial += frames;
        let known = &mut self.check_result.sizes[queue];
        *known = size.max(*known + frames);
    }

    /// Builds the network with these actors at its input and its output. Their ports must fit [`Self::io_formats`].
    pub fn build(&self, input: Box<dyn Actor>, output: Box<dyn Actor>) -> Network {
        let (mut input, mut output) = (Some(input), Some(output));
        let mut network = Network::new();
        for (_, node) in self.graph.nodes() {
            let given = match node.kind.as_str() {
                "input" => input.take(),
                "output" => output.take(),
                _ => None,
            };
            let actor = given.or_else(|| create(node).ok());
            let actor = actor.expect("it was created once when the network was read");
            let added = network.add_boxed(node.name.clone(), actor);
            added.expect("its name was free when it was read");
        }
        for (queue, size) in self.topology.queues.iter().zip(&self.check_result.sizes) {
            let queue = QueueSpec {
                size: Some(*size),
                ..queue.clone()
            };
            let added = network.connect_with(queue);
            added.expect("its ports were free when it was read");
        }
        network
    }
}
