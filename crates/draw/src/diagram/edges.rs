//! Edges as curves. The part that edges of one output share is drawn once.

use super::node::NodeBox;
use crate::format::svg::length;
use crate::layout::{BoxLayout, LayoutEdge, Route};
use crate::picture::color::{self, Color};
use crate::picture::{PathSegment, Picture, Stroke, Style};
use graph::Signal;
use std::collections::{BTreeMap, BTreeSet};

/// With more edges than this all are drawn thin.
const MANY_EDGES: usize = 1500;

/// Draws all edges: those of one output as one path, and an arrow at the end of each feedback edge.
pub(super) fn draw(
    picture: &mut Picture,
    boxes: &[NodeBox],
    edges: &[LayoutEdge],
    layout: &BoxLayout,
) {
    let mut paths = BTreeMap::<(bool, usize, usize), (Vec<PathSegment>, BTreeSet<String>)>::new();
    let mut arrows = Vec::new();
    for (edge, route) in edges.iter().zip(&layout.routes) {
        let (path, drawn) = paths
            .entry((route.is_feedback, edge.from.0, edge.from.1))
            .or_default();
        append(route, path, drawn);
        if let (true, Some((_, x, y))) = (route.is_feedback, route.runs.last()) {
            arrows.extend([
                PathSegment::Move(x - 3.0, *y),
                PathSegment::Line(x - 11.0, y - 4.5),
                PathSegment::Line(x - 11.0, y + 4.5),
                PathSegment::Close,
            ]);
        }
    }
    let is_thin = edges.len() > MANY_EDGES;
    for ((is_feedback, node, port), (path, _)) in paths {
        let signal = boxes[node].node.outputs[port].signal;
        picture.path(path, Style::stroke(stroke(signal, is_feedback, is_thin)));
    }
    picture.path(arrows, Style::fill(color::ALERT));
}

/// Colour by feedback, width by the number of channels, dashes by the kind of signal.
pub(super) fn stroke(signal: Signal, is_feedback: bool, is_thin: bool) -> Stroke {
    let color: Color = match (is_feedback, is_thin) {
        (true, _) => color::ALERT,
        (false, true) => color::EDGE_THIN,
        (false, false) => color::EDGE,
    };
    let width = match signal {
        _ if is_thin => 0.6,
        Signal::Audio(channels) if channels.0 > 2 => 3.0,
        Signal::Audio(channels) if channels.0 == 2 => 2.25,
        _ => 1.5,
    };
    let dash = match signal {
        Signal::Audio(_) => (0.0, 0.0),
        Signal::Control => (5.0, 3.0),
        Signal::Event => (1.5, 3.5),
    };
    Stroke { color, width, dash }
}

/// Adds to `path` the pieces of a route that are not in it yet. `drawn` holds a key of each piece that is in it.
///
/// A route is a list of horizontal runs. From the end of one to the start of the next goes a cubic Bézier curve that leaves
/// and arrives horizontally.
fn append(route: &Route, path: &mut Vec<PathSegment>, drawn: &mut BTreeSet<String>) {
    let last = route.runs.len() - 1;
    // A feedback edge leaves to the right, runs left, and arrives to the right again; so does one that goes on in the next
    // row.
    let direction = |i: usize| {
        let (x0, x1, _) = route.runs[i];
        let goes_left = x1 < x0 || (x1 == x0 && route.is_feedback);
        if goes_left && i > 0 && i < last {
            -1.0
        } else {
            1.0
        }
    };
    let mut is_open = false;
    for (i, (x0, x1, y)) in route.runs.iter().enumerate() {
        let mut piece = Vec::new();
        let mut key = format!("{} {}", length(*x0), length(*y));
        if (x1 - x0).abs() > 0.05 {
            piece.push(PathSegment::Line(*x1, *y));
            key += &format!(" {}", length(*x1));
        }
        if let Some((next, _, below)) = route.runs.get(i + 1) {
            let (leave, arrive) = (direction(i), direction(i + 1));
            let run = (next - x1) * leave;
            let bend = if leave == arrive && run > 0.0 {
                run / 2.0
            } else {
                34.0
            };
            piece.push(PathSegment::Curve([
                (x1 + leave * bend, *y),
                (next - arrive * bend, *below),
                (*next, *below),
            ]));
            key += &format!(" to {} {}", length(*next), length(*below));
        }
        if piece.is_empty() || !drawn.insert(key) {
            // The next piece begins with a move.
            is_open = false;
            continue;
        }
        if !std::mem::replace(&mut is_open, true) {
            path.push(PathSegment::Move(*x0, *y));
        }
        path.extend(piece);
    }
}
