//! Turns written edges into edges between ports that exist and carry the same signal, and into edges that drive
//! parameters.

use super::Nodes;
use super::modulation::DrivenEdge;
use crate::ReadContext;
use crate::ast::{Ast, AstEnd, PortName, PortSide};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use graph::{
    Amount, CHANNELS_HELP, Catalogue, Edge, Law, Node, NodeId, Port, PortCount, PortRef, PortSpec,
    Signal, Widths, inferred_channels,
};
use std::collections::HashSet;
use units::Channels;

/// Adds the valid edges to the graph and reports the others. Nodes that state no width take it from the edges.
pub(super) fn connect(
    ast: &Ast<'_>,
    nodes: &mut Nodes<'_>,
    context: &ReadContext<'_>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let copy = |index: usize| u32::from(ast.has_copies) * (index as u32 + 1);
    let mut resolver = Resolver {
        nodes,
        catalogue: context.catalogue,
        diagnostics,
        reported: HashSet::new(),
    };
    let mut edges = Vec::with_capacity(ast.edges.len());
    let mut found = Vec::with_capacity(ast.edges.len());
    for (index, ends) in ast.edges.iter().enumerate() {
        resolver.diagnostics.copy = copy(index);
        if let Some((edge, driven)) = resolver.edge(ends) {
            found.push((index, driven));
            edges.push(edge);
        }
    }
    resolver.infer_channels(&edges, &found, context);
    for ((index, driven), edge) in found.into_iter().zip(edges) {
        resolver.diagnostics.copy = copy(index);
        let is_there = resolver.has_ports(&edge, driven.is_none(), &ast.edges[index]);
        match driven.filter(|_| is_there) {
            Some(driven) => driven.add(&mut resolver.nodes.graph, edge, resolver.diagnostics),
            None if is_there && resolver.fits(&edge, &ast.edges[index]) => {
                resolver.nodes.graph.connect(edge)
            }
            None => {}
        }
    }
    resolver.diagnostics.copy = 0;
}

/// Largest number of ports of a series that has one for each channel.
const MAX_SERIES: usize = 256;

impl PortSide {
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
    pub(super) nodes: &'a mut Nodes<'d>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) diagnostics: &'f mut Diagnostics<'t>,
    /// Places of undeclared nodes that are reported: the middle of a chain is an end of two edges.
    reported: HashSet<usize>,
}

impl<'a> Resolver<'a, '_, '_, '_> {
    /// Gives nodes that state no width the one that they take from `edges`, of which those that are `found` with a parameter
    /// drive it.
    fn infer_channels(
        &mut self,
        edges: &[Edge],
        found: &[(usize, Option<DrivenEdge>)],
        context: &ReadContext<'_>,
    ) {
        let ends = edges.iter().zip(found);
        let edges = ends.filter(|(_, (_, driven))| driven.is_none());
        let edges: Vec<Edge> = edges.map(|(edge, _)| *edge).collect();
        let (nodes, catalogue) = (&*self.nodes, context.catalogue);
        let is_free = |id: NodeId| nodes.has_ports[id.0 as usize];
        let graph = &nodes.graph;
        let mut changes = Vec::new();
        for (id, widths) in inferred_channels(graph, &edges, catalogue, context.probe, is_free) {
            changes.push((id, widths));
        }
        for (id, widths) in changes {
            self.set_widths(id, widths);
        }
    }

    /// Gives a node the widths that were inferred, if the session has room for its ports.
    fn set_widths(&mut self, id: NodeId, widths: Widths) {
        let Some(node) = self.nodes.graph.node_mut(id) else {
            return;
        };
        let kind = self.catalogue.get(node.effective_kind());
        let is_series = |spec: &PortSpec| spec.count == PortCount::Channels;
        let is_wide =
            kind.is_some_and(|kind| kind.inputs.iter().chain(&kind.outputs).any(is_series));
        let ports = if is_wide { widths.channels.count() } else { 0 };
        match self.nodes.ports_left.checked_sub(ports) {
            Some(left) => {
                self.nodes.ports_left = left;
                self.catalogue.set_widths(node, widths);
            }
            None => {
                let at = self.nodes.names[id.0 as usize].at.clone();
                let message = format!("with `{}` the session has too many ports", node.name);
                self.diagnostics.error(at, message);
            }
        }
    }

    /// Returns true if both ports of an edge exist, now that all widths are known; else reports it. Only if `has_input` the input
    /// is there yet.
    fn has_ports(
        &mut self,
        edge: &Edge,
        has_input: bool,
        (from, to): &(AstEnd<'_>, AstEnd<'_>),
    ) -> bool {
        let ends = [
            (edge.from, from, PortSide::Output, true),
            (edge.to, to, PortSide::Input, has_input),
        ];
        for (end, written, side, is_checked) in ends {
            let node = self.nodes.graph.node(end.node);
            let count = node.map_or(0, |node| side.ports(node).len());
            if is_checked && usize::from(end.port) >= count {
                self.no_port(written, end.node, side);
                return false;
            }
        }
        true
    }

    fn edge(
        &mut self,
        (from, to): &(AstEnd<'_>, AstEnd<'_>),
    ) -> Option<(Edge, Option<DrivenEdge>)> {
        if let Some(target) = self.param_target(to) {
            return self.drive(from, to, target);
        }
        // Both before `?`, so that both are reported.
        let (a, b) = (
            self.end(from, PortSide::Output),
            self.end(to, PortSide::Input),
        );
        let (a, b) = (a?, b?);
        // Events and curves of lists set parameters, and go to ports as they are.
        let set = Amount {
            law: Law::Set,
            factor: 1.0,
        };
        if to.amount.is_some_and(|amount| amount != set) {
            self.amount_without_param(to);
            return None;
        }
        let edge = Edge {
            from: a.0,
            to: b.0,
            span: self.diagnostics.span(place(from, to)),
        };
        Some((edge, None))
    }

    /// Returns true if the signals at both ends of an edge may meet; else reports it.
    fn fits(&mut self, edge: &Edge, (from, to): &(AstEnd<'_>, AstEnd<'_>)) -> bool {
        let signal = |end: PortRef, side: PortSide| {
            let port = side
                .ports(self.nodes.graph.node(end.node)?)
                .get(usize::from(end.port));
            port.map(|port| port.signal)
        };
        let ends = (
            signal(edge.from, PortSide::Output),
            signal(edge.to, PortSide::Input),
        );
        let (Some(sent), Some(accepted)) = ends else {
            return false;
        };
        if sent.fits(accepted) {
            return true;
        }
        let are_audio = matches!((sent, accepted), (Signal::Audio(_), Signal::Audio(_)));
        let (what, help) = match are_audio {
            true => ("the number of channels", CHANNELS_HELP),
            false => ("the signal", "both ends of an edge carry the same signal"),
        };
        let message = format!(
            "{what} does not fit: `{}` sends {}, `{}` takes {}",
            from.node.text,
            describe(sent),
            to.node.text,
            describe(accepted)
        );
        self.diagnostics.error(place(from, to), message).help(help);
        false
    }

    /// The port at one end of an edge. `None` if there is none, which is reported, or if the node's ports are unknown.
    pub(super) fn end(
        &mut self,
        written: &AstEnd<'_>,
        side: PortSide,
    ) -> Option<(PortRef, Signal)> {
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
        let index = index.or_else(|| self.series_index(written, node, side));
        let max = match self.open_series(node, side) {
            Some(_) => MAX_SERIES,
            None => ports.len(),
        };
        let Some(index) = index.filter(|i| *i < max) else {
            self.no_port(written, id, side);
            return None;
        };
        let port_index = u16::try_from(index).ok()?;
        let end = PortRef {
            node: id,
            port: port_index,
        };
        let signal = ports.get(index).map(|port| port.signal);
        Some((end, signal.unwrap_or(Signal::Audio(Channels(1)))))
    }

    /// The series of ports on one side of a node whose number is not known before all edges are.
    fn open_series(&self, node: &Node, side: PortSide) -> Option<&'a PortSpec> {
        let kind = self.catalogue.get(node.effective_kind())?;
        let specs = match side {
            PortSide::Input => &kind.inputs,
            PortSide::Output => &kind.outputs,
        };
        let is_open = |spec: &&PortSpec| spec.count == PortCount::Channels;
        specs
            .last()
            .filter(is_open)
            .filter(|_| kind.infers_width(node))
    }

    /// Index of a port of such a series by its name.
    fn series_index(&self, written: &AstEnd<'_>, node: &Node, side: PortSide) -> Option<usize> {
        let PortName::Name(name) = &written.port else {
            return None;
        };
        let number = name.strip_prefix(self.open_series(node, side)?.name)?;
        number.parse::<usize>().ok()?.checked_sub(1)
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

    fn no_port(&mut self, written: &AstEnd<'_>, id: NodeId, side: PortSide) {
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

/// Most ports that a message names one by one.
const MAX_LISTED: usize = 4;

/// Help about a port that does not exist.
fn port_help(
    written: &AstEnd<'_>,
    node: &Node,
    side: PortSide,
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
        [first, .., last] if names.len() <= MAX_LISTED => {
            let between = names[1..names.len() - 1].iter();
            let between: String = between.map(|name| format!(", `{name}`")).collect();
            format!("they are called `{first}`{between} and `{last}`")
        }
        [first, .., last] => format!("they are called `{first}` to `{last}`"),
    }
}

/// Place of an edge. The ends of an edge through parts may be far from each other.
fn place(from: &AstEnd<'_>, to: &AstEnd<'_>) -> ByteRange {
    let (first, last) = (from.at(), to.at());
    match first.start < last.end {
        true => first.start..last.end,
        false => last,
    }
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
