//! [`cut`]: the part of a graph that can be played ahead, and the rest.
//!
//! A node can, if it is exact from a saved state and all that it reads can. Only sound leaves the part: a node whose events or
//! numbers go to the rest stays in the rest, and so does what it feeds.

use super::bus::{STAND_IN_KIND, border_node};
use graph::{Edge, Graph, Node, NodeId, PortRef, Signal, SourceSpan};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use units::Channels;

/// A graph in two.
pub(crate) struct AheadCut {
    /// The part that is played ahead. Each signal that leaves it goes to a node of the kind `ahead border`.
    pub(crate) ahead: Graph,
    /// The graph without it. Nodes of which something leaves the part have stand-ins, with their ids: so each sum has its terms
    /// in the same order.
    pub(crate) rest: Graph,
    /// Nodes of the part.
    pub(crate) nodes: BTreeSet<NodeId>,
    /// The signals that leave it.
    pub(crate) signals: Vec<LeavingSignal>,
}

/// A signal that leaves the part.
pub(crate) struct LeavingSignal {
    /// The output.
    pub(crate) from: PortRef,
    pub(crate) channels: Channels,
    /// First channel on the bus.
    pub(crate) first: usize,
    /// Its node in the part's graph.
    pub(crate) border: NodeId,
}

impl AheadCut {
    /// Number of channels on the bus.
    pub(crate) fn channels(&self) -> usize {
        let widths = self.signals.iter();
        widths.map(|signal| signal.channels.count()).sum()
    }

    /// The nodes with stand-ins: for each of their outputs, the first channel on the bus.
    pub(crate) fn stand_ins(&self) -> BTreeMap<NodeId, Vec<Option<usize>>> {
        let mut all: BTreeMap<NodeId, Vec<Option<usize>>> = BTreeMap::new();
        for signal in &self.signals {
            let outputs = all.entry(signal.from.node).or_default();
            let port = usize::from(signal.from.port);
            outputs.resize(outputs.len().max(port + 1), None);
            outputs[port] = Some(signal.first);
        }
        all
    }
}

/// Cuts `graph`: the part has nodes that `is_exact` accepts. `None` if there is none from which a signal leaves.
pub(crate) fn cut(
    graph: &Graph,
    mut is_exact: impl FnMut(NodeId, &Node) -> bool,
) -> Option<AheadCut> {
    let outside = graph.nodes().filter(|(id, node)| !is_exact(*id, node));
    let outside = outside.map(|(id, _)| id).collect();
    let nodes = without_dependents(graph, outside);
    let mut parts = AheadCut {
        ahead: graph.clone(),
        rest: graph.clone(),
        signals: leaving(graph, &nodes),
        nodes,
    };
    if parts.signals.is_empty() {
        return None;
    }
    parts.reduce_ahead();
    parts.reduce_rest();
    Some(parts)
}

/// The nodes of `graph` without `outside`, what reads it, and what gives it anything but sound.
fn without_dependents(graph: &Graph, mut outside: Vec<NodeId>) -> BTreeSet<NodeId> {
    let mut dependents: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for edge in graph.edges() {
        let (from, to) = (edge.from.node, edge.to.node);
        dependents.entry(from).or_default().push(to);
        if !matches!(signal(graph, edge.from), Some(Signal::Audio(_))) {
            dependents.entry(to).or_default().push(from);
        }
    }
    let mut nodes: BTreeSet<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    while let Some(id) = outside.pop() {
        if nodes.remove(&id) {
            outside.extend(dependents.get(&id).into_iter().flatten());
        }
    }
    nodes
}

fn signal(graph: &Graph, port: PortRef) -> Option<Signal> {
    let outputs = &graph.node(port.node)?.outputs;
    Some(outputs.get(usize::from(port.port))?.signal)
}

/// The signals that leave `nodes`, each once.
fn leaving(graph: &Graph, nodes: &BTreeSet<NodeId>) -> Vec<LeavingSignal> {
    let edges = graph.edges().iter();
    let edges = edges.filter(|it| nodes.contains(&it.from.node) && !nodes.contains(&it.to.node));
    let outputs: BTreeSet<PortRef> = edges.map(|it| it.from).collect();
    let (mut first, mut signals) = (0, Vec::new());
    for from in outputs {
        if let Some(Signal::Audio(channels)) = signal(graph, from) {
            signals.push(LeavingSignal {
                from,
                channels,
                first,
                border: from.node,
            });
            first += channels.count();
        }
    }
    signals
}

impl AheadCut {
    /// Takes the rest out of the part's graph, and puts nodes at its border.
    fn reduce_ahead(&mut self) {
        let nodes = &self.nodes;
        self.ahead.retain(|id| nodes.contains(&id), |_| true);
        for (number, signal) in self.signals.iter_mut().enumerate() {
            // No name of a user has a space.
            let node = border_node(format!("border {number}"), signal.channels);
            signal.border = self.ahead.reserve_id();
            let restored = self.ahead.restore(signal.border, node);
            debug_assert!(restored.is_ok(), "the id is new, and the name is nobody's");
            self.ahead.connect(Edge {
                from: signal.from,
                to: PortRef {
                    node: signal.border,
                    port: 0,
                },
                span: SourceSpan::NONE,
            });
        }
    }

    /// Takes the part out of the graph of the rest, but the nodes of which something leaves: they become stand-ins.
    fn reduce_rest(&mut self) {
        let seen: BTreeSet<NodeId> = self.signals.iter().map(|it| it.from.node).collect();
        let nodes = &self.nodes;
        self.rest.retain(
            |id| !nodes.contains(&id) || seen.contains(&id),
            |edge| !nodes.contains(&edge.to.node),
        );
        for id in seen {
            if let Some(node) = self.rest.node_mut(id) {
                node.kind = STAND_IN_KIND.into();
                node.stand_in = None;
                node.inputs.clear();
                node.params.clear();
            }
        }
    }
}
