//! Adds dummies where edges pass through the layers between their ends.
//!
//! Edges from one output share their dummies, so that a signal which goes to many inputs is one line that branches.

use super::layer::Layers;
use super::types::{BoxSize, EdgePath, LayeredGraph, LayoutEdge, Link, Vertex};
use std::collections::BTreeMap;

/// Largest number of dummies; edges beyond it go straight through boxes.
const MAX_DUMMIES: usize = 20_000;

/// Builds the layered graph: boxes, dummies, and links between neighbouring layers.
pub(super) fn add_dummies(
    boxes: &[BoxSize],
    edges: &[LayoutEdge],
    layers: &Layers,
) -> LayeredGraph {
    let count = layers.of_box.iter().map(|layer| layer + 1).max();
    let mut graph = LayeredGraph {
        boxes: boxes.len(),
        tied: vec![Vec::new(); count.unwrap_or(0)],
        ..LayeredGraph::default()
    };
    for (size, layer) in boxes.iter().zip(&layers.of_box) {
        graph.vertices.push(Vertex {
            layer: *layer,
            width: size.width,
            height: size.height,
        });
    }
    let mut chains = BTreeMap::<(usize, usize), Vec<usize>>::new();
    for (edge, is_feedback) in edges.iter().zip(&layers.is_feedback) {
        let path = if *is_feedback {
            graph.add_feedback(edge)
        } else {
            let chain = chains.entry(edge.from).or_default();
            graph.add_forward(boxes, edge, chain)
        };
        graph.paths.push(path);
        graph.ends.push((edge.from.0, edge.to.0));
    }
    graph
}

impl LayeredGraph {
    /// Leads an edge along the chain of its output, a dummy a layer, which grows as far as the edge needs it.
    fn add_forward(
        &mut self,
        boxes: &[BoxSize],
        edge: &LayoutEdge,
        chain: &mut Vec<usize>,
    ) -> EdgePath {
        let (from, to) = (edge.from.0, edge.to.0);
        let begin = (from, boxes[from].outputs[edge.from.1]);
        let end = (to, boxes[to].inputs[edge.to.1]);
        let between = self.vertices[to].layer - self.vertices[from].layer - 1;
        if self.vertices.len() + between > self.boxes + MAX_DUMMIES {
            return EdgePath::default();
        }
        while chain.len() < between {
            let before = chain.last().map_or(begin, |last| (*last, 0.0));
            let dummy = self.add_dummy(self.vertices[before.0].layer + 1);
            self.link(before, (dummy, 0.0));
            chain.push(dummy);
        }
        let before = if between == 0 {
            begin
        } else {
            (chain[between - 1], 0.0)
        };
        self.link(before, end);
        EdgePath {
            dummies: chain[..between].to_vec(),
            is_feedback: false,
        }
    }

    /// Leads a feedback edge below its source, through the layers between, and below its target. The dummies at both
    /// ends are tied to their boxes and not linked with them: the edge turns around there.
    fn add_feedback(&mut self, edge: &LayoutEdge) -> EdgePath {
        let (from, to) = (edge.from.0, edge.to.0);
        let (high, low) = (self.vertices[from].layer, self.vertices[to].layer);
        let mut dummies = Vec::new();
        if self.vertices.len() + high.abs_diff(low) < self.boxes + MAX_DUMMIES {
            for layer in (low..=high).rev() {
                let dummy = self.add_dummy(layer);
                if let Some(before) = dummies.last().copied() {
                    self.link((dummy, 0.0), (before, 0.0));
                }
                dummies.push(dummy);
            }
            self.tied[high].extend(dummies.first().map(|first| (*first, from)));
            if high > low {
                self.tied[low].extend(dummies.last().map(|last| (*last, to)));
            }
        }
        EdgePath {
            dummies,
            is_feedback: true,
        }
    }

    fn add_dummy(&mut self, layer: usize) -> usize {
        self.vertices.push(Vertex {
            layer,
            width: 0.0,
            height: 0.0,
        });
        self.vertices.len() - 1
    }

    /// Adds a link. The more of its ends are dummies, the more it matters that it is straight (the priorities 1, 2 and 8 of
    /// Gansner et al., *A Technique for Drawing Directed Graphs*, IEEE TSE 19(3), 1993, section 4.2).
    fn link(&mut self, left: (usize, f64), right: (usize, f64)) {
        let ends = [left.0, right.0];
        let dummies = ends.iter().filter(|vertex| **vertex >= self.boxes).count();
        let weight = [1.0, 2.0, 8.0][dummies];
        self.links.push(Link {
            left,
            right,
            weight,
        });
    }
}
