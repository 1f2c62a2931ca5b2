//! Looks up `node.port` and `node.param` in a graph. A node's name may hold dots itself, as those of parts do.

use crate::ControlError;
use graph::{Graph, Node, NodeId, nearest};

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
