//! What is wrong with a text or a graph, where, and what to do about it.

use crate::Place;

/// Whether the graph can still be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It plays, but perhaps not as meant.
    Warning,
    /// It cannot play like this.
    Error,
}

/// One finding. Readers give all of them at once; how they look on a terminal is the text crate's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the graph can still be used.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop, names in backquotes.
    pub message: String,
    /// Where.
    pub place: Place,
    /// What to do next; empty where there is nothing useful to say.
    pub help: String,
    /// Further places that belong to it, each with a word on why.
    pub also: Vec<(Place, String)>,
}

impl Diagnostic {
    /// An error at `place`.
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, place, message)
    }

    /// A warning at `place`.
    pub fn warning(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, place, message)
    }

    fn new(severity: Severity, place: Place, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            place,
            help: String::new(),
            also: Vec::new(),
        }
    }

    /// The same, saying what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// The same, pointing at one more place.
    #[must_use]
    pub fn also(mut self, place: Place, why: impl Into<String>) -> Self {
        self.also.push((place, why.into()));
        self
    }

    /// Whether the graph cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
