//! Turns written edges into edges between ports that exist and carry the same signal, and into edges that drive
//! parameters.

use super::Nodes;
use super::modulation::DrivenParam;
use crate::ast::{Ast, AstEnd, PortName};
use crate::diagnostics::Diagnostics;
use graph::{Catalogue, Edge, Node, NodeId, Port, PortRef, Signal};
use std::collections::HashSet;
use units::Channels;

/// Adds the valid edges to the graph and reports the others.
pub(super) fn connect(
    ast: &Ast<'_>,
    nodes: &mut Nodes<'_>,
    catalogue: &Catalogue,
    diagnostics: &mut Diagnostics<'_>,
) {
    let mut resolver = Resolver {
        nodes,
        catalogue,
        diagnostics,
        reported: HashSet::new(),
    };
    let mut edges = Vec::with_capacity(ast.edges.len());
    for (index, (from, to)) in ast.edges.iter().enumerate() {
        resolver.diagnostics.copy = u32::from(ast.has_copies) * (index as u32 + 1);
        edges.extend(resolver.edge(from, to));
    }
    resolver.diagnostics.copy = 0;
    for (edge, driven) in edges {
        match driven {
            None => nodes.graph.connect(edge),
            Some(driven) => driven.add(&mut nodes.graph, edge, diagnostics),
        }
    }
}

/// The side of a node that a port is on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

impl Side {
    fn ports(self, node: &Node) -> &[Port] {
        match self {
            Self::Input => &node.inputs,
            Self::Output => &node.outputs,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Input => Self::Output,
            Self::Output => Self::Input,
        }
    }
}

/// Finds the ports of edges.
pub(super) struct Resolver<'a, 'f, 'd, 't> {
    pub(super) nodes: &'a Nodes<'d>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) diagnostics: &'f mut Diagnostics<'t>,
    /// Places of undeclared nodes that are reported: the middle of a chain is an end of two edges.
    reported: HashSet<usize>,
}

impl Resolver<'_, '_, '_, '_> {
    fn edge(&mut self, from: &AstEnd<'_>, to: &AstEnd<'_>) -> Option<(Edge, Option<DrivenParam>)> {
        if let Some(target) = self.param_target(to) {
            return self.drive(from, to, target);
        }
        // Both before `?`, so that both are reported.
        let (a, b) = (self.end(from, Side::Output), self.end(to, Side::Input));
        let ((a, sent), (b, accepted)) = (a?, b?);
        let (first, last) = (from.at(), to.at());
        // The ends of an edge through parts may be far from each other.
        let at = if first.start < last.end {
            first.start..last.end
        } else {
            last
        };
        if !fits(sent, accepted) {
            let message = format!(
                "{} does not fit: `{}` sends {}, `{}` takes {}",
                if matches!((sent, accepted), (Signal::Audio(_), Signal::Audio(_))) {
                    "the number of channels"
                } else {
                    "the signal"
                },
                from.node.text,
                describe(sent),
                to.node.text,
                describe(accepted)
            );
            self.diagnostics.error(at, message).help(
                "both ends of an edge carry the same signal; one channel can also feed several, which all get its samples",
            );
            return None;
        }
        if to.amount.is_some() {
            self.amount_without_param(to);
            return None;
        }
        let span = self.diagnostics.source.span(at);
        let edge = Edge {
            from: a,
            to: b,
            span,
        };
        Some((edge, None))
    }

    /// The port at one end of an edge. `None` if there is none, which is reported, or if the node's ports are unknown.
    pub(super) fn end(&mut self, written: &AstEnd<'_>, side: Side) -> Option<(PortRef, Signal)> {
        let Some(id) = self.nodes.graph.find(&written.node.text) else {
            self.undeclared(written);
            return None;
        };
        if !self.nodes.has_ports[id.0 as usize] {
            return None;
        }
        let node = self.nodes.graph.node(id)?;
        let ports = side.ports(node);
        let index = match &written.port {
            PortName::First => Some(0),
            PortName::Number(n) => n.parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
            PortName::Name(name) => match position(ports, name) {
                // In the middle of a chain a name may belong to one side only; the other side then uses its first port.
                None if written.is_middle => position(side.other().ports(node), name).and(Some(0)),
                found => found,
            },
        };
        let Some((index, port)) = index.and_then(|i| Some((i, ports.get(i)?))) else {
            self.no_port(written, id, side);
            return None;
        };
        let port_index = u16::try_from(index).ok()?;
        let end = PortRef {
            node: id,
            port: port_index,
        };
        Some((end, port.signal))
    }

    fn undeclared(&mut self, written: &AstEnd<'_>) {
        let name = &written.node;
        if !self.reported.insert(name.at.start) {
            return;
        }
        let names = self.nodes.names.iter().map(|word| word.text.as_ref());
        let suggestion = self.diagnostics.nearest(&name.text, names);
        let message = format!("there is no node `{}`", name.text);
        self.diagnostics
            .error(name.at.clone(), message)
            .did_you_mean(suggestion);
    }

    fn no_port(&mut self, written: &AstEnd<'_>, id: NodeId, side: Side) {
        let Some(node) = self.nodes.graph.node(id) else {
            return;
        };
        let (ports, word, name) = (side.ports(node), side.word(), &node.name);
        let count = match ports.len() {
            0 => format!("no {word}s"),
            1 => format!("one {word}"),
            n => format!("{n} {word}s"),
        };
        let detail = match &written.port {
            PortName::First => None,
            PortName::Number(n) if n.parse() == Ok(0) => Some("ports count from 1".into()),
            PortName::Number(n) => Some(format!("there is no {word} {n}")),
            PortName::Name(port) => Some(format!("none of them is called `{port}`")),
        };
        let message = match detail.filter(|_| !ports.is_empty()) {
            Some(detail) => format!("`{name}` has {count}; {detail}"),
            None => format!("`{name}` has {count}"),
        };
        let help = match self.middle_param(written, node) {
            Some(help) => help,
            None => port_help(written, node, side, self.diagnostics),
        };
        let more = self.diagnostics.error(written.at(), message);
        more.help(help)
            .note(self.nodes.names[id.0 as usize].at.clone(), "declared here");
    }
}

pub(super) fn position(ports: &[Port], name: &str) -> Option<usize> {
    ports.iter().position(|port| port.name == name)
}

/// Help about a port that does not exist.
fn port_help(
    written: &AstEnd<'_>,
    node: &Node,
    side: Side,
    diagnostics: &mut Diagnostics<'_>,
) -> String {
    let PortName::Name(word) = &written.port else {
        return String::new();
    };
    let names: Vec<&str> = side.ports(node).iter().map(|p| p.name.as_str()).collect();
    if let Some(name) = diagnostics.nearest(word, names.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    let other = side.other();
    if other.ports(node).iter().any(|port| port.name == *word) {
        return format!("`{word}` is an {}", other.word());
    }
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("it is called `{one}`"),
        [first, .., last] => format!("they are called `{first}` to `{last}`"),
    }
}

/// Returns true if a port that sends `sent` may feed one that accepts `accepted`.
pub(super) fn fits(sent: Signal, accepted: Signal) -> bool {
    sent == accepted
        || matches!(
            (sent, accepted),
            (Signal::Audio(Channels(1)), Signal::Audio(_))
        )
}

/// The signal as a message shows it.
pub(super) fn describe(signal: Signal) -> String {
    match signal {
        Signal::Audio(Channels(1)) => "one channel of sound".into(),
        Signal::Audio(Channels(n)) => format!("{n} channels of sound"),
        Signal::Control => "control values".into(),
        Signal::Event => "events".into(),
    }
}
