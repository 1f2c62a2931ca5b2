//! A directed graph of small numbers: topological order, strongly connected components, shortest cycles.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Successors of each of the vertices `0..len`, sorted and without repeats, in compressed rows.
///
/// ```text
/// edges      0 -> 1   0 -> 2   2 -> 1
/// starts     0        2        2        3      row v is ends[starts[v]..starts[v + 1]]
/// ends       1  2              1
/// ```
#[derive(Clone, Debug)]
pub struct Adjacency {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Adjacency {
    /// A graph of `len` vertices with the edges `(from, to)`, in any order. Repeated edges count once.
    ///
    /// # Panics
    ///
    /// An edge begins at `len` or beyond.
    pub fn new(len: usize, mut edges: Vec<(u32, u32)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0; len + 1];
        for (from, _) in &edges {
            starts[*from as usize + 1] += 1;
        }
        for vertex in 0..len {
            starts[vertex + 1] += starts[vertex];
        }
        let ends = edges.into_iter().map(|(_, to)| to).collect();
        Self { starts, ends }
    }

    /// Number of vertices.
    #[expect(
        clippy::len_without_is_empty,
        reason = "nobody asks for a graph without vertices"
    )]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The vertices that edges from `vertex` lead to, in rising order.
    pub fn successors(&self, vertex: u32) -> &[u32] {
        let [start, end] = [vertex, vertex + 1].map(|row| self.starts[row as usize] as usize);
        &self.ends[start..end]
    }

    /// Number of edges that lead to each vertex.
    pub fn in_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.len()];
        for to in &self.ends {
            degrees[*to as usize] += 1;
        }
        degrees
    }

    /// Every vertex after all its predecessors (Kahn 1962), of several candidates the smallest first. Vertices on a
    /// cycle, and those behind one, are missing.
    pub fn topological_order(&self) -> Vec<u32> {
        let mut missing = self.in_degrees();
        let sources = (0..self.len() as u32).filter(|vertex| missing[*vertex as usize] == 0);
        let mut ready: BinaryHeap<Reverse<u32>> = sources.map(Reverse).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(vertex)) = ready.pop() {
            order.push(vertex);
            for to in self.successors(vertex) {
                missing[*to as usize] -= 1;
                if missing[*to as usize] == 0 {
                    ready.push(Reverse(*to));
                }
            }
        }
        order
    }

    /// For each vertex the smallest vertex of its strongly connected component.
    ///
    /// Two vertices are in one component if each can be reached from the other: a component of more than one vertex is
    /// a knot of cycles. The algorithm is Tarjan's (1972), with a stack of its own, as a chain of 100,000 nodes must not
    /// end the thread's.
    pub fn strong_components(&self) -> Vec<u32> {
        let mut search = Tarjan {
            clock: 0,
            found_at: vec![0; self.len()],
            low: vec![0; self.len()],
            open: Vec::new(),
            component: vec![NONE; self.len()],
        };
        for root in 0..self.len() as u32 {
            if search.found_at[root as usize] == 0 {
                search.visit(self, root);
            }
        }
        search.component
    }

    /// The shortest cycle through `start` over vertices that `allowed` accepts, `start` first and named once.
    pub fn shortest_cycle(&self, start: u32, allowed: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        let mut found_from = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(vertex) = queue.pop_front() {
            for &to in self.successors(vertex).iter().filter(|to| allowed(**to)) {
                if to == start {
                    let mut path = vec![vertex];
                    while let Some(&last) = path.last().filter(|last| **last != start) {
                        path.push(found_from[&last]);
                    }
                    path.reverse();
                    return Some(path);
                }
                found_from.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    vertex
                });
            }
        }
        None
    }
}

/// The component of a vertex that is not known yet.
const NONE: u32 = u32::MAX;

/// State of Tarjan's depth-first search.
struct Tarjan {
    /// Number of vertices found so far.
    clock: u32,
    /// Order in which each vertex was found, from 1; 0 is never.
    found_at: Vec<u32>,
    /// The earliest found vertex of an open component that each vertex reaches.
    low: Vec<u32>,
    /// Found vertices whose component is not known, in the order in which they were found.
    open: Vec<u32>,
    component: Vec<u32>,
}

impl Tarjan {
    fn visit(&mut self, graph: &Adjacency, root: u32) {
        // The path from the root: each vertex, and which of its successors is next.
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((vertex, next)) = path.last_mut() {
            let at = *vertex as usize;
            if let Some(&to) = graph.successors(*vertex).get(*next) {
                *next += 1;
                if self.found_at[to as usize] == 0 {
                    self.enter(to);
                    path.push((to, 0));
                } else if self.component[to as usize] == NONE {
                    self.low[at] = self.low[at].min(self.found_at[to as usize]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                let parent = *parent as usize;
                self.low[parent] = self.low[parent].min(self.low[at]);
            }
            if self.low[at] == self.found_at[at] {
                self.close(at as u32);
            }
        }
    }

    fn enter(&mut self, vertex: u32) {
        self.clock += 1;
        self.found_at[vertex as usize] = self.clock;
        self.low[vertex as usize] = self.clock;
        self.open.push(vertex);
    }

    /// Closes the component that was entered at `root`: it is all that was opened since.
    fn close(&mut self, root: u32) {
        let first = self.open.iter().rposition(|vertex| *vertex == root);
        let members = self
            .open
            .split_off(first.expect("open until its component closes"));
        let smallest = members.iter().copied().min().unwrap_or(root);
        for member in members {
            self.component[member as usize] = smallest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_named_by_their_smallest_member() {
        let graph = Adjacency::new(6, vec![(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (5, 3)]);
        assert_eq!(graph.strong_components(), [0, 1, 1, 3, 4, 5]);
        assert_eq!(graph.shortest_cycle(1, |_| true), Some(vec![1, 2]));
        assert_eq!(graph.shortest_cycle(4, |_| true), Some(vec![4]));
        assert_eq!(graph.shortest_cycle(0, |_| true), None);
    }

    #[test]
    fn the_smallest_vertex_goes_first_and_those_behind_a_cycle_are_missing() {
        let graph = Adjacency::new(5, vec![(2, 0), (0, 1), (3, 4), (4, 3)]);
        assert_eq!(graph.topological_order(), [2, 0, 1]);
    }
}
