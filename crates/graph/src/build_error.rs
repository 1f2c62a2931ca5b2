//! [`BuildError`]: reasons for which a [`GraphBuilder`](crate::GraphBuilder) refuses a call.

use crate::{EditError, Signal};

/// Reason why a builder refused a call; the graph has not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no such kind. Take one of the catalogue's.
    #[error("there is no kind `{kind}`{}", hint(.nearest))]
    NoKind {
        /// The name that was asked for.
        kind: String,
        /// The most similar name.
        nearest: Option<&'static str>,
    },
    /// The kind has no such parameter. Look at the kind's `params`.
    #[error("`{kind}` has no parameter `{param}`{}", hint(.nearest))]
    NoParam {
        /// The node's kind.
        kind: String,
        /// The name that was asked for.
        param: String,
        /// The most similar name.
        nearest: Option<&'static str>,
    },
    /// The value does not fit the parameter; the text says what it takes.
    #[error("`{param}` {message}")]
    BadValue {
        /// The parameter.
        param: String,
        /// Values that it takes.
        message: String,
    },
    /// The node has no such output or input. Take one of `known`.
    #[error("`{node}` has no {side} `{port}`; it has {}", list(.known))]
    NoPort {
        /// Name of the node.
        node: String,
        /// `output` or `input`.
        side: &'static str,
        /// The name that was asked for.
        port: String,
        /// The ports that it has.
        known: Vec<String>,
    },
    /// The two ports carry different signals.
    #[error("the output carries {from:?}, and the input takes {to:?}")]
    SignalMismatch {
        /// Signal of the output.
        from: Signal,
        /// Signal of the input.
        to: Signal,
    },
    /// The graph refuses the change.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// `; did you mean ...?`, if there is a similar name.
fn hint(nearest: &Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Names in a list.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}
