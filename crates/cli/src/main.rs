//! The program `divisi`: the library as commands.
//!
//! Takes a call on the command line, gives sound, files and reports. Exit codes: 0 success, 1 failure, 2 wrong input or
//! wrong call. May: open files, wait, print. May not: use `unsafe`, show a panic, know what the library does not offer.
#![forbid(unsafe_code)]

mod commands;
mod failure;
mod files;
mod guard;
mod interrupt;
mod network;
mod output;
mod patch;
mod playback;
mod session;
mod watch;

use clap::Parser;
use output::messages;
use std::process::ExitCode;

/// A real-time audio engine that plays any graph on every core.
#[derive(Parser)]
#[command(name = "divisi", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Call {
    #[command(subcommand)]
    command: commands::CliCommand,
}

const EXAMPLES: &str = "\
Examples:
  divisi play examples/01-beep.ag --seconds 3
  divisi render examples/04-diamond-16.ag -o diamond.wav --seconds 10
  divisi check examples/03-rake-11.ag

Exit codes: 0 success, 1 failure, 2 wrong input or wrong call.";

fn main() -> ExitCode {
    // A session manager starts programs without an argument.
    let is_managed = std::env::args_os().len() == 1 && playback::nsm::url().is_some();
    let call = match is_managed {
        true => Call::try_parse_from(["divisi", "play", "--reload", ""]),
        false => Call::try_parse(),
    };
    let done = match call {
        Ok(call) => call.command.run(),
        Err(wrong) if wrong.use_stderr() => wrong.exit(),
        Err(help) => messages::print_result(&help.render().to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
