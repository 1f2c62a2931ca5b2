//! [`ControlError`]: why a request changed nothing.

use engine::EngineError;
use graph::{BuildError, EditError, error_chain};
use std::path::PathBuf;

/// Reason why a request changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no such node. Ask for the graph.
    #[error("there is no node `{node}`{}", hint(.nearest))]
    NoNode {
        /// The name.
        node: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A node alone, where one of its parts is needed.
    #[error("`{node}` alone is not enough: name {what}, as `{node}.NAME`")]
    Incomplete {
        /// The node.
        node: String,
        /// The missing part.
        what: String,
    },
    /// Only a channel strip can be soloed.
    #[error("`{0}` is no channel strip (a `strip`, or another kind with a parameter `cut`)")]
    NoStrip(String),
    /// A node cannot be put in its own place.
    #[error("`{0}` is in its own place already")]
    SamePlace(String),
    /// The change does not fit the graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The engine refuses it.
    #[error("{}", error_chain(.0))]
    Engine(#[from] EngineError),
    /// The value is no number, text or flag.
    #[error("{0} is no value of a parameter: it takes a number, a text, true or false")]
    Value(String),
    /// A time or a ramp for a parameter that cannot change while it plays.
    #[error("`{0}` cannot change while it plays, so it takes no time")]
    NotLive(String),
    /// A ramp without a sensible length.
    #[error("a ramp takes 0 to 3600000 ms, not {0}")]
    Time(f64),
    /// There is no such snapshot. Ask for them.
    #[error("there is no snapshot `{name}`{}", hint(.nearest))]
    NoSnapshot {
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// Another snapshot has the name.
    #[error("there is a snapshot `{0}` already")]
    SnapshotTaken(String),
    /// The piece has no such position.
    #[error(
        "{0} is no position of the piece: it is a number with a unit, 17.1 for bar 17 and beat 1, or 12.5s"
    )]
    Position(String),
    /// A loop ends before its begin, or at once.
    #[error("a loop from frame {0} to frame {1} is too short: it takes 64 frames")]
    Loop(u64, u64),
    /// The engine follows the transport of a server, which cannot do that.
    #[error("the transport is the server's, which has no such thing as {0}")]
    Followed(&'static str),
    /// Only outputs of audio are measured.
    #[error("`{target}` has no output of audio of that name{help}")]
    NoOutput {
        /// The name.
        target: String,
        /// The outputs that are there, or what goes into the node.
        help: String,
    },
    /// These topics measure ports.
    #[error("name the ports: `subscribe loudness of NODE.PORT`")]
    NoPorts,
    /// A preset's name would lead to another folder.
    #[error("`{0}` is no name of a preset: it is a file's name without folders")]
    PresetName(String),
    /// A controller's parameter is missing, is not live, or has not its range.
    #[error("a controller cannot set `{0}`: it is no parameter that may change in that range")]
    Controller(String),
    /// A session cannot be read.
    #[error("{}: {mistakes}", file.display())]
    Session {
        /// Its file.
        file: PathBuf,
        /// Its mistakes.
        mistakes: String,
    },
    /// The session has a tempo of another form: what follows it cannot be made anew while it plays.
    #[error(
        "{}: this `[tempo]` is not the one before at another speed, so it needs a new start of the session", .0.display()
    )]
    Tempo(PathBuf),
    /// The file is in another folder.
    #[error("{} is not in the session's folder, where its sounds would be looked for", .0.display())]
    Folder(PathBuf),
    /// A file is there that is not the session's own.
    #[error("{} is there already: save to another file", .0.display())]
    Exists(PathBuf),
    /// The format of the file cannot hold the session.
    #[error("the format .ag cannot hold it, so save as .toml: {0}")]
    Format(String),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The command has to be the only one that changes something.
    #[error("`{0}` stands alone in a request")]
    Alone(&'static str),
    /// A command of cells has to be the only one.
    #[error("a command of cells stands alone in a request")]
    AloneCells,
    /// The node understands no messages in words.
    #[error("`{0}` is no patch, so it takes no messages in words")]
    NoPatch(String),
    /// Nothing in the patch receives a message.
    #[error("nothing receives `{0}` in `{1}`")]
    Unheard(String, String),
    /// A command cannot let an edge drive a parameter.
    #[error(
        "`{0}` is a parameter: a command cannot drive it by an edge, only the session's file can. `set` moves it"
    )]
    Driven(String),
    /// No part of the session is a process of its own.
    #[error("this session plays without cells: play it with `divisi cells`")]
    NoCells,
    /// The file of a session of cells is read when it begins.
    #[error("a session of cells takes no `load`: end it and start the other one")]
    WithCells,
    /// A command of cells was refused.
    #[error("{0}")]
    Cells(String),
    /// There is nothing to take back, or to make again.
    #[error("there is nothing to {0}")]
    Nothing(&'static str),
    /// Too much at once.
    #[error("{0}")]
    TooMany(String),
}

fn hint(nearest: &Option<String>) -> String {
    let hint = |near: &String| format!("; did you mean `{near}`?");
    nearest.as_ref().map_or_else(String::new, hint)
}

impl From<EditError> for ControlError {
    fn from(error: EditError) -> Self {
        Self::Build(error.into())
    }
}
