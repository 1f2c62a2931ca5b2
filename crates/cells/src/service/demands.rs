//! The needs of cells and of the rest of a session, and the order in which cells yield.

use super::ServiceOptions;
use crate::admission::{CellDemand, ComputedCosts, Misfit, NodeCost, admit};
use crate::section::CellSpec;
use std::collections::{HashMap, HashSet};

/// Costs of nodes, by name; one that is not known counts as nothing.
#[derive(Clone, Debug, Default)]
pub struct WorstCosts(pub HashMap<String, NodeCost>);

/// Names of nodes whose deferred work other cells do.
pub type WorkAway<'a> = HashSet<&'a str>;

impl WorstCosts {
    /// The known costs of `nodes`, of which those in `away` do not do their deferred work.
    pub fn of_nodes<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a String>,
        away: &WorkAway<'_>,
    ) -> ComputedCosts {
        let mut computed = ComputedCosts::default();
        for name in nodes {
            if let Some(cost) = self.0.get(name) {
                computed.add_node(cost.clone(), away.contains(name.as_str()));
            }
        }
        computed
    }

    /// The known costs of what a cell computes: its nodes, and the deferred work that it does for others.
    pub fn of_cell(&self, spec: &CellSpec, away: &WorkAway<'_>) -> ComputedCosts {
        let mut computed = self.of_nodes(&spec.nodes, away);
        let work = spec.work.iter().filter_map(|name| self.0.get(name));
        work.for_each(|cost| computed.add_work(cost.clone()));
        computed
    }
}

/// The nodes whose deferred work is done by one of these cells.
pub fn work_away<'a>(cells: impl IntoIterator<Item = &'a CellSpec>) -> WorkAway<'a> {
    let work = cells.into_iter().flat_map(|it| &it.work);
    work.map(String::as_str).collect()
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
    (in_cells, away): (Vec<String>, &WorkAway<'_>),
) -> Result<Vec<usize>, String> {
    let Some(capacity) = &options.capacity else {
        return Ok(Vec::new());
    };
    let mut demands: Vec<CellDemand> = candidates
        .iter()
        .map(|it| CellDemand {
            workers: it.workers,
            ..CellDemand::new(it.spec, options.costs.of_cell(it.spec, away))
        })
        .collect();
    let in_cells: HashSet<String> = in_cells.into_iter().collect();
    let nodes = options.graph.nodes().map(|(_, node)| &node.name);
    let rest = nodes.filter(|name| !in_cells.contains(*name));
    demands.push(CellDemand::of_rest(options.costs.of_nodes(rest, away)));
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
