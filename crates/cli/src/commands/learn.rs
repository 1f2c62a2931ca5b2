//! `learn`: has a session that plays bind a controller to a parameter.

use super::send::Send;
use crate::failure::Failure;
use crate::playback::live_ports::parse_target;
use clap::Args;
use divisi::control::Command;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi play song.toml --socket &
  divisi learn tone.freq
  divisi learn tone.freq=100..8000

Then move the controller. Its table is added to the end of the session's file; `divisi play --learn` does the same from
the start on.";

/// Binds the next MIDI controller that moves to a parameter of a session that plays with --socket
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Learn {
    /// The parameter, and the values at the lowest and the highest position
    #[arg(value_name = "NODE.PARAM[=LOW..HIGH]")]
    target: String,
    /// The socket; the same as that of `play`
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl Learn {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let (target, range) = parse_target(&self.target)?;
        Send::run_all(vec![Command::Learn { target, range }], self.socket)
    }
}
