//! The graph: nodes and the edges between their ports.

use crate::{EditError, Node, SourceSpan, TempoMap};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A node of one [`Graph`]. Never used again after the node is removed, so that a processor keeps its state by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A port of a node, counted from 0 among its inputs or its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortRef {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
}

/// A connection from an output to an input. Several edges to one input are added, in the order of their sources' ids, or
/// of the [rank](crate::Node::rank) that one has instead.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// An output.
    pub from: PortRef,
    /// An input.
    pub to: PortRef,
    /// Its place in the text.
    pub span: SourceSpan,
}

impl PartialEq for Edge {
    fn eq(&self, other: &Self) -> bool {
        (self.from, self.to) == (other.from, other.to)
    }
}

/// Nodes and edges, as data: nothing here runs.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Option<Node>>,
    names: HashMap<String, NodeId>,
    edges: Vec<Edge>,
    tempo: TempoMap,
}

impl Graph {
    /// Reserves memory for so many more nodes and edges.
    pub fn reserve(&mut self, nodes: usize, edges: usize) {
        self.nodes.reserve(nodes);
        self.names.reserve(nodes);
        self.edges.reserve(edges);
    }

    /// Tempo and metre, by which nodes turn beats into frames.
    pub fn tempo(&self) -> &TempoMap {
        &self.tempo
    }

    /// Sets tempo and metre. A processor has those of the time when it was made.
    pub fn set_tempo(&mut self, tempo: TempoMap) {
        self.tempo = tempo;
    }

    /// Adds `node`.
    ///
    /// # Errors
    ///
    /// The node, and the id of the one that has its name already.
    pub fn add(&mut self, node: Node) -> Result<NodeId, (Box<Node>, NodeId)> {
        let id = NodeId(
            u32::try_from(self.nodes.len()).expect("four billion nodes do not fit in memory"),
        );
        match self.names.entry(node.name.clone()) {
            Entry::Occupied(there) => return Err((Box::new(node), *there.get())),
            Entry::Vacant(free) => free.insert(id),
        };
        self.nodes.push(Some(node));
        Ok(id)
    }

    /// Takes an id that no node of this graph will have.
    pub fn reserve_id(&mut self) -> NodeId {
        self.nodes.push(None);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Puts `node` back at an id of this graph that no node has.
    ///
    /// # Errors
    ///
    /// The node, if the id is not free or its name is taken.
    pub fn restore(&mut self, id: NodeId, node: Node) -> Result<(), Box<Node>> {
        let is_free = matches!(self.nodes.get(id.0 as usize), Some(None));
        if !is_free || self.names.contains_key(&node.name) {
            return Err(Box::new(node));
        }
        self.names.insert(node.name.clone(), id);
        self.nodes[id.0 as usize] = Some(node);
        Ok(())
    }

    /// Removes a node with all its edges.
    pub fn remove(&mut self, id: NodeId) -> Option<Node> {
        let node = self.nodes.get_mut(id.0 as usize)?.take()?;
        self.names.remove(&node.name);
        self.edges.retain(|e| e.from.node != id && e.to.node != id);
        Some(node)
    }

    /// Gives a node another name. Its own name is no change.
    ///
    /// # Errors
    ///
    /// There is no such node, or another node has the name; the graph has not changed.
    pub fn rename(&mut self, id: NodeId, name: String) -> Result<(), EditError> {
        let node = self.nodes.get_mut(id.0 as usize).and_then(Option::as_mut);
        let node = node.ok_or(EditError::NoNode(id))?;
        match self.names.get(&name) {
            Some(there) if *there != id => return Err(EditError::NameTaken(name)),
            _ => {}
        }
        self.names.remove(&node.name);
        self.names.insert(name.clone(), id);
        node.name = name;
        Ok(())
    }

    /// Keeps the nodes that `node` accepts, and of their edges those that `edge` accepts.
    pub fn retain(&mut self, node: impl Fn(NodeId) -> bool, edge: impl Fn(&Edge) -> bool) {
        for (id, slot) in (0..).map(NodeId).zip(&mut self.nodes) {
            if slot.is_some()
                && !node(id)
                && let Some(removed) = slot.take()
            {
                self.names.remove(&removed.name);
            }
        }
        let nodes = &self.nodes;
        let is_there = |id: NodeId| matches!(nodes.get(id.0 as usize), Some(Some(_)));
        self.edges
            .retain(|e| is_there(e.from.node) && is_there(e.to.node) && edge(e));
    }

    /// Adds an edge. Its ports are not checked here but by [`Graph::apply`] and by the plan.
    pub fn connect(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    /// Removes every edge from `from` to `to`, and returns true if there was one.
    pub fn disconnect(&mut self, from: PortRef, to: PortRef) -> bool {
        let before = self.edges.len();
        self.edges.retain(|e| (e.from, e.to) != (from, to));
        self.edges.len() < before
    }

    /// The node `id`, if it exists.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)?.as_ref()
    }

    /// The node `id`, to be changed. Its name must stay, as the graph finds it by that.
    pub fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.0 as usize)?.as_mut()
    }

    /// The node called `name`.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.names.get(name).copied()
    }

    /// Every node with its id, in the order they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes
            .iter()
            .enumerate()
            .filter_map(|(i, n)| Some((NodeId(i as u32), n.as_ref()?)))
    }

    /// Replaces all edges.
    pub(crate) fn set_edges(&mut self, edges: Vec<Edge>) {
        self.edges = edges;
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns true if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// One more than the largest id so far.
    pub fn id_bound(&self) -> usize {
        self.nodes.len()
    }

    /// Every edge, in the order they were added.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// Two graphs are equal if their nodes, edges and tempo state the same, in the same order, wherever they are in the text.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let same_edge = |a: &Edge, b: &Edge| {
            let name = |g: &'_ Self, id| g.node(id).map(|n| n.name.clone());
            (a.from.port, a.to.port) == (b.from.port, b.to.port)
                && name(self, a.from.node) == name(other, b.from.node)
                && name(self, a.to.node) == name(other, b.to.node)
        };
        self.len() == other.len()
            && self.tempo == other.tempo
            && self.edges.len() == other.edges.len()
            && self
                .nodes()
                .zip(other.nodes())
                .all(|((_, a), (_, b))| a == b)
            && self
                .edges
                .iter()
                .zip(&other.edges)
                .all(|(a, b)| same_edge(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_never_given_twice() {
        let mut graph = Graph::default();
        let a = graph.add(Node::new("a", "osc")).unwrap();
        let end = PortRef { node: a, port: 0 };
        graph.connect(Edge {
            from: end,
            to: end,
            span: SourceSpan::NONE,
        });
        graph.remove(a).unwrap();
        assert!(graph.is_empty() && graph.edges().is_empty());
        assert_ne!(graph.add(Node::new("a", "osc")).unwrap(), a);
        assert!(graph.add(Node::new("a", "osc")).is_err());
    }
}
