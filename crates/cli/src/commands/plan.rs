//! `plan`: shows levels, the critical path, and a schedule (core and start time of each node).

mod analysis;
mod show;

use crate::failure::Failure;
use crate::output::json::JsonOutput;
use crate::output::picture::{check_picture_name, write_picture};
use crate::patch::PatchOptions;
use crate::session::costs_store::{CostsStore, graph_key, read_machine_costs};
use crate::session::latencies::latencies;
use crate::session::load::LoadedSession;
use crate::session::options::{parse_block, parse_rate, parse_switch};
use analysis::PlanAnalysis;
use clap::{Args, ValueEnum};
use divisi::costs::{CoreTimings, KnownCosts, MachineCosts};
use divisi::engine;
use divisi::graph::{Catalogue, Graph};
use divisi::plan::{self, FusionOptions, MachineModel, PlanOptions};
use divisi::prelude::{Frames, Nanos, SampleRate};
use divisi::processor::ExpandFormat;
use std::path::PathBuf;

/// Bytes on a typical edge: one channel of 64 frames.
const TYPICAL_EDGE_BYTES: u32 = 256;

const EXAMPLES: &str = "\
Examples:
  divisi plan examples/04-diamond-16.ag --cores 2
  divisi plan session.toml --cores 4 --scheduler hlfet --svg schedule.pdf
  divisi plan session.toml --comm 0 --costs text --json -

t-level: length of the longest path from a source to the start of the node. b-level: length of the longest path from the
start of the node to the end. Both include communication between cores. static: the b-level without communication. A star
marks the nodes on the critical path.
The cost of a node is the measured one (`divisi measure`), else the one in the session, else the typical one of its kind.";

/// Shows levels, the critical path, the lower bound of any schedule, and a schedule
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Plan {
    /// The session: a .toml or .ag file, or a Pure Data patch (.pd)
    file: PathBuf,

    #[command(flatten)]
    patch: PatchOptions,

    /// Number of cores; without it, those of this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    cores: Option<u32>,

    /// The scheduler
    #[arg(long, value_enum, default_value_t = SchedulerName::Etf)]
    scheduler: SchedulerName,

    /// Seed of a random schedule
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Cost of communication between two cores, in nanoseconds; without it, the measured cost
    #[arg(long, value_name = "NS")]
    comm: Option<u64>,

    /// Source of node costs: measured, text (the session's `wcet`), kind, or a costs file
    #[arg(long, value_name = "WHICH", default_value = "measured")]
    costs: PathBuf,

    /// Frames in a block; without it, the session's, or 64
    #[arg(long, value_name = "FRAMES", value_parser = parse_block)]
    block: Option<Frames>,

    /// Frames a second; without it, the session's, or 48000
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<SampleRate>,

    /// Fuse cheap nodes into one task, as `play` does: on or off
    #[arg(long, value_name = "on|off", default_value = "off", value_parser = parse_switch, action = clap::ArgAction::Set)]
    fuse: bool,

    /// Latency compensation where paths of different latencies meet: on or off
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = parse_switch, action = clap::ArgAction::Set)]
    compensate: bool,

    /// Draw the schedule, one row for each core: a .svg, .pdf or .png file
    #[arg(long, value_name = "OUT.svg")]
    svg: Option<PathBuf>,

    /// Write everything as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A static scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerName {
    /// Highest level first (HLFET), without communication costs
    Hlfet,
    /// Earliest task first (ETF), with communication costs
    Etf,
    /// Critical path first, with duplicated nodes where that saves communication (CPFD)
    Cpfd,
    /// Random order, as a control
    Random,
}

impl Plan {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut loaded = LoadedSession::read_valid_with(&self.file, &self.patch)?;
        let format = ExpandFormat {
            rate: loaded.rate_or_default(self.rate),
            block: loaded.block_or_default(self.block),
            end: None,
            fuse: self.fuse,
        };
        loaded.expand(format)?;
        let mut guard = loaded.guard([&self.file, &self.costs].into_iter())?;
        if let Some(path) = &self.svg {
            check_picture_name(path)?;
            guard.output(path)?;
        }
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let mut options = self.options(&loaded);
        // A node that cannot be made counts as having no latency; `check` reports it.
        options.latencies = latencies(&loaded, (options.block, options.rate)).0;
        options.compensate_latency = self.compensate;
        let registry = loaded.registry.clone();
        let graph = &mut loaded.session.graph;
        let (costs, timings) = self.costs(graph, registry.catalogue(), options.block)?;
        let machine = engine::machine_model(self.cores(), &timings, self.comm.map(Nanos));
        options.fusion = self.fuse.then(|| FusionOptions {
            transfer: machine.mean_transfer_time(TYPICAL_EDGE_BYTES),
            ..FusionOptions::typical(machine.workers())
        });
        options.costs = costs.typical();
        let plan = loaded
            .plan(&options)
            .map_err(|wrong| loaded.graph_failure(&wrong))?;
        let analysis = PlanAnalysis::new(
            &plan,
            &loaded.session.graph,
            &machine,
            self.scheduler,
            self.seed,
        )
        .ok_or_else(|| Failure::failed("the schedule deadlocks"))?;
        let heading = show::PlanHeading {
            name: self.file.display().to_string(),
            nodes: loaded.session.graph.len(),
            measured: show::MeasuredFrom::new(&costs, &timings),
            is_guess: timings.links.is_empty() && self.comm.is_none(),
        };
        json.write(
            &show::text(&analysis, &heading),
            &show::json(&analysis, &heading).to_string(),
        )?;
        match &self.svg {
            Some(path) => write_picture(path, &show::picture(&analysis, &heading)),
            None => Ok(()),
        }
    }

    fn cores(&self) -> usize {
        let here = divisi::workers::cores().len();
        self.cores.map_or(here, |cores| cores as usize)
    }

    fn options(&self, loaded: &LoadedSession) -> PlanOptions {
        let block = loaded.block_or_default(self.block);
        PlanOptions::new(block, loaded.rate_or_default(self.rate))
    }

    /// Node costs and machine costs, from the source that `--costs` names.
    fn costs(
        &self,
        graph: &mut Graph,
        catalogue: &Catalogue,
        block: Frames,
    ) -> Result<(KnownCosts, CoreTimings), Failure> {
        let mut store = CostsStore::load();
        let here = store.machine_costs();
        let timings = here.core_timings.clone().unwrap_or_default();
        let of = |machine: &MachineCosts| {
            machine.of_graph(&graph_key(&self.file), graph, catalogue, block)
        };
        match self.costs.to_str() {
            Some("measured") => Ok((of(here), timings)),
            Some("text") => Ok((KnownCosts::default(), timings)),
            Some("kind") => {
                let all: Vec<_> = graph.nodes().map(|(id, _)| id).collect();
                for id in all {
                    if let Some(node) = graph.node_mut(id) {
                        node.cost = None;
                    }
                }
                Ok((KnownCosts::default(), timings))
            }
            _ => {
                let machine = read_machine_costs(&self.costs).map_err(Failure::from_input_error)?;
                let costs = of(&machine);
                Ok((costs, machine.core_timings.unwrap_or(timings)))
            }
        }
    }
}

impl SchedulerName {
    /// Schedules `dag` on `machine`.
    fn schedule(self, dag: &plan::Dag, machine: &MachineModel, seed: u64) -> plan::Schedule {
        match self {
            Self::Hlfet => plan::hlfet(dag, machine.workers()),
            Self::Etf => plan::etf(dag, machine),
            Self::Cpfd => plan::cpfd(dag, machine),
            Self::Random => plan::random(dag, machine.workers(), seed),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hlfet => "hlfet",
            Self::Etf => "etf",
            Self::Cpfd => "cpfd",
            Self::Random => "random",
        }
    }
}
