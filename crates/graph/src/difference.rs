//! The smallest change from one graph to another, by the names of the nodes: a saved file becomes an edit.

use crate::{
    Catalogue, Edge, Edit, EditError, Graph, Kind, Node, NodeId, ParamRange, ParamValue, PortRef,
    Role,
};
use std::collections::BTreeMap;

/// Edits that turn `from` into a graph that plays as `to` does. A node that has its name, kind, ports and fixed parameters
/// in both stays, and keeps its state; parameters that may change while it plays are set.
///
/// Nodes that are added come last. Where that would renumber the output channels of sinks, all sinks are added again in
/// their order.
pub fn edits_between(from: &Graph, to: &Graph, catalogue: &Catalogue) -> Vec<Edit> {
    let mut difference = Difference {
        result: from.clone(),
        edits: Vec::new(),
    };
    let mut stays: Vec<(NodeId, &Node, &Node)> = from
        .nodes()
        .filter_map(|(id, node)| {
            let other = to.node(to.find(&node.name)?)?;
            let kind = catalogue.get(node.effective_kind())?;
            is_same(node, other, kind).then_some((id, node, other))
        })
        .collect();
    if are_sinks_renumbered(&stays, to, catalogue) {
        stays.retain(|(_, node, _)| !is_sink(node, catalogue));
    }
    let mut has_stayed = vec![false; from.id_bound()];
    for (id, ..) in &stays {
        has_stayed[id.0 as usize] = true;
    }
    for (id, _) in from.nodes().filter(|(id, _)| !has_stayed[id.0 as usize]) {
        difference.apply(Edit::Remove(id));
    }
    for (id, node, other) in stays {
        difference.set_params(id, node, other, catalogue);
    }
    for (_, node) in to.nodes() {
        if difference.result.find(&node.name).is_none() {
            difference.apply(Edit::Add(node.clone()));
        }
    }
    difference.set_edges(to);
    difference.edits
}

/// As [`edits_between`], where `to` is an earlier or later state of `from`: a node with the same id and kind is the same node, also with
/// another name.
pub fn edits_back(from: &Graph, to: &Graph, catalogue: &Catalogue) -> Vec<Edit> {
    let (renamed, mut edits) = renames(from, to);
    edits.extend(edits_between(&renamed, to, catalogue));
    edits
}

/// `from` with the names of `to`, and the edits that give them: of nodes of equal ids and kinds, where the names are free.
fn renames(from: &Graph, to: &Graph) -> (Graph, Vec<Edit>) {
    let (mut renamed, mut edits) = (from.clone(), Vec::new());
    for (id, node) in from
        .nodes()
        .filter(|(_, node)| to.find(&node.name).is_none())
    {
        let other = to.node(id).filter(|other| other.kind == node.kind);
        let name = other.map(|other| other.name.clone());
        let Some(name) = name.filter(|name| renamed.find(name).is_none()) else {
            continue;
        };
        let edit = Edit::Rename(id, name);
        if renamed.apply(edit.clone()).is_ok() {
            edits.push(edit);
        }
    }
    (renamed, edits)
}

/// As [`edits_between`], where both graphs number their nodes in the same way: a node with another name is renamed, and one that
/// is added gets the id that it has in `to`. Parameters that may change while a node plays stay as they are.
///
/// # Errors
///
/// A name or an id that is not free.
pub fn edits_by_id(
    from: &Graph,
    to: &Graph,
    catalogue: &Catalogue,
) -> Result<Vec<Edit>, EditError> {
    let (renamed, mut edits) = renames(from, to);
    let mut numbered = renamed.clone();
    for edit in edits_between(&renamed, to, catalogue) {
        let edit = match edit {
            Edit::Add(node) => {
                let id = to.find(&node.name).filter(|id| from.node(*id).is_none());
                let taken = || EditError::NameTaken(node.name.clone());
                Edit::Place(id.ok_or_else(taken)?, node)
            }
            Edit::Set(..) => continue,
            Edit::Connect(_) | Edit::Disconnect(..) => continue,
            edit => edit,
        };
        numbered.apply(edit.clone())?;
        edits.push(edit);
    }
    let mut difference = Difference {
        result: numbered,
        edits,
    };
    difference.set_edges(to);
    Ok(difference.edits)
}

/// Edits, and the graph that they give.
struct Difference {
    result: Graph,
    edits: Vec<Edit>,
}

impl Difference {
    fn apply(&mut self, edit: Edit) {
        let applied = self.result.apply(edit.clone());
        debug_assert!(applied.is_ok(), "{edit:?} does not fit");
        self.edits.push(edit);
    }

    /// Sets what differs between `node` and `other` while it plays.
    fn set_params(&mut self, id: NodeId, node: &Node, other: &Node, catalogue: &Catalogue) {
        if node.enabled != other.enabled {
            self.apply(Edit::Enable(id, other.enabled));
        }
        if node.bypassed != other.bypassed {
            self.apply(Edit::Bypass(id, other.bypassed));
        }
        let kind = catalogue.get(node.effective_kind());
        for param in kind.into_iter().flat_map(|kind| &kind.params) {
            let default = match param.range {
                ParamRange::Number { default, .. } => default,
                _ => f64::NAN,
            };
            let value = |node: &Node| node.number(param.name).unwrap_or(default);
            let (before, after) = (value(node), value(other));
            if param.live && before != after && !after.is_nan() {
                let number = ParamValue::Number(after);
                self.apply(Edit::Set(id, param.name.to_owned(), number));
            }
        }
    }

    /// Gives the result the edges of `to`.
    fn set_edges(&mut self, to: &Graph) {
        let id = |id| to.node(id).and_then(|node| self.result.find(&node.name));
        let port = |port: PortRef| {
            Some(PortRef {
                node: id(port.node)?,
                ..port
            })
        };
        let wanted: Vec<Edge> = to
            .edges()
            .iter()
            .filter_map(|edge| {
                Some(Edge {
                    from: port(edge.from)?,
                    to: port(edge.to)?,
                    ..*edge
                })
            })
            .collect();
        let mut counts: BTreeMap<(PortRef, PortRef), (usize, usize)> = BTreeMap::new();
        for edge in self.result.edges() {
            counts.entry((edge.from, edge.to)).or_default().0 += 1;
        }
        for edge in &wanted {
            counts.entry((edge.from, edge.to)).or_default().1 += 1;
        }
        for (&(from, to), &(before, after)) in &counts {
            if before > after {
                self.apply(Edit::Disconnect(from, to));
            }
        }
        for edge in wanted {
            let count = counts.get_mut(&(edge.from, edge.to));
            let Some((before, after)) = count else {
                continue;
            };
            // Disconnecting has removed all equal edges.
            if before > after {
                *before = 0;
            }
            if before < after {
                *before += 1;
                self.apply(Edit::Connect(edge));
            }
        }
    }
}

/// Returns true if the processor of `node` can go on as that of `other`.
fn is_same(node: &Node, other: &Node, kind: &Kind) -> bool {
    let is_live = |key: &str| kind.param(key).is_some_and(|(_, param)| param.live);
    let fixed = |node: &'_ Node| -> BTreeMap<String, ParamValue> {
        let params = node.params.iter().filter(|(key, _)| !is_live(key));
        params.cloned().collect()
    };
    (&node.kind, &node.stand_in, node.every) == (&other.kind, &other.stand_in, other.every)
        && (&node.inputs, &node.outputs) == (&other.inputs, &other.outputs)
        && fixed(node) == fixed(other)
}

fn is_sink(node: &Node, catalogue: &Catalogue) -> bool {
    let kind = catalogue.get(node.effective_kind());
    kind.is_some_and(|kind| kind.role == Role::Sink)
}

/// Returns true if the sinks that stay, followed by those that are new, have another order than in `to`.
fn are_sinks_renumbered(
    stays: &[(NodeId, &Node, &Node)],
    to: &Graph,
    catalogue: &Catalogue,
) -> bool {
    let in_order = to.nodes().map(|(_, node)| node);
    let in_order = in_order.filter(|node| is_sink(node, catalogue));
    let stay = stays.iter().map(|(_, node, _)| &node.name);
    let sinks: Vec<&String> = in_order.map(|node| &node.name).collect();
    let staying: Vec<&String> = stay.filter(|name| sinks.contains(name)).collect();
    sinks[..staying.len()] != staying
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphBuilder, Param, PortSpec};

    fn catalogue() -> Catalogue {
        let mut catalogue = Catalogue::default();
        let freq = Param::number("freq", (0.0, 20e3), 440.0).live();
        let seed = Param::number("seed", (0.0, 9.0), 0.0);
        catalogue.insert(Kind {
            outputs: vec![PortSpec::mono("out")],
            params: vec![freq, seed],
            ..Kind::new("osc", "")
        });
        catalogue.insert(Kind {
            inputs: vec![PortSpec::mono("in")],
            role: Role::Sink,
            ..Kind::new("sink", "")
        });
        catalogue
    }

    /// A graph of oscillators `(name, freq, seed)`, sinks, and edges between them.
    fn graph(oscs: &[(&str, f64, f64)], sinks: &[&str], edges: &[(&str, &str)]) -> Graph {
        let catalogue = catalogue();
        let mut builder = GraphBuilder::new(&catalogue);
        for (name, freq, seed) in oscs {
            let params = [("freq", (*freq).into()), ("seed", (*seed).into())];
            builder.add(name, "osc", &params).unwrap();
        }
        for name in sinks {
            builder.add(name, "sink", &[]).unwrap();
        }
        for (from, to) in edges {
            let [from, to] = [from, to].map(|name| builder.graph().find(name).unwrap());
            builder.connect((from, "out"), (to, "in")).unwrap();
        }
        builder.finish()
    }

    /// Names of the nodes and ends of the edges, in an order of their own.
    fn stated(graph: &Graph) -> (Vec<String>, Vec<(String, String)>) {
        let name = |id| graph.node(id).unwrap().name.clone();
        let mut nodes: Vec<String> = graph
            .nodes()
            .map(|(_, node)| format!("{} {:?}", node.name, node.params))
            .collect();
        let edges = graph.edges().iter();
        let mut edges: Vec<_> = edges
            .map(|e| (name(e.from.node), name(e.to.node)))
            .collect();
        nodes.sort();
        edges.sort();
        (nodes, edges)
    }

    #[test]
    fn a_difference_applied_gives_the_other_graph() {
        let graphs = [
            graph(&[], &[], &[]),
            graph(&[("a", 440.0, 0.0)], &["l"], &[("a", "l")]),
            graph(&[("a", 880.0, 0.0)], &["l"], &[("a", "l"), ("a", "l")]),
            graph(
                &[("a", 880.0, 1.0), ("b", 1.0, 0.0)],
                &["r", "l"],
                &[("a", "l"), ("b", "r")],
            ),
            graph(&[("b", 2.0, 0.0)], &["l", "r"], &[("b", "l"), ("b", "r")]),
        ];
        for from in &graphs {
            for to in &graphs {
                let mut result = from.clone();
                for edit in edits_between(from, to, &catalogue()) {
                    result.apply(edit).unwrap();
                }
                assert_eq!(stated(&result), stated(to));
                let sinks = |graph: &Graph| -> Vec<String> {
                    let sinks = graph.nodes().filter(|(_, node)| node.kind == "sink");
                    sinks.map(|(_, node)| node.name.clone()).collect()
                };
                assert_eq!(sinks(&result), sinks(to));
            }
            assert_eq!(edits_between(from, from, &catalogue()), []);
        }
    }

    #[test]
    fn nodes_that_are_added_by_id_have_the_ids_of_the_other_graph() {
        let from = graph(&[("a", 440.0, 0.0)], &["l"], &[("a", "l")]);
        let mut from_with_room = from.clone();
        (0..8).for_each(|_| {
            from_with_room.reserve_id();
        });
        let mut to = from.clone();
        to.rename(NodeId(0), "z".to_owned()).unwrap();
        to.node_mut(NodeId(0)).unwrap().set("freq", 99.0.into());
        (0..3).for_each(|_| {
            to.reserve_id();
        });
        let added = graph(&[("b", 1.0, 0.0)], &[], &[]);
        let id = to.add(added.node(NodeId(0)).unwrap().clone()).unwrap();
        let end = |node| PortRef { node, port: 0 };
        to.connect(Edge {
            from: end(id),
            to: end(NodeId(1)),
            span: Default::default(),
        });
        let mut result = from_with_room.clone();
        for edit in edits_by_id(&from_with_room, &to, &catalogue()).unwrap() {
            result.apply(edit).unwrap();
        }
        assert_eq!(result.find("b"), Some(id));
        assert_eq!(result.find("z"), Some(NodeId(0)));
        assert_eq!(result.edges().len(), 2);
        let freq = result.node(NodeId(0)).unwrap().number("freq");
        assert_eq!(freq, Some(440.0), "what may change while it plays stays");
        assert!(edits_by_id(&from, &to, &catalogue()).is_err(), "no such id");
        assert!(
            from.clone()
                .apply(Edit::Place(NodeId(0), Node::new("n", "osc")))
                .is_err()
        );
    }

    #[test]
    fn the_way_back_of_a_rename_keeps_the_node() {
        let from = graph(&[("a", 440.0, 0.0), ("b", 1.0, 0.0)], &["l"], &[("a", "l")]);
        let mut to = from.clone();
        to.rename(NodeId(0), "z".to_owned()).unwrap();
        for (from, to, name) in [(&from, &to, "z"), (&to, &from, "a")] {
            let edits = edits_back(from, to, &catalogue());
            assert_eq!(edits, [Edit::Rename(NodeId(0), name.to_owned())]);
        }
        // Two that have changed their names cannot be told from two others of these names.
        let mut swapped = from.clone();
        for (id, name) in [(0, "x"), (1, "a"), (0, "b")] {
            swapped.rename(NodeId(id), name.to_owned()).unwrap();
        }
        let mut result = from.clone();
        for edit in edits_back(&from, &swapped, &catalogue()) {
            result.apply(edit).unwrap();
        }
        assert_eq!(stated(&result), stated(&swapped));
    }

    #[test]
    fn a_live_parameter_is_set_and_a_fixed_one_makes_a_new_node() {
        let from = graph(&[("a", 440.0, 0.0)], &[], &[]);
        let edits = edits_between(&from, &graph(&[("a", 880.0, 0.0)], &[], &[]), &catalogue());
        assert_eq!(edits, [Edit::Set(NodeId(0), "freq".into(), 880.0.into())]);
        let edits = edits_between(&from, &graph(&[("a", 440.0, 1.0)], &[], &[]), &catalogue());
        assert!(matches!(edits[..], [Edit::Remove(NodeId(0)), Edit::Add(_)]));
    }
}
