//! Breaks a picture that would be too long into rows, one below the other, as text is broken into lines.
//!
//! ```text
//!  row 0   [a]--->[b]--->[c]---.
//!      .-----------------------'     the return run of the edge c -> d
//!  row 1   `-->[d]--->[e]
//! ```
//!
//! The edges that cross a cut return one outside the other: the highest of them is the outermost at the right and the
//! lowest between the rows, so none of them cross.

use super::place::{Coordinates, MARGIN};
use super::types::LayeredGraph;

/// Pictures up to this width stay in one row.
const MAX_WIDTH: f64 = 3200.0;
/// So do pictures up to this width over height.
const MAX_ASPECT: f64 = 4.0;
/// Width over height that a folded picture aims at.
const ASPECT: f64 = 1.6;
/// No cut goes through more edges than this.
const MAX_CUT: usize = 14;
/// Distance of neighbouring return runs.
const STEP: f64 = 9.0;
/// Room between two rows, beside the return runs.
const GAP: f64 = 44.0;

/// The row and shift of each layer, and the return runs between the rows.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) of_layer: Vec<LayerShift>,
    /// For each row the returns from its end to the start of the next.
    returns: Vec<Returns>,
    /// Width and height of the picture.
    pub(super) size: (f64, f64),
}

/// Row of a layer, and its shift in pixels from its place in the single long row.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerShift {
    pub(super) row: usize,
    pub(super) right: f64,
    pub(super) down: f64,
}

/// The return runs below a row.
#[derive(Debug)]
struct Returns {
    /// The highest of them.
    top: f64,
    /// y of the edges that leave the row, from the lowest up.
    edges: Vec<f64>,
    right: f64,
    left: f64,
}

impl Rows {
    /// One row if it is short enough, else as many as give the picture its [`ASPECT`].
    pub(super) fn of(graph: &LayeredGraph, coordinates: &Coordinates) -> Self {
        let columns = &coordinates.columns;
        let spans = spans(graph, &coordinates.y, columns.len());
        let width = columns.last().map_or(0.0, |column| column.1) + MARGIN;
        let (top, bottom) = join(&spans);
        let height = bottom - top;
        let crossing = crossing(graph, &coordinates.y, columns.len());
        let is_long = width > MAX_WIDTH && width > MAX_ASPECT * (height + 2.0 * MARGIN);
        let cuts = if is_long {
            cuts(&crossing, columns, height)
        } else {
            Vec::new()
        };
        Self::cut(&spans, &crossing, columns, &cuts)
    }

    /// The rows that end after the layers in `cuts`.
    fn cut(
        spans: &[(f64, f64)],
        crossing: &[Option<Vec<f64>>],
        columns: &[(f64, f64)],
        cuts: &[usize],
    ) -> Self {
        let mut rows = Self {
            of_layer: Vec::with_capacity(columns.len()),
            returns: Vec::new(),
            size: (0.0, 0.0),
        };
        let edges_at = |layer: usize| crossing.get(layer).cloned().flatten().unwrap_or_default();
        let largest = cuts.iter().map(|cut| edges_at(*cut).len()).max();
        // Room at both sides for the returns.
        let side_margin = largest.map_or(0.0, |count| count as f64 * STEP + 16.0);
        let ends = cuts.iter().map(|cut| cut + 1).chain([columns.len()]);
        let (mut y, mut begin) = (MARGIN, 0);
        for (row, end) in ends.enumerate() {
            if begin == end {
                break;
            }
            let (top, bottom) = join(&spans[begin..end]);
            let shift = LayerShift {
                row,
                right: MARGIN + side_margin - columns[begin].0,
                down: y - top,
            };
            rows.of_layer
                .extend(std::iter::repeat_n(shift, end - begin));
            let right = columns[end - 1].1 + shift.right;
            rows.size.0 = rows.size.0.max(right + side_margin + MARGIN);
            y += bottom - top;
            rows.size.1 = y + MARGIN;
            let edges: Vec<f64> = edges_at(end - 1).iter().map(|y| y + shift.down).collect();
            let count = edges.len();
            rows.returns.push(Returns {
                top: y + GAP / 2.0,
                right: right + 22.0,
                left: MARGIN + side_margin - 22.0,
                edges,
            });
            y += GAP + count as f64 * STEP;
            begin = end;
        }
        rows
    }

    /// The run from right to left of the edge that leaves `row` at `y`.
    pub(super) fn return_run(&self, row: usize, y: f64) -> (f64, f64, f64) {
        let returns = &self.returns[row];
        let distance = |edge: &f64| (edge - y).abs();
        let nearest = (0..returns.edges.len())
            .min_by(|a, b| distance(&returns.edges[*a]).total_cmp(&distance(&returns.edges[*b])));
        let out = nearest.unwrap_or(0) as f64 * STEP;
        let inner = (returns.edges.len().max(1) - 1) as f64 * STEP - out;
        (returns.right + out, returns.left - inner, returns.top + out)
    }
}

/// The highest and lowest point of each layer.
fn spans(graph: &LayeredGraph, y: &[f64], layers: usize) -> Vec<(f64, f64)> {
    let mut spans = vec![(f64::INFINITY, f64::NEG_INFINITY); layers];
    for (vertex, y) in graph.vertices.iter().zip(y) {
        let span = &mut spans[vertex.layer];
        let half = vertex.height / 2.0;
        *span = (span.0.min(y - half), span.1.max(y + half));
    }
    spans
}

/// The highest and lowest point of several layers.
fn join(spans: &[(f64, f64)]) -> (f64, f64) {
    let ends = spans
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |all, span| {
            (all.0.min(span.0), all.1.max(span.1))
        });
    if ends.0 <= ends.1 { ends } else { (0.0, 0.0) }
}

/// For each layer the y of the edges that leave it for the next, from the lowest up. `None` if no cut is possible there:
/// for a feedback edge, or one without dummies.
fn crossing(graph: &LayeredGraph, y: &[f64], layers: usize) -> Vec<Option<Vec<f64>>> {
    let mut levels = vec![Some(Vec::new()); layers];
    for link in &graph.links {
        let layer = graph.vertices[link.left.0].layer;
        if let Some(levels) = &mut levels[layer] {
            levels.push(y[link.left.0] + link.left.1);
        }
    }
    for (path, (from, to)) in graph.paths.iter().zip(&graph.ends) {
        let (low, high) = (graph.vertices[*from].layer, graph.vertices[*to].layer);
        let has_no_dummies = path.dummies.is_empty() && low + 1 < high;
        if path.is_feedback || has_no_dummies {
            levels[low.min(high)..low.max(high)].fill(None);
        }
    }
    for levels in levels.iter_mut().flatten() {
        levels.sort_by(|a, b| b.total_cmp(a));
        levels.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    }
    levels
}

/// The layers to cut after: rows of about the same length, each cut near its end where the fewest edges cross.
fn cuts(crossing: &[Option<Vec<f64>>], columns: &[(f64, f64)], height: f64) -> Vec<usize> {
    let all = columns.last().map_or(0.0, |column| column.1);
    let rows = (all / (ASPECT * (height + GAP))).sqrt().round().max(1.0);
    let row = all / rows;
    let edges = |layer: usize| match &crossing[layer] {
        Some(levels) if levels.len() <= MAX_CUT => levels.len(),
        _ => usize::MAX,
    };
    let mut cuts = Vec::new();
    let mut begin = 0;
    while begin < columns.len() && all - columns[begin].0 > 1.15 * row {
        let length = |layer: usize| columns[layer].1 - columns[begin].0;
        let later = begin..columns.len() - 1;
        let near = later
            .clone()
            .filter(|layer| length(*layer) > 0.7 * row && length(*layer) < 1.05 * row);
        let best = near
            .min_by_key(|layer| (edges(*layer), columns.len() - layer))
            .filter(|layer| edges(*layer) < usize::MAX);
        let next = || {
            later
                .clone()
                .find(|layer| length(*layer) >= 0.7 * row && edges(*layer) < usize::MAX)
        };
        let Some(cut) = best.or_else(next) else { break };
        cuts.push(cut);
        begin = cut + 1;
    }
    cuts
}
