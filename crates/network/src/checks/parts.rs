//! The parts of a network that can be judged one by one.
//!
//! Nodes that wait for each other for ever do so in a circle, which passes no node twice: forwards along a queue where
//! one waits for frames, backwards where one waits for room. If it passes more than one queue, all of them lie in one
//! *part*: queues of which each two are on a circle, whatever way they lead. And a part that cannot go on within the
//! network cannot go on by itself either, for what its nodes have done is what they could have done alone. So a network
//! goes on for ever if each of its parts does, and no part needs to know how often the others' nodes fire. In a chain
//! each queue is a part of its own.

use crate::shape::{NodeId, QueueId, Topology};
use units::gcd;

/// Queues of which each two are on a circle, or a single one.
#[derive(Debug)]
pub(super) struct Part {
    /// Its nodes, by their place in the network.
    pub(super) nodes: Vec<NodeId>,
    /// Its queues, by theirs.
    pub(super) queues: Vec<QueueId>,
    /// How often each node fires until the part's queues hold as much again, the least such numbers.
    pub(super) counts: Vec<u64>,
}

impl Part {
    /// All of a network.
    pub(super) fn whole(shape: &Topology, counts: &[u64]) -> Self {
        Self {
            nodes: (0..shape.nodes.len()).map(NodeId).collect(),
            queues: shape.queue_ids().collect(),
            counts: counts.to_vec(),
        }
    }

    fn new(shape: &Topology, counts: &[u64], mut queues: Vec<QueueId>) -> Self {
        queues.sort();
        let ends = queues.iter().map(|queue| &shape.queues[queue.0]);
        let mut nodes: Vec<NodeId> = ends.flat_map(|ends| [ends.from.0, ends.to.0]).collect();
        nodes.sort();
        nodes.dedup();
        let all = nodes.iter().map(|node| counts[node.0]);
        let common = all.clone().fold(0, |common, n| gcd(n.into(), common));
        // It divides each, so it is no larger than they are.
        let common = (common as u64).max(1);
        Self {
            counts: all.map(|count| count / common).collect(),
            nodes,
            queues,
        }
    }

    /// The only queue between two nodes, if that is all.
    pub(super) fn single(&self) -> Option<QueueId> {
        match (&self.queues[..], self.nodes.len()) {
            ([queue], 2) => Some(*queue),
            _ => None,
        }
    }

    /// Firings until its queues hold as much again.
    pub(super) fn round(&self) -> u128 {
        self.counts.iter().map(|count| u128::from(*count)).sum()
    }
}

/// All parts of a network whose nodes fire so often. Each queue is in one of them.
pub(super) fn parts(shape: &Topology, counts: &[u64]) -> Vec<Part> {
    let ends = shape.queues.iter().map(|q| (q.from.0.0, q.to.0.0));
    let ends: Vec<_> = ends.collect();
    let blocks = Blocks::of(shape.nodes.len(), &ends).found.into_iter();
    blocks
        .map(|block| Part::new(shape, counts, block.into_iter().map(QueueId).collect()))
        .collect()
}

/// A walk into the depth that finds the blocks of a graph (Hopcroft and Tarjan).
struct Blocks {
    /// The edges at each node, with the node at the other end.
    touching: Vec<Vec<(usize, usize)>>,
    /// How deep each node lies, from 1 on; 0 where the walk has not been.
    depth: Vec<usize>,
    /// How high one can come from a node and from those below it, by one edge that was not walked.
    low: Vec<usize>,
    is_walked: Vec<bool>,
    /// Edges of blocks that are not complete, and where in it each node's own begins.
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
            is_walked: vec![false; ends.len()],
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
                blocks.walk(root);
            }
        }
        blocks
    }

    fn enter(&mut self, node: usize, depth: usize) {
        (self.depth[node], self.low[node]) = (depth, depth);
    }

    fn walk(&mut self, root: usize) {
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
            if std::mem::replace(&mut self.is_walked[edge], true) {
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

    /// All below `node` has been walked.
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
            "twice the same way, a way to itself, a triangle"
        );
    }

    /// Whether a circle that passes no node twice has both edges: tried by walking on from the first in all ways.
    fn on_a_circle(ends: &[(usize, usize)], a: usize, b: usize) -> bool {
        fn on(
            ends: &[(usize, usize)],
            way: &mut Vec<(usize, usize)>,
            goal: usize,
            b: usize,
        ) -> bool {
            let (at, edge) = *way.last().unwrap();
            if at == goal {
                return way.iter().any(|(_, edge)| *edge == b);
            }
            let _ = edge;
            (0..ends.len()).any(|next| {
                let (from, to) = ends[next];
                let other = match at {
                    _ if way.iter().any(|(_, edge)| *edge == next) => return false,
                    at if at == from => to,
                    at if at == to => from,
                    _ => return false,
                };
                if way.iter().any(|(node, _)| *node == other) {
                    return false;
                }
                way.push((other, next));
                let found = on(ends, way, goal, b);
                way.pop();
                found
            })
        }
        let (from, to) = ends[a];
        // From its end back to its begin, where the walk may end.
        on(ends, &mut vec![(to, a)], from, b)
    }

    proptest! {
        #[test]
        fn two_edges_are_in_one_block_if_a_circle_has_both(
            ends in proptest::collection::vec((0..5usize, 0..5usize), 1..8)
        ) {
            let found = blocks(5, &ends);
            let block = |edge: usize| found.iter().position(|block| block.contains(&edge));
            for a in 0..ends.len() {
                prop_assert!(block(a).is_some());
                for b in 0..a {
                    let is_loop = ends[a].0 == ends[a].1 || ends[b].0 == ends[b].1;
                    let is_one = !is_loop && on_a_circle(&ends, a, b);
                    prop_assert_eq!(block(a) == block(b), is_one, "{} {}", a, b);
                }
            }
        }
    }
}
