//! A graph as boxes and wires.

use crate::layout::{Course, Layout, Shape, Wire, lay_out};
use crate::measure::{short, width};
use crate::paper::{Paper, round};
use graph::{Catalogue, Graph, Kind, Node, NodeId, Port, Role, Signal, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// With more wires than this they are drawn thin.
const MANY_WIRES: usize = 1500;
/// The most characters of a name.
const NAME: usize = 26;
const LEGEND: f64 = 34.0;

/// The graph as SVG: sources at the left, what they feed to the right, wires that close a cycle led back below the
/// boxes. `catalogue` tells what is a delay or a sink, and units; a kind that it does not know is drawn by its ports.
pub fn graph(graph: &Graph, catalogue: &Catalogue) -> String {
    let boxes: Vec<Face> = graph
        .nodes()
        .map(|(id, node)| Face::new(id, node, catalogue))
        .collect();
    let index: HashMap<NodeId, usize> = boxes
        .iter()
        .enumerate()
        .map(|(i, face)| (face.id, i))
        .collect();
    let wires = wires(graph, &boxes, &index);
    let shapes: Vec<Shape> = boxes.iter().map(Face::shape).collect();
    let layout = lay_out(&shapes, &wires);
    let about = format!(
        "a graph of {} nodes and {} edges",
        boxes.len(),
        graph.edges().len()
    );
    let mut paper = Paper::new(layout.width.max(560.0), layout.height + LEGEND, &about);
    draw_wires(&mut paper, &boxes, &wires, &layout);
    for (face, corner) in boxes.iter().zip(&layout.corners) {
        face.draw(&mut paper, *corner);
    }
    let has_back = layout.courses.iter().any(|course| course.is_back);
    legend(&mut paper, &boxes, has_back, layout.height + LEGEND / 2.0);
    paper.finish()
}

/// The edges whose ports exist.
fn wires(graph: &Graph, boxes: &[Face], index: &HashMap<NodeId, usize>) -> Vec<Wire> {
    let wire = |edge: &graph::Edge| {
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

/// How a node looks.
struct Face<'a> {
    id: NodeId,
    node: &'a Node,
    name: String,
    below: String,
    class: &'static str,
    is_guess: bool,
}

/// Classes in the legend's order, with their words there.
const CLASSES: [(&str, &str); 6] = [
    ("source", "source"),
    ("effect", "one in, one out"),
    ("join", "mix or split"),
    ("delay", "delay"),
    ("sink", "sink"),
    ("off", "not enabled"),
];

impl<'a> Face<'a> {
    fn new(id: NodeId, node: &'a Node, catalogue: &Catalogue) -> Self {
        let kind = catalogue.get(node.plays());
        let mut below = short(&node.kind, NAME);
        if let Some(other) = &node.stand_in {
            below = format!("{below} as {}", short(other, NAME));
        } else if let Some(value) = first_value(node, kind) {
            below = format!("{below} · {}", short(&value, 14));
        }
        Self {
            id,
            node,
            name: short(&node.name, NAME),
            below,
            class: class(node, kind),
            is_guess: node.stand_in.is_some(),
        }
    }

    fn shape(&self) -> Shape {
        let words = width(&self.name, 13.0).max(width(&self.below, 11.0));
        let labels = [&self.node.inputs, &self.node.outputs].map(|ports| label_width(ports));
        let most = self.node.inputs.len().max(self.node.outputs.len());
        let height = f64::max(42.0, most as f64 * pitch(most) + 8.0);
        Shape {
            width: (words + 24.0 + labels[0] + labels[1]).max(56.0),
            height,
            ins: ports(self.node.inputs.len()),
            outs: ports(self.node.outputs.len()),
        }
    }

    fn draw(&self, paper: &mut Paper, (x, y): (f64, f64)) {
        let shape = self.shape();
        let guess = if self.is_guess { " guess" } else { "" };
        paper.raw(&format!("<g class=\"{}{guess}\">", self.class));
        paper.tooltip(&self.story());
        paper.rect("box", (x, y), (shape.width, shape.height), 7.0);
        let labels = label_width(&self.node.inputs) - label_width(&self.node.outputs);
        let middle = (x + (shape.width + labels) / 2.0, y + shape.height / 2.0);
        paper.text("name", "middle", (middle.0, middle.1 - 2.5), &self.name);
        paper.text("kind", "middle", (middle.0, middle.1 + 12.0), &self.below);
        let sides = [
            (&self.node.inputs, &shape.ins, x, 6.0, "start"),
            (
                &self.node.outputs,
                &shape.outs,
                x + shape.width,
                -6.0,
                "end",
            ),
        ];
        for (ports, places, edge, inward, anchor) in sides {
            let radius = if ports.len() > 16 { 1.5 } else { 3.0 };
            for (port, place) in ports.iter().zip(places) {
                let at = (edge, middle.1 + place);
                paper.dot("dot", at, radius);
                if label_width(ports) > 0.0 {
                    paper.text(
                        "port",
                        anchor,
                        (edge + inward, at.1 + 3.0),
                        &short(&port.name, 10),
                    );
                }
            }
        }
        paper.raw("</g>\n");
    }

    /// All that the text says of the node.
    fn story(&self) -> String {
        let node = self.node;
        let mut story = format!("{} ({})", node.name, node.kind);
        for (key, value) in &node.params {
            story += &format!("\n{key}: {}", words(value));
        }
        if let Some(cost) = node.cost {
            story += &format!("\ncost: {} µs", cost.micros());
        }
        if node.every > 1 {
            story += &format!("\nevery {} cycles", node.every);
        }
        story
    }
}

fn class(node: &Node, kind: Option<&Kind>) -> &'static str {
    let role = kind.map(|kind| kind.role).unwrap_or_default();
    if !node.enabled {
        "off"
    } else if kind.is_some_and(|kind| kind.line.is_some()) {
        "delay"
    } else if role == Role::Source || node.inputs.is_empty() {
        "source"
    } else if role == Role::Sink || node.outputs.is_empty() {
        "sink"
    } else if node.inputs.len() + node.outputs.len() > 2 {
        "join"
    } else {
        "effect"
    }
}

/// The value that says most of a node: that of its kind's first parameter that is written.
fn first_value(node: &Node, kind: Option<&Kind>) -> Option<String> {
    let kind = kind?;
    let (param, value) = kind
        .params
        .iter()
        .find_map(|param| Some((param, node.param(param.name)?)))?;
    let unit = if param.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", param.unit)
    };
    let name = if param.unit.is_empty() {
        format!("{} ", param.name)
    } else {
        String::new()
    };
    let value = match value {
        // As exact as a label may be; the tooltip has all of it.
        Value::Number(n) if n.abs() >= 0.001 => {
            words(&Value::Number((n * 1000.0).round() / 1000.0))
        }
        value => words(value),
    };
    Some(format!("{name}{value}{unit}"))
}

fn words(value: &Value) -> String {
    match value {
        Value::Number(n) => format!("{n}"),
        Value::Text(text) => text.clone(),
        Value::Flag(true) => "yes".into(),
        Value::Flag(false) => "no".into(),
    }
}

/// How far apart ports are, where a side has `count`.
fn pitch(count: usize) -> f64 {
    match count {
        0..=8 => 14.0,
        9..=32 => 8.0,
        _ => 5.0,
    }
}

/// Where `count` ports are, from the middle downwards.
fn ports(count: usize) -> Vec<f64> {
    let middle = (count as f64 - 1.0) / 2.0;
    (0..count)
        .map(|i| (i as f64 - middle) * pitch(count))
        .collect()
}

/// The room for ports' names: none where one look tells which is which.
fn label_width(ports: &[Port]) -> f64 {
    let is_numbered = ports
        .iter()
        .all(|port| port.name.ends_with(|c: char| c.is_ascii_digit()));
    if ports.len() < 2 || ports.len() > 8 || is_numbered {
        return 0.0;
    }
    let widths = ports.iter().map(|port| width(&short(&port.name, 10), 9.0));
    widths.fold(0.0, f64::max) + 6.0
}

/// All wires of one output as one path, so that what they share is drawn once.
fn draw_wires(paper: &mut Paper, boxes: &[Face], wires: &[Wire], layout: &Layout) {
    let mut paths = BTreeMap::<(bool, usize, usize), (String, BTreeSet<String>)>::new();
    let mut arrows = String::new();
    for (wire, course) in wires.iter().zip(&layout.courses) {
        let (path, drawn) = paths
            .entry((course.is_back, wire.from.0, wire.from.1))
            .or_default();
        trace(course, path, drawn);
        if let (true, Some((_, x, y))) = (course.is_back, course.stretches.last()) {
            let (tip, x, top, bottom) = (
                round(x - 3.0),
                round(x - 11.0),
                round(y - 4.5),
                round(y + 4.5),
            );
            arrows += &format!("M{tip} {}L{x} {top}L{x} {bottom}Z", round(*y));
        }
    }
    let thin = if wires.len() > MANY_WIRES {
        " thin"
    } else {
        ""
    };
    for ((is_back, node, port), (path, _)) in &paths {
        let signal = match boxes[*node].node.outputs[*port].signal {
            Signal::Audio(channels) if channels.0 > 2 => " wide4",
            Signal::Audio(channels) if channels.0 == 2 => " wide2",
            Signal::Audio(_) => "",
            Signal::Control => " control",
            Signal::Event => " event",
        };
        let back = if *is_back { " back" } else { "" };
        paper.path(&format!("wire{signal}{back}{thin}"), path);
    }
    if !arrows.is_empty() {
        paper.path("arrow", &arrows);
    }
}

/// Adds to `path` the pieces of a course that are not in it yet.
fn trace(course: &Course, path: &mut String, drawn: &mut BTreeSet<String>) {
    let last = course.stretches.len() - 1;
    // A wire that leads back leaves to the right, runs left, and comes in to the right again.
    let heading = |i: usize| {
        if course.is_back && i > 0 && i < last {
            -1.0
        } else {
            1.0
        }
    };
    let mut is_open = false;
    for (i, (x0, x1, y)) in course.stretches.iter().enumerate() {
        let mut piece = String::new();
        if (x1 - x0).abs() > 0.05 {
            piece += &format!("L{} {}", round(*x1), round(*y));
        }
        if let Some((next, _, below)) = course.stretches.get(i + 1) {
            let (out, inward) = (heading(i), heading(i + 1));
            let run = (next - x1) * out;
            let bend = if out == inward && run > 0.0 {
                run / 2.0
            } else {
                34.0
            };
            let (a, b) = (round(x1 + out * bend), round(next - inward * bend));
            piece += &format!(
                "C{a} {} {b} {below} {} {below}",
                round(*y),
                round(*next),
                below = round(*below)
            );
        }
        let begin = format!("M{} {}", round(*x0), round(*y));
        if piece.is_empty() || !drawn.insert(format!("{begin}{piece}")) {
            continue;
        }
        if !std::mem::replace(&mut is_open, true) {
            *path += &begin;
        }
        *path += &piece;
    }
}

fn legend(paper: &mut Paper, boxes: &[Face], has_back: bool, y: f64) {
    let mut x = 24.0;
    for (class, words) in CLASSES {
        if boxes.iter().any(|face| face.class == class) {
            paper.raw(&format!("<g class=\"{class}\">"));
            paper.rect("box", (x, y - 9.0), (14.0, 12.0), 3.0);
            paper.raw("</g>");
            paper.text("tick", "start", (x + 20.0, y + 1.5), words);
            x += 20.0 + width(words, 11.0) + 18.0;
        }
    }
    if has_back {
        paper.path("wire back", &format!("M{} {}h16", round(x), round(y - 3.0)));
        paper.text("tick", "start", (x + 22.0, y + 1.5), "leads back");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::{Edge, End, Place};
    use units::Channels;

    fn node(graph: &mut Graph, name: &str, kind: &str, ins: usize, outs: usize) -> NodeId {
        let port = |stem: &str, i| Port {
            name: format!("{stem}{i}"),
            signal: Signal::Audio(Channels(1)),
        };
        let mut node = Node::new(name, kind);
        node.inputs = (0..ins).map(|i| port("in", i)).collect();
        node.outputs = (0..outs).map(|i| port("out", i)).collect();
        graph.add(node).unwrap()
    }

    fn connect(graph: &mut Graph, from: (NodeId, u16), to: (NodeId, u16)) {
        graph.connect(Edge {
            from: End {
                node: from.0,
                port: from.1,
            },
            to: End {
                node: to.0,
                port: to.1,
            },
            place: Place::NOWHERE,
        });
    }

    /// An echo: a mix whose output comes back through a delay.
    fn echo() -> Graph {
        let mut graph = Graph::default();
        let osc = node(&mut graph, "osc & <co>", "osc", 0, 1);
        let mix = node(&mut graph, "mix", "mix", 2, 1);
        let echo = node(&mut graph, "echo", "delay", 1, 1);
        let sink = node(&mut graph, "out", "sink", 1, 0);
        connect(&mut graph, (osc, 0), (mix, 0));
        connect(&mut graph, (mix, 0), (echo, 0));
        connect(&mut graph, (echo, 0), (mix, 1));
        connect(&mut graph, (mix, 0), (sink, 0));
        graph
    }

    #[test]
    fn a_picture_is_whole_and_the_same_each_time() {
        let first = graph(&echo(), &Catalogue::default());
        assert_eq!(first, graph(&echo(), &Catalogue::default()));
        assert!(first.starts_with("<svg ") && first.ends_with("</svg>\n"));
        assert!(first.contains("osc &amp; &lt;co&gt;") && !first.contains("<co>"));
        assert_eq!(
            first.matches("class=\"box\"").count(),
            4 + 4,
            "each node, and each class in the legend"
        );
        assert_eq!(
            first.matches("wire back\"").count(),
            1 + 1,
            "the wire that closes the cycle, and the legend's"
        );
        assert!(!first.contains("NaN") && !first.contains("inf"));
    }

    #[test]
    fn no_two_boxes_overlap_and_wires_end_at_their_ports() {
        for patch in [
            echo(),
            graph::shape::rake(101, None).unwrap(),
            graph::shape::diamond(76, None).unwrap(),
        ] {
            let none = Catalogue::default();
            let boxes: Vec<Face> = patch
                .nodes()
                .map(|(id, node)| Face::new(id, node, &none))
                .collect();
            let index = boxes
                .iter()
                .enumerate()
                .map(|(i, face)| (face.id, i))
                .collect();
            let wires = wires(&patch, &boxes, &index);
            let shapes: Vec<Shape> = boxes.iter().map(Face::shape).collect();
            let layout = lay_out(&shapes, &wires);
            let room = |i: usize| (layout.corners[i], (shapes[i].width, shapes[i].height));
            for a in 0..boxes.len() {
                for b in 0..a {
                    let (((ax, ay), (aw, ah)), ((bx, by), (bw, bh))) = (room(a), room(b));
                    let is_apart = ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay;
                    assert!(is_apart, "{} and {}", boxes[a].name, boxes[b].name);
                }
            }
            for (wire, course) in wires.iter().zip(&layout.courses) {
                let (begin, end) = (course.stretches[0], *course.stretches.last().unwrap());
                let ((fx, fy), (fw, fh)) = room(wire.from.0);
                let ((tx, ty), (_, th)) = room(wire.to.0);
                assert!((begin.0 - fx - fw).abs() < 1e-6 && begin.2 > fy && begin.2 < fy + fh);
                assert!((end.1 - tx).abs() < 1e-6 && end.2 > ty && end.2 < ty + th);
            }
        }
    }

    #[test]
    fn an_empty_graph_and_broken_edges_are_drawn_too() {
        assert!(graph(&Graph::default(), &Catalogue::default()).contains("0 nodes"));
        let mut patch = echo();
        let whole = graph(&patch, &Catalogue::default());
        // A wire from a port that is not there cannot be drawn; one from a node to itself can.
        let count = |picture: &str| picture.matches("class=\"wire").count();
        connect(&mut patch, (NodeId(0), 9), (NodeId(77), 0));
        assert_eq!(count(&graph(&patch, &Catalogue::default())), count(&whole));
        connect(&mut patch, (NodeId(1), 0), (NodeId(1), 0));
        assert_eq!(
            count(&graph(&patch, &Catalogue::default())),
            count(&whole) + 1
        );
    }
}
