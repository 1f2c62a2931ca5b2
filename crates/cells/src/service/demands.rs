//! The needs of cells and of the rest of a session, and the order in which cells yield.

use super::ServiceOptions;
use crate::admission::{CellDemand, Misfit, NodeCost, admit};
use crate::section::CellSpec;
use std::collections::{HashMap, HashSet};
use units::Nanos;

/// Costs of nodes, by name; one that is not known counts as nothing.
#[derive(Clone, Debug, Default)]
pub struct WorstCosts(pub HashMap<String, NodeCost>);

impl WorstCosts {
    /// The known costs of `nodes`.
    pub fn all<'a>(&self, nodes: impl IntoIterator<Item = &'a String>) -> Vec<NodeCost> {
        let nodes = nodes.into_iter();
        nodes.filter_map(|name| self.0.get(name).copied()).collect()
    }

    /// The sum of the known worst costs of `nodes`.
    pub fn sum<'a>(&self, nodes: impl IntoIterator<Item = &'a String>) -> Nanos {
        let all = self.all(nodes);
        let worst = all.into_iter().map(|cost| cost.worst);
        worst.fold(Nanos(0), Nanos::saturating_add)
    }
}

/// A cell that is to play beside others.
pub(super) struct Candidate<'a> {
    pub(super) spec: &'a CellSpec,
    /// Workers that it has.
    pub(super) workers: usize,
}

/// Checks `candidates` and the nodes in no cell. Gives the candidates that yield: of lower precedence than the one that
/// changes, which fits without them.
///
/// # Errors
///
/// The candidate that does not fit, and its excess.
pub(super) fn admit_candidates(
    candidates: &[Candidate<'_>],
    changed: Option<usize>,
    options: &ServiceOptions,
    in_cells: Vec<String>,
) -> Result<Vec<usize>, String> {
    let Some(capacity) = &options.capacity else {
        return Ok(Vec::new());
    };
    let mut demands: Vec<CellDemand> = candidates
        .iter()
        .map(|it| CellDemand {
            workers: it.workers,
            ..CellDemand::new(it.spec, &options.costs.all(&it.spec.computed()))
        })
        .collect();
    let in_cells: HashSet<String> = in_cells.into_iter().collect();
    let nodes = options.graph.nodes().map(|(_, node)| &node.name);
    let rest = nodes.filter(|name| !in_cells.contains(*name));
    demands.push(CellDemand::of_rest(&options.costs.all(rest)));
    let name = |at: usize| match candidates.get(at) {
        Some(it) => format!("the cell `{}`", it.spec.name),
        None => "the rest of the session".to_owned(),
    };
    let refused = admit(&demands, capacity);
    let precedence = |at: usize| candidates.get(at).map(|it| it.spec.precedence);
    let is_lower = |at: usize| precedence(at) < changed.and_then(precedence);
    let must = refused
        .iter()
        .find(|(at, _)| *at >= candidates.len() || !is_lower(*at));
    match must {
        Some((at, why)) => Err(sentence(&name(*at), why, name)),
        None => Ok(refused.into_iter().map(|(at, _)| at).collect()),
    }
}

/// A sentence on a cell that does not fit: its excess, and those that are in its way.
fn sentence(who: &str, why: &Misfit, name: impl Fn(usize) -> String) -> String {
    let others: Vec<String> = why.others().iter().map(|at| name(*at)).collect();
    match others.is_empty() {
        true => format!("{who} does not fit: {why}"),
        false => format!(
            "{who} does not fit: {why}; in its way: {}",
            others.join(", ")
        ),
    }
}
