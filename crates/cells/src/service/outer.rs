//! The supervisor's graph as it becomes: its nodes by name, and their places in sums.

use crate::border::CELL;
use graph::{Catalogue, Edit, Graph, Node, NodeId, edits_between};

/// A node, and what enters it: the name of the source, its output, and the input.
pub(super) type Entering = (Node, Vec<(String, u16, u16)>);

/// The node of this name, with what enters it.
pub(super) fn node_of(outer: &Graph, name: &str) -> Result<Entering, String> {
    let id = outer.find(name).ok_or("its node is not there")?;
    let node = outer.node(id).ok_or("its node is not there")?.clone();
    let edges = outer.edges().iter().filter(|edge| edge.to.node == id);
    let entering = edges.filter_map(|edge| {
        let source = outer.node(edge.from.node)?;
        Some((source.name.clone(), edge.from.port, edge.to.port))
    });
    Ok((node, entering.collect()))
}

/// The graph, with nodes that keep their places in sums where the engine gives them other ids.
pub(super) fn ranked(outer: &Graph) -> Graph {
    let mut ranked = outer.clone();
    for (id, _) in outer.nodes() {
        if let Some(node) = ranked.node_mut(id) {
            node.rank = Some(id.0);
        }
    }
    ranked
}

/// Returns true if both graphs have a node of this name, and the later one's is another.
fn is_replaced((before, after): (&Graph, &Graph), name: &str) -> bool {
    matches!((before.find(name), after.find(name)), (Some(a), Some(b)) if a != b)
}

/// Returns true if a node of the later of two supervisor's graphs has replaced another under its name, so it has another place in sums.
pub(super) fn has_replaced(before: &Graph, after: &Graph) -> bool {
    let mut own = before.nodes().filter(|(_, node)| node.kind != CELL);
    own.any(|(_, node)| is_replaced((before, after), &node.name))
}

/// The edits from the graph that plays to `outer`. Where a node of the whole graph replaces another under its name, it begins anew: its
/// place in sums is another one.
pub(super) fn edits_to(
    outer: &Graph,
    playing: &Graph,
    whole: (&Graph, &Graph),
    catalogue: &Catalogue,
) -> Vec<Edit> {
    let replaced = playing.nodes();
    let replaced = replaced.filter(|(_, node)| is_replaced(whole, &node.name));
    let replaced: Vec<NodeId> = replaced.map(|(id, _)| id).collect();
    let mut rest = playing.clone();
    for id in &replaced {
        rest.remove(*id);
    }
    let mut edits: Vec<Edit> = replaced.into_iter().map(Edit::Remove).collect();
    edits.extend(edits_between(&rest, outer, catalogue));
    edits
}

/// The node of this name.
pub(super) fn playing<'a>(graph: &'a Graph, name: &str) -> Option<(NodeId, &'a Node)> {
    let id = graph.find(name)?;
    Some((id, graph.node(id)?))
}

/// Gives a node of the supervisor's graph another name.
pub(super) fn rename(graph: &mut Graph, from: &str, to: String) -> Result<(), String> {
    let id = graph.find(from).ok_or("its node is not there")?;
    graph.rename(id, to).map_err(|error| error.to_string())
}
