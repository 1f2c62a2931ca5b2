//! The supervisor's graph as it becomes: its nodes by name, and their places in sums.

use graph::{Graph, Node, NodeId};

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
