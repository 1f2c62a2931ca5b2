//! A graph as boxes and wires.

use crate::ink::{self, Ink, Pair};
use crate::layout::{Course, Layout, Shape, Wire, lay_out};
use crate::picture::{Anchor, Look, Pen, Picture, Verb, bold, plain};
use crate::svg::length;
use graph::{Catalogue, Graph, Kind, Node, NodeId, Port, Role, Signal, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// What a picture has room for.
const MOST_NODES: usize = 20_000;
const MOST_EDGES: usize = 100_000;
const MOST_PORTS: usize = 200_000;
/// With more wires than this they are drawn thin.
const MANY_WIRES: usize = 1500;
/// The most room for a name, and for what stands below it.
const NAME: f64 = 170.0;
/// The most room for a port's name.
const PORT: f64 = 56.0;
const LEGEND: f64 = 34.0;

/// The graph: sources at the left, what they feed to the right, wires that close a cycle led back below the
/// boxes. `catalogue` tells what is a delay or a sink, and units; a kind that it does not know is drawn by its ports.
pub fn graph(graph: &Graph, catalogue: &Catalogue) -> Result<Picture, TooLarge> {
    bounded(graph)?;
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
pub struct TooLarge {
    /// How many nodes it has.
    pub nodes: usize,
    /// How many edges.
    pub edges: usize,
    /// How many ports, of all nodes together.
    pub ports: usize,
}

impl fmt::Display for TooLarge {
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

impl std::error::Error for TooLarge {}

fn bounded(graph: &Graph) -> Result<(), TooLarge> {
    let ports = |(_, node): (NodeId, &Node)| node.inputs.len() + node.outputs.len();
    let size = TooLarge {
        nodes: graph.len(),
        edges: graph.edges().len(),
        ports: graph.nodes().map(ports).sum(),
    };
    let is_small = size.nodes <= MOST_NODES && size.edges <= MOST_EDGES && size.ports <= MOST_PORTS;
    if is_small { Ok(()) } else { Err(size) }
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
    class: Class,
    is_guess: bool,
}

/// What sort of node it is, in the legend's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Source,
    Effect,
    Join,
    Delay,
    Sink,
    Off,
}

/// Each with its words in the legend and its colours.
const CLASSES: [(Class, &str, Pair); 6] = [
    (Class::Source, "source", ink::GREEN),
    (Class::Effect, "one in, one out", ink::BLUE),
    (Class::Join, "mix or split", ink::AMBER),
    (Class::Delay, "delay", ink::PINK),
    (Class::Sink, "sink", ink::VIOLET),
    (Class::Off, "not enabled", ink::GREY),
];

impl Class {
    fn pair(self) -> Pair {
        CLASSES[self as usize].2
    }
}

impl<'a> Face<'a> {
    fn new(id: NodeId, node: &'a Node, catalogue: &Catalogue) -> Self {
        let kind = catalogue.get(node.plays());
        let mut below = plain(11.0).fit(&node.kind, NAME);
        if let Some(other) = &node.stand_in {
            below = format!("{below} as {}", plain(11.0).fit(other, NAME));
        } else if let Some(value) = first_value(node, kind) {
            below = format!("{below} · {}", plain(11.0).fit(&value, NAME / 2.0));
        }
        Self {
            id,
            node,
            name: bold(13.0).fit(&node.name, NAME),
            below,
            class: class(node, kind),
            is_guess: node.stand_in.is_some(),
        }
    }

    fn shape(&self) -> Shape {
        let words = bold(13.0)
            .width(&self.name)
            .max(plain(11.0).width(&self.below));
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

    fn draw(&self, picture: &mut Picture, (x, y): (f64, f64)) {
        let shape = self.shape();
        let pair = self.class.pair();
        let pen = if self.is_guess {
            Pen::dashed(pair.line, 1.25, (4.0, 3.0))
        } else {
            Pen::solid(pair.line, 1.25)
        };
        let is_off = self.class == Class::Off;
        let (dark, faint) = if is_off {
            (ink::PALE, ink::PALE)
        } else {
            (ink::DARK, ink::FAINT)
        };
        picture.open(self.story());
        picture.rect(
            (x, y),
            (shape.width, shape.height),
            7.0,
            Look::both(pair.fill, pen),
        );
        let labels = label_width(&self.node.inputs) - label_width(&self.node.outputs);
        let middle = (x + (shape.width + labels) / 2.0, y + shape.height / 2.0);
        let at = |below: f64| (middle.0, middle.1 + below);
        picture.text(at(-2.5), &self.name, bold(13.0), dark, Anchor::Middle);
        picture.text(at(12.0), &self.below, plain(11.0), faint, Anchor::Middle);
        let right = x + shape.width;
        self.ports(picture, &self.node.inputs, &shape.ins, (x, middle.1), false);
        self.ports(
            picture,
            &self.node.outputs,
            &shape.outs,
            (right, middle.1),
            true,
        );
        picture.close();
    }

    /// The ports of one side, whose middle is at `(x, y)`.
    fn ports(
        &self,
        picture: &mut Picture,
        ports: &[Port],
        places: &[f64],
        (x, y): (f64, f64),
        is_right: bool,
    ) {
        let radius = if ports.len() > 16 { 1.5 } else { 3.0 };
        let look = Look::both(ink::SHEET, Pen::solid(self.class.pair().line, 1.25));
        let (inward, anchor) = if is_right {
            (-6.0, Anchor::End)
        } else {
            (6.0, Anchor::Start)
        };
        let is_named = label_width(ports) > 0.0;
        for (port, place) in ports.iter().zip(places) {
            picture.circle((x, y + place), radius, look);
            if is_named {
                let at = (x + inward, y + place + 3.0);
                picture.text(at, &port_name(port), plain(9.0), ink::FAINT, anchor);
            }
        }
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

fn class(node: &Node, kind: Option<&Kind>) -> Class {
    let role = kind.map(|kind| kind.role).unwrap_or_default();
    if !node.enabled {
        Class::Off
    } else if kind.is_some_and(|kind| kind.line.is_some()) {
        Class::Delay
    } else if role == Role::Source || node.inputs.is_empty() {
        Class::Source
    } else if role == Role::Sink || node.outputs.is_empty() {
        Class::Sink
    } else if node.inputs.len() + node.outputs.len() > 2 {
        Class::Join
    } else {
        Class::Effect
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
    let widths = ports.iter().map(|port| plain(9.0).width(&port_name(port)));
    widths.fold(0.0, f64::max) + 6.0
}

fn port_name(port: &Port) -> String {
    plain(9.0).fit(&port.name, PORT)
}

/// All wires of one output as one path, so that what they share is drawn once.
fn draw_wires(picture: &mut Picture, boxes: &[Face], wires: &[Wire], layout: &Layout) {
    let mut paths = BTreeMap::<(bool, usize, usize), (Vec<Verb>, BTreeSet<String>)>::new();
    let mut arrows = Vec::new();
    for (wire, course) in wires.iter().zip(&layout.courses) {
        let (path, drawn) = paths
            .entry((course.is_back, wire.from.0, wire.from.1))
            .or_default();
        trace(course, path, drawn);
        if let (true, Some((_, x, y))) = (course.is_back, course.stretches.last()) {
            arrows.extend([
                Verb::Move(x - 3.0, *y),
                Verb::Line(x - 11.0, y - 4.5),
                Verb::Line(x - 11.0, y + 4.5),
                Verb::Close,
            ]);
        }
    }
    let is_thin = wires.len() > MANY_WIRES;
    for ((is_back, node, port), (path, _)) in paths {
        let signal = boxes[node].node.outputs[port].signal;
        picture.path(path, Look::drawn(pen(signal, is_back, is_thin)));
    }
    picture.path(arrows, Look::filled(ink::ALARM));
}

fn pen(signal: Signal, is_back: bool, is_thin: bool) -> Pen {
    let ink: Ink = match (is_back, is_thin) {
        (true, _) => ink::ALARM,
        (false, true) => ink::THIN,
        (false, false) => ink::WIRE,
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
    Pen { ink, width, dash }
}

/// Adds to `path` the pieces of a course that are not in it yet.
fn trace(course: &Course, path: &mut Vec<Verb>, drawn: &mut BTreeSet<String>) {
    let last = course.stretches.len() - 1;
    // A wire that leads back leaves to the right, runs left, and comes in to the right again; so does one that goes on in
    // the next row.
    let heading = |i: usize| {
        let (x0, x1, _) = course.stretches[i];
        let is_left = x1 < x0 || (x1 == x0 && course.is_back);
        if is_left && i > 0 && i < last {
            -1.0
        } else {
            1.0
        }
    };
    let mut is_open = false;
    for (i, (x0, x1, y)) in course.stretches.iter().enumerate() {
        let mut piece = Vec::new();
        let mut key = format!("{} {}", length(*x0), length(*y));
        if (x1 - x0).abs() > 0.05 {
            piece.push(Verb::Line(*x1, *y));
            key += &format!(" {}", length(*x1));
        }
        if let Some((next, _, below)) = course.stretches.get(i + 1) {
            let (out, inward) = (heading(i), heading(i + 1));
            let run = (next - x1) * out;
            let bend = if out == inward && run > 0.0 {
                run / 2.0
            } else {
                34.0
            };
            piece.push(Verb::Curve([
                (x1 + out * bend, *y),
                (next - inward * bend, *below),
                (*next, *below),
            ]));
            key += &format!(" to {} {}", length(*next), length(*below));
        }
        if piece.is_empty() || !drawn.insert(key) {
            // What follows begins anew.
            is_open = false;
            continue;
        }
        if !std::mem::replace(&mut is_open, true) {
            path.push(Verb::Move(*x0, *y));
        }
        path.extend(piece);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Form, Item};
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
        let first = graph(&echo(), &Catalogue::default()).unwrap().svg();
        assert_eq!(first, graph(&echo(), &Catalogue::default()).unwrap().svg());
        assert!(first.starts_with("<svg ") && first.ends_with("</svg>\n"));
        assert!(first.contains("osc &amp; &lt;co&gt;") && !first.contains("<co>"));
        assert_eq!(
            first.matches("<rect class=\"f-").count(),
            1 + 4 + 4,
            "the sheet, each node, and each class in the legend"
        );
        assert_eq!(
            first.matches("<path class=\"s-alarm\"").count(),
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
        let none = Catalogue::default();
        assert!(
            graph(&Graph::default(), &none)
                .unwrap()
                .svg()
                .contains("0 nodes")
        );
        let mut patch = echo();
        let whole = graph(&patch, &none).unwrap();
        // A wire from a port that is not there cannot be drawn; one from a node to itself can.
        let is_wire =
            |item: &&Item| matches!(item, Item::Shape(Form::Path(_), look) if look.line.is_some());
        let count = |picture: &Picture| picture.items.iter().filter(is_wire).count();
        connect(&mut patch, (NodeId(0), 9), (NodeId(77), 0));
        assert_eq!(count(&graph(&patch, &none).unwrap()), count(&whole));
        connect(&mut patch, (NodeId(1), 0), (NodeId(1), 0));
        assert_eq!(count(&graph(&patch, &none).unwrap()), count(&whole) + 1);
    }
}
