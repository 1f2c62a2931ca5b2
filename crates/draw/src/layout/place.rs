//! Gives every vertex its y and every layer its x.
//!
//! The ideal y of a vertex is that of the vertices linked to it. Within the order of its layer and the minimum distances of
//! neighbours, the weighted sum of squared differences is minimised, layer by layer, in sweeps from
//! left to right and back. For one layer that is an isotonic regression, which the pool-adjacent-violators algorithm solves
//! exactly (Ayer et al., *An Empirical Distribution Function for Sampling with Incomplete Information*, 1955).

use super::types::LayeredGraph;

/// Number of sweeps over all layers. In the last few both sides count alike.
const SWEEPS: usize = 24;
const LAST_SWEEPS: usize = 4;
/// Weight of the side that a sweep does not come from.
const WEAK: f64 = 0.05;
/// Weight with which dummies and boxes of packed chains are pulled to the top, in layers of more than [`FEW`]: else each
/// block of chains would stay level with the edges of the block before it, and blocks would go down like stairs.
const PULL_DUMMY: f64 = 16.0;
const PULL_BOX: f64 = 8.0;
const FEW: usize = 4;
/// Minimum and maximum distance between layers. Steep edges need more; with too much a large graph becomes too wide to read.
const LAYER_GAP: (f64, f64) = (56.0, 100.0);
/// Margin of the picture, with room for the bends of feedback edges.
pub(super) const MARGIN: f64 = 28.0;

/// The coordinates of the layered graph, in one row.
pub(super) struct Coordinates {
    /// The middle of each vertex.
    pub(super) y: Vec<f64>,
    /// The left and right end of each layer.
    pub(super) columns: Vec<(f64, f64)>,
}

/// Places every vertex of every layer.
pub(super) fn place(graph: &LayeredGraph, layers: &[Vec<usize>]) -> Coordinates {
    let preferences = preferences(graph);
    let mut y = stacked(graph, layers);
    for sweep in 0..SWEEPS {
        let weights = match sweep {
            s if s + LAST_SWEEPS >= SWEEPS => (1.0, 1.0),
            s if s % 2 == 0 => (1.0, WEAK),
            _ => (WEAK, 1.0),
        };
        let one = |layer: &Vec<usize>, y: &mut Vec<f64>| {
            place_layer(graph, layer, &preferences, weights, y)
        };
        if sweep % 2 == 0 {
            layers.iter().for_each(|layer| one(layer, &mut y));
        } else {
            layers.iter().rev().for_each(|layer| one(layer, &mut y));
        }
    }
    let tops = graph.vertices.iter().zip(&y);
    let top = tops
        .map(|(vertex, y)| y - vertex.height / 2.0)
        .fold(f64::INFINITY, f64::min);
    let top = if top.is_finite() { top } else { 0.0 };
    y.iter_mut().for_each(|y| *y += MARGIN - top);
    let columns = columns(graph, layers, &y);
    Coordinates { y, columns }
}

/// A preference of a vertex: to be `below` the middle of `other`.
#[derive(Clone, Copy)]
struct Preference {
    other: usize,
    below: f64,
    weight: f64,
    /// True if `other` is in the layer to the left.
    is_left: bool,
}

/// The preferences of each vertex.
fn preferences(graph: &LayeredGraph) -> Vec<Vec<Preference>> {
    let mut all = vec![Vec::new(); graph.vertices.len()];
    let mut add = |vertex: usize, other, below, weight, is_left| {
        all[vertex].push(Preference {
            other,
            below,
            weight,
            is_left,
        });
    };
    for link in &graph.links {
        let (left, right) = (link.left, link.right);
        add(right.0, left.0, left.1 - right.1, link.weight, true);
        add(left.0, right.0, right.1 - left.1, link.weight, false);
    }
    for (dummy, host) in graph.tied.iter().flatten() {
        let below = graph.vertices[*host].height / 2.0 + 14.0;
        add(*dummy, *host, below, 6.0, true);
        add(*dummy, *host, below, 6.0, false);
    }
    all
}

/// A first placement: each layer's vertices one below the other; layers aligned in the middle, or at the top.
fn stacked(graph: &LayeredGraph, layers: &[Vec<usize>]) -> Vec<f64> {
    let mut y = vec![0.0; graph.vertices.len()];
    for layer in layers {
        let steps = distances(graph, layer);
        let middle = steps.iter().sum::<f64>() / 2.0;
        let mut at = if graph.is_top_aligned { 0.0 } else { -middle };
        for (vertex, step) in layer.iter().zip(steps) {
            at += step;
            y[*vertex] = at;
        }
    }
    y
}

/// Minimum distance of each vertex's middle from the middle of the one above it; 0 for the first.
fn distances(graph: &LayeredGraph, layer: &[usize]) -> Vec<f64> {
    let gap = |a: usize, b: usize| match (a < graph.boxes, b < graph.boxes) {
        (true, true) => 18.0,
        (false, false) => 8.0,
        _ => 13.0,
    };
    let pairs = layer.windows(2).map(|pair| {
        let heights = graph.vertices[pair[0]].height + graph.vertices[pair[1]].height;
        heights / 2.0 + gap(pair[0], pair[1])
    });
    let first = (!layer.is_empty()).then_some(0.0);
    first.into_iter().chain(pairs).collect()
}

/// A run of vertices in a layer that have no slack between them.
#[derive(Clone, Copy)]
struct Pool {
    /// Weighted mean of their preferred positions, less the distances above them.
    mean: f64,
    weight: f64,
    count: usize,
}

/// Adds a pool below the others. While the one above would overlap it, both become one.
fn push(pools: &mut Vec<Pool>, mut pool: Pool) {
    while let Some(above) = pools.pop_if(|above| above.mean > pool.mean) {
        let weight = above.weight + pool.weight;
        pool = Pool {
            mean: (above.mean * above.weight + pool.mean * pool.weight) / weight,
            weight,
            count: above.count + pool.count,
        };
    }
    pools.push(pool);
}

/// Places one layer by pool-adjacent-violators: a vertex that would overlap the pool above it joins that pool, which then
/// is placed at the mean of all preferences in it. `weights` are those of the left and of the right side.
fn place_layer(
    graph: &LayeredGraph,
    layer: &[usize],
    preferences: &[Vec<Preference>],
    weights: (f64, f64),
    y: &mut [f64],
) {
    let steps = distances(graph, layer);
    let mut offset = 0.0;
    let mut pools: Vec<Pool> = Vec::with_capacity(layer.len());
    for (vertex, step) in layer.iter().zip(&steps) {
        offset += step;
        let (mut sum, mut weight) = (y[*vertex] * 0.01, 0.01);
        for preference in &preferences[*vertex] {
            let side = if preference.is_left {
                weights.0
            } else {
                weights.1
            };
            sum += preference.weight * side * (y[preference.other] + preference.below);
            weight += preference.weight * side;
        }
        if graph.is_top_aligned && layer.len() > FEW {
            let is_box = *vertex < graph.boxes;
            let pull = if is_box { PULL_BOX } else { PULL_DUMMY };
            sum += pull * offset;
            weight += pull;
        }
        let own = Pool {
            mean: sum / weight - offset,
            weight,
            count: 1,
        };
        push(&mut pools, own);
    }
    let means = pools
        .iter()
        .flat_map(|pool| std::iter::repeat_n(pool.mean, pool.count));
    let mut offset = 0.0;
    for ((vertex, step), mean) in layer.iter().zip(&steps).zip(means) {
        offset += step;
        y[*vertex] = mean + offset;
    }
}

/// The left and right end of each layer: as wide as its widest box; the gap grows with the steepest edge in it.
fn columns(graph: &LayeredGraph, layers: &[Vec<usize>], y: &[f64]) -> Vec<(f64, f64)> {
    let mut steepest = vec![0.0f64; layers.len()];
    for link in &graph.links {
        let layer = graph.vertices[link.left.0].layer;
        let rise = (y[link.left.0] + link.left.1 - y[link.right.0] - link.right.1).abs();
        steepest[layer] = steepest[layer].max(rise);
    }
    let mut at = MARGIN;
    let mut columns = Vec::with_capacity(layers.len());
    for (layer, rise) in layers.iter().zip(steepest) {
        let widths = layer.iter().map(|vertex| graph.vertices[*vertex].width);
        let width = widths.fold(0.0, f64::max);
        columns.push((at, at + width));
        at += width + (rise * 0.22).clamp(LAYER_GAP.0, LAYER_GAP.1);
    }
    columns
}
