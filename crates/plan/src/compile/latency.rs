//! Part of pass 2: the time, in frames behind the program's inputs, at which each node reads and writes.
//!
//! Without feedback this is a longest path: a node reads at the time of its latest input, and writes later by its own
//! latency. A cycle (a strongly connected component) counts as one node, for inside it nothing may be delayed, or the
//! feedback would be detuned:
//!
//! ```text
//!            +-------------- cycle --------------+
//!   in ----->|  add -> filter (10) -> delay ---+ |      reads at the time of its latest input from outside
//!            |   ^        |                    | |
//!            |   +--------|--------------------+ |
//!            +------------|----------------------+
//!                         v  writes 10 later: the shortest latency of a path from an entry
//! ```
//!
//! The shortest path counts: sound circulates and comes out again and again, and other paths are aligned to its first
//! appearance. A cycle without inputs begins where its delays are read.

use super::wiring::{NodePart, WiredEdge, Wiring};
use crate::{PlanOptions, PreviousDelays};
use graph::Adjacency;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Frames;

/// Latencies of all nodes, in frames.
#[derive(Debug)]
pub(super) struct Latencies {
    /// The cycle of each node: its smallest node.
    cycle: Vec<u32>,
    /// Latency of the inputs of each node, or of its cycle.
    input: Vec<u32>,
    /// Latency of the outputs of each node.
    output: Vec<u32>,
}

impl Latencies {
    /// Of the graph before aligners are inserted.
    pub(super) fn new(wiring: &Wiring<'_>, options: &PlanOptions) -> Self {
        let count = wiring.nodes.len();
        let cycle = Adjacency::new(count, wiring.pairs().collect()).strong_components();
        let within = latency_within_cycle(wiring, &cycle, options);
        let of = |node: u32| cycle[node as usize];
        let between = wiring.pairs().map(|(a, b)| (of(a), of(b)));
        let between = Adjacency::new(count, between.filter(|(a, b)| a != b).collect());
        let mut nodes: Vec<Vec<u32>> = vec![Vec::new(); count];
        for node in 0..count as u32 {
            nodes[of(node) as usize].push(node);
        }
        let (mut input, mut output) = (vec![0_u32; count], vec![0_u32; count]);
        for name in between.topological_order() {
            let inside = &nodes[name as usize];
            let edges = inside.iter().flat_map(|node| wiring.edges_to(*node));
            let entering = edges.filter(|edge| of(edge.from) != name);
            let latest = entering.map(|edge| output[edge.from as usize]).max();
            for at in inside.iter().map(|node| *node as usize) {
                input[at] = latest.unwrap_or(0);
                output[at] = input[at].saturating_add(within[at]);
            }
        }
        Self {
            cycle,
            input,
            output,
        }
    }

    /// Latency of the latest sink.
    pub(super) fn longest(&self, wiring: &Wiring<'_>) -> u32 {
        let nodes = wiring.nodes.iter().zip(&self.output);
        let sinks = nodes.filter(|(node, _)| matches!(node.part, NodePart::Sink { .. }));
        sinks.map(|(_, output)| *output).max().unwrap_or(0)
    }

    /// Returns true if both ends of an edge are in one cycle.
    pub(super) fn is_within_cycle(&self, edge: &WiredEdge) -> bool {
        self.cycle[edge.from as usize] == self.cycle[edge.to as usize]
    }

    /// Frames by which the signal of an edge is earlier than the latest input of its target. None within a cycle, and none
    /// for the silence of a node that is not enabled.
    pub(super) fn missing_delay(&self, wiring: &Wiring<'_>, edge: &WiredEdge) -> Frames {
        let [from, to] = [edge.from, edge.to].map(|node| node as usize);
        if self.is_within_cycle(edge) || wiring.nodes[from].part == NodePart::Silence {
            return Frames(0);
        }
        Frames(self.input[to].saturating_sub(self.output[from]))
    }

    /// Moves all sinks to the time of the latest.
    pub(super) fn level_sinks(&mut self, wiring: &Wiring<'_>) {
        let longest = self.longest(wiring);
        for (at, node) in wiring.nodes.iter().enumerate() {
            if matches!(node.part, NodePart::Sink { .. }) {
                self.input[at] += longest - self.output[at];
                self.output[at] = longest;
            }
        }
    }
}

impl Latencies {
    /// Moves nodes that fade a connection to the time of the node behind them: what is delayed is what enters them.
    pub(super) fn level_fades(&mut self, wiring: &Wiring<'_>, previous: &PreviousDelays) {
        for id in previous.fades() {
            let Some(at) = wiring.index_of(id) else {
                continue;
            };
            let mut edges = wiring.edges.iter();
            let behind = edges.find(|edge| edge.from == at && !self.is_within_cycle(edge));
            if let Some(edge) = behind {
                let input = self.input[edge.to as usize];
                let at = at as usize;
                self.input[at] = input.max(self.input[at]);
                self.output[at] = self.input[at];
            }
        }
    }
}

/// Latency of a node by itself.
fn own_latency(wiring: &Wiring<'_>, options: &PlanOptions, node: u32) -> u32 {
    let node = &wiring.nodes[node as usize];
    match node.part {
        NodePart::Silence => 0,
        _ => options.latencies.get(&node.id).map_or(0, |own| own.0),
    }
}

/// For each node the shortest latency of a path to it from where its cycle is entered, its own included (Dijkstra).
fn latency_within_cycle(wiring: &Wiring<'_>, cycle: &[u32], options: &PlanOptions) -> Vec<u32> {
    let is_inside = |(from, to): &(u32, u32)| cycle[*from as usize] == cycle[*to as usize];
    let inside = Adjacency::new(cycle.len(), wiring.pairs().filter(is_inside).collect());
    let mut shortest: Vec<Option<u32>> = vec![None; cycle.len()];
    let mut next = BinaryHeap::new();
    let mut reach = |next: &mut BinaryHeap<_>, node: u32, latency: u32| {
        if shortest[node as usize].is_none_or(|known| latency < known) {
            shortest[node as usize] = Some(latency);
            next.push(Reverse((latency, node)));
        }
    };
    for node in cycle_entries(wiring, cycle) {
        reach(&mut next, node, own_latency(wiring, options, node));
    }
    while let Some(Reverse((latency, node))) = next.pop() {
        for &to in inside.successors(node) {
            let own = own_latency(wiring, options, to);
            reach(&mut next, to, latency.saturating_add(own));
        }
    }
    // A cycle without a delay has no entry; the pass `order` reports it.
    shortest
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect()
}

/// First nodes of cycles: nodes with an edge from outside; in a cycle without any, the nodes that read its delays.
fn cycle_entries(wiring: &Wiring<'_>, cycle: &[u32]) -> Vec<u32> {
    let enters = |edge: &&WiredEdge| cycle[edge.from as usize] != cycle[edge.to as usize];
    let mut all: Vec<u32> = wiring.edges.iter().filter(enters).map(|e| e.to).collect();
    let mut is_entered = vec![false; cycle.len()];
    for node in &all {
        is_entered[cycle[*node as usize] as usize] = true;
    }
    let mut has_edges = vec![false; cycle.len()];
    for edge in wiring.edges.iter().filter(|edge| !enters(edge)) {
        let name = cycle[edge.to as usize] as usize;
        has_edges[name] = true;
        let from = &wiring.nodes[edge.from as usize];
        if !is_entered[name] && matches!(from.part, NodePart::Delay(_)) {
            all.push(edge.to);
        }
    }
    let alone = (0..cycle.len()).filter(|at| !has_edges[cycle[*at] as usize]);
    all.extend(alone.map(|at| at as u32));
    all
}
