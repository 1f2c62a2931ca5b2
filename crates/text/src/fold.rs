//! A session's graph with each part, and each node with a count, as one node: for pictures.
//!
//! ```text
//! voice.0.osc ──▶ voice.0.low ──▶ mix.1
//! voice.1.osc ──▶ voice.1.low ──▶ mix.2    becomes    voice × 2 ──▶ mix
//! ```
//!
//! Each node of the graph has a place: the folded node that stands for it, or its own copy. An edge leads between the places
//! of its ends; edges inside a folded node and repeated ones are left out. A folded node has one port for each signal and
//! direction.

use crate::session::Session;
use graph::{Edge, Graph, Node, NodeId, Port, PortRef, Signal};
use std::collections::{HashMap, HashSet};

/// A node as the session writes it, that stands for several of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenNode {
    pub(crate) name: String,
    /// A kind, or a part.
    pub(crate) kind: String,
    /// Number of copies, if it is stated.
    pub(crate) count: Option<u32>,
}

impl Session {
    /// The graph with one node for each instance of a part and for all copies of a node, named after it with the number of
    /// copies, such as `voice × 64`. Edges that become equal are one. `None` if the session has no parts, or if its graph
    /// is no longer what they give.
    pub fn folded_graph(&self) -> Option<Graph> {
        let parts = self
            .parts
            .as_ref()
            .filter(|parts| parts.give(&self.graph))?;
        (!parts.nodes.is_empty()).then(|| Folding::new(&parts.nodes).graph(&self.graph))
    }
}

/// A graph that is being folded.
struct Folding<'p> {
    by_name: HashMap<&'p str, &'p WrittenNode>,
    folded: Graph,
    /// The node that stands for each written node.
    standing: HashMap<&'p str, NodeId>,
}

impl<'p> Folding<'p> {
    fn new(nodes: &'p [WrittenNode]) -> Self {
        let named = nodes.iter().map(|node| (node.name.as_str(), node));
        Self {
            by_name: named.collect(),
            folded: Graph::default(),
            standing: HashMap::new(),
        }
    }

    fn graph(mut self, graph: &Graph) -> Graph {
        let mut places = vec![None; graph.id_bound()];
        for (id, node) in graph.nodes() {
            let written = self.written(&node.name);
            places[id.0 as usize] = match written {
                Some(written) => self.stand_in(written, node).map(|id| (id, true)),
                None => self.folded.add(node.clone()).ok().map(|id| (id, false)),
            };
        }
        let mut known = HashSet::new();
        for edge in graph.edges() {
            let place = |end: PortRef| places[end.node.0 as usize];
            let (Some((from, is_from)), Some((to, is_to))) = (place(edge.from), place(edge.to))
            else {
                continue;
            };
            let source = graph.node(edge.from.node);
            let output = source.and_then(|node| node.outputs.get(usize::from(edge.from.port)));
            let Some(signal) = output
                .map(|port| port.signal)
                .filter(|_| !is_from || from != to)
            else {
                continue;
            };
            let from_port = if is_from {
                self.port(from, signal, true)
            } else {
                edge.from.port
            };
            let to_port = if is_to {
                self.port(to, signal, false)
            } else {
                edge.to.port
            };
            let (from, to) = (port_ref(from, from_port), port_ref(to, to_port));
            if known.insert((from, to)) {
                self.folded.connect(Edge {
                    from,
                    to,
                    span: edge.span,
                });
            }
        }
        self.folded
    }

    /// The written node whose copy, or whose inside, is called `name`.
    fn written(&self, name: &str) -> Option<&'p WrittenNode> {
        let ends = name
            .match_indices('.')
            .map(|(at, _)| at)
            .chain([name.len()]);
        ends.filter_map(|end| self.by_name.get(&name[..end]).copied())
            .next()
    }

    /// The node that stands for `written`, of which `node` is the first or a further one.
    fn stand_in(&mut self, written: &'p WrittenNode, node: &Node) -> Option<NodeId> {
        if let Some(id) = self.standing.get(written.name.as_str()) {
            return Some(*id);
        }
        let name = match written.count {
            Some(count) => format!("{} × {count}", written.name),
            None => written.name.clone(),
        };
        let mut standing = Node::new(name, written.kind.clone());
        standing.span = node.span;
        standing.enabled = node.enabled;
        let id = self.folded.add(standing).ok()?;
        self.standing.insert(&written.name, id);
        Some(id)
    }

    /// The port of a standing node for a signal: one on each side for each signal.
    fn port(&mut self, id: NodeId, signal: Signal, is_output: bool) -> u16 {
        let Some(node) = self.folded.node_mut(id) else {
            return 0;
        };
        let (ports, word) = match is_output {
            true => (&mut node.outputs, "out"),
            false => (&mut node.inputs, "in"),
        };
        let found = ports.iter().position(|port| port.signal == signal);
        let index = found.unwrap_or_else(|| {
            let name = match ports.len() {
                0 => word.to_owned(),
                count => format!("{word}{}", count + 1),
            };
            ports.push(Port::new(name, signal));
            ports.len() - 1
        });
        index as u16
    }
}

fn port_ref(node: NodeId, port: u16) -> PortRef {
    PortRef { node, port }
}
