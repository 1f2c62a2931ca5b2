//! What is written about edges, to edges between ports that exist and carry the same.

use crate::assemble::Nodes;
use crate::draft::{Draft, DraftEnd, PortWord};
use crate::findings::Findings;
use graph::{Edge, Node, NodeId, Port, PortRef, Signal};
use std::collections::HashSet;
use units::Channels;

/// Adds the edges of `draft` that are right; says what is wrong with the others.
pub(crate) fn connect(draft: &Draft<'_>, nodes: &mut Nodes<'_>, findings: &mut Findings<'_>) {
    let mut resolver = Resolver {
        nodes,
        findings,
        said: HashSet::new(),
    };
    let mut edges = Vec::with_capacity(draft.edges.len());
    edges.extend(
        draft
            .edges
            .iter()
            .filter_map(|(from, to)| resolver.edge(from, to)),
    );
    edges.into_iter().for_each(|edge| nodes.graph.connect(edge));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
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

struct Resolver<'a, 'f, 'd, 't> {
    nodes: &'a Nodes<'d>,
    findings: &'f mut Findings<'t>,
    /// Where an undeclared node has been said; the middle of a chain is an end of two edges.
    said: HashSet<usize>,
}

impl Resolver<'_, '_, '_, '_> {
    fn edge(&mut self, from: &DraftEnd<'_>, to: &DraftEnd<'_>) -> Option<Edge> {
        // Both, so that both are said.
        let (a, b) = (self.end(from, Side::Output), self.end(to, Side::Input));
        let ((a, sent), (b, heard)) = (a?, b?);
        let at = from.at().start..to.at().end;
        if !fits(sent, heard) {
            let message = format!(
                "{} does not fit: `{}` sends {}, `{}` takes {}",
                if matches!((sent, heard), (Signal::Audio(_), Signal::Audio(_))) {
                    "the number of channels"
                } else {
                    "the signal"
                },
                from.node.text,
                told(sent),
                to.node.text,
                told(heard)
            );
            self.findings.error(at, message).help(
                "an edge joins like to like; one channel also spreads to several, which hear the same",
            );
            return None;
        }
        let place = self.findings.source.place(at);
        Some(Edge {
            from: a,
            to: b,
            span: place,
        })
    }

    /// `None` is said, or there is nothing to say: the node's ports are not known.
    fn end(&mut self, written: &DraftEnd<'_>, side: Side) -> Option<(PortRef, Signal)> {
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
            PortWord::First => Some(0),
            PortWord::Number(n) => usize::try_from(*n).ok().and_then(|n| n.checked_sub(1)),
            PortWord::Name(name) => match position(ports, name) {
                // In the middle of a chain a name is one port's; the other one is then the first.
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

    fn undeclared(&mut self, written: &DraftEnd<'_>) {
        let name = &written.node;
        if !self.said.insert(name.at.start) {
            return;
        }
        let names = self.nodes.words.iter().map(|word| word.text.as_ref());
        let meant = self.findings.nearest(&name.text, names);
        let message = format!("there is no node `{}`", name.text);
        self.findings.error(name.at.clone(), message).meant(meant);
    }

    fn no_port(&mut self, written: &DraftEnd<'_>, id: NodeId, side: Side) {
        let Some(node) = self.nodes.graph.node(id) else {
            return;
        };
        let (ports, word, name) = (side.ports(node), side.word(), &node.name);
        let count = match ports.len() {
            0 => format!("no {word}s"),
            1 => format!("one {word}"),
            n => format!("{n} {word}s"),
        };
        let no = match &written.port {
            PortWord::First => None,
            PortWord::Number(0) => Some("ports count from 1".into()),
            PortWord::Number(n) => Some(format!("there is no {word} {n}")),
            PortWord::Name(port) => Some(format!("none of them is called `{port}`")),
        };
        let message = match no.filter(|_| !ports.is_empty()) {
            Some(no) => format!("`{name}` has {count}; {no}"),
            None => format!("`{name}` has {count}"),
        };
        let help = help(written, node, side, self.findings);
        let more = self.findings.error(written.at(), message);
        more.help(help)
            .also(self.nodes.words[id.0 as usize].at.clone(), "declared here");
    }
}

fn position(ports: &[Port], name: &str) -> Option<usize> {
    ports.iter().position(|port| port.name == name)
}

/// What may have been meant by a port that is not there.
fn help(written: &DraftEnd<'_>, node: &Node, side: Side, findings: &mut Findings<'_>) -> String {
    let PortWord::Name(word) = &written.port else {
        return String::new();
    };
    let names: Vec<&str> = side.ports(node).iter().map(|p| p.name.as_str()).collect();
    if let Some(name) = findings.nearest(word, names.iter().copied()) {
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

fn fits(sent: Signal, heard: Signal) -> bool {
    sent == heard
        || matches!(
            (sent, heard),
            (Signal::Audio(Channels(1)), Signal::Audio(_))
        )
}

fn told(signal: Signal) -> String {
    match signal {
        Signal::Audio(Channels(1)) => "one channel of sound".into(),
        Signal::Audio(Channels(n)) => format!("{n} channels of sound"),
        Signal::Control => "control values".into(),
        Signal::Event => "events".into(),
    }
}
