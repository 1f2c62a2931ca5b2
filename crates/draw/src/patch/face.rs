//! A node as a box: its name, what it is, its ports.

use crate::ink::{self, Pair};
use crate::layout::Shape;
use crate::picture::{Anchor, Look, Pen, Picture, bold, plain};
use graph::{Catalogue, Kind, Node, NodeId, ParamValue, Port, Role};

/// The most room for a name, and for what stands below it.
const NAME: f64 = 170.0;
/// The most room for a port's name.
const PORT: f64 = 56.0;

/// How a node looks.
pub(super) struct Face<'a> {
    pub(super) id: NodeId,
    pub(super) node: &'a Node,
    pub(super) name: String,
    below: String,
    pub(super) class: Class,
    is_guess: bool,
    /// What stands at the ends of wires that come in: the input and the words.
    labels: Vec<(u16, String)>,
    /// The room for it, to the left of the box.
    lead: f64,
}

/// What sort of node it is, in the legend's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Source,
    Effect,
    Join,
    Delay,
    Sink,
    Off,
}

/// Each with its words in the legend and its colours.
pub(super) const CLASSES: [(Class, &str, Pair); 6] = [
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
    pub(super) fn new(id: NodeId, node: &'a Node, catalogue: &Catalogue) -> Self {
        let kind = catalogue.get(node.effective_kind());
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
            labels: Vec::new(),
            lead: 0.0,
        }
    }

    /// Puts words at the end of the wire that comes in there.
    pub(super) fn label(&mut self, input: u16, words: String) {
        let words = plain(9.0).fit(&words, NAME);
        self.lead = self.lead.max(plain(9.0).width(&words) + 12.0);
        self.labels.push((input, words));
    }

    pub(super) fn shape(&self) -> Shape {
        let words = bold(13.0)
            .width(&self.name)
            .max(plain(11.0).width(&self.below));
        let labels = [&self.node.inputs, &self.node.outputs].map(|ports| label_width(ports));
        let most = self.node.inputs.len().max(self.node.outputs.len());
        let height = f64::max(42.0, most as f64 * pitch(most) + 8.0);
        Shape {
            width: self.lead + (words + 24.0 + labels[0] + labels[1]).max(56.0),
            height,
            ins: ports(self.node.inputs.len()),
            outs: ports(self.node.outputs.len()),
        }
    }

    pub(super) fn draw(&self, picture: &mut Picture, (x, y): (f64, f64)) {
        let mut shape = self.shape();
        self.labels(picture, &shape, (x, y + shape.height / 2.0));
        let x = x + self.lead;
        shape.width -= self.lead;
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

    /// The ends of wires that have words at them, where the left side's middle is at `(x, y)`. The other wires end there.
    fn labels(&self, picture: &mut Picture, shape: &Shape, (x, y): (f64, f64)) {
        if self.lead > 0.0 {
            for place in &shape.ins {
                let pen = Pen::solid(ink::WIRE, 1.5);
                picture.line((x, y + place), (x + self.lead, y + place), pen);
            }
        }
        for (input, words) in &self.labels {
            if let Some(place) = shape.ins.get(usize::from(*input)) {
                let at = (x + self.lead - 7.0, y + place - 3.5);
                picture.text(at, words, plain(9.0), ink::FAINT, Anchor::End);
            }
        }
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
    } else if kind.is_some_and(|kind| kind.delay.is_some()) {
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
        ParamValue::Number(n) if n.abs() >= 0.001 => {
            words(&ParamValue::Number((n * 1000.0).round() / 1000.0))
        }
        value => words(value),
    };
    Some(format!("{name}{value}{unit}"))
}

fn words(value: &ParamValue) -> String {
    match value {
        ParamValue::Number(n) => format!("{n}"),
        ParamValue::Text(text) => text.clone(),
        ParamValue::Flag(true) => "yes".into(),
        ParamValue::Flag(false) => "no".into(),
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
