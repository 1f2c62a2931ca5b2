//! `shape`: writes test graphs of any size.

use crate::failure::Failure;
use crate::files::{extension, write_file};
use crate::guard::FileGuard;
use crate::output::messages;
use crate::session::as_ag::to_ag;
use clap::{Args, ValueEnum};
use divisi::graph::{Graph, shape};
use divisi::text::{Session, toml};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi shape rake --nodes 101 -o rake.ag
  divisi shape random --nodes 500 --seed 7 --work 1000 -o random.ag
  divisi shape diamond --nodes 636 -o diamond.toml

A line has 2 or more nodes, a random graph 3 or more, a rake 3k + 2, a diamond 6, 16, 36, 76, 156, 316, 636, ...";

/// Largest work of one node, in ns.
const MAX_WORK_NS: f64 = 1e9;

/// Makes a test graph
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Shape {
    /// Shape of the graph
    #[arg(value_enum)]
    shape: Kind,

    /// Number of nodes
    #[arg(long, value_name = "N")]
    nodes: usize,

    /// Cost of each inner node for one block, in ns; without it, inner nodes make sound
    #[arg(long, value_name = "NS", allow_negative_numbers = true, value_parser = work)]
    work: Option<f64>,

    /// Seed of a random graph
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// The session to write: a .ag or .toml file
    #[arg(short, long, value_name = "OUT.ag")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Line,
    Rake,
    Diamond,
    Random,
}

impl Shape {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let writer = match extension(&self.output).as_str() {
            "ag" => as_ag,
            "toml" => as_toml,
            _ => {
                let name = self.output.display();
                let message = format!("{name}: a session ends in .ag or .toml");
                return Err(Failure::bad_input(message));
            }
        };
        FileGuard::new::<PathBuf>([]).output(&self.output)?;
        let made = match self.shape {
            Kind::Line => shape::line(self.nodes, self.work),
            Kind::Rake => shape::rake(self.nodes, self.work),
            Kind::Diamond => shape::diamond(self.nodes, self.work),
            Kind::Random => shape::random(self.nodes, self.seed, self.work),
        };
        let graph = made.map_err(|error| Failure::bad_input(error.to_string()))?;
        let message = describe_counts(&self.output.display().to_string(), &graph);
        let session = Session {
            graph,
            ..Session::default()
        };
        write_file(&self.output, &writer(&session)?)?;
        messages::print_message(&message);
        Ok(())
    }
}

fn describe_counts(name: &str, graph: &Graph) -> String {
    let (nodes, edges) = (graph.len(), graph.edges().len());
    format!("{name}: {nodes} nodes, {edges} edges")
}

fn as_ag(session: &Session) -> Result<String, Failure> {
    to_ag(session, divisi::registry().catalogue())
}

fn as_toml(session: &Session) -> Result<String, Failure> {
    Ok(toml::write(session, divisi::registry().catalogue()))
}

fn work(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ns) if (0.0..=MAX_WORK_NS).contains(&ns) => Ok(ns),
        _ => Err("nanoseconds from 0 to 1000000000".into()),
    }
}
