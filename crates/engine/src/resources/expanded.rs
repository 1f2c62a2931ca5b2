//! Nodes that play as several: their inner nodes, beside the graph of the user.
//!
//! A plan has the inner nodes, the graph of the user has not. Their ids are taken in it when the node comes, so that they stay as long
//! as it does.

use super::EngineResources;
use crate::EngineError;
use graph::{Edge, Graph, Node, NodeId, Port, PortRef, SourceSpan};
use processor::InnerPort;
use std::borrow::Cow;

/// A node that plays as several, with the ids of its inner nodes.
pub(super) struct PlacedExpansion {
    /// The first inner node; the others follow.
    first: NodeId,
    nodes: Vec<Node>,
    head_outputs: Vec<Port>,
    edges: Vec<(InnerPort, InnerPort)>,
    outputs: Vec<InnerPort>,
}

impl PlacedExpansion {
    /// Returns true if `id` is one of its inner nodes.
    pub(super) fn has(&self, id: NodeId) -> bool {
        id >= self.first && ((id.0 - self.first.0) as usize) < self.nodes.len()
    }

    /// A port of it, if `head` is the node itself.
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
}

impl EngineResources {
    /// Makes the inner nodes of each node of `graph` that plays as several and is new, and takes ids for them.
    pub(crate) fn place_expansions(&mut self, graph: &mut Graph) -> Result<(), EngineError> {
        let registry = self.registry.clone();
        let is_new = |(id, node): &(NodeId, &Node)| {
            registry.is_expanded(node) && !self.expansions.contains_key(id)
        };
        let new: Vec<NodeId> = graph.nodes().filter(is_new).map(|(id, _)| id).collect();
        let mut errors = Vec::new();
        for id in new {
            let Some(node) = graph.node(id).cloned() else {
                continue;
            };
            let format = (self.options.rate, self.options.block);
            let made = registry.expand((&node, graph.tempo()), &self.options.folder, format);
            match made {
                Some(Ok(made)) => {
                    let first = graph.id_bound() as u32;
                    self.add_node(id, node, made.head);
                    let mut nodes = Vec::with_capacity(made.nodes.len());
                    for (inner, processor) in made.nodes {
                        let id = graph.reserve_id();
                        self.add_node(id, inner.clone(), processor);
                        nodes.push(inner);
                    }
                    let placed = PlacedExpansion {
                        first: NodeId(first),
                        nodes,
                        head_outputs: made.head_outputs,
                        edges: made.edges,
                        outputs: made.outputs,
                    };
                    self.expansions.insert(id, placed);
                }
                Some(Err(error)) => {
                    let message = format!("`{}`: {error}", node.name);
                    errors.push(node.mistake(message));
                }
                None => {}
            }
        }
        match errors.is_empty() {
            true => Ok(()),
            false => Err(EngineError::Graph(errors)),
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
            self.expand_node(&mut expanded, head);
        }
        Cow::Owned(expanded)
    }

    /// The node of the user to which `id` belongs: itself, or the one that it plays for.
    pub(crate) fn head_of(&self, id: NodeId) -> NodeId {
        let head = self.expansions.iter().find(|(_, placed)| placed.has(id));
        head.map_or(id, |(head, _)| *head)
    }

    fn expand_node(&self, graph: &mut Graph, head: NodeId) {
        let placed = &self.expansions[&head];
        let read: Vec<Edge> = graph
            .edges()
            .iter()
            .filter(|e| e.from.node == head)
            .copied()
            .collect();
        for edge in read {
            graph.disconnect(edge.from, edge.to);
            if let Some(output) = placed.outputs.get(usize::from(edge.from.port)) {
                let from = placed.port(head, *output);
                graph.connect(Edge { from, ..edge });
            }
        }
        let Some(node) = graph.node_mut(head) else {
            return;
        };
        node.outputs.clone_from(&placed.head_outputs);
        let (name, enabled) = (node.name.clone(), node.enabled);
        while graph.id_bound() < placed.first.0 as usize + placed.nodes.len() {
            graph.reserve_id();
        }
        for (id, inner) in (placed.first.0..).zip(&placed.nodes) {
            let mut inner = inner.clone();
            inner.name = format!("{name}/{}", inner.name);
            inner.enabled = enabled;
            // The name is free: names of users have no slash before a number.
            let _ = graph.restore(NodeId(id), inner);
        }
        for (from, to) in &placed.edges {
            let (from, to) = (placed.port(head, *from), placed.port(head, *to));
            let span = SourceSpan::NONE;
            graph.connect(Edge { from, to, span });
        }
    }
}
