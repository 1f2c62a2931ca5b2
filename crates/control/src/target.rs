//! Looks up `node.port` and `node.param` in a graph. A node's name may hold dots itself, as those of parts do.

use crate::ControlError;
use graph::{Graph, Node, NodeId, Signal, nearest};

/// The node called `name`.
pub(crate) fn node<'g>(graph: &'g Graph, name: &str) -> Result<(NodeId, &'g Node), ControlError> {
    let found = graph.find(name).and_then(|id| Some((id, graph.node(id)?)));
    found.ok_or_else(|| {
        let names = graph.nodes().map(|(_, node)| node.name.as_str());
        ControlError::NoNode {
            node: name.to_owned(),
            nearest: nearest(name, names).map(str::to_owned),
        }
    })
}

/// The node and the rest of `node.rest`. The longest name of a node wins; the rest is empty for a node alone.
pub(crate) fn split<'g, 't>(
    graph: &'g Graph,
    target: &'t str,
) -> Result<(NodeId, &'g Node, &'t str), ControlError> {
    if let Ok((id, node)) = node(graph, target) {
        return Ok((id, node, ""));
    }
    let dots = target.match_indices('.').rev().map(|(at, _)| at);
    for at in dots {
        if let Ok((id, node)) = node(graph, &target[..at]) {
            return Ok((id, node, &target[at + 1..]));
        }
    }
    let name = target.rsplit_once('.').map_or(target, |(name, _)| name);
    node(graph, name).map(|(id, node)| (id, node, ""))
}

/// A node with one of its ports or parameters, by name.
pub(crate) fn required<'g, 't>(
    graph: &'g Graph,
    target: &'t str,
    what: &str,
) -> Result<(NodeId, &'g Node, &'t str), ControlError> {
    match split(graph, target)? {
        (_, node, "") => Err(ControlError::Incomplete {
            node: node.name.clone(),
            what: what.to_owned(),
        }),
        found => Ok(found),
    }
}

/// The name of the port that `word` names: a name, a number from 1, or nothing for the first.
pub(crate) fn port_name(ports: &[graph::Port], word: &str) -> String {
    let index = match word {
        "" => Some(0),
        _ => word.parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
    };
    let port = index.and_then(|index| ports.get(index));
    port.map_or_else(|| word.to_owned(), |port| port.name.clone())
}

/// `node.port` of an output of audio, by a target that may leave the port out.
///
/// # Errors
///
/// There is no such node or output. The error names the outputs that are there, or what goes into the node.
///
/// Real-time: setup.
pub fn audio_output(graph: &Graph, target: &str) -> Result<String, ControlError> {
    let (id, node, port) = split(graph, target)?;
    let name = port_name(&node.outputs, port);
    let outputs = node.outputs.iter();
    let audio = outputs.filter(|it| matches!(it.signal, Signal::Audio(_)));
    let names: Vec<&str> = audio.map(|it| it.name.as_str()).collect();
    if names.contains(&name.as_str()) {
        return Ok(format!("{}.{name}", node.name));
    }
    let mut edges = graph.edges().iter().filter(|edge| edge.to.node == id);
    let source = edges.find_map(|edge| {
        let from = graph.node(edge.from.node)?;
        let port = from.outputs.get(usize::from(edge.from.port))?;
        Some(format!("; into it goes `{}.{}`", from.name, port.name))
    });
    Err(ControlError::NoOutput {
        target: target.to_owned(),
        help: match names.is_empty() {
            true => source.unwrap_or_default(),
            false => format!("; it has {}", names.join(", ")),
        },
    })
}
