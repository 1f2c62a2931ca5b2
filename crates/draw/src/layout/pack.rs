//! Reassigns layers of graphs that would be much higher than wide: a box without room in its layer moves to a later one.
//!
//! A chain is placed whole before the next begins, so that its boxes stay side by side: the second half of a rake is
//! to the right of the first, not below it.

use super::layer::Layers;
use super::types::{BoxSize, LayoutEdge};

/// Room around a box: for edges at its sides, and the gap to the next box of the layer.
const SPACING: (f64, f64) = (75.0, 18.0);
/// Graphs with no layer higher than this stay as they are.
const MIN_HEIGHT: f64 = 1400.0;
/// Width of a packed picture over its height.
const ASPECT: f64 = 1.5;

/// Returns a layer for each box, or `None` if no layer is too high.
pub(super) fn pack(boxes: &[BoxSize], edges: &[LayoutEdge], layers: &Layers) -> Option<Vec<usize>> {
    let max_height = max_height(boxes, &layers.of_box)?;
    let mut before = vec![Vec::new(); boxes.len()];
    let mut after = vec![Vec::new(); boxes.len()];
    let forward = edges.iter().zip(&layers.is_feedback);
    for (edge, _) in forward.filter(|(_, is_feedback)| !**is_feedback) {
        before[edge.to.0].push(edge.from.0);
        after[edge.from.0].push(edge.to.0);
    }
    let order = chain_order(&before, &after);
    let mut filled = FilledLayers {
        max_height,
        used: Vec::new(),
    };
    let mut packed = vec![0; boxes.len()];
    for i in &order {
        let earliest = before[*i].iter().map(|source| packed[*source] + 1).max();
        packed[*i] = filled.put(boxes[*i].height, earliest.unwrap_or(0));
    }
    // A source goes right before the first box that it feeds, if there is room.
    for i in order.iter().rev().filter(|i| before[**i].is_empty()) {
        let first = after[*i].iter().map(|target| packed[*target]).min();
        let height = boxes[*i].height;
        if let Some(near) = first.and_then(|first| filled.last_free(height, packed[*i], first)) {
            filled.used[packed[*i]] -= height + SPACING.1;
            filled.used[near] += height + SPACING.1;
            packed[*i] = near;
        }
    }
    close_gaps(&mut packed);
    Some(packed)
}

/// Largest height of a layer that gives the picture its [`ASPECT`]; `None` if no layer is too high as it is.
fn max_height(boxes: &[BoxSize], of_box: &[usize]) -> Option<f64> {
    let count = of_box.iter().max()? + 1;
    let (mut widths, mut heights) = (vec![0.0f64; count], vec![0.0; count]);
    let (mut area, mut highest_box) = (0.0, 0.0f64);
    for (size, layer) in boxes.iter().zip(of_box) {
        let size = (size.width + SPACING.0, size.height + SPACING.1);
        widths[*layer] = widths[*layer].max(size.0);
        heights[*layer] += size.1;
        area += size.0 * size.1;
        highest_box = highest_box.max(size.1);
    }
    let tallest = heights.into_iter().fold(0.0, f64::max);
    if tallest < MIN_HEIGHT || tallest < widths.iter().sum::<f64>() * 1.25 {
        return None;
    }
    // 30 % more, for edges that pass and layers that are not full.
    Some(
        (area * 1.3 / ASPECT)
            .sqrt()
            .max(highest_box)
            .max(MIN_HEIGHT / 2.0),
    )
}

/// The layers so far.
struct FilledLayers {
    max_height: f64,
    /// Height of the boxes in each layer.
    used: Vec<f64>,
}

impl FilledLayers {
    fn has_room(&self, layer: usize, height: f64) -> bool {
        let used = self.used.get(layer).copied().unwrap_or(0.0);
        used == 0.0 || used + height + SPACING.1 <= self.max_height
    }

    /// Adds a box to the first layer from `layer` on that has room, and returns that layer.
    fn put(&mut self, height: f64, mut layer: usize) -> usize {
        while !self.has_room(layer, height) {
            layer += 1;
        }
        if self.used.len() <= layer {
            self.used.resize(layer + 1, 0.0);
        }
        self.used[layer] += height + SPACING.1;
        layer
    }

    /// The last layer with room between two layers.
    fn last_free(&self, height: f64, after: usize, before: usize) -> Option<usize> {
        (after + 1..before)
            .rev()
            .find(|layer| self.has_room(*layer, height))
    }
}

/// The boxes in topological order, each chain whole before the next: depth-first from the sinks, against the edges.
fn chain_order(before: &[Vec<usize>], after: &[Vec<usize>]) -> Vec<usize> {
    let sinks = (0..before.len()).filter(|i| after[*i].is_empty());
    let mut is_seen = vec![false; before.len()];
    let mut order = Vec::with_capacity(before.len());
    for end in sinks {
        let mut path = vec![(end, 0)];
        is_seen[end] = true;
        while let Some((at, next)) = path.last_mut() {
            match before[*at].get(*next) {
                Some(source) => {
                    *next += 1;
                    if !std::mem::replace(&mut is_seen[*source], true) {
                        path.push((*source, 0));
                    }
                }
                None => {
                    order.push(*at);
                    path.pop();
                }
            }
        }
    }
    order
}

/// Renumbers the layers so that none is empty.
fn close_gaps(packed: &mut [usize]) {
    let mut layers = packed.to_vec();
    layers.sort_unstable();
    layers.dedup();
    for layer in packed {
        *layer = layers.partition_point(|other| other < layer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size() -> BoxSize {
        BoxSize {
            width: 80.0,
            height: 42.0,
            inputs: vec![0.0],
            outputs: vec![0.0],
        }
    }

    #[test]
    fn a_hundred_chains_are_packed_in_blocks_and_each_goes_on_to_the_right() {
        let edge = |from, to| LayoutEdge {
            from: (from, 0),
            to: (to, 0),
        };
        let edges: Vec<LayoutEdge> = (0..100)
            .flat_map(|i| {
                [
                    edge(3 * i, 3 * i + 1),
                    edge(3 * i + 1, 3 * i + 2),
                    edge(3 * i + 2, 300),
                ]
            })
            .collect();
        let of_box: Vec<usize> = (0..300).map(|i| i % 3).chain([3]).collect();
        let layers = Layers {
            of_box,
            is_feedback: vec![false; edges.len()],
        };
        let packed = pack(&vec![size(); 301], &edges, &layers).unwrap();
        assert!(
            edges
                .iter()
                .all(|edge| packed[edge.from.0] < packed[edge.to.0])
        );
        let next_to = (0..100)
            .filter(|i| packed[3 * i] + 2 == packed[3 * i + 2])
            .count();
        assert!(next_to > 90);
        let last = packed[300];
        let highest = (0..last)
            .map(|layer| packed.iter().filter(|l| **l == layer).count())
            .max();
        assert!(last > 6 && highest < Some(40));
    }

    #[test]
    fn a_low_graph_keeps_its_layers() {
        for count in [10, 0] {
            let layers = Layers {
                of_box: vec![0; count],
                is_feedback: Vec::new(),
            };
            assert_eq!(pack(&vec![size(); count], &[], &layers), None);
        }
    }
}
