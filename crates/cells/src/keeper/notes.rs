//! Lines for the user: what of a cell begins anew after a failure.

use super::Keeper;
use super::places::MAX_STATE_BYTES;
use graph::{Catalogue, Graph, NodeId};

impl Keeper {
    /// Lines for the user: what begins anew in the next process.
    ///
    /// Real-time: setup.
    pub(crate) fn notes(&self, graph: &Graph, catalogue: &Catalogue) -> Vec<String> {
        let layout = &self.layout;
        // A kind that can be duplicated and saves nothing holds nothing.
        let holds = |kind: &str| catalogue.get(kind).is_some_and(|kind| !kind.duplicable);
        let is_own = |kind: &str| holds(kind) && !crate::border::is_border(kind);
        let without = names(graph, &layout.without_state, is_own);
        let large = names(graph, &layout.too_large, |_| true);
        let long = layout.lines.iter().filter(|it| it.at.is_none()).count();
        let shortened = layout.shortened.iter();
        let shortened = shortened.flat_map(|(id, count)| {
            let name = names(graph, &[*id], |_| true);
            name.map(|name| format!("{count} arrays and delay lines of {name} begin anew after a failure: they are too long to be kept"))
        });
        let limit = MAX_STATE_BYTES >> 10;
        let without = without.map(|names| {
            format!("begins anew after a failure, for these kinds save no state: {names}")
        });
        let large = large.map(|names| {
            format!("begins anew after a failure, for its state is too long, or all states together have more than {limit} KiB: {names}")
        });
        let long = (long > 0).then(|| {
            format!("{long} delay lines begin empty after a failure: they are too long to be kept")
        });
        let notes = without.into_iter().chain(large);
        notes.chain(shortened).chain(long).collect()
    }
}

/// Names of the nodes whose kinds count, each with its kind.
fn names(graph: &Graph, nodes: &[NodeId], counts: impl Fn(&str) -> bool) -> Option<String> {
    let nodes = nodes.iter().filter_map(|id| graph.node(*id));
    let nodes = nodes.filter(|node| counts(node.effective_kind()));
    let names = nodes.map(|node| format!("`{}` ({})", node.name, node.effective_kind()));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}
