//! A graph as a diagram: boxes for nodes, curves for edges.
//!
//! Steps from a [`Graph`] to a [`Picture`]:
//!
//! 1. [`node`] makes a [`NodeBox`] of each node: its texts, shortened to fit, its size, and where its ports are.
//! 2. [`layout`](crate::layout) gives each box a corner and each edge a route. It sees only sizes and ports.
//! 3. [`edges`] draws the routes, all edges of one output as one path, so that shared parts are drawn once.
//! 4. The boxes are drawn over the ends of the edges, then the legend below them.

mod edges;
mod node;
#[cfg(test)]
mod tests;

use crate::class::NodeClass;
use crate::layout::{BoxSize, LayoutEdge, lay_out};
use crate::picture::color;
use crate::picture::{Picture, Stroke, muted, regular};
use graph::{Catalogue, Edge, Graph, Node, NodeId, Signal};
use node::NodeBox;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Limits of what a picture shows: layouts of larger graphs would take minutes, and the pictures would be unreadable.
const MAX_NODES: usize = 20_000;
const MAX_EDGES: usize = 100_000;
const MAX_PORTS: usize = 200_000;
/// Height of the legend.
const LEGEND: f64 = 34.0;
/// Height of the line that explains the labels of edges.
const LABEL_LEGEND: f64 = 20.0;
/// Minimum width, for the legend.
const MIN_WIDTH: f64 = 560.0;

/// A diagram of the graph: sources on the left, each node to the right of its inputs. Edges that close a cycle return
/// below the boxes, in another colour. `catalogue` says which kinds are delays, sources or sinks; the class of a node
/// of an unknown kind follows from its ports.
///
/// # Errors
///
/// [`GraphTooLarge`] above 20,000 nodes, 100,000 edges or 200,000 ports.
pub fn graph(graph: &Graph, catalogue: &Catalogue) -> Result<Picture, GraphTooLarge> {
    graph_with_labels(graph, catalogue, |_| None, "")
}

/// [`graph`](fn@graph) with a label above the end of each edge for which `label` gives one. `label_legend` explains the
/// labels, in the legend.
///
/// # Errors
///
/// As [`graph`](fn@graph).
pub fn graph_with_labels(
    graph: &Graph,
    catalogue: &Catalogue,
    label: impl Fn(&Edge) -> Option<String>,
    label_legend: &str,
) -> Result<Picture, GraphTooLarge> {
    check_size(graph)?;
    let mut boxes: Vec<NodeBox> = graph
        .nodes()
        .map(|(id, node)| NodeBox::new(id, node, catalogue))
        .collect();
    let index: HashMap<NodeId, usize> = boxes
        .iter()
        .enumerate()
        .map(|(i, node)| (node.id, i))
        .collect();
    for edge in graph.edges() {
        if let (Some(&to), Some(label)) = (index.get(&edge.to.node), label(edge)) {
            boxes[to].add_label(edge.to.port, &label);
        }
    }
    let edges = layout_edges(graph, &boxes, &index);
    let sizes: Vec<BoxSize> = boxes.iter().map(NodeBox::size).collect();
    let layout = lay_out(&sizes, &edges);
    let description = format!(
        "a graph of {} nodes and {} edges",
        boxes.len(),
        graph.edges().len()
    );
    let label_line = if label_legend.is_empty() {
        0.0
    } else {
        LABEL_LEGEND
    };
    let (width, height) = (
        layout.width.max(MIN_WIDTH),
        layout.height + LEGEND + label_line,
    );
    let mut picture = Picture::new(width, height, &description);
    picture.has_dark_theme = true;
    edges::draw(&mut picture, &boxes, &edges, &layout);
    for (node, corner) in boxes.iter().zip(&layout.corners) {
        node.draw(&mut picture, *corner);
    }
    let has_feedback = layout.routes.iter().any(|route| route.is_feedback);
    let y = layout.height + LEGEND / 2.0;
    legend(&mut picture, &boxes, has_feedback, y);
    let font = regular(11.0);
    let label_legend = font.fit(label_legend, width - 48.0);
    let at = (24.0, y + LABEL_LEGEND);
    picture.text(at, &label_legend, font.color(color::TEXT_MUTED));
    Ok(picture)
}

/// The graph is too large for a readable picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphTooLarge {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// Number of ports of all nodes together.
    pub ports: usize,
}

impl fmt::Display for GraphTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, count, max) = if self.nodes > MAX_NODES {
            ("nodes", self.nodes, MAX_NODES)
        } else if self.edges > MAX_EDGES {
            ("edges", self.edges, MAX_EDGES)
        } else {
            ("ports", self.ports, MAX_PORTS)
        };
        write!(
            f,
            "{count} {what} are too many for a picture; the maximum is {max}"
        )
    }
}

impl std::error::Error for GraphTooLarge {}

fn check_size(graph: &Graph) -> Result<(), GraphTooLarge> {
    let ports = |(_, node): (NodeId, &Node)| node.inputs.len() + node.outputs.len();
    let size = GraphTooLarge {
        nodes: graph.len(),
        edges: graph.edges().len(),
        ports: graph.nodes().map(ports).sum(),
    };
    let fits = size.nodes <= MAX_NODES && size.edges <= MAX_EDGES && size.ports <= MAX_PORTS;
    if fits { Ok(()) } else { Err(size) }
}

/// The edges whose ports exist.
fn layout_edges(
    graph: &Graph,
    boxes: &[NodeBox],
    index: &HashMap<NodeId, usize>,
) -> Vec<LayoutEdge> {
    let layout_edge = |edge: &Edge| {
        let (from, to) = (*index.get(&edge.from.node)?, *index.get(&edge.to.node)?);
        let (output, input) = (usize::from(edge.from.port), usize::from(edge.to.port));
        let exists = output < boxes[from].node.outputs.len() && input < boxes[to].node.inputs.len();
        exists.then_some(LayoutEdge {
            from: (from, output),
            to: (to, input),
        })
    };
    graph.edges().iter().filter_map(layout_edge).collect()
}

/// Draws the classes that occur, the dashes of signals that are not audio, the width of several channels, and the colour
/// of feedback.
fn legend(picture: &mut Picture, boxes: &[NodeBox], has_feedback: bool, y: f64) {
    let font = regular(11.0);
    let mut x = 24.0;
    let entry = |picture: &mut Picture, x: &mut f64, label: &str| {
        let at = (*x + 20.0, y + 1.5);
        picture.text(at, label, muted(11.0));
        *x += 20.0 + font.width(label) + 18.0;
    };
    for class in NodeClass::ALL {
        if boxes.iter().any(|node| node.class == class) {
            let style = class.colors().style(1.25);
            picture.rect((x, y - 8.0), (14.0, 11.0), 3.0, style);
            entry(picture, &mut x, class.label());
        }
    }
    let outputs = boxes.iter().flat_map(|node| &node.node.outputs);
    let signals: HashSet<Signal> = outputs.map(|port| port.signal).collect();
    let audio = |signal: &&Signal| matches!(signal, Signal::Audio(channels) if channels.0 > 1);
    let wide = signals
        .iter()
        .filter(audio)
        .max_by_key(|signal| match signal {
            Signal::Audio(channels) => channels.0,
            _ => 0,
        });
    let shown = [
        (signals.get(&Signal::Control).copied(), "control values"),
        (signals.get(&Signal::Event).copied(), "events"),
        (wide.copied(), "several channels"),
    ];
    for (signal, label) in shown {
        if let Some(signal) = signal {
            let stroke = edges::stroke(signal, false, false);
            picture.line((x, y - 2.5), (x + 15.0, y - 2.5), stroke);
            entry(picture, &mut x, label);
        }
    }
    if has_feedback {
        let stroke = Stroke::solid(color::ALERT, 1.5);
        picture.line((x, y - 2.5), (x + 15.0, y - 2.5), stroke);
        entry(picture, &mut x, "feedback");
    }
}
