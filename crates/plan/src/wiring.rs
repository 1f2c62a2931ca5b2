//! First pass: every node and every edge looked up and checked, all mistakes at once; then latencies are made up for.

use crate::align::{Align, align};
use crate::limits::too_large;
use crate::lines::line_of;
use crate::outlets::Outlets;
use crate::{DelayLine, DelayedEdge, PlanError, PlanOptions};
use graph::{Catalogue, Diagnostic, Edge, Graph, Kind, Node, NodeId, Port, PortRef, Role, Signal};
use units::{Channels, Frames};

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One step that runs its processor.
    Plain,
    /// Two steps on one line.
    Delay(DelayLine),
    /// A step that keeps what it hears, for the program's outputs from `channel` on.
    Sink { channel: u16 },
    /// A step that gives silence.
    Mute,
    /// A step that makes up for latency: an index into [`Wiring::aligners`].
    Align(u32),
}

/// One live node, looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'g> {
    pub(crate) id: NodeId,
    pub(crate) node: &'g Node,
    pub(crate) kind: &'g Kind,
    pub(crate) part: Part,
}

/// One edge between members; sorted by target and then by source, which is the order of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wire {
    pub(crate) to: u32,
    pub(crate) input: u16,
    pub(crate) from: u32,
    pub(crate) output: u16,
}

/// The graph with everything looked up: members by node id, wires sorted by where they end. Wires into muted members are
/// left out.
#[derive(Debug)]
pub(crate) struct Wiring<'g> {
    /// The nodes, and behind them the aligners, each under the name of the node whose output it delays.
    pub(crate) members: Vec<Member<'g>>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) aligners: Vec<Align>,
    /// See [`Plan::delayed_edges`](crate::Plan::delayed_edges).
    pub(crate) delayed: Vec<DelayedEdge>,
    /// By how much the latest sink lags.
    pub(crate) latency: Frames,
}

impl Wiring<'_> {
    /// The wires into one member.
    pub(crate) fn wires_to(&self, member: u32) -> &[Wire] {
        let start = self.wires.partition_point(|w| w.to < member);
        let count = self.wires[start..].partition_point(|w| w.to == member);
        &self.wires[start..start + count]
    }

    /// The member of a node.
    pub(crate) fn member_of(&self, node: NodeId) -> Option<u32> {
        let nodes = &self.members[..self.members.len() - self.aligners.len()];
        let found = nodes.binary_search_by_key(&node, |m| m.id);
        found.ok().map(|at| at as u32)
    }

    /// The member of an aligner.
    pub(crate) fn aligner(&self, aligner: u32) -> u32 {
        (self.members.len() - self.aligners.len()) as u32 + aligner
    }

    /// Who gives what `member` gives: itself, but where it only delays another's.
    pub(crate) fn origin(&self, member: u32) -> u32 {
        match self.members[member as usize].part {
            Part::Align(aligner) => self.aligners[aligner as usize].of,
            _ => member,
        }
    }

    /// What travels from an output of a member.
    pub(crate) fn signal(&self, member: u32, output: u16) -> Signal {
        let it = &self.members[member as usize];
        let port = match it.part {
            Part::Align(aligner) => self.aligners[aligner as usize].output,
            _ => output,
        };
        it.node.outputs[usize::from(port)].signal
    }

    /// Where a wire between nodes begins and ends.
    pub(crate) fn ends(&self, wire: &Wire) -> (PortRef, PortRef) {
        let end = |member: u32, port| PortRef {
            node: self.members[member as usize].id,
            port,
        };
        (end(wire.from, wire.output), end(wire.to, wire.input))
    }

    /// The wires into one input of a member, among `wires_to`'s.
    pub(crate) fn wires_at(wires: &[Wire], input: u16) -> &[Wire] {
        let start = wires.partition_point(|w| w.input < input);
        let count = wires[start..].partition_point(|w| w.input == input);
        &wires[start..start + count]
    }
}

/// Looks everything up, and makes up for latencies.
pub(crate) fn wire<'g>(
    graph: &'g Graph,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
) -> Result<Wiring<'g>, PlanError> {
    let mut wrong = Vec::new();
    let members = members(graph, catalogue, options, &mut wrong);
    let mut index = vec![Index::Gone; graph.id_bound()];
    for (id, _) in graph.nodes() {
        index[id.0 as usize] = Index::Wrong;
    }
    for (number, member) in (0..).zip(&members) {
        index[member.id.0 as usize] = Index::Member(number);
    }
    let mut wires = Vec::with_capacity(graph.edges().len());
    for edge in graph.edges() {
        match looked_up(graph, edge, &index) {
            Ok(Some(wire)) if members[wire.to as usize].part != Part::Mute => wires.push(wire),
            Ok(_) => {}
            Err(mistake) => wrong.push(mistake),
        }
    }
    wrong.extend(too_large(&members, options));
    if wrong.is_empty() {
        wires.sort_unstable();
        let mut wiring = Wiring {
            members,
            wires,
            aligners: Vec::new(),
            delayed: Vec::new(),
            latency: Frames(0),
        };
        align(&mut wiring, options)?;
        Ok(wiring)
    } else {
        Err(PlanError(wrong))
    }
}

/// What a node id stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    /// No node.
    Gone,
    /// One that has been told of already.
    Wrong,
    Member(u32),
}

/// The wire of an edge; none where a node at its end has been told of already.
fn looked_up(graph: &Graph, edge: &Edge, index: &[Index]) -> Result<Option<Wire>, Diagnostic> {
    let at = |id: NodeId| index.get(id.0 as usize).copied().unwrap_or(Index::Gone);
    let ends = (at(edge.from.node), at(edge.to.node));
    if ends.0 == Index::Wrong || ends.1 == Index::Wrong {
        return Ok(None);
    }
    check_edge(graph, edge)?;
    let (Index::Member(from), Index::Member(to)) = ends else {
        return Ok(None);
    };
    Ok(Some(Wire {
        to,
        input: edge.to.port,
        from,
        output: edge.from.port,
    }))
}

fn members<'g>(
    graph: &'g Graph,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Member<'g>> {
    let mut outlets = Outlets::default();
    let mut members = Vec::with_capacity(graph.len());
    for (id, node) in graph.nodes() {
        match member(id, node, catalogue, options, &mut outlets) {
            Ok(member) => members.push(member),
            Err(mistake) => wrong.push(mistake),
        }
    }
    members
}

fn member<'g>(
    id: NodeId,
    node: &'g Node,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
    outlets: &mut Outlets,
) -> Result<Member<'g>, Diagnostic> {
    let kind = catalogue
        .get(node.effective_kind())
        .ok_or_else(|| unknown(node, catalogue))?;
    let mut part = match (kind.role, &kind.delay) {
        (Role::Sink, _) => Part::Sink {
            channel: outlets.next(node, only_input(node)?)?,
        },
        (_, Some(params)) => Part::Delay(line_of(id, node, kind, params, options)?),
        _ => Part::Plain,
    };
    if !node.enabled {
        part = Part::Mute;
    }
    Ok(Member {
        id,
        node,
        kind,
        part,
    })
}

/// How wide a sink is.
fn only_input(node: &Node) -> Result<Channels, Diagnostic> {
    match node.inputs.as_slice() {
        [
            Port {
                signal: Signal::Audio(channels),
                ..
            },
        ] => Ok(*channels),
        _ => Err(Diagnostic::error(
            node.span,
            format!("`{}` is a sink and needs one audio input", node.name),
        )),
    }
}

fn unknown(node: &Node, catalogue: &Catalogue) -> Diagnostic {
    let name = node.effective_kind();
    let mistake = Diagnostic::error(
        node.span,
        format!("`{}` is of unknown kind `{name}`", node.name),
    );
    match catalogue.nearest(name) {
        Some(near) => mistake.help(format!("did you mean `{near}`?")),
        None => mistake.help("the catalogue of kinds does not have it"),
    }
}

fn check_edge(graph: &Graph, edge: &Edge) -> Result<(), Diagnostic> {
    let from = end(graph, edge, edge.from, "output", |n| &n.outputs)?;
    let to = end(graph, edge, edge.to, "input", |n| &n.inputs)?;
    let fits = match (from.1.signal, to.1.signal) {
        (Signal::Audio(gives), Signal::Audio(takes)) => gives == takes || gives == Channels(1),
        (gives, takes) => gives == takes,
    };
    if fits {
        return Ok(());
    }
    Err(Diagnostic::error(
        edge.span,
        format!(
            "output `{}` of `{}` carries {}, input `{}` of `{}` takes {}",
            from.1.name,
            from.0.name,
            words(from.1.signal),
            to.1.name,
            to.0.name,
            words(to.1.signal)
        ),
    )
    .help("connect equal signals; one channel of audio spreads over many"))
}

fn end<'g>(
    graph: &'g Graph,
    edge: &Edge,
    end: PortRef,
    side: &str,
    ports: impl Fn(&'g Node) -> &'g [Port],
) -> Result<(&'g Node, &'g Port), Diagnostic> {
    let Some(node) = graph.node(end.node) else {
        return Err(Diagnostic::error(
            edge.span,
            format!("an edge names node {}, which is not there", end.node.0),
        ));
    };
    let all = ports(node);
    all.get(usize::from(end.port))
        .map(|p| (node, p))
        .ok_or_else(|| {
            Diagnostic::error(
                edge.span,
                format!(
                    "`{}` has no {side} {}; it has {}",
                    node.name,
                    u32::from(end.port) + 1,
                    all.len()
                ),
            )
            .related(node.span, format!("`{}` is declared here", node.name))
        })
}

fn words(signal: Signal) -> String {
    match signal {
        Signal::Audio(Channels(1)) => "one channel of audio".into(),
        Signal::Audio(Channels(n)) => format!("{n} channels of audio"),
        Signal::Control => "control numbers".into(),
        Signal::Event => "events".into(),
    }
}
