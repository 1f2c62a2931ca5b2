//! The cells in which the nodes of a changed graph play.

use super::CellService;
use crate::section::{CellSpec, read_cells};
use crate::split::why_outside;
use ::text::Section;
use graph::{Graph, NodeId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl CellService {
    /// The cells with the nodes that they have in `graph`. `is_known`: there was this graph before, so nodes that come back play where
    /// they did.
    pub(super) fn specs_after(
        &self,
        graph: &Graph,
        is_known: bool,
    ) -> Result<Vec<CellSpec>, String> {
        let before = &self.options.graph;
        let (mut specs, mut home) = (Vec::new(), HashMap::new());
        for (at, cell) in self.cells.iter().enumerate() {
            let kept = cell.spec.nodes.iter().filter_map(|name| {
                let renamed = before.find(name).filter(|id| graph.node(*id).is_some());
                renamed.or_else(|| graph.find(name))
            });
            let back = self
                .left
                .iter()
                .filter(|(_, home)| is_known && *home == cell.spec.name);
            let back = back.filter_map(|(name, _)| graph.find(name));
            let back = back.filter(|id| before.node(*id).is_none());
            let kept: Vec<NodeId> = kept.chain(back).collect();
            if kept.is_empty() && !cell.spec.nodes.is_empty() {
                let name = &cell.spec.name;
                return Err(format!(
                    "the cell `{name}` would have no node: remove_cell {name} first"
                ));
            }
            home.extend(kept.iter().map(|id| (*id, at)));
            specs.push(kept);
        }
        for (node, at) in self.homes_of_new(graph, &home) {
            specs[at].push(node);
        }
        let named = |nodes: Vec<NodeId>| {
            let names = nodes.into_iter().filter_map(|id| graph.node(id));
            names.map(|node| node.name.clone()).collect()
        };
        let specs = specs.into_iter().zip(&self.cells);
        let after = specs.map(|(nodes, cell)| {
            let names: Vec<String> = named(nodes);
            let spec = match names == cell.spec.nodes {
                true => cell.spec.clone(),
                false => cell.spec.with_nodes(names),
            };
            self.with_work_after(spec, graph)
        });
        after.collect()
    }

    /// The cells with the nodes that the session's file gives them by now, in these sections. Only their nodes may be others.
    pub(super) fn specs_filed(
        &self,
        graph: &Graph,
        sections: Vec<Section>,
    ) -> Result<Vec<CellSpec>, String> {
        let mut session = self.options.session.clone();
        (session.graph, session.sections) = (graph.clone(), sections);
        let ((filed, mistakes), (old, _)) =
            (read_cells(&session), read_cells(&self.options.session));
        if let Some(mistake) = mistakes.into_iter().next() {
            return Err(mistake.message);
        }
        let find = |all: &[CellSpec], name: &str| all.iter().find(|it| it.name == name).cloned();
        let is_new = |it: &&CellSpec| self.cells.iter().all(|cell| cell.spec.name != it.name);
        if let Some(new) = filed.iter().find(is_new) {
            let name = &new.name;
            return Err(format!(
                "the cell `{name}` is new: add it by add_cell, or start again"
            ));
        }
        let specs = self.cells.iter().map(|cell| {
            let name = &cell.spec.name;
            let (Some(new), old) = (find(&filed, name), find(&old, name)) else {
                // A command has added it.
                return match find(&old, name) {
                    Some(_) => Err(format!(
                        "the cell `{name}` has gone: remove_cell {name} first"
                    )),
                    None => Ok(cell.spec.clone()),
                };
            };
            if old.is_some_and(|old| !old.differs_in_nodes_only(&new)) {
                return Err(format!(
                    "the keys of the cell `{name}` have changed: only its nodes may, or start again"
                ));
            }
            Ok(match new.nodes == cell.spec.nodes {
                true => cell.spec.clone(),
                false => cell.spec.with_nodes(new.nodes),
            })
        });
        specs.collect()
    }

    /// The new nodes of `graph` that play in a cell: all that they are connected with plays there.
    fn homes_of_new(
        &self,
        graph: &Graph,
        home: &HashMap<NodeId, usize>,
    ) -> BTreeMap<NodeId, usize> {
        let is_new = |id: &NodeId| self.options.graph.node(*id).is_none() && !home.contains_key(id);
        let all: BTreeSet<NodeId> = graph.nodes().map(|(id, _)| id).filter(is_new).collect();
        let mut near = BTreeMap::<NodeId, Vec<NodeId>>::new();
        for edge in graph.edges() {
            let (from, to) = (edge.from.node, edge.to.node);
            near.entry(from).or_default().push(to);
            near.entry(to).or_default().push(from);
        }
        let (mut seen, mut homes) = (BTreeSet::new(), BTreeMap::new());
        for first in &all {
            if !seen.insert(*first) {
                continue;
            }
            let (mut group, mut around, mut at) = (vec![*first], BTreeSet::new(), 0);
            while let Some(node) = group.get(at).copied() {
                at += 1;
                for other in near.get(&node).into_iter().flatten() {
                    match all.contains(other) {
                        true if seen.insert(*other) => group.push(*other),
                        true => {}
                        false => {
                            around.insert(home.get(other).copied());
                        }
                    }
                }
            }
            let stays = |id: &NodeId| {
                let node = graph.node(*id);
                node.is_some_and(|node| why_outside(node, self.catalogue()).is_some())
            };
            let cell = around.first().copied().flatten();
            if let (1, Some(cell), false) = (around.len(), cell, group.iter().any(stays)) {
                homes.extend(group.into_iter().map(|id| (id, cell)));
            }
        }
        homes
    }
}
