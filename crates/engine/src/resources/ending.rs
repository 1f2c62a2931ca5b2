//! The frame at which a graph has ended: the longest path through the ends of its nodes.
//!
//! ```text
//!   player 1000 ──▶ echo +500 ──▶ ┐
//!   player 1200 ──▶ gain +0 ────▶ ┴▶ mix +0     ends at 1500, not at 1200 + 500
//! ```
//!
//! A cycle counts as one node whose tail is the sum of those in it, for sound goes through all of them.

use graph::{Adjacency, Graph, NodeId};
use std::collections::{BTreeMap, HashMap};

/// End of one node's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeEnd {
    /// So many frames after its inputs have ended.
    After(u64),
    /// With its inputs, and not before this frame.
    AtLeast(u64),
}

/// The latest end of a node of `graph`, in frames. A node for which `end` gives nothing ends with its inputs.
pub(super) fn longest_path(graph: &Graph, mut end: impl FnMut(NodeId) -> Option<NodeEnd>) -> u64 {
    let ids: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let index: HashMap<NodeId, u32> = ids.iter().copied().zip(0..).collect();
    let pair =
        |edge: &graph::Edge| Some((*index.get(&edge.from.node)?, *index.get(&edge.to.node)?));
    let pairs: Vec<(u32, u32)> = graph.edges().iter().filter_map(pair).collect();
    let component = Adjacency::new(ids.len(), pairs.clone()).strong_components();
    // Of each component: the frames that it adds, and the earliest frame at which it ends.
    let mut parts: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (id, part) in ids.iter().zip(&component) {
        let (adds, at_least) = parts.entry(*part).or_default();
        match end(*id) {
            Some(NodeEnd::After(frames)) => *adds = adds.saturating_add(frames),
            Some(NodeEnd::AtLeast(frames)) => *at_least = frames.max(*at_least),
            None => {}
        }
    }
    let of = |vertex: u32| component[vertex as usize];
    let between: Vec<(u32, u32)> = (pairs.iter().map(|(from, to)| (of(*from), of(*to))))
        .filter(|(from, to)| from != to)
        .collect();
    let condensed = Adjacency::new(ids.len(), between);
    let mut begins = vec![0_u64; ids.len()];
    let mut longest = 0;
    for vertex in condensed.topological_order() {
        let Some((adds, at_least)) = parts.get(&vertex) else {
            continue;
        };
        let ends = begins[vertex as usize].saturating_add(*adds).max(*at_least);
        longest = longest.max(ends);
        for to in condensed.successors(vertex) {
            let begin = &mut begins[*to as usize];
            *begin = ends.max(*begin);
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::{Edge, Node, Port, PortRef, Signal, SourceSpan};
    use units::Channels;

    /// A graph of so many nodes with these edges.
    fn graph(count: usize, edges: &[(usize, usize)]) -> (Graph, Vec<NodeId>) {
        let mut graph = Graph::default();
        let port = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
        let ids: Vec<NodeId> = (0..count)
            .map(|number| {
                let mut node = Node::new(format!("n{number}"), "gain");
                (node.inputs, node.outputs) = (vec![port("in")], vec![port("out")]);
                graph.add(node).unwrap()
            })
            .collect();
        for (from, to) in edges {
            let end = |at: &usize| PortRef {
                node: ids[*at],
                port: 0,
            };
            let span = SourceSpan::NONE;
            graph.connect(Edge {
                from: end(from),
                to: end(to),
                span,
            });
        }
        (graph, ids)
    }

    fn longest(ends: &[NodeEnd], edges: &[(usize, usize)]) -> u64 {
        let (graph, ids) = graph(ends.len(), edges);
        let at = |id| ids.iter().position(|it| *it == id);
        longest_path(&graph, |id| at(id).map(|at| ends[at]))
    }

    #[test]
    fn parallel_tails_count_once_and_those_in_a_row_add_up() {
        use NodeEnd::{After, AtLeast};
        let voices = [AtLeast(1000), After(50), After(70), After(60), After(5)];
        let side_by_side = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)];
        assert_eq!(longest(&voices, &side_by_side), 1075);
        assert_eq!(longest(&voices, &[(0, 1), (1, 2), (2, 3), (3, 4)]), 1185);
        // A player behind a tail does not move it.
        assert_eq!(
            longest(&[After(5), AtLeast(3), After(1)], &[(0, 1), (1, 2)]),
            6
        );
    }

    #[test]
    fn a_cycle_counts_as_one_node_and_a_short_path_with_a_late_end_wins() {
        use NodeEnd::{After, AtLeast};
        let ends = [AtLeast(10), After(100), After(200), After(3), AtLeast(400)];
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 3)];
        assert_eq!(longest(&ends, &edges), 403);
        assert_eq!(longest(&ends[..4], &edges[..4]), 313);
    }
}
