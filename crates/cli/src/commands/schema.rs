//! `schema`: prints the JSON Schema of `.toml` sessions, for editors.

use crate::failure::Failure;
use crate::output::messages;
use clap::Args;
use divisi::network::session::extend_schema;
use divisi::text::toml::schema;

const EXAMPLES: &str = "\
Example:
  divisi schema > session.schema.json

An editor that knows JSON Schema completes and checks sessions that begin with
  #:schema ./session.schema.json";

/// Prints the JSON Schema of .toml sessions
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schema {}

impl Schema {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut schema = schema(divisi::registry().catalogue());
        extend_schema(&mut schema);
        messages::print_result(&format!("{schema:#}\n"))
    }
}
