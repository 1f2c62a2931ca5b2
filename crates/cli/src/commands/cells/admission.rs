//! Admission: refuses to play cells that do not fit the cores of this machine, and names each with its excess.

use crate::failure::Failure;
use crate::output::messages;
use crate::session::costs_store::{CostsStore, graph_key};
use crate::session::load::LoadedSession;
use clap::Args;
use divisi::cells::{
    CellDemand, CellSpec, CoreCapacity, JobCost, Misfit, NodeCost, WorstCosts, admit, work_away,
};
use divisi::graph::{Catalogue, Diagnostic, Graph, SourceSpan};
use divisi::prelude::Registry;
use divisi::units::{Frames, Nanos, SampleRate};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Part of each block that the cores keep idle, in percent.
const DEFAULT_RESERVE: u8 = 10;

/// Options of admission.
#[derive(Args)]
pub(super) struct AdmissionOptions {
    /// Part of each block that the cores keep idle, in percent; without it, `reserve` of the session's [cells], or 10. Live, cells that do not fit beside it are refused
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=90))]
    reserve: Option<u8>,

    /// Play cells even if they do not fit the cores
    #[arg(long)]
    no_admission: bool,
}

impl AdmissionOptions {
    /// Part of each block that the cores keep idle, in percent; the session's is `filed`.
    pub(super) fn reserve(&self, filed: Option<u8>) -> u8 {
        self.reserve.or(filed).unwrap_or(DEFAULT_RESERVE)
    }

    /// Returns true if only what fits is played.
    pub(super) fn is_on(&self) -> bool {
        !self.no_admission
    }
}

/// The known worst costs of the nodes of a session.
pub(super) fn worst_costs(loaded: &LoadedSession, file: &Path, block: Frames) -> WorstCosts {
    NodeCosts::of(loaded, file, block).known()
}

/// The same of other graphs of the session, for edits.
pub(super) fn costs_of(
    file: PathBuf,
    registry: Arc<Registry>,
    block: Frames,
) -> Box<dyn Fn(&Graph) -> WorstCosts> {
    Box::new(move |graph| NodeCosts::of_graph((graph, registry.catalogue()), &file, block).known())
}

/// The time that the cores of this machine give.
pub(super) fn capacity((rate, block): (SampleRate, Frames), reserve_percent: u8) -> CoreCapacity {
    CoreCapacity {
        cores: divisi::workers::cores().iter().map(|core| core.0).collect(),
        period: block.duration(rate),
        reserve_percent,
    }
}

/// Refuses cells that do not fit beside each other and the rest of the session. The cost of a node is its worst measured
/// one, else the one that the session states; nodes with neither are named in a note and count as nothing.
pub(super) fn check_admission(
    (loaded, file): (&LoadedSession, &Path),
    cells: &[&CellSpec],
    (rate, block): (SampleRate, Frames),
    reserve_percent: u8,
) -> Result<(), Failure> {
    let costs = NodeCosts::of(loaded, file, block);
    costs.print_unknown(cells);
    let in_cells: HashSet<&String> = cells.iter().flat_map(|cell| &cell.nodes).collect();
    let nodes = loaded.session.graph.nodes();
    let rest: Vec<&String> = (nodes.map(|(_, node)| &node.name))
        .filter(|name| !in_cells.contains(name))
        .collect();
    let (costs, away) = (costs.known(), work_away(cells.iter().copied()));
    let mut demands: Vec<CellDemand> = (cells.iter())
        .map(|cell| CellDemand::new(cell, costs.of_cell(cell, &away)))
        .collect();
    demands.push(CellDemand::of_rest(costs.of_nodes(rest, &away)));
    let capacity = capacity((rate, block), reserve_percent);
    let refused = admit(&demands, &capacity);
    if refused.is_empty() {
        return Ok(());
    }
    let name = |at: usize| match cells.get(at) {
        Some(cell) => format!("the cell `{}`", cell.name),
        None => "the rest of the session".to_owned(),
    };
    let mistakes = refused.iter().map(|(at, why)| {
        let span = cells.get(*at).map_or(SourceSpan::NONE, |cell| cell.span);
        let message = format!("{} does not fit: {why}", name(*at));
        Diagnostic::error(span, message).help(help(why, name))
    });
    loaded.print_diagnostics(&mistakes.collect::<Vec<_>>());
    messages::print_message(&format!(
        "a block lasts {}, of which {reserve_percent} % stay idle; `--no-admission` plays it nevertheless",
        capacity.period
    ));
    Err(Failure::bad_input_reported())
}

/// Advice for a cell that does not fit.
fn help(why: &Misfit, name: impl Fn(usize) -> String) -> String {
    match why {
        Misfit::Overload { others, .. } if !others.is_empty() => {
            let others: Vec<String> = others.iter().map(|at| name(*at)).collect();
            let others = others.join(", ");
            format!(
                "on these cores are also {others}: name others in `cores`, or choose a longer block"
            )
        }
        Misfit::WindowsMeet { other, .. } => {
            format!("give it or {} other windows or cores", name(*other))
        }
        Misfit::WorkTooSlow { .. } => {
            "name more `cores` for it, give some of the work to another cell, or choose a longer block"
                .to_owned()
        }
        Misfit::Overload { .. } => "name more `cores`, or choose a longer block".to_owned(),
        _ => "with `latency = 1` it has the whole block, with more so many blocks; a longer block or fewer nodes help too"
            .to_owned(),
    }
}

/// The stored cost of a job.
fn job_cost(cost: &divisi::costs::WorkCost) -> JobCost {
    JobCost {
        worst: Nanos(cost.worst_ns),
        usual: Nanos(cost.ns),
        blocks: cost.blocks,
    }
}

/// The known costs of each node, by name.
struct NodeCosts<'a>(BTreeMap<&'a str, Option<NodeCost>>);

impl<'a> NodeCosts<'a> {
    fn of(loaded: &'a LoadedSession, file: &Path, block: Frames) -> Self {
        let graph = &loaded.session.graph;
        Self::of_graph((graph, loaded.registry.catalogue()), file, block)
    }

    fn of_graph((graph, catalogue): (&'a Graph, &Catalogue), file: &Path, block: Frames) -> Self {
        let mut store = CostsStore::load();
        let measured = store
            .machine_costs()
            .of_graph(&graph_key(file), graph, catalogue, block);
        let cost = |id, stated: Option<Nanos>| match measured.0.get(&id) {
            Some(cost) => Some(NodeCost {
                worst: Nanos(cost.worst_ns.unwrap_or(cost.ns)),
                usual: Nanos(cost.ns),
                work: cost
                    .work
                    .as_ref()
                    .map(|all| all.iter().map(job_cost).collect()),
            }),
            None => stated.map(NodeCost::from),
        };
        let nodes = graph.nodes();
        Self(
            nodes
                .map(|(id, node)| (node.name.as_str(), cost(id, node.cost)))
                .collect(),
        )
    }

    /// Those that are known.
    fn known(self) -> WorstCosts {
        let known = self.0.into_iter();
        let known = known.filter_map(|(name, cost)| Some((name.to_owned(), cost?)));
        WorstCosts(known.collect())
    }

    /// Prints the cells that have nodes without a cost.
    fn print_unknown(&self, cells: &[&CellSpec]) {
        for cell in cells {
            let is_unknown = |name: &&String| matches!(self.0.get(name.as_str()), Some(None));
            let nodes = cell.computed();
            let count = nodes.iter().filter(is_unknown).count();
            if count > 0 {
                let (name, of) = (&cell.name, nodes.len());
                messages::print_note(&format!(
                    "cell `{name}`: the costs of {count} of {of} nodes are not known and count as nothing; \
                     `divisi measure` finds them"
                ));
            }
        }
    }
}
