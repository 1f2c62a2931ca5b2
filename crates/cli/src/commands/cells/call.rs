//! [`CellsCall`]: a call of `divisi cells` plays a session, or changes the cells of one that plays.

use super::Cells;
use crate::commands::send::Send;
use crate::failure::Failure;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use divisi::control::read_words;
use std::path::PathBuf;

/// A call of `divisi cells`.
pub(crate) enum CellsCall {
    /// It plays a session.
    Play(Box<Cells>),
    /// It sends a command to a session that plays, at this socket.
    Change(String, Option<PathBuf>),
}

/// Options that send a command, in place of a session's file.
#[derive(Args)]
#[group(multiple = false)]
struct CellChange {
    /// Add a cell to the session that plays, as the command `add_cell` does: wet of room damp with cores=1 latency=1
    #[arg(long, value_name = "CELL of NODE ...", num_args = 1..)]
    add: Option<Vec<String>>,

    /// Give a cell of the session that plays these cores, as the command `resize_cell` does: wet 0 1
    #[arg(long, value_name = "CELL CORE ...", num_args = 1..)]
    resize: Option<Vec<String>>,

    /// Remove a cell from the session that plays, as the command `remove_cell` does: its nodes play with the rest
    #[arg(long, value_name = "CELL")]
    remove: Option<String>,
}

impl CellChange {
    /// The command in words, if one was given.
    fn words(self) -> Option<String> {
        let add = self.add.map(|words| ("add_cell", line(&words)));
        let resize = self.resize.map(|words| ("resize_cell", line(&words)));
        let remove = self.remove.map(|cell| ("remove_cell", quoted(&cell)));
        let (command, words) = add.or(resize).or(remove)?;
        Some(format!("{command} {words}"))
    }
}

/// Words as a line. One alone is the whole line.
fn line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        }
    }
}

/// A word in quotes, as [`read_words`] takes it.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

impl CellsCall {
    /// Runs the call.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let (words, socket) = match self {
            Self::Play(cells) => return cells.run(),
            Self::Change(words, socket) => (words, socket),
        };
        let command = read_words(&words)
            .map_err(|error| Failure::bad_input(format!("`{words}`: {error}")))?;
        Send::run_all(vec![command], socket)
    }
}

impl Args for CellsCall {
    fn augment_args(command: Command) -> Command {
        let command = CellChange::augment_args(Cells::augment_args(command));
        command.mut_arg("file", |file| {
            let file = file.required(false);
            file.required_unless_present_any(["add", "resize", "remove"])
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CellsCall {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Some(words) = CellChange::from_arg_matches(matches)?.words() else {
            return Ok(Self::Play(Box::new(Cells::from_arg_matches(matches)?)));
        };
        if let Some(option) = option_of_play(matches) {
            let why = format!(
                "{option} is for a session that begins; a cell of one that plays is changed without it\n"
            );
            return Err(Error::raw(ErrorKind::ArgumentConflict, why));
        }
        let socket = matches.get_one::<PathBuf>("socket").cloned();
        let socket = socket.filter(|path| !path.as_os_str().is_empty());
        Ok(Self::Change(words, socket))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The first option that was given and plays a session.
fn option_of_play(matches: &ArgMatches) -> Option<String> {
    let all = Cells::augment_args(Command::new("cells"));
    let given = all.get_arguments().find(|option| {
        let id = option.get_id().as_str();
        id != "socket" && matches.value_source(id) == Some(ValueSource::CommandLine)
    });
    given.map(|option| match option.get_long() {
        Some(long) => format!("--{long}"),
        None => "a session's file".to_owned(),
    })
}
