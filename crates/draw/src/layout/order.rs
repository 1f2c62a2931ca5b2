//! Sorts each layer so that few edges cross.
//!
//! Sugiyama's barycentre method: sweeps from left to right and back sort each layer by the mean position of its neighbours
//! in the layer before. A sweep may make things worse, so the order with the fewest crossings of all sweeps is kept.

use super::types::LayeredGraph;

/// Number of sweeps; fewer with many links, to bound the time.
const SWEEPS: usize = 24;
const SWEEPS_OF_MANY: usize = 4;
const MANY_LINKS: usize = 100_000;

/// The vertices of each layer from top to bottom.
pub(super) fn sort(graph: &LayeredGraph) -> Vec<Vec<usize>> {
    let neighbours = Neighbours::of(graph);
    let mut layers = first_order(graph, &neighbours);
    let mut best = (crossings(graph, &layers), layers.clone());
    let sweeps = if graph.links.len() > MANY_LINKS {
        SWEEPS_OF_MANY
    } else {
        SWEEPS
    };
    for sweep in 0..sweeps {
        if best.0 == 0 {
            break;
        }
        let mut position = positions(graph, &layers);
        let count = layers.len();
        for step in 1..count {
            let (at, side) = if sweep % 2 == 0 {
                (step, &neighbours.left)
            } else {
                (count - 1 - step, &neighbours.right)
            };
            sort_layer(&mut layers[at], side, &mut position);
            put_tied_below(graph, &mut layers[at], &mut position);
        }
        let count = crossings(graph, &layers);
        if count < best.0 {
            best = (count, layers.clone());
        }
    }
    best.1
}

/// The neighbours of each vertex in the layers beside it, each with where on its side the link ends: a share of its height,
/// so that ports of one box are told apart.
struct Neighbours {
    left: Vec<Vec<(usize, f64)>>,
    right: Vec<Vec<(usize, f64)>>,
}

impl Neighbours {
    fn of(graph: &LayeredGraph) -> Self {
        let mut left = vec![Vec::new(); graph.vertices.len()];
        let mut right = vec![Vec::new(); graph.vertices.len()];
        for link in &graph.links {
            let share = |(vertex, below): (usize, f64)| {
                below / graph.vertices[vertex].height.max(1.0) * 0.9
            };
            left[link.right.0].push((link.left.0, share(link.left)));
            right[link.left.0].push((link.right.0, share(link.right)));
        }
        Self { left, right }
    }
}

/// The order in which a depth-first search along the links finds the vertices: connected parts stay together.
fn first_order(graph: &LayeredGraph, neighbours: &Neighbours) -> Vec<Vec<usize>> {
    let count = graph.vertices.iter().map(|vertex| vertex.layer + 1).max();
    let mut layers = vec![Vec::new(); count.unwrap_or(0)];
    let mut is_seen = vec![false; graph.vertices.len()];
    let mut roots: Vec<usize> = (0..graph.vertices.len()).collect();
    roots.sort_by_key(|vertex| graph.vertices[*vertex].layer);
    for root in roots {
        let mut todo = vec![root];
        while let Some(vertex) = todo.pop() {
            if std::mem::replace(&mut is_seen[vertex], true) {
                continue;
            }
            layers[graph.vertices[vertex].layer].push(vertex);
            let right = neighbours.right[vertex].iter().rev();
            todo.extend(right.map(|(other, _)| *other));
        }
    }
    let mut position = positions(graph, &layers);
    for layer in &mut layers {
        put_tied_below(graph, layer, &mut position);
    }
    layers
}

/// The index of each vertex in its layer.
fn positions(graph: &LayeredGraph, layers: &[Vec<usize>]) -> Vec<f64> {
    let mut position = vec![0.0; graph.vertices.len()];
    for layer in layers {
        number(layer, &mut position);
    }
    position
}

fn number(layer: &[usize], position: &mut [f64]) {
    for (i, vertex) in layer.iter().enumerate() {
        position[*vertex] = i as f64;
    }
}

/// Sorts a layer by barycentres: the mean position of the neighbours on one side. A vertex without any keeps its position.
fn sort_layer(layer: &mut [usize], side: &[Vec<(usize, f64)>], position: &mut [f64]) {
    let mut keyed: Vec<(f64, usize)> = layer
        .iter()
        .map(|vertex| {
            let others = &side[*vertex];
            let sum: f64 = others
                .iter()
                .map(|(other, share)| position[*other] + share)
                .sum();
            let mean = match others.len() {
                0 => position[*vertex],
                count => sum / count as f64,
            };
            (mean, *vertex)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (slot, (_, vertex)) in layer.iter_mut().zip(keyed) {
        *slot = vertex;
    }
    number(layer, position);
}

/// Moves the end of each feedback edge right below its box.
fn put_tied_below(graph: &LayeredGraph, layer: &mut [usize], position: &mut [f64]) {
    let Some(first) = layer.first() else {
        return;
    };
    for (dummy, host) in &graph.tied[graph.vertices[*first].layer] {
        position[*dummy] = position[*host] + 0.5;
    }
    layer.sort_by(|a, b| position[*a].total_cmp(&position[*b]));
    number(layer, position);
}

/// Number of pairs of links that cross.
fn crossings(graph: &LayeredGraph, layers: &[Vec<usize>]) -> u64 {
    let position = positions(graph, layers);
    let mut of_layer = vec![Vec::new(); layers.len()];
    for link in &graph.links {
        let key = |(vertex, below): (usize, f64)| (position[vertex] as u64, (below * 16.0) as i64);
        of_layer[graph.vertices[link.left.0].layer].push((key(link.left), key(link.right)));
    }
    of_layer.into_iter().map(inversions).sum()
}

/// Number of pairs whose left ends are in one order and whose right ends are in the other; in O(n log n), after Barth,
/// Jünger and Mutzel, *Simple and Efficient Bilayer Cross Counting* (2002).
fn inversions<K: Ord + Copy>(mut pairs: Vec<(K, K)>) -> u64 {
    pairs.sort();
    let mut rights: Vec<K> = pairs.iter().map(|pair| pair.1).collect();
    rights.sort();
    rights.dedup();
    // A Fenwick tree of the right ends that were seen, by rank.
    let mut tree = vec![0u64; rights.len() + 1];
    let mut count = 0;
    for (seen, (_, right)) in pairs.iter().enumerate() {
        let rank = rights.partition_point(|other| other <= right);
        let mut not_above = 0;
        let mut i = rank;
        while i > 0 {
            not_above += tree[i];
            i &= i - 1;
        }
        count += seen as u64 - not_above;
        i = rank;
        while i < tree.len() {
            tree[i] += 1;
            i += i & i.wrapping_neg();
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_counted_as_the_obvious_count_does() {
        let pairs: Vec<(u32, u32)> = (0..200u32).map(|i| (i * 37 % 23, i * 53 % 29)).collect();
        let mut slow = 0;
        for (i, a) in pairs.iter().enumerate() {
            for b in &pairs[..i] {
                slow += u64::from((a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1));
            }
        }
        assert_eq!(inversions(pairs), slow);
    }
}
