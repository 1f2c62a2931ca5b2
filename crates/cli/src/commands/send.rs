//! `send`: speaks to a session that plays, from a shell.

use crate::failure::Failure;
use crate::output::messages;
use crate::playback::control::default_socket;
use clap::Args;
use divisi::control::server::unix::Connection;
use divisi::control::{Command, Request, read_words};
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi play song.toml --socket &
  divisi send 'set tone.freq 800'
  divisi send 'set tone.volume 0 over 2000'
  divisi send 'add echo delay time=0.3' 'connect tone -> echo' 'connect echo -> out'
  divisi send undo
  divisi send 'query graph'
  divisi send 'subscribe meters every 50'

Commands of one call take effect together, at one block, or not at all. The answer is one line of JSON; docs/control.md
has all commands.";

/// Sends commands to a session that plays with --socket
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Send {
    /// The commands, each in quotes
    #[arg(required = true)]
    commands: Vec<String>,
    /// The socket; the same as that of `play`
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl Send {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let commands = self.commands.iter().map(|words| {
            read_words(words).map_err(|error| Failure::bad_input(format!("`{words}`: {error}")))
        });
        Self::run_all(commands.collect::<Result<_, _>>()?, self.socket)
    }

    /// Sends commands as one request to the session at `socket`, and prints the answer.
    pub(super) fn run_all(commands: Vec<Command>, socket: Option<PathBuf>) -> Result<(), Failure> {
        let count = commands.len();
        let subscribes = |command: &Command| matches!(command, Command::Subscribe { topics, .. } if !topics.is_empty());
        let has_subscription = commands.iter().any(subscribes);
        let path = socket.unwrap_or_else(default_socket);
        let broken = |error| {
            let at = path.display();
            Failure::failed(format!(
                "no session answers at {at}: {error}; play one with --socket"
            ))
        };
        let mut connection = Connection::open(&path).map_err(broken)?;
        let request = Request {
            id: Value::Null,
            commands,
        };
        connection.send(&request).map_err(broken)?;
        let reply = connection.receive().map_err(broken)?;
        let reply = reply.ok_or_else(|| Failure::failed("the session ended before it answered"))?;
        if reply["ok"] != true {
            let error = reply["error"].as_str().unwrap_or("the session refused it");
            return Err(Failure::bad_input(match reply["command"].as_u64() {
                Some(number) if count > 1 => format!("command {number}: {error}"),
                _ => error.to_owned(),
            }));
        }
        messages::print_result(&format!("{reply}\n"))?;
        match has_subscription {
            true => print_all(&mut connection),
            false => Ok(()),
        }
    }
}

/// Prints the messages of a subscription until the session ends.
fn print_all(connection: &mut Connection) -> Result<(), Failure> {
    while let Ok(Some(message)) = connection.receive() {
        messages::print_result(&format!("{message}\n"))?;
    }
    Ok(())
}
