//! Edges of all instances: each way from a node through ports of parts to a node becomes an edge between the two.
//!
//! ```text
//!            ┌─ part ──────────────┐
//!  lfo ──▶ bend ──▶ osc ──▶ out ──▶ mix          as it is written: wires, whose ends are nodes or ports of instances
//!            └─────────────────────┘
//!  lfo ──▶ part.osc     part.osc ──▶ mix         edges, whose ends are nodes
//! ```

use super::instance::Instance;
use super::template::Template;
use super::walk::{EdgeTarget, Ends, Port, Walker};
use crate::ast::PortSide;
use crate::ast::{AstEnd, AstEntry, AstNode, Ident, PortName};
use crate::diagnostics::Diagnostics;
use graph::{Amount, ParamValue};
use std::borrow::Cow;
use std::collections::HashMap;

/// Largest number of edges that parts and counts make, and of steps to find them.
const MAX_EDGES: usize = 2_000_000;

/// An end of a wire.
#[derive(Clone, Copy, Debug)]
enum Point {
    /// A node and its port.
    Node(u32, Port),
    /// A port of an instance.
    Port(u32),
}

/// One copy of a written edge.
struct Wire<'a, 't> {
    from: Point,
    to: Point,
    written: &'a (AstEnd<'t>, AstEnd<'t>),
}

/// Makes the edges.
struct Wirer<'f, 'a, 't, 's> {
    walker: Walker<'f, 'a, 't, 's>,
    wires: Vec<Wire<'a, 't>>,
    /// Number of ports that `X.*` needs of a node, as inputs and outputs.
    stars: HashMap<u32, [u32; 2]>,
    is_full: bool,
}

/// The edges between `nodes`. Nodes that do not state a number of ports get as many as `X.*` needs.
pub(super) fn connect<'a, 't>(
    templates: &[Template<'a, 't>],
    instances: &[Instance],
    ports: u32,
    nodes: &mut [AstNode<'t>],
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<(AstEnd<'t>, AstEnd<'t>)> {
    let mut wirer = Wirer {
        walker: Walker {
            templates,
            instances,
            diagnostics,
        },
        wires: Vec::new(),
        stars: HashMap::new(),
        is_full: false,
    };
    for (index, instance) in instances.iter().enumerate() {
        for written in &templates[instance.template].body.edges {
            // The first edge with a mistake at a place reports it.
            wirer.walker.diagnostics.copy += 1;
            wirer.edge(index as u32, written);
        }
    }
    wirer.walker.diagnostics.copy = 0;
    let edges = wirer.follow(ports as usize, nodes);
    for (node, counts) in wirer.stars {
        for (key, count) in ["in", "out"].into_iter().zip(counts) {
            add_count(&mut nodes[node as usize], key, count);
        }
    }
    edges
}

/// Gives a node the number of ports that it needs, if it does not state one.
fn add_count(node: &mut AstNode<'_>, key: &'static str, count: u32) {
    if count == 0 || node.entries.iter().any(|entry| entry.key.text == key) {
        return;
    }
    node.entries.push(AstEntry {
        key: Ident {
            text: key.into(),
            at: node.name.at.clone(),
        },
        value: ParamValue::Number(f64::from(count)),
        value_at: node.name.at.clone(),
        is_own: false,
    });
}

/// A way from a wire through ports.
#[derive(Default)]
struct PortWalk {
    /// Each with the number of its wires that were followed.
    ports: Vec<(usize, usize)>,
}

impl PortWalk {
    fn has(&self, port: usize) -> bool {
        self.ports.iter().any(|(it, _)| *it == port)
    }

    /// The next wire: of the last port that has one left.
    fn next(&mut self, leaving: &[Vec<u32>]) -> Option<usize> {
        while let Some((port, followed)) = self.ports.last_mut() {
            if let Some(wire) = leaving[*port].get(*followed) {
                *followed += 1;
                return Some(*wire as usize);
            }
            self.ports.pop();
        }
        None
    }
}

impl<'a, 't> Wirer<'_, 'a, 't, '_> {
    /// Adds the wires of one written edge in one instance.
    fn edge(&mut self, instance: u32, written: &'a (AstEnd<'t>, AstEnd<'t>)) {
        // Both before `?`, so that both are reported.
        let from = self.walker.find(instance, &written.0, PortSide::Output);
        let to = self.walker.find(instance, &written.1, PortSide::Input);
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let Some(count) = self.count(&from, &to, written) else {
            return;
        };
        for k in 0..count {
            let (from, to) = (self.point(&from, k, 1), self.point(&to, k, 0));
            self.add(Wire { from, to, written });
        }
    }

    /// Number of wires of an edge. `None` if its ends do not fit each other, which is reported.
    fn count(
        &mut self,
        from: &Ends,
        to: &Ends,
        (first, last): &(AstEnd<'t>, AstEnd<'t>),
    ) -> Option<u32> {
        let at = first.at().start..last.at().end;
        let wrong = match (from.copies, to.copies) {
            (_, Some(_)) if to.is_star => {
                Some("`*` counts the ports of one node, not of copies".into())
            }
            (Some(_), _) if from.is_star => {
                Some("`*` counts the ports of one node, not of copies".into())
            }
            (None, None) if from.is_star || to.is_star => {
                Some("`*` needs copies at the other end of the edge".into())
            }
            (Some(a), Some(b)) if a != b => Some(format!(
                "`{}` has {a} copies, `{}` has {b}",
                first.node.text, last.node.text
            )),
            _ if from.is_star && to.is_star => Some("`*` can be at one end of an edge".into()),
            (a, b) => {
                let count = a.or(b).unwrap_or(1);
                let ports = self.star_ports(from, 1).or(self.star_ports(to, 0));
                match ports.filter(|ports| *ports < count) {
                    None => return Some(count),
                    Some(ports) => Some(format!("there are {count} copies for {ports} ports")),
                }
            }
        };
        let wrong: String = wrong?;
        let more = self.walker.diagnostics.error(at, wrong);
        more.help("copies meet one node, a node's ports in order (`x.*`), or equally many copies");
        None
    }

    /// Number of ports of an instance whose ports `X.*` counts.
    fn star_ports(&self, ends: &Ends, side: usize) -> Option<u32> {
        let EdgeTarget::Instances { first, .. } = ends.target else {
            return None;
        };
        let instance = &self.walker.instances[first as usize];
        let template = &self.walker.templates[instance.template];
        let ports = [template.inputs(), template.outputs()][side];
        ends.is_star.then_some(ports.len() as u32)
    }

    /// The `k`th of what an end names. `side` is 0 for an input.
    fn point(&mut self, ends: &Ends, k: u32, side: usize) -> Point {
        let copy = if ends.copies.is_some() { k } else { 0 };
        match ends.target {
            EdgeTarget::Own(port) => Point::Port(port),
            EdgeTarget::Nodes { first, series, .. } if ends.is_star => {
                if series.is_free {
                    let needed = &mut self.stars.entry(first).or_default()[side];
                    *needed = (*needed).max(series.before + k + 1);
                }
                Point::Node(first, Port::Number(series.before + k + 1))
            }
            EdgeTarget::Nodes { first, port, .. } => Point::Node(first + copy, port),
            EdgeTarget::Instances { first, port } => {
                let star = if ends.is_star { k } else { 0 };
                let instance = &self.walker.instances[(first + copy) as usize];
                Point::Port(instance.ports + port + star)
            }
        }
    }

    fn add(&mut self, wire: Wire<'a, 't>) {
        if self.wires.len() < MAX_EDGES {
            return self.wires.push(wire);
        }
        self.full(wire.written);
    }

    /// Reports once that there are too many edges.
    fn full(&mut self, (from, to): &(AstEnd<'t>, AstEnd<'t>)) {
        if !self.is_full {
            let at = from.at().start..to.at().end;
            let message = format!("parts and counts make more than {MAX_EDGES} edges");
            let more = self.walker.diagnostics.error(at, message);
            more.help("use smaller counts");
        }
        self.is_full = true;
    }

    /// Follows each wire that leaves a node to the nodes that it reaches.
    fn follow(&mut self, ports: usize, nodes: &[AstNode<'t>]) -> Vec<(AstEnd<'t>, AstEnd<'t>)> {
        let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); ports];
        for (index, wire) in self.wires.iter().enumerate() {
            if let Point::Port(port) = wire.from {
                leaving[port as usize].push(index as u32);
            }
        }
        let mut edges = Vec::with_capacity(self.wires.len());
        let (mut steps, mut way) = (0, PortWalk::default());
        for first in 0..self.wires.len() {
            let (Point::Node(from, port), false) = (self.wires[first].from, self.is_full) else {
                continue;
            };
            let start = end(&self.wires[first].written.0, &nodes[from as usize], port);
            way.ports.clear();
            let mut next = Some(first);
            while let Some(current) = next {
                steps += 1;
                if steps > MAX_EDGES {
                    self.full(self.wires[current].written);
                    break;
                }
                match self.wires[current].to {
                    Point::Node(to, port) => {
                        let written = &self.wires[current].written.1;
                        let mut last = end(written, &nodes[to as usize], port);
                        last.amount = self.amount(first, &way.ports, &leaving, current);
                        edges.push((start.clone(), last));
                    }
                    Point::Port(port) if way.has(port as usize) => self.circle(current),
                    Point::Port(port) => way.ports.push((port as usize, 0)),
                }
                next = way.next(&leaving);
            }
        }
        edges
    }

    /// The amount by which a way through ports drives a parameter: any edge of it may state it, but only one.
    fn amount(
        &mut self,
        first: usize,
        way: &[(usize, usize)],
        leaving: &[Vec<u32>],
        last: usize,
    ) -> Option<Amount> {
        let inner = way
            .iter()
            .map(|(port, taken)| leaving[*port][*taken - 1] as usize);
        let mut found: Option<(usize, Amount)> = None;
        for wire in [first].into_iter().chain(inner) {
            let Some(amount) = self.wires[wire].written.1.amount else {
                continue;
            };
            if found.is_some() {
                let (from, to) = self.wires[last].written;
                let at = from.at().start..to.at().end;
                let message = "two edges on the way to this parameter state an amount";
                let more = self.walker.diagnostics.error(at, message);
                more.help("state it at one of them, inside the part or outside");
                return None;
            }
            found = Some((wire, amount));
        }
        found.map(|(_, amount)| amount)
    }

    /// Reports ports that lead to each other in a circle, without a node between them.
    fn circle(&mut self, wire: usize) {
        let (from, to) = self.wires[wire].written;
        let at = from.at().start..to.at().end;
        if self
            .walker
            .diagnostics
            .list
            .iter()
            .any(|found| found.message.starts_with("this edge closes"))
        {
            return;
        }
        let message = "this edge closes a circle of ports, without a node in it";
        self.walker.diagnostics.error(at, message);
    }
}

/// An end of an edge, flat: the node by its name.
fn end<'t>(written: &AstEnd<'t>, node: &AstNode<'t>, port: Port) -> AstEnd<'t> {
    let mut flat = AstEnd {
        node: Ident {
            text: Cow::Owned(node.name.text.to_string()),
            at: written.node.at.start..written.at().end,
        },
        path: Vec::new(),
        ..written.clone()
    };
    match port {
        Port::First => flat.port = PortName::First,
        Port::Number(number) => flat.port = PortName::Number(number.to_string().into()),
        Port::Written => {}
    }
    flat
}
