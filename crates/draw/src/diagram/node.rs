//! A node as a box: its name, its kind, its ports.

use crate::class::NodeClass;
use crate::layout::BoxSize;
use crate::picture::color;
use crate::picture::{Picture, Point, Stroke, Style, bold, muted, regular};
use graph::{Catalogue, Kind, Node, NodeId, ParamValue, Port, Role};

/// Widest name, and widest line below it.
const MAX_NAME: f64 = 170.0;
/// Widest name of a port.
const MAX_PORT_NAME: f64 = 56.0;

/// A node as it will be drawn.
///
/// ```text
///  |<- lead ->|<-- own width -->|
///  |    label +-----------------+
///  o----------o in   name       o---
///  |          |      detail     |
///  |          +-----------------+
/// ```
pub(super) struct NodeBox<'a> {
    pub(super) id: NodeId,
    pub(super) node: &'a Node,
    pub(super) class: NodeClass,
    /// The node's name, shortened.
    name: String,
    /// The line below it: kind, and first parameter or stand-in.
    detail: String,
    /// Labels of incoming edges, each with its input.
    labels: Vec<(u16, String)>,
    /// Width of the space for labels, left of the box. The layout counts it as part of the box.
    lead: f64,
}

impl<'a> NodeBox<'a> {
    pub(super) fn new(id: NodeId, node: &'a Node, catalogue: &Catalogue) -> Self {
        let kind = catalogue.get(node.effective_kind());
        let font = regular(11.0);
        let mut detail = font.fit(&node.kind, MAX_NAME);
        if let Some(other) = &node.stand_in {
            detail = format!("{detail} as {}", font.fit(other, MAX_NAME));
        } else if let Some(value) = first_value(node, kind) {
            detail = format!("{detail} · {}", font.fit(&value, MAX_NAME / 2.0));
        }
        Self {
            id,
            node,
            name: bold(13.0).fit(&node.name, MAX_NAME),
            detail,
            class: class(node, kind),
            labels: Vec::new(),
            lead: 0.0,
        }
    }

    /// Adds a label at the end of the edge into `input`.
    pub(super) fn add_label(&mut self, input: u16, label: &str) {
        let label = regular(9.0).fit(label, MAX_NAME);
        self.lead = self.lead.max(regular(9.0).width(&label) + 12.0);
        self.labels.push((input, label));
    }

    /// Size, including the lead, and positions of the ports.
    pub(super) fn size(&self) -> BoxSize {
        let text = bold(13.0)
            .width(&self.name)
            .max(regular(11.0).width(&self.detail));
        let labels = [&self.node.inputs, &self.node.outputs].map(|ports| label_width(ports));
        let ports = self.node.inputs.len().max(self.node.outputs.len());
        let height = f64::max(42.0, ports as f64 * pitch(ports) + 8.0);
        BoxSize {
            width: self.lead + (text + 24.0 + labels[0] + labels[1]).max(56.0),
            height,
            inputs: port_offsets(self.node.inputs.len()),
            outputs: port_offsets(self.node.outputs.len()),
        }
    }

    /// Draws the box with its upper left corner, or its lead's, at `(x, y)`.
    pub(super) fn draw(&self, picture: &mut Picture, (x, y): Point) {
        let mut size = self.size();
        self.labels(picture, &size, (x, y + size.height / 2.0));
        let x = x + self.lead;
        size.width -= self.lead;
        let colors = self.class.colors();
        let border = match self.node.stand_in {
            Some(_) => Stroke::dashed(colors.border, 1.25, (4.0, 3.0)),
            None => Stroke::solid(colors.border, 1.25),
        };
        let (name_color, detail_color) = match self.class {
            NodeClass::Other => (color::TEXT_DISABLED, color::TEXT_DISABLED),
            _ => (color::TEXT, color::TEXT_MUTED),
        };
        picture.begin_group(self.tooltip());
        let style = Style::both(colors.fill, border);
        picture.rect((x, y), (size.width, size.height), 7.0, style);
        let labels = label_width(&self.node.inputs) - label_width(&self.node.outputs);
        let middle = (x + (size.width + labels) / 2.0, y + size.height / 2.0);
        let at = |below: f64| (middle.0, middle.1 + below);
        let (bold, regular) = (bold(13.0), regular(11.0));
        picture.text(at(-2.5), &self.name, bold.color(name_color).middle());
        picture.text(at(12.0), &self.detail, regular.color(detail_color).middle());
        let (left, right) = ((x, middle.1), (x + size.width, middle.1));
        let (inputs, outputs) = (&self.node.inputs, &self.node.outputs);
        self.ports(picture, inputs, &size.inputs, left, false);
        self.ports(picture, outputs, &size.outputs, right, true);
        picture.end_group();
    }

    /// The last pieces of the edges, through the lead, and their labels; `(x, y)` is the middle of the left side.
    fn labels(&self, picture: &mut Picture, size: &BoxSize, (x, y): Point) {
        if self.lead > 0.0 {
            for offset in &size.inputs {
                let stroke = Stroke::solid(color::EDGE, 1.5);
                picture.line((x, y + offset), (x + self.lead, y + offset), stroke);
            }
        }
        for (input, label) in &self.labels {
            if let Some(offset) = size.inputs.get(usize::from(*input)) {
                let at = (x + self.lead - 7.0, y + offset - 3.5);
                picture.text(at, label, muted(9.0).end());
            }
        }
    }

    /// The ports of one side; `(x, y)` is its middle.
    fn ports(
        &self,
        picture: &mut Picture,
        ports: &[Port],
        offsets: &[f64],
        (x, y): Point,
        is_right: bool,
    ) {
        let radius = if ports.len() > 16 { 1.5 } else { 3.0 };
        let border = Stroke::solid(self.class.colors().border, 1.25);
        let style = Style::both(color::BACKGROUND, border);
        let name = muted(9.0);
        let (inward, name) = if is_right {
            (-6.0, name.end())
        } else {
            (6.0, name)
        };
        let is_named = label_width(ports) > 0.0;
        for (port, offset) in ports.iter().zip(offsets) {
            picture.circle((x, y + offset), radius, style);
            if is_named {
                let at = (x + inward, y + offset + 3.0);
                picture.text(at, &port_name(port), name);
            }
        }
    }

    /// Tooltip: all parameters, cost, and `every`.
    fn tooltip(&self) -> String {
        let node = self.node;
        let mut tooltip = format!("{} ({})", node.name, node.kind);
        for (key, value) in &node.params {
            tooltip += &format!("\n{key}: {}", format_value(value));
        }
        if let Some(cost) = node.cost {
            tooltip += &format!("\ncost: {} µs", cost.micros());
        }
        if node.every > 1 {
            tooltip += &format!("\nevery {} cycles", node.every);
        }
        tooltip
    }
}

/// The class of a node; its kind's role comes before the number of its ports.
fn class(node: &Node, kind: Option<&Kind>) -> NodeClass {
    match kind {
        _ if !node.enabled => NodeClass::Other,
        Some(kind) if kind.delay.is_some() => NodeClass::Delay,
        Some(kind) if kind.role == Role::Source => NodeClass::Source,
        Some(kind) if kind.role == Role::Sink && !node.inputs.is_empty() => NodeClass::Sink,
        _ => NodeClass::from_ports(node.kind_inputs().len(), node.outputs.len()),
    }
}

/// The first of its kind's parameters that the node sets, with its unit: usually the most important one.
fn first_value(node: &Node, kind: Option<&Kind>) -> Option<String> {
    let kind = kind?;
    let (param, value) = kind
        .params
        .iter()
        .find_map(|param| Some((param, node.param(param.name)?)))?;
    // A unit says enough; a number without one needs its name.
    let (name, unit) = match param.unit {
        "" => (format!("{} ", param.name), String::new()),
        unit => (String::new(), format!(" {unit}")),
    };
    let value = match value {
        // Rounded: the tooltip has all digits.
        ParamValue::Number(n) if n.abs() >= 0.001 => {
            format_value(&ParamValue::Number((n * 1000.0).round() / 1000.0))
        }
        value => format_value(value),
    };
    Some(format!("{name}{value}{unit}"))
}

fn format_value(value: &ParamValue) -> String {
    match value {
        ParamValue::Number(n) => format!("{n}"),
        ParamValue::Text(text) => text.clone(),
        ParamValue::Flag(true) => "yes".into(),
        ParamValue::Flag(false) => "no".into(),
    }
}

/// Distance of neighbouring ports on a side that has `count`.
fn pitch(count: usize) -> f64 {
    match count {
        0..=8 => 14.0,
        9..=32 => 8.0,
        _ => 5.0,
    }
}

/// Positions of `count` ports, from the middle of their side downwards.
fn port_offsets(count: usize) -> Vec<f64> {
    let middle = (count as f64 - 1.0) / 2.0;
    (0..count)
        .map(|i| (i as f64 - middle) * pitch(count))
        .collect()
}

/// Width of the names of ports; 0 if they are not shown, because they are numbered, fewer than 2 or more than 8.
fn label_width(ports: &[Port]) -> f64 {
    let is_numbered = ports
        .iter()
        .all(|port| port.name.ends_with(|c: char| c.is_ascii_digit()));
    if ports.len() < 2 || ports.len() > 8 || is_numbered {
        return 0.0;
    }
    let widths = ports
        .iter()
        .map(|port| regular(9.0).width(&port_name(port)));
    widths.fold(0.0, f64::max) + 6.0
}

fn port_name(port: &Port) -> String {
    regular(9.0).fit(&port.name, MAX_PORT_NAME)
}
