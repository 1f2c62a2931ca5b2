//! Nodes that play as several: their inner nodes, beside the graph of the user.
//!
//! A plan has the inner nodes, the graph of the user has not. Their ids are taken in it when the nodes come, so that they stay as long
//! as those do. Nodes that share more than sound have inner nodes together.

use super::EngineResources;
use super::words::WordsOutbox;
use crate::EngineError;
use graph::{Diagnostic, Edge, Graph, Node, NodeId, Port, PortRef, SourceSpan};
use processor::{
    ExpandFormat, ExpandedGroup, Expansion, InnerPort, Meeting, ORDER, OwnParam, Processor,
    Registry,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

/// Nodes that play as several, with the ids of their inner nodes.
pub(super) struct PlacedExpansion {
    heads: Vec<PlacedHead>,
    /// The first inner node; the others follow.
    first: NodeId,
    nodes: Vec<Node>,
    edges: Vec<(InnerPort, InnerPort)>,
    meeting: Option<Meeting>,
}

/// A node of the user.
struct PlacedHead {
    id: NodeId,
    outputs: Vec<Port>,
    reads: Vec<InnerPort>,
    outbox: Option<WordsOutbox>,
    own_params: Vec<OwnParam>,
}

/// The processors of nodes.
type Processors = Vec<(NodeId, Box<dyn Processor>)>;

impl PlacedExpansion {
    /// Takes ids for the inner nodes of the nodes `ids`.
    fn new(made: Expansion, ids: &[NodeId], graph: &mut Graph) -> (Self, Processors) {
        let first = NodeId(graph.id_bound() as u32);
        let mut processors = Vec::new();
        let mut heads = Vec::new();
        for (id, head) in ids.iter().zip(made.heads) {
            processors.push((*id, head.processor));
            heads.push(PlacedHead {
                id: *id,
                outputs: head.outputs,
                reads: head.reads,
                outbox: head.inbox.map(WordsOutbox::new),
                own_params: head.own_params,
            });
        }
        let mut nodes = Vec::new();
        for (id, (node, processor)) in (first.0..).zip(made.nodes) {
            graph.reserve_id();
            nodes.push(node);
            processors.push((NodeId(id), processor));
        }
        let placed = Self {
            heads,
            first,
            nodes,
            edges: made.edges,
            meeting: made.meeting,
        };
        (placed, processors)
    }

    /// Returns true if `id` is one of its inner nodes.
    pub(super) fn has(&self, id: NodeId) -> bool {
        id >= self.first && ((id.0 - self.first.0) as usize) < self.nodes.len()
    }

    /// The node of the user to which `id` belongs, if it is one of its nodes.
    fn head_of(&self, id: NodeId) -> Option<NodeId> {
        self.has(id).then_some(self.heads.first()?.id)
    }

    /// Returns true as long as one of the user's nodes is in `graph`.
    pub(super) fn is_used(&self, graph: &Graph) -> bool {
        self.heads.iter().any(|head| graph.node(head.id).is_some())
    }

    /// A port of it.
    fn port(&self, inner: InnerPort) -> PortRef {
        let node = match self.heads.get(inner.node as usize) {
            Some(head) => head.id,
            None => NodeId(self.first.0 + inner.node - self.heads.len() as u32),
        };
        PortRef {
            node,
            port: inner.port,
        }
    }

    /// Puts the inner nodes into `graph`. The nodes in `late` come behind the meeting.
    fn put_into(&self, graph: &mut Graph, late: &HashSet<NodeId>) {
        let Some((name, enabled)) = self.head_name(graph) else {
            return;
        };
        for head in &self.heads {
            self.lead_readers(head, graph);
        }
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
            connect(graph, self.port(*from), self.port(*to));
        }
        if let Some(meeting) = self.meeting {
            self.meet(meeting, graph, late);
        }
    }

    /// Name of the first node that is there, and true if one is enabled.
    fn head_name(&self, graph: &Graph) -> Option<(String, bool)> {
        let mut nodes = self.heads.iter().filter_map(|head| graph.node(head.id));
        let first = nodes.next()?;
        let enabled = first.enabled || nodes.any(|node| node.enabled);
        Some((first.name.clone(), enabled))
    }

    /// Lets those who read a node read its inner nodes.
    fn lead_readers(&self, head: &PlacedHead, graph: &mut Graph) {
        let leaving = |edge: &&Edge| edge.from.node == head.id;
        let read: Vec<Edge> = graph.edges().iter().filter(leaving).copied().collect();
        for edge in read {
            graph.disconnect(edge.from, edge.to);
            if let Some(output) = head.reads.get(usize::from(edge.from.port)) {
                let from = self.port(*output);
                graph.connect(Edge { from, ..edge });
            }
        }
        if let Some(node) = graph.node_mut(head.id) {
            node.outputs.clone_from(&head.outputs);
        }
    }

    /// Orders the nodes of the user and the meeting.
    fn meet(&self, meeting: Meeting, graph: &mut Graph, late: &HashSet<NodeId>) {
        for head in &self.heads {
            let Some(node) = graph.node_mut(head.id) else {
                continue;
            };
            let port = u16::try_from(node.inputs.len()).unwrap_or(u16::MAX);
            node.inputs.push(Port::new("order", ORDER));
            let node = head.id;
            let order = PortRef {
                node,
                port: meeting.head_output,
            };
            match late.contains(&node) {
                true => connect(graph, self.port(meeting.output), PortRef { node, port }),
                false => connect(graph, order, self.port(meeting.input)),
            }
        }
    }
}

/// Connects two ports that are there.
fn connect(graph: &mut Graph, from: PortRef, to: PortRef) {
    if graph.node(from.node).is_some() && graph.node(to.node).is_some() {
        let span = SourceSpan::NONE;
        graph.connect(Edge { from, to, span });
    }
}

/// The nodes of `graph` that come behind the meeting of their own set: its outputs lead to them.
fn late_heads(graph: &Graph, all: &[PlacedExpansion]) -> HashSet<NodeId> {
    let mut late = HashSet::new();
    for set in all.iter().filter(|set| set.meeting.is_some()) {
        let heads = Vec::from_iter(set.heads.iter().map(|head| head.id));
        let reached = reached(graph, &heads, all);
        late.extend(heads.into_iter().filter(|head| reached.contains(head)));
    }
    late
}

/// The nodes to which the outputs of `from` lead. Sound that reaches a set may leave any of its nodes.
fn reached(graph: &Graph, from: &[NodeId], all: &[PlacedExpansion]) -> HashSet<NodeId> {
    let mut reached = HashSet::new();
    let mut waiting = from.to_vec();
    let mut followed = HashSet::new();
    while let Some(node) = waiting.pop() {
        if !followed.insert(node) {
            continue;
        }
        let leaving = graph.edges().iter().filter(|edge| edge.from.node == node);
        for to in leaving.map(|edge| edge.to.node) {
            reached.insert(to);
            let set = all
                .iter()
                .find(|set| set.heads.iter().any(|head| head.id == to));
            waiting.extend(set.into_iter().flat_map(|set| &set.heads).map(|it| it.id));
            waiting.push(to);
        }
    }
    reached
}

/// What plays in place of the nodes `ids` of `graph`, whose files are in `folder`.
fn expand(
    graph: &Graph,
    ids: &[NodeId],
    (registry, folder): (&Registry, &Path),
    format: ExpandFormat,
) -> Vec<ExpandedGroup> {
    let nodes = ids.iter().filter_map(|id| {
        let reached = match ids.len() {
            1 => HashSet::new(),
            _ => reached(graph, &[*id], &[]),
        };
        let to = (0..ids.len()).filter(|at| reached.contains(&ids[*at]));
        Some((graph.node(*id)?, to.collect()))
    });
    registry.expand(&Vec::from_iter(nodes), (folder, graph.tempo()), format)
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
    let is_expanded = |(_, node): &(NodeId, &Node)| registry.is_expanded(node);
    let heads = graph.nodes().filter(is_expanded).map(|(id, _)| id);
    let heads: Vec<NodeId> = heads.collect();
    let (mut mistakes, mut all) = (Vec::new(), Vec::new());
    for group in expand(graph, &heads, (registry, folder), format) {
        match group.made {
            Ok(made) => {
                let ids = Vec::from_iter(group.members.iter().map(|at| heads[*at]));
                all.push(PlacedExpansion::new(made, &ids, &mut expanded).0);
            }
            Err((at, error)) => {
                mistakes.extend(graph.node(heads[at]).map(|node| mistake(node, &error)));
            }
        }
    }
    put_all(&all, &mut expanded);
    match mistakes.is_empty() {
        true => Ok(expanded),
        false => Err(EngineError::Graph(mistakes)),
    }
}

/// Puts the inner nodes of all sets into a graph of the user.
fn put_all(all: &[PlacedExpansion], graph: &mut Graph) {
    let late = late_heads(graph, all);
    for placed in all {
        placed.put_into(graph, &late);
    }
}

fn mistake(node: &Node, error: &processor::MakeError) -> Diagnostic {
    node.mistake(format!("`{}`: {error}", node.name))
}

impl EngineResources {
    /// Makes the inner nodes of all nodes of `graph` that play as several and are new, and takes ids for them.
    pub(crate) fn place_expansions(&mut self, graph: &mut Graph) -> Result<(), EngineError> {
        let registry = self.registry.clone();
        let is_new =
            |(id, node): &(NodeId, &Node)| registry.is_expanded(node) && !self.is_expanded(*id);
        let new: Vec<NodeId> = graph.nodes().filter(is_new).map(|(id, _)| id).collect();
        let format = ExpandFormat {
            rate: self.options.rate,
            block: self.options.block,
            end: self.options.end,
            fuse: self.options.fuse,
        };
        let mut mistakes = Vec::new();
        for group in expand(graph, &new, (&registry, &self.options.folder), format) {
            match group.made {
                Ok(made) => {
                    let ids = Vec::from_iter(group.members.iter().map(|at| new[*at]));
                    self.place(made, &ids, graph);
                }
                Err((at, error)) => {
                    mistakes.extend(graph.node(new[at]).map(|node| mistake(node, &error)));
                }
            }
        }
        match mistakes.is_empty() {
            true => Ok(()),
            false => Err(EngineError::Graph(mistakes)),
        }
    }

    /// Adds the processors of an expansion of the nodes `ids`.
    fn place(&mut self, made: Expansion, ids: &[NodeId], graph: &mut Graph) {
        let (placed, processors) = PlacedExpansion::new(made, ids, graph);
        for (id, processor) in processors {
            let node = match placed.has(id) {
                true => placed.nodes.get((id.0 - placed.first.0) as usize),
                false => graph.node(id),
            };
            if let Some(node) = node.cloned() {
                self.add_node(id, node, processor);
            }
        }
        self.expansions.push(placed);
    }

    /// `graph` with the inner nodes of those that play as several.
    pub(crate) fn expanded<'g>(&self, graph: &'g Graph) -> Cow<'g, Graph> {
        if !self.expansions.iter().any(|placed| placed.is_used(graph)) {
            return Cow::Borrowed(graph);
        }
        let mut expanded = graph.without_bypasses().into_owned();
        put_all(&self.expansions, &mut expanded);
        Cow::Owned(expanded)
    }

    fn head(&self, node: NodeId) -> Option<&PlacedHead> {
        let mut heads = self.expansions.iter().flat_map(|placed| &placed.heads);
        heads.find(|head| head.id == node)
    }

    /// Returns true if several nodes play in place of `node`.
    pub(super) fn is_expanded(&self, node: NodeId) -> bool {
        self.head(node).is_some()
    }

    /// The way of messages in words to `node`, if it understands any.
    pub(crate) fn outbox(&mut self, node: NodeId) -> Option<&mut WordsOutbox> {
        let mut heads = self.expansions.iter_mut().flat_map(|it| &mut it.heads);
        heads.find(|head| head.id == node)?.outbox.as_mut()
    }

    /// The node's own parameters, whose indices follow those of its kind.
    pub(crate) fn own_params(&self, node: NodeId) -> &[OwnParam] {
        self.head(node).map_or(&[], |head| &head.own_params)
    }

    /// The node of the user to which `id` belongs: itself, or the one that it plays for.
    pub(crate) fn head_of(&self, id: NodeId) -> NodeId {
        let mut heads = self.expansions.iter().map(|placed| placed.head_of(id));
        heads.find_map(|head| head).unwrap_or(id)
    }
}
