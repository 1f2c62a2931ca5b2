//! Pass 1: every node and every edge looked up and checked, all mistakes at once.

use super::delay_lines::delay_line;
use super::limits::check_size;
use super::output_channels::ChannelNumbers;
use super::output_files::check_output_files;
use super::wiring::{NodePart, WiredEdge, WiredNode, Wiring};
use crate::{PlanError, PlanOptions};
use graph::{
    CHANNELS_HELP, Catalogue, Diagnostic, Edge, Graph, Node, NodeId, Port, PortRef, Role, Signal,
};
use units::{Channels, Frames};

/// Looks up every node and edge, and collects all mistakes.
pub(super) fn look_up<'g>(
    graph: &'g Graph,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
) -> Result<Wiring<'g>, PlanError> {
    let mut mistakes = Vec::new();
    let nodes = nodes(graph, catalogue, options, &mut mistakes);
    let mut found = vec![Found::Nothing; graph.id_bound()];
    for (id, _) in graph.nodes() {
        found[id.0 as usize] = Found::Mistake;
    }
    for (number, node) in (0..).zip(&nodes) {
        found[node.id.0 as usize] = Found::Node(number);
    }
    let mut edges = Vec::with_capacity(graph.edges().len());
    for edge in graph.edges() {
        match edge_between(graph, edge, &found) {
            Ok(Some(edge)) if nodes[edge.to as usize].part != NodePart::Silence => edges.push(edge),
            Ok(_) => {}
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(check_size(&nodes, options));
    mistakes.extend(check_output_files(&nodes));
    if !mistakes.is_empty() {
        return Err(PlanError(mistakes));
    }
    edges.sort_unstable_by_key(|edge| {
        let from = &nodes[edge.from as usize];
        let rank = from.node.rank.unwrap_or(from.id.0);
        (edge.to, edge.input, rank, edge.from, edge.output)
    });
    Ok(Wiring {
        nodes,
        edges,
        aligners: Vec::new(),
        delayed: Vec::new(),
        latency: Frames(0),
    })
}

/// Result of looking up an id of the graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// No node.
    Nothing,
    /// A node with a mistake, which is reported already.
    Mistake,
    /// An index into [`Wiring::nodes`].
    Node(u32),
}

/// Looks up one edge; `None` if a node at its end has a mistake.
fn edge_between(
    graph: &Graph,
    edge: &Edge,
    found: &[Found],
) -> Result<Option<WiredEdge>, Diagnostic> {
    let at = |id: NodeId| found.get(id.0 as usize).copied().unwrap_or(Found::Nothing);
    let ends = (at(edge.from.node), at(edge.to.node));
    if ends.0 == Found::Mistake || ends.1 == Found::Mistake {
        return Ok(None);
    }
    let input = check_edge(graph, edge)?;
    let (Found::Node(from), Found::Node(to)) = ends else {
        return Ok(None);
    };
    Ok(Some(WiredEdge {
        to,
        input: edge.to.port,
        from,
        output: edge.from.port,
        drives: input.modulation.is_some(),
    }))
}

fn nodes<'g>(
    graph: &'g Graph,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
    mistakes: &mut Vec<Diagnostic>,
) -> Vec<WiredNode<'g>> {
    let mut channels = ChannelNumbers::default();
    let mut nodes = Vec::with_capacity(graph.len());
    for (id, node) in graph.nodes() {
        match look_up_node(id, node, catalogue, options, &mut channels) {
            Ok(node) => nodes.push(node),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    nodes
}

fn look_up_node<'g>(
    id: NodeId,
    node: &'g Node,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
    channels: &mut ChannelNumbers,
) -> Result<WiredNode<'g>, Diagnostic> {
    let kind = catalogue
        .get(node.effective_kind())
        .ok_or_else(|| unknown_kind(node, catalogue))?;
    let mut part = match (kind.role, &kind.delay) {
        (Role::Sink, _) => NodePart::Sink {
            channel: channels.next(node, only_input(node)?)?,
        },
        (_, Some(params)) => NodePart::Delay(delay_line(id, node, kind, params, options)?),
        _ => NodePart::Process,
    };
    if !node.enabled {
        part = NodePart::Silence;
    }
    Ok(WiredNode {
        id,
        node,
        kind,
        part,
    })
}

/// Number of channels of a sink.
fn only_input(node: &Node) -> Result<Channels, Diagnostic> {
    match node.kind_inputs() {
        [
            Port {
                signal: Signal::Audio(channels),
                ..
            },
        ] => Ok(*channels),
        _ => Err(node.mistake(format!(
            "`{}` is a sink and needs one audio input",
            node.name
        ))),
    }
}

fn unknown_kind(node: &Node, catalogue: &Catalogue) -> Diagnostic {
    let name = node.effective_kind();
    let mistake = node.mistake(format!("`{}` is of unknown kind `{name}`", node.name));
    match catalogue.nearest(name) {
        Some(near) => mistake.help(format!("did you mean `{near}`?")),
        None => mistake.help("the catalogue of kinds does not have it"),
    }
}

/// Checks the ports of an edge, and gives its input.
fn check_edge<'g>(graph: &'g Graph, edge: &Edge) -> Result<&'g Port, Diagnostic> {
    let from = port(graph, edge, edge.from, "output", |n| &n.outputs)?;
    let to = port(graph, edge, edge.to, "input", |n| &n.inputs)?;
    if from.1.signal.fits(to.1.signal) {
        return Ok(to.1);
    }
    Err(Diagnostic::error(
        edge.span,
        format!(
            "output `{}` of `{}` carries {}, input `{}` of `{}` takes {}",
            from.1.name,
            from.0.name,
            describe(from.1.signal),
            to.1.name,
            to.0.name,
            describe(to.1.signal)
        ),
    )
    .help(match (from.1.signal, to.1.signal) {
        (Signal::Audio(_), Signal::Audio(_)) => CHANNELS_HELP,
        _ => "connect equal signals",
    }))
}

fn port<'g>(
    graph: &'g Graph,
    edge: &Edge,
    port: PortRef,
    side: &str,
    ports: impl Fn(&'g Node) -> &'g [Port],
) -> Result<(&'g Node, &'g Port), Diagnostic> {
    let Some(node) = graph.node(port.node) else {
        return Err(Diagnostic::error(
            edge.span,
            format!("an edge names node {}, which does not exist", port.node.0),
        ));
    };
    let all = ports(node);
    all.get(usize::from(port.port))
        .map(|p| (node, p))
        .ok_or_else(|| {
            Diagnostic::error(
                edge.span,
                format!(
                    "`{}` has no {side} {}; it has {}",
                    node.name,
                    u32::from(port.port) + 1,
                    all.len()
                ),
            )
            .related(node.span, format!("`{}` is declared here", node.name))
        })
}

fn describe(signal: Signal) -> String {
    match signal {
        Signal::Audio(Channels(1)) => "one channel of audio".into(),
        Signal::Audio(Channels(n)) => format!("{n} channels of audio"),
        Signal::Control => "control numbers".into(),
        Signal::Event => "events".into(),
    }
}
