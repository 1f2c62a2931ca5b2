//! What is wrong with a text or a graph, where, and what to do about it.

use crate::SourceSpan;

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
    pub span: SourceSpan,
    /// What to do next; empty where there is nothing useful to say.
    pub help: String,
    /// Further places that belong to it, each with a word on why.
    pub related: Vec<(SourceSpan, String)>,
}

impl Diagnostic {
    /// An error at `place`.
    pub fn error(place: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, place, message)
    }

    /// A warning at `place`.
    pub fn warning(place: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, place, message)
    }

    fn new(severity: Severity, span: SourceSpan, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            span,
            help: String::new(),
            related: Vec::new(),
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
    pub fn related(mut self, place: SourceSpan, why: impl Into<String>) -> Self {
        self.related.push((place, why.into()));
        self
    }

    /// Whether the graph cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
