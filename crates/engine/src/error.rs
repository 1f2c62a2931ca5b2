//! [`EngineError`]: why a graph cannot be played or edited.

use graph::{Diagnostic, EditError};
use std::fmt;

/// Why a graph cannot be played, or an edit not be made. What played before goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// The graph is wrong; each mistake has its place. Show them and correct the graph.
    Graph(Vec<Diagnostic>),
    /// An edit names a node, port or edge that is not there.
    Edit(EditError),
    /// The system starts no more threads. Ask for fewer workers.
    Threads(std::io::Error),
    /// The last edit is still on its way to the audio thread, which takes one a block. Try again in a moment.
    Busy,
    /// A pipeline of more than two stages takes no edits: they would take effect in the middle of blocks that are under
    /// way. Play with fewer stages (`ahead`).
    PipelineTooDeep,
    /// There is no such parameter, or it cannot change while it plays.
    NoParam(String),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graph(all) => match all.as_slice() {
                [one] => f.write_str(&one.message),
                all => write!(f, "{} mistakes in the graph", all.len()),
            },
            Self::Edit(_) => f.write_str("the edit cannot be made"),
            Self::Threads(_) => f.write_str("a worker thread cannot be started"),
            Self::Busy => f.write_str("the last edit is still on its way"),
            Self::PipelineTooDeep => {
                f.write_str("a pipeline of more than two stages takes no edits")
            }
            Self::NoParam(name) => {
                write!(f, "`{name}` is no parameter that can change while it plays")
            }
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Edit(error) => Some(error),
            Self::Threads(error) => Some(error),
            _ => None,
        }
    }
}
