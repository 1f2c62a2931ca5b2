//! [`EngineError`]: why a graph cannot be played or edited.

use graph::{Diagnostic, EditError};

/// Why a graph cannot be played, or an edit not be made. What played before goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The graph is wrong; each mistake has its place. Show them and correct the graph.
    #[error("{}", Diagnostic::summary(.0))]
    Graph(Vec<Diagnostic>),
    /// An edit names a node, port or edge that is not there.
    #[error("the edit cannot be made")]
    Edit(#[source] EditError),
    /// The system starts no more threads. Ask for fewer workers.
    #[error("a worker thread cannot be started")]
    Threads(#[source] std::io::Error),
    /// The last edit is still on its way to the audio thread, which takes one a block. Try again in a moment.
    #[error("the last edit is still on its way")]
    Busy,
    /// A pipeline of more than two stages takes no edits: they would take effect in the middle of blocks that are under
    /// way. Play with fewer stages (`ahead`).
    #[error("a pipeline of more than two stages takes no edits")]
    PipelineTooDeep,
    /// There is no such parameter, or it cannot change while it plays.
    #[error("`{0}` is no parameter that can change while it plays")]
    NoParam(String),
}
