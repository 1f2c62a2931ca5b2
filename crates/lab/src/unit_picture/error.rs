//! [`UnitPictureError`].

use divisi::graph::BuildError;
use divisi::prelude::*;

/// Reason why a unit cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnitPictureError {
    /// The node cannot be made: the kind is unknown, or a parameter is wrong.
    #[error(transparent)]
    Node(#[from] BuildError),
    /// The graph of the node cannot be played.
    #[error("it cannot be played")]
    Play(#[from] EngineError),
    /// The kind has no audio output.
    #[error("`{0}` has no audio output: there is nothing to draw")]
    NoSound(String),
    /// A value is not one that its parameter takes.
    #[error("`{key}` takes a {takes}, not \"{value}\"")]
    Value {
        /// The parameter.
        key: String,
        /// Kind of value that it takes.
        takes: &'static str,
        /// The value that was given.
        value: String,
    },
}
