//! `measure`: measures the cost of each node, and the cost of communication between cores.

mod show;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::output::progress::ProgressLine;
use crate::session::costs_store::{CostsStore, graph_key};
use crate::session::load::LoadedSession;
use crate::session::options::{parse_block, parse_rate, parse_seconds};
use clap::Args;
use divisi::engine::{self, MeasureOptions, NodeCosts};
use divisi::prelude::{EngineOptions, Frames, SampleRate};
use std::path::PathBuf;
use std::time::Duration;

/// Time spent on measuring the machine itself.
const MACHINE_TIME: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Examples:
  divisi measure examples/04-diamond-16.ag
  divisi measure session.toml --seconds 10 --json -

`typical` is the median time with warm caches. `worst` is the longest time in a run whose caches are swept before each
cycle. The runs are repeated, and for each cycle the shortest time counts: so the time of other programs is left out.
Deferred work (long levels of a convolver, trackers) has costs of its own, which those of its node leave out.";

/// Measures the cost of each node and of this machine, and stores both
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Measure {
    /// The session: a .ag or .toml file
    file: PathBuf,

    /// Time for measuring the nodes, in seconds
    #[arg(long, value_name = "S", default_value = "2", allow_negative_numbers = true, value_parser = parse_seconds)]
    seconds: f64,

    /// Number of repeats; without it, as many as fit into --seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: Option<u32>,

    /// Frames in a block; without it, the session's, or 64
    #[arg(long, value_name = "FRAMES", value_parser = parse_block)]
    block: Option<Frames>,

    /// Frames a second; without it, the session's, or 48000
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<SampleRate>,

    /// Write the findings as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Measure {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = LoadedSession::read_valid(&self.file)?;
        let mut guard = loaded.guard(std::iter::once(&self.file))?;
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let interrupt = Interrupt::listen()?;
        let costs = self.nodes(&loaded, &interrupt)?;
        let timings = engine::measure_machine(MACHINE_TIME);
        let mut store = CostsStore::load();
        let machine = store.machine_costs();
        machine.core_timings = Some(timings.clone());
        let (graph, catalogue) = (&loaded.session.graph, loaded.registry.catalogue());
        costs.store(machine, &graph_key(&self.file), graph, catalogue);
        let name = self.file.display().to_string();
        let saved = store.save().map(|path| path.display().to_string());
        let printed = json.write(
            &show::text(&name, &costs, &timings),
            &show::json(&costs, &timings).to_string(),
        );
        match saved {
            Ok(path) => messages::print_message(&format!("stored in {path}")),
            Err(why) => return Err(Failure::failed(format!("cannot store the costs: {why}"))),
        }
        printed
    }

    fn nodes(&self, loaded: &LoadedSession, interrupt: &Interrupt) -> Result<NodeCosts, Failure> {
        let block = loaded.block_or_default(self.block);
        let rate = loaded.rate_or_default(self.rate);
        let mut options = EngineOptions::new(block, rate);
        options.folder = loaded.folder.clone();
        options.input_channels = loaded.input_channels();
        let options = MeasureOptions {
            engine: options,
            limit: Duration::from_secs_f64(self.seconds),
            repeats: self.repeats,
        };
        let mut progress = ProgressLine::without_total();
        let mut on_progress = |share| {
            progress.show_fraction(share);
            interrupt.control_flow()
        };
        let (graph, registry) = (&loaded.session.graph, loaded.registry.clone());
        let found = engine::measure_nodes(graph, registry, &options, &mut on_progress);
        progress.clear();
        found.map_err(|error| loaded.engine_failure(error))
    }
}
