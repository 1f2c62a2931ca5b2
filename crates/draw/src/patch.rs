//! A graph as boxes and wires.

mod course;
mod face;
#[cfg(test)]
mod tests;

use crate::ink;
use crate::layout::{Shape, Wire, lay_out};
use crate::picture::{Anchor, Look, Pen, Picture, plain};
use course::draw_wires;
use face::{CLASSES, Face};
use graph::{Catalogue, Edge, Graph, Node, NodeId};
use std::collections::HashMap;
use std::fmt;

/// What a picture has room for.
const MOST_NODES: usize = 20_000;
const MOST_EDGES: usize = 100_000;
const MOST_PORTS: usize = 200_000;
const LEGEND: f64 = 34.0;

/// The graph: sources at the left, what they feed to the right, wires that close a cycle led back below the
/// boxes. `catalogue` tells what is a delay or a sink, and units; a kind that it does not know is drawn by its ports.
pub fn graph(graph: &Graph, catalogue: &Catalogue) -> Result<Picture, GraphTooLarge> {
    graph_with_labels(graph, catalogue, |_| None)
}

/// The same with words at edges, each above its end.
pub fn graph_with_labels(
    graph: &Graph,
    catalogue: &Catalogue,
    label: impl Fn(&Edge) -> Option<String>,
) -> Result<Picture, GraphTooLarge> {
    bounded(graph)?;
    let mut boxes: Vec<Face> = graph
        .nodes()
        .map(|(id, node)| Face::new(id, node, catalogue))
        .collect();
    let index: HashMap<NodeId, usize> = boxes
        .iter()
        .enumerate()
        .map(|(i, face)| (face.id, i))
        .collect();
    for edge in graph.edges() {
        if let (Some(&to), Some(words)) = (index.get(&edge.to.node), label(edge)) {
            boxes[to].label(edge.to.port, words);
        }
    }
    let wires = wires(graph, &boxes, &index);
    let shapes: Vec<Shape> = boxes.iter().map(Face::shape).collect();
    let layout = lay_out(&shapes, &wires);
    let about = format!(
        "a graph of {} nodes and {} edges",
        boxes.len(),
        graph.edges().len()
    );
    let mut picture = Picture::new(layout.width.max(560.0), layout.height + LEGEND, &about);
    picture.is_for_night = true;
    draw_wires(&mut picture, &boxes, &wires, &layout);
    for (face, corner) in boxes.iter().zip(&layout.corners) {
        face.draw(&mut picture, *corner);
    }
    let has_back = layout.courses.iter().any(|course| course.is_back);
    legend(&mut picture, &boxes, has_back, layout.height + LEGEND / 2.0);
    Ok(picture)
}

/// The graph is too large for a picture that anybody could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphTooLarge {
    /// How many nodes it has.
    pub nodes: usize,
    /// How many edges.
    pub edges: usize,
    /// How many ports, of all nodes together.
    pub ports: usize,
}

impl fmt::Display for GraphTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, count, most) = if self.nodes > MOST_NODES {
            ("nodes", self.nodes, MOST_NODES)
        } else if self.edges > MOST_EDGES {
            ("edges", self.edges, MOST_EDGES)
        } else {
            ("ports", self.ports, MOST_PORTS)
        };
        write!(
            f,
            "{count} {what} are too many for a picture, which has {most} at most"
        )
    }
}

impl std::error::Error for GraphTooLarge {}

fn bounded(graph: &Graph) -> Result<(), GraphTooLarge> {
    let ports = |(_, node): (NodeId, &Node)| node.inputs.len() + node.outputs.len();
    let size = GraphTooLarge {
        nodes: graph.len(),
        edges: graph.edges().len(),
        ports: graph.nodes().map(ports).sum(),
    };
    let is_small = size.nodes <= MOST_NODES && size.edges <= MOST_EDGES && size.ports <= MOST_PORTS;
    if is_small { Ok(()) } else { Err(size) }
}

/// The edges whose ports exist.
fn wires(graph: &Graph, boxes: &[Face], index: &HashMap<NodeId, usize>) -> Vec<Wire> {
    let wire = |edge: &Edge| {
        let (from, to) = (*index.get(&edge.from.node)?, *index.get(&edge.to.node)?);
        let (out, inlet) = (usize::from(edge.from.port), usize::from(edge.to.port));
        let is_there = out < boxes[from].node.outputs.len() && inlet < boxes[to].node.inputs.len();
        is_there.then_some(Wire {
            from: (from, out),
            to: (to, inlet),
        })
    };
    graph.edges().iter().filter_map(wire).collect()
}

fn legend(picture: &mut Picture, boxes: &[Face], has_back: bool, y: f64) {
    let mut x = 24.0;
    let say = |picture: &mut Picture, x: &mut f64, words: &str| {
        let at = (*x + 20.0, y + 1.5);
        picture.text(at, words, plain(11.0), ink::FAINT, Anchor::Start);
        *x += 20.0 + plain(11.0).width(words) + 18.0;
    };
    for (class, words, pair) in CLASSES {
        if boxes.iter().any(|face| face.class == class) {
            let look = Look::both(pair.fill, Pen::solid(pair.line, 1.25));
            picture.rect((x, y - 8.0), (14.0, 11.0), 3.0, look);
            say(picture, &mut x, words);
        }
    }
    if has_back {
        let pen = Pen::solid(ink::ALARM, 1.5);
        picture.line((x, y - 2.5), (x + 15.0, y - 2.5), pen);
        say(picture, &mut x, "leads back");
    }
}
