//! [`Graph::without_bypasses`]: edges that pass by the nodes that are bypassed.
//!
//! ```text
//!   a ──▶ b (bypassed) ──▶ c      is played as      a ──▶ c
//!                                                   └──▶ b
//! ```

use crate::{Edge, Graph, Node, NodeId, PortRef, Signal};
use std::borrow::Cow;

/// Largest number of edges that bypasses add: each node multiplies those of its inputs by those of its outputs.
const MAX_ADDED: usize = 1 << 17;

impl Graph {
    /// The graph that is to be played: what reads the k-th output of a bypassed node reads what its k-th input of the same
    /// signal reads; an output without such an input is silent. The node keeps its inputs and runs on. It is not marked as
    /// bypassed any more. Where bypasses add more than 131,072 edges, the rest of them is left out.
    pub fn without_bypasses(&self) -> Cow<'_, Self> {
        let bypassed = self.nodes().filter(|(_, node)| node.bypassed);
        let bypassed: Vec<NodeId> = bypassed.map(|(id, _)| id).collect();
        if bypassed.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut graph = self.clone();
        let max_edges = self.edges().len() + MAX_ADDED;
        for id in bypassed {
            graph.bypass(id, max_edges);
        }
        Cow::Owned(graph)
    }

    fn bypass(&mut self, id: NodeId, max_edges: usize) {
        let Some(node) = self.node_mut(id) else {
            return;
        };
        node.bypassed = false;
        let inputs = inputs_by_output(node);
        let into = |port| PortRef { node: id, port };
        // An output that the node reads itself would be its own source.
        let all = self.edges().iter();
        let sources: Vec<Edge> = all
            .filter(|it| it.to.node == id && it.from.node != id)
            .copied()
            .collect();
        let leaving = self.edges().iter().filter(|it| it.from.node == id).count();
        let made = leaving.saturating_mul(sources.len());
        if made > leaving && self.edges().len().saturating_add(made) > max_edges {
            return;
        }
        let mut edges = Vec::with_capacity(self.edges().len());
        for edge in self.edges() {
            if edge.from.node != id {
                edges.push(*edge);
                continue;
            }
            let input = inputs.get(usize::from(edge.from.port)).copied().flatten();
            let Some(input) = input.map(into) else {
                continue;
            };
            let sources = sources.iter().filter(|it| it.to == input);
            let passed = sources.filter(|it| self.fits(it.from, edge.to));
            edges.extend(passed.map(|it| Edge {
                from: it.from,
                ..*edge
            }));
        }
        self.set_edges(edges);
    }

    /// Returns true if an edge may connect these ports: channels are as many, or one on either side.
    fn fits(&self, from: PortRef, to: PortRef) -> bool {
        let output = self.node(from.node);
        let output = output.and_then(|node| node.outputs.get(usize::from(from.port)));
        let input = self.node(to.node);
        let input = input.and_then(|node| node.inputs.get(usize::from(to.port)));
        match (
            output.map(|port| port.signal),
            input.map(|port| port.signal),
        ) {
            (Some(Signal::Audio(from)), Some(Signal::Audio(to))) => {
                from == to || from.0 == 1 || to.0 == 1
            }
            (Some(_), Some(_)) => true,
            _ => false,
        }
    }
}

/// For each output of a node: the input that passes by to it.
fn inputs_by_output(node: &Node) -> Vec<Option<u16>> {
    let is_same = |a: Signal, b: Signal| std::mem::discriminant(&a) == std::mem::discriminant(&b);
    let outputs = node.outputs.iter().enumerate();
    let input = |(index, output): (usize, &crate::Port)| {
        let before = node.outputs[..index].iter();
        let number = before
            .filter(|it| is_same(it.signal, output.signal))
            .count();
        let inputs = (0..).zip(node.kind_inputs());
        let mut inputs = inputs.filter(|(_, it)| is_same(it.signal, output.signal));
        inputs.nth(number).map(|(port, _)| port)
    };
    outputs.map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Port, SourceSpan};
    use units::Channels;

    fn graph(names: &[&str]) -> Graph {
        let mut graph = Graph::default();
        for name in names {
            let mut node = Node::new(*name, "any");
            for port in ["event", "sound"] {
                let signal = match port {
                    "event" => Signal::Event,
                    _ => Signal::Audio(Channels(1)),
                };
                node.inputs.push(Port::new(port, signal));
                node.outputs.insert(0, Port::new(port, signal));
            }
            graph.add(node).unwrap();
        }
        graph
    }

    fn edge(from: (u32, u16), to: (u32, u16)) -> Edge {
        let port = |(node, port)| PortRef {
            node: NodeId(node),
            port,
        };
        let span = SourceSpan::NONE;
        let (from, to) = (port(from), port(to));
        Edge { from, to, span }
    }

    #[test]
    fn a_chain_of_bypassed_nodes_passes_each_signal_by() {
        for order in [[1, 2], [2, 1]] {
            let mut graph = graph(&["a", "b", "c", "d"]);
            for node in 0..3 {
                graph.connect(edge((node, 0), (node + 1, 1)));
                graph.connect(edge((node, 1), (node + 1, 0)));
            }
            for node in order {
                graph.node_mut(NodeId(node)).unwrap().bypassed = true;
            }
            let played = graph.without_bypasses();
            let ends = |edge: &Edge| (edge.from, edge.to);
            let mut found: Vec<_> = played.edges().iter().map(ends).collect();
            found.sort_unstable();
            let mut expected: Vec<_> = (1..4)
                .flat_map(|to| [edge((0, 0), (to, 1)), edge((0, 1), (to, 0))])
                .map(|edge| ends(&edge))
                .collect();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_bypassed_source_is_silent_and_a_loop_through_itself_ends() {
        let mut graph = graph(&["a", "b"]);
        graph.connect(edge((0, 0), (0, 1)));
        graph.connect(edge((0, 0), (1, 1)));
        graph.node_mut(NodeId(0)).unwrap().bypassed = true;
        assert!(graph.without_bypasses().edges().is_empty());
    }

    #[test]
    fn nodes_whose_edges_would_multiply_without_end_are_not_bypassed() {
        let names: Vec<String> = (0..64).map(|i| format!("n{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut graph = graph(&names);
        for node in 0..63 {
            for _ in 0..4 {
                graph.connect(edge((node, 0), (node + 1, 1)));
            }
            graph.node_mut(NodeId(node + 1)).unwrap().bypassed = true;
        }
        assert!(graph.without_bypasses().edges().len() <= 4 * 63 + MAX_ADDED);
    }
}
