//! `draw`: a session's graph as a picture.

use crate::failure::Failure;
use crate::files::{extension, write};
use crate::load::Loaded;
use clap::Args;
use divisi::draw;
use divisi::text::dot;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi draw examples/04-diamond-16.ag -o diamond.svg
  divisi draw session.toml -o session.dot && dot -Tpdf session.dot -o session.pdf";

/// Draws a session's graph
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Draw {
    /// The session: a .ag or .toml file
    file: PathBuf,

    /// The picture to write: a .svg file, or a .dot file for Graphviz
    #[arg(short, long, value_name = "OUT.svg")]
    output: PathBuf,
}

impl Draw {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let draw: fn(&Loaded) -> String = match extension(&self.output).as_str() {
            "svg" => |loaded| draw::graph(&loaded.session.graph, loaded.registry.catalogue()).svg(),
            "dot" => |loaded| dot::write(&loaded.session.graph),
            _ => {
                let name = self.output.display();
                let told = format!("{name}: a picture ends in .svg or .dot");
                return Err(Failure::wrong(told));
            }
        };
        let loaded = Loaded::usable(&self.file)?;
        write(&self.output, &draw(&loaded))
    }
}
