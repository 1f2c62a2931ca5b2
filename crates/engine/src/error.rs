//! [`EngineError`]: why a graph cannot be played or edited.

use graph::{BuildError, Diagnostic, EditError};

/// A graph that cannot be played, or an edit that cannot be made, with the reason. The graph that played before goes on.
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
    /// A message in words is longer than a node takes.
    #[error("a message has at most {0} bytes")]
    LongWords(usize),
    /// The messages in words of a request are longer together than a node takes.
    #[error("the messages of a request to one node have at most {0} bytes together")]
    ManyWords(usize),
    /// A request has more messages in words for nodes of a cell than it takes.
    #[error("a request has at most {0} messages for nodes of one cell")]
    ManyMessages(usize),
    /// Messages in words wait for a node that has taken none for a second.
    #[error(
        "too many messages wait, and the node takes none: it is bypassed, stopped or being changed"
    )]
    NoTaker,
    /// There is no such node, parameter or event input, or it cannot change while it plays.
    #[error("`{0}` is no parameter that can change while it plays")]
    NoParam(String),
    /// The value is outside the range of its parameter. What played before goes on.
    #[error("`{param}` is {value}; it must be from {min} to {max}")]
    OutOfRange {
        /// The parameter.
        param: String,
        /// The value that was asked for.
        value: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// The bytes are no MIDI channel message: the first is from 0x80 to 0xEF, the others are below 0x80.
    #[error("{0:02x?} is no MIDI channel message")]
    NotMidi([u8; 3]),
    /// The edit lets an edge drive a parameter of a node that plays already, whose processor was made without that input.
    /// Remove the node and add it again in the same edit.
    #[error("`{0}` plays already, so no other edge can drive a parameter of it")]
    PlaysUndriven(String),
    /// The transport of this engine cannot be moved so: it plays offline, or it follows the transport of a server, which has
    /// no tempo and no loop.
    #[error("the transport of this run cannot be changed so")]
    FixedTransport,
    /// The position, in frames, is too far away, or a loop range is shorter than 64 frames.
    #[error("the transport cannot go to frame {0}")]
    TransportOutOfRange(u64),
    /// The tempo is outside [`TempoMap::BPM`](graph::TempoMap::BPM).
    #[error("the tempo is {0} beats a minute; it must be from 1 to 6000")]
    TempoOutOfRange(f64),
    /// A change that was made by names does not fit the graph.
    #[error("the change does not fit the graph")]
    Build(#[source] BuildError),
}
