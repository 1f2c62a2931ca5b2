//! `schema`: prints the JSON Schema of `.toml` sessions, for editors, or that of commands, for programs.

use crate::failure::Failure;
use crate::output::messages;
use clap::Args;
use divisi::network::session::extend_schema;
use divisi::{control, text};

const EXAMPLES: &str = "\
Examples:
  divisi schema > session.schema.json
  divisi schema --commands > commands.schema.json

An editor that knows JSON Schema completes and checks sessions that begin with
  #:schema ./session.schema.json";

/// Prints the JSON Schema of .toml sessions, or of commands
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schema {
    /// Print the schema of requests, replies and messages of the socket
    #[arg(long)]
    commands: bool,
}

impl Schema {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.commands {
            return messages::print_result(&format!("{:#}\n", control::schema()));
        }
        let mut schema = text::toml::schema(divisi::registry().catalogue());
        extend_schema(&mut schema);
        #[cfg(target_os = "linux")]
        divisi::cells::extend_schema(&mut schema);
        messages::print_result(&format!("{schema:#}\n"))
    }
}
