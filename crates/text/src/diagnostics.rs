//! The diagnostics of one text while it is read.

use crate::source::{ByteRange, Source};
use graph::{Diagnostic, nearest};

/// Collects diagnostics. It also bounds the time of the search for similar names, which a file full of mistakes could make
/// very long.
pub(crate) struct Diagnostics<'t> {
    pub(crate) source: Source<'t>,
    pub(crate) list: Vec<Diagnostic>,
    /// Number of names that may still be compared.
    comparisons: usize,
}

/// Longer words have no similar name.
const MAX_WORD: usize = 64;
/// Comparisons of names in one text.
const MAX_COMPARISONS: usize = 300_000;

impl<'t> Diagnostics<'t> {
    /// `not_utf8` are the positions of invalid bytes; each line reports its first.
    pub(crate) fn new(text: &'t str, not_utf8: &[usize]) -> Self {
        let mut diagnostics = Self {
            source: Source::new(text),
            list: Vec::new(),
            comparisons: MAX_COMPARISONS,
        };
        let mut last = None;
        for at in not_utf8 {
            let line = diagnostics.source.line_of(*at);
            if last.replace(line) != Some(line) {
                diagnostics
                    .error(*at..*at + 3, "this is not UTF-8")
                    .help("save the file as UTF-8 text");
            }
        }
        diagnostics
    }

    /// Adds an error; the returned value adds help and notes to it.
    pub(crate) fn error(&mut self, at: ByteRange, message: impl Into<String>) -> Added<'_, 't> {
        let span = self.source.span(at);
        self.list.push(Diagnostic::error(span, message));
        Added(self)
    }

    /// Adds a warning; the returned value adds help and notes to it.
    pub(crate) fn warning(&mut self, at: ByteRange, message: impl Into<String>) -> Added<'_, 't> {
        let span = self.source.span(at);
        self.list.push(Diagnostic::warning(span, message));
        Added(self)
    }

    /// Adds a note; the returned value adds help to it.
    pub(crate) fn note(&mut self, at: ByteRange, message: impl Into<String>) -> Added<'_, 't> {
        let span = self.source.span(at);
        self.list.push(Diagnostic::note(span, message));
        Added(self)
    }

    /// The candidate that is most similar to `word`; `None` if none is similar, or the comparisons are used up.
    pub(crate) fn nearest<'a>(
        &mut self,
        word: &str,
        candidates: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let chars = word.chars().count();
        self.comparisons = self.comparisons.checked_sub(candidates.len())?;
        if chars > MAX_WORD {
            return None;
        }
        let limit = (chars / 3).max(1);
        let similar = candidates.filter(|c| c.len().abs_diff(word.len()) <= 4 * limit);
        nearest(word, similar.filter(|c| c.len() <= 4 * MAX_WORD))
    }

    /// Returns true if there is an error so far.
    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// All diagnostics, sorted by place.
    pub(crate) fn sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.span.line, d.span.column));
        self.list
    }
}

/// The diagnostic that was just added.
pub(crate) struct Added<'f, 't>(&'f mut Diagnostics<'t>);

impl Added<'_, '_> {
    fn last(&mut self) -> &mut Diagnostic {
        self.0.list.last_mut().expect("one was just added")
    }

    /// Sets the help: how to fix the mistake.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.last().help = help.into();
        self
    }

    /// Adds "did you mean", if there is a similar name.
    pub(crate) fn did_you_mean(self, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Adds a note about another place.
    pub(crate) fn note(mut self, at: ByteRange, message: &str) -> Self {
        let span = self.0.source.span(at);
        self.last().related.push((span, message.into()));
        self
    }
}
