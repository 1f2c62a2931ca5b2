//! [`parts`]: queues that depend on each other, found as the blocks of the undirected graph.
//!
//! ```text
//!          ┌─▶ b ─┐
//! s ──▶ a ─┤      ├─▶ d ──▶ e       parts: {s→a}, {a→b, a→c, b→d, c→d}, {d→e}
//!          └─▶ c ─┘
//! ```
//!
//! Two queues are in one part if a cycle, taken without directions, passes through both: then a full queue on one path can block
//! nodes that fill the other. Queues of different parts never block each other for ever, so each part is checked alone, with
//! a repetition vector of its own. The parts are the biconnected components (Hopcroft and Tarjan, 1973). In a chain each
//! queue is a part.

use crate::topology::{QueueId, Topology};
use graph::NodeId;
use units::gcd;

/// Queues of which every two are on a common cycle, or a single queue.
#[derive(Debug)]
pub(super) struct Part {
    /// Its nodes, in the network's order.
    pub(super) nodes: Vec<NodeId>,
    /// Its queues, in the network's order.
    pub(super) queues: Vec<QueueId>,
    /// Repetition vector of the part, in the order of `nodes`.
    pub(super) repetitions: Vec<u64>,
}

impl Part {
    /// The whole network as one part.
    pub(super) fn whole(topology: &Topology, repetitions: &[u64]) -> Self {
        Self {
            nodes: topology.node_ids().collect(),
            queues: topology.queue_ids().collect(),
            repetitions: repetitions.to_vec(),
        }
    }

    fn new(topology: &Topology, repetitions: &[u64], mut queues: Vec<QueueId>) -> Self {
        queues.sort();
        let ends = queues.iter().map(|queue| &topology.queues[queue.0]);
        let mut nodes: Vec<NodeId> = ends
            .flat_map(|ends| [ends.from.node, ends.to.node])
            .collect();
        nodes.sort();
        nodes.dedup();
        let all = nodes.iter().map(|node| repetitions[node.0 as usize]);
        let common = all.clone().fold(0, |common, n| gcd(n.into(), common));
        // A divisor of each is no larger than they are, so it fits into a `u64`.
        let common = (common as u64).max(1);
        Self {
            repetitions: all.map(|count| count / common).collect(),
            nodes,
            queues,
        }
    }

    /// The queue, if the part is a single queue between two nodes.
    pub(super) fn single(&self) -> Option<QueueId> {
        match (&self.queues[..], self.nodes.len()) {
            ([queue], 2) => Some(*queue),
            _ => None,
        }
    }

    /// Index of a node within the part.
    pub(super) fn index_of(&self, node: NodeId) -> usize {
        let found = self.nodes.binary_search(&node);
        found.expect("a part has the nodes of its queues")
    }

    /// Firings of all nodes in one iteration.
    pub(super) fn firings(&self) -> u128 {
        self.repetitions
            .iter()
            .map(|count| u128::from(*count))
            .sum()
    }
}

/// All parts of a network with this repetition vector. Each queue is in one of them.
pub(super) fn parts(topology: &Topology, repetitions: &[u64]) -> Vec<Part> {
    let ends = topology
        .queues
        .iter()
        .map(|queue| (queue.writer(), queue.reader()));
    let ends: Vec<_> = ends.collect();
    let blocks = Blocks::of(topology.nodes.len(), &ends).found.into_iter();
    blocks
        .map(|block| {
            Part::new(
                topology,
                repetitions,
                block.into_iter().map(QueueId).collect(),
            )
        })
        .collect()
}

/// Depth-first search that finds the blocks of a graph (Hopcroft and Tarjan, 1973), without recursion.
struct Blocks {
    /// Edges at each node, with the node at their other end.
    touching: Vec<Vec<(usize, usize)>>,
    /// Depth of each node in the search tree, from 1 on; 0 if not visited.
    depth: Vec<usize>,
    /// Smallest depth that a node and those below it reach by one edge outside the tree: Tarjan's low point.
    low: Vec<usize>,
    is_visited: Vec<bool>,
    /// Stack of edges whose block is not complete; `entered` has the index at which each node's own begin.
    edges: Vec<usize>,
    entered: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Blocks {
    fn of(nodes: usize, ends: &[(usize, usize)]) -> Self {
        let mut blocks = Self {
            touching: vec![Vec::new(); nodes],
            depth: vec![0; nodes],
            low: vec![0; nodes],
            is_visited: vec![false; ends.len()],
            edges: Vec::new(),
            entered: vec![0; nodes],
            found: Vec::new(),
        };
        for (edge, &(a, b)) in ends.iter().enumerate() {
            if a == b {
                blocks.found.push(vec![edge]);
                continue;
            }
            blocks.touching[a].push((edge, b));
            blocks.touching[b].push((edge, a));
        }
        for root in 0..nodes {
            if blocks.depth[root] == 0 {
                blocks.search(root);
            }
        }
        blocks
    }

    fn enter(&mut self, node: usize, depth: usize) {
        (self.depth[node], self.low[node]) = (depth, depth);
    }

    fn search(&mut self, root: usize) {
        self.enter(root, 1);
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.pop() {
            let Some(&(edge, other)) = self.touching[node].get(next) else {
                if let Some(&(above, _)) = path.last() {
                    self.leave(node, above);
                }
                continue;
            };
            path.push((node, next + 1));
            if std::mem::replace(&mut self.is_visited[edge], true) {
                continue;
            }
            self.edges.push(edge);
            if self.depth[other] == 0 {
                self.entered[other] = self.edges.len() - 1;
                path.push((other, 0));
                self.enter(other, path.len());
            } else {
                self.low[node] = self.low[node].min(self.depth[other]);
            }
        }
    }

    /// All below `node` has been visited: if nothing of it reaches above `above`, its edges are a block.
    fn leave(&mut self, node: usize, above: usize) {
        self.low[above] = self.low[above].min(self.low[node]);
        if self.low[node] >= self.depth[above] {
            let block = self.edges.split_off(self.entered[node]);
            self.found.push(block);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Blocks;
    use proptest::prelude::*;

    fn blocks(nodes: usize, ends: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut found = Blocks::of(nodes, ends).found;
        found.iter_mut().for_each(|block| block.sort_unstable());
        found.sort();
        found
    }

    #[test]
    fn chains_fall_apart_and_diamonds_do_not() {
        let chain = [(0, 1), (1, 2), (2, 3)];
        assert_eq!(blocks(4, &chain), [[0], [1], [2]]);
        let diamond = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)];
        assert_eq!(blocks(6, &diamond), [vec![0], vec![1, 2, 3, 4], vec![5]]);
        let two = [(0, 1), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 3)];
        assert_eq!(
            blocks(4, &two),
            [vec![0, 1, 3, 4], vec![2], vec![5, 6]],
            "a double edge, an edge from a node to itself, a triangle"
        );
    }

    /// Returns true if a cycle that passes no node twice has both edges: by trying all paths from the first.
    fn on_a_cycle(ends: &[(usize, usize)], a: usize, b: usize) -> bool {
        fn on(
            ends: &[(usize, usize)],
            path: &mut Vec<(usize, usize)>,
            goal: usize,
            b: usize,
        ) -> bool {
            let (at, edge) = *path.last().unwrap();
            if at == goal {
                return path.iter().any(|(_, edge)| *edge == b);
            }
            let _ = edge;
            (0..ends.len()).any(|next| {
                let (from, to) = ends[next];
                let other = match at {
                    _ if path.iter().any(|(_, edge)| *edge == next) => return false,
                    at if at == from => to,
                    at if at == to => from,
                    _ => return false,
                };
                if path.iter().any(|(node, _)| *node == other) {
                    return false;
                }
                path.push((other, next));
                let found = on(ends, path, goal, b);
                path.pop();
                found
            })
        }
        let (from, to) = ends[a];
        // From the edge's end back to its begin, where the path may end.
        on(ends, &mut vec![(to, a)], from, b)
    }

    proptest! {
        #[test]
        fn two_edges_are_in_one_block_if_a_cycle_has_both(
            ends in proptest::collection::vec((0..5usize, 0..5usize), 1..8)
        ) {
            let found = blocks(5, &ends);
            let block = |edge: usize| found.iter().position(|block| block.contains(&edge));
            for a in 0..ends.len() {
                prop_assert!(block(a).is_some());
                for b in 0..a {
                    let is_loop = ends[a].0 == ends[a].1 || ends[b].0 == ends[b].1;
                    let is_one = !is_loop && on_a_cycle(&ends, a, b);
                    prop_assert_eq!(block(a) == block(b), is_one, "{} {}", a, b);
                }
            }
        }
    }
}
