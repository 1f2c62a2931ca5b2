//! Mistakes in a text or a graph: message, place and help.

use crate::SourceSpan;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The graph is played as meant; the text says it in an old way.
    Note,
    /// The graph can be played, but perhaps not as meant.
    Warning,
    /// The graph cannot be played.
    Error,
}

/// The message of `error` and of its sources, in one line.
pub fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let errors = std::iter::successors(Some(error), |error| error.source());
    let messages: Vec<String> = errors.map(ToString::to_string).collect();
    messages.join(": ")
}

/// One finding. Readers report all of them at once; the text crate renders them for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// The mistake: lower case, no full stop, names in backquotes.
    pub message: String,
    /// Its place.
    pub span: SourceSpan,
    /// Advice on the next step; empty where there is none.
    pub help: String,
    /// Further places that belong to it, each with a reason.
    pub related: Vec<(SourceSpan, String)>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, message)
    }

    /// A warning at `span`.
    pub fn warning(span: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, message)
    }

    /// A note at `span`.
    pub fn note(span: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, span, message)
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

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Adds one more place.
    #[must_use]
    pub fn related(mut self, span: SourceSpan, why: impl Into<String>) -> Self {
        self.related.push((span, why.into()));
        self
    }

    /// The message of the only mistake, or the number of mistakes.
    pub fn summary(mistakes: &[Self]) -> String {
        match mistakes {
            [one] => one.message.clone(),
            all => format!("{} mistakes in the graph", all.len()),
        }
    }

    /// Returns true if the graph cannot be played.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
