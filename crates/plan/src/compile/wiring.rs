//! The result of passes 1 and 2, the input of all later ones: the graph with every node and edge looked up, and with aligners.
//!
//! ```text
//! nodes   [ n0  n1  n2 | a0  a1 ]     graph nodes by id, then aligners, each under the id of the node it delays
//! edges   [ n0 -> n1, n0 -> a0, a0 -> n2, .. ]
//! ```

use crate::{AlignerTap, DelayLine, DelayedEdge};
use graph::{Kind, Node, NodeId, PortRef, Signal};
use units::Frames;

/// The operations that a node becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodePart {
    /// One operation that runs its processor.
    Process,
    /// Two operations on one delay line.
    Delay(DelayLine),
    /// An operation that keeps its input for the program's output channels from `channel` on.
    Sink { channel: u16 },
    /// An operation that writes silence.
    Silence,
    /// An operation that delays one output: an index into [`Wiring::aligners`].
    Align(u32),
}

/// One node with its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct WiredNode<'g> {
    pub(super) id: NodeId,
    pub(super) node: &'g Node,
    pub(super) kind: &'g Kind,
    pub(super) part: NodePart,
}

/// One edge, between indices into [`Wiring::nodes`]. Edges are sorted by target and then by the rank of the source, which is the
/// order in which inputs are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WiredEdge {
    pub(super) to: u32,
    pub(super) input: u16,
    pub(super) from: u32,
    pub(super) output: u16,
    /// True if it drives a parameter: then the operation that runs the processor reads it.
    pub(super) drives: bool,
}

/// The delays of one output.
#[derive(Clone, Debug)]
pub(super) struct OutputTaps {
    /// The node.
    pub(super) node: u32,
    pub(super) output: u16,
    /// In rising order.
    pub(super) taps: Vec<AlignerTap>,
}

/// The graph with everything looked up.
#[derive(Debug)]
pub(super) struct Wiring<'g> {
    /// The nodes by id, and behind them the aligners.
    pub(super) nodes: Vec<WiredNode<'g>>,
    /// The edges in order; those to nodes that are not enabled are left out.
    pub(super) edges: Vec<WiredEdge>,
    /// By node and output.
    pub(super) aligners: Vec<OutputTaps>,
    /// See [`Plan::delayed_edges`](crate::Plan::delayed_edges).
    pub(super) delayed: Vec<DelayedEdge>,
    /// Latency of the latest sink.
    pub(super) latency: Frames,
}

impl Wiring<'_> {
    /// The edges to one node.
    pub(super) fn edges_to(&self, node: u32) -> &[WiredEdge] {
        let start = self.edges.partition_point(|e| e.to < node);
        let count = self.edges[start..].partition_point(|e| e.to == node);
        &self.edges[start..start + count]
    }

    /// The edges to one input of a node, among [`Self::edges_to`] it.
    pub(super) fn edges_at(edges: &[WiredEdge], input: u16) -> &[WiredEdge] {
        let start = edges.partition_point(|e| e.input < input);
        let count = edges[start..].partition_point(|e| e.input == input);
        &edges[start..start + count]
    }

    /// Index of a node of the graph.
    pub(super) fn index_of(&self, id: NodeId) -> Option<u32> {
        let nodes = &self.nodes[..self.nodes.len() - self.aligners.len()];
        let found = nodes.binary_search_by_key(&id, |n| n.id);
        found.ok().map(|at| at as u32)
    }

    /// Index of the node that is an aligner.
    pub(super) fn aligner_index(&self, aligner: u32) -> u32 {
        (self.nodes.len() - self.aligners.len()) as u32 + aligner
    }

    /// The node whose signal `node` puts out: itself, or for an aligner the node that it delays.
    pub(super) fn origin(&self, node: u32) -> u32 {
        match self.nodes[node as usize].part {
            NodePart::Align(aligner) => self.aligners[aligner as usize].node,
            _ => node,
        }
    }

    /// The signal of an output of a node.
    pub(super) fn signal(&self, node: u32, output: u16) -> Signal {
        let it = &self.nodes[node as usize];
        let port = match it.part {
            NodePart::Align(aligner) => self.aligners[aligner as usize].output,
            _ => output,
        };
        it.node.outputs[usize::from(port)].signal
    }

    /// Both ends of an edge between nodes of the graph.
    pub(super) fn ports(&self, edge: &WiredEdge) -> (PortRef, PortRef) {
        let port = |node: u32, port| PortRef {
            node: self.nodes[node as usize].id,
            port,
        };
        (port(edge.from, edge.output), port(edge.to, edge.input))
    }

    /// Dependencies of nodes: (before, after).
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.edges.iter().map(|e| (e.from, e.to))
    }
}
