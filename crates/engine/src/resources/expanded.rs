//! Nodes that play as several: their inner nodes, beside the graph of the user.
//!
//! A plan has the inner nodes, the graph of the user has not. Their ids are taken in it when the node comes, so that they stay as long
//! as it does.

use super::EngineResources;
use crate::EngineError;
use graph::{Diagnostic, Edge, Graph, Node, NodeId, Port, PortRef, SourceSpan};
use processor::{ExpandFormat, Expansion, Inbox, InnerPort, Processor, Registry};
use std::borrow::Cow;
use std::path::Path;

/// A node that plays as several, with the ids of its inner nodes.
pub(super) struct PlacedExpansion {
    /// The first inner node; the others follow.
    first: NodeId,
    nodes: Vec<Node>,
    head_outputs: Vec<Port>,
    edges: Vec<(InnerPort, InnerPort)>,
    outputs: Vec<InnerPort>,
    inbox: Option<Inbox>,
    own_params: Vec<String>,
}

/// The processor of a node, and those of its inner nodes.
type Processors = (Box<dyn Processor>, Vec<Box<dyn Processor>>);

impl PlacedExpansion {
    /// Takes ids for the inner nodes.
    fn new(made: Expansion, graph: &mut Graph) -> (Self, Processors) {
        let first = NodeId(graph.id_bound() as u32);
        let (nodes, processors): (Vec<Node>, Vec<_>) = made.nodes.into_iter().unzip();
        for _ in &nodes {
            graph.reserve_id();
        }
        let placed = Self {
            first,
            nodes,
            head_outputs: made.head_outputs,
            edges: made.edges,
            outputs: made.outputs,
            inbox: made.inbox,
            own_params: made.own_params,
        };
        (placed, (made.head, processors))
    }

    /// Returns true if `id` is one of its inner nodes.
    pub(super) fn has(&self, id: NodeId) -> bool {
        id >= self.first && ((id.0 - self.first.0) as usize) < self.nodes.len()
    }

    /// A port of it; `head` is the node itself.
    fn port(&self, head: NodeId, inner: InnerPort) -> PortRef {
        let node = match inner.node.checked_sub(1) {
            None => head,
            Some(at) => NodeId(self.first.0 + at),
        };
        PortRef {
            node,
            port: inner.port,
        }
    }

    /// Puts the inner nodes of `head` into `graph`.
    fn put_into(&self, graph: &mut Graph, head: NodeId) {
        let leaving = |edge: &&Edge| edge.from.node == head;
        let read: Vec<Edge> = graph.edges().iter().filter(leaving).copied().collect();
        for edge in read {
            graph.disconnect(edge.from, edge.to);
            if let Some(output) = self.outputs.get(usize::from(edge.from.port)) {
                let from = self.port(head, *output);
                graph.connect(Edge { from, ..edge });
            }
        }
        let Some(node) = graph.node_mut(head) else {
            return;
        };
        node.outputs.clone_from(&self.head_outputs);
        let (name, enabled) = (node.name.clone(), node.enabled);
        while graph.id_bound() < self.first.0 as usize + self.nodes.len() {
            graph.reserve_id();
        }
        for (id, inner) in (self.first.0..).zip(&self.nodes) {
            let mut inner = inner.clone();
            inner.name = format!("{name}/{}", inner.name);
            inner.enabled = enabled;
            // The name is free: names of users have no space.
            let _ = graph.restore(NodeId(id), inner);
        }
        for (from, to) in &self.edges {
            let (from, to) = (self.port(head, *from), self.port(head, *to));
            let span = SourceSpan::NONE;
            graph.connect(Edge { from, to, span });
        }
    }
}

/// The graph that plays in place of `graph`, whose files are in `folder`: with the inner nodes of those that play as several.
///
/// # Errors
///
/// The mistakes of nodes that cannot be made.
///
/// Real-time: setup.
pub fn expanded_graph(
    graph: &Graph,
    (registry, folder): (&Registry, &Path),
    format: ExpandFormat,
) -> Result<Graph, EngineError> {
    let mut expanded = graph.without_bypasses().into_owned();
    let heads: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let mut mistakes = Vec::new();
    for head in heads {
        let made = graph.node(head).and_then(|node| {
            let made = registry.expand((node, graph.tempo()), folder, format)?;
            Some(made.map_err(|error| mistake(node, &error)))
        });
        match made {
            Some(Ok(made)) => {
                let (placed, _) = PlacedExpansion::new(made, &mut expanded);
                placed.put_into(&mut expanded, head);
            }
            Some(Err(found)) => mistakes.push(found),
            None => {}
        }
    }
    match mistakes.is_empty() {
        true => Ok(expanded),
        false => Err(EngineError::Graph(mistakes)),
    }
}

fn mistake(node: &Node, error: &processor::MakeError) -> Diagnostic {
    node.mistake(format!("`{}`: {error}", node.name))
}

impl EngineResources {
    /// Makes the inner nodes of each node of `graph` that plays as several and is new, and takes ids for them.
    pub(crate) fn place_expansions(&mut self, graph: &mut Graph) -> Result<(), EngineError> {
        let registry = self.registry.clone();
        let is_new = |(id, node): &(NodeId, &Node)| {
            registry.is_expanded(node) && !self.expansions.contains_key(id)
        };
        let new: Vec<NodeId> = graph.nodes().filter(is_new).map(|(id, _)| id).collect();
        let mut mistakes = Vec::new();
        for id in new {
            let Some(node) = graph.node(id).cloned() else {
                continue;
            };
            let format = ExpandFormat {
                rate: self.options.rate,
                block: self.options.block,
                fuse: self.options.fuse,
            };
            let made = registry.expand((&node, graph.tempo()), &self.options.folder, format);
            match made {
                Some(Ok(made)) => {
                    let (placed, (head, processors)) = PlacedExpansion::new(made, graph);
                    self.add_node(id, node, head);
                    let inner = placed.nodes.iter().zip(processors);
                    for (id, (inner, processor)) in (placed.first.0..).zip(inner) {
                        self.add_node(NodeId(id), inner.clone(), processor);
                    }
                    self.expansions.insert(id, placed);
                }
                Some(Err(error)) => mistakes.push(mistake(&node, &error)),
                None => {}
            }
        }
        match mistakes.is_empty() {
            true => Ok(()),
            false => Err(EngineError::Graph(mistakes)),
        }
    }

    /// `graph` with the inner nodes of those that play as several.
    pub(crate) fn expanded<'g>(&self, graph: &'g Graph) -> Cow<'g, Graph> {
        let heads = graph.nodes().map(|(id, _)| id);
        let heads: Vec<NodeId> = heads
            .filter(|id| self.expansions.contains_key(id))
            .collect();
        if heads.is_empty() {
            return Cow::Borrowed(graph);
        }
        let mut expanded = graph.without_bypasses().into_owned();
        for head in heads {
            self.expansions[&head].put_into(&mut expanded, head);
        }
        Cow::Owned(expanded)
    }

    /// Inbox for messages in words to `node`, if it understands any.
    pub(crate) fn inbox(&mut self, node: NodeId) -> Option<&mut Inbox> {
        self.expansions.get_mut(&node)?.inbox.as_mut()
    }

    /// Names of the node's own parameters, whose indices follow those of its kind.
    pub(crate) fn own_params(&self, node: NodeId) -> &[String] {
        let placed = self.expansions.get(&node);
        placed.map_or(&[], |placed| &placed.own_params)
    }

    /// The node of the user to which `id` belongs: itself, or the one that it plays for.
    pub(crate) fn head_of(&self, id: NodeId) -> NodeId {
        let head = self.expansions.iter().find(|(_, placed)| placed.has(id));
        head.map_or(id, |(head, _)| *head)
    }
}
