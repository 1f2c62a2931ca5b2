//! The diagnostics of one text while it is read.

use crate::source::{ByteRange, Source};
use graph::{Diagnostic, SourceSpan, nearest};
use std::collections::HashMap;

/// Collects diagnostics. It also bounds the time of the search for similar names, which a file full of mistakes could make
/// very long.
pub(crate) struct Diagnostics<'t> {
    pub(crate) source: Source<'t>,
    /// The texts of included files, each with the number that its first byte has.
    files: Vec<(usize, Source<'t>)>,
    pub(crate) list: Vec<Diagnostic>,
    /// Number of the copy that is looked at; 0 for what is not copied. Copies report each place once.
    pub(crate) copy: u32,
    /// The places of reports about copies, with the copy.
    of_copies: HashMap<ByteRange, u32>,
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
            files: Vec::new(),
            list: Vec::new(),
            copy: 0,
            of_copies: HashMap::new(),
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
        self.add(Diagnostic::error, at, message)
    }

    /// Adds a warning; the returned value adds help and notes to it.
    pub(crate) fn warning(&mut self, at: ByteRange, message: impl Into<String>) -> Added<'_, 't> {
        self.add(Diagnostic::warning, at, message)
    }

    /// Adds a note; the returned value adds help to it.
    pub(crate) fn note(&mut self, at: ByteRange, message: impl Into<String>) -> Added<'_, 't> {
        self.add(Diagnostic::note, at, message)
    }

    fn add<M: Into<String>>(
        &mut self,
        new: fn(SourceSpan, M) -> Diagnostic,
        at: ByteRange,
        message: M,
    ) -> Added<'_, 't> {
        if self.copy > 0 && *self.of_copies.entry(at.clone()).or_insert(self.copy) != self.copy {
            return Added(None);
        }
        let span = self.span(at);
        self.list.push(new(span, message));
        Added(Some(self))
    }

    /// Adds the text of an included file, and returns the number of its first byte.
    pub(crate) fn add_file(&mut self, text: &'t str) -> usize {
        let last = self.files.last();
        let end = last.map_or(self.source.text.len(), |(base, source)| {
            base + source.text.len()
        });
        self.files.push((end + 1, Source::new(text)));
        end + 1
    }

    /// The text that `at` is in: its number, that of its first byte, and the text.
    fn file_of(&self, at: usize) -> (u16, usize, &Source<'t>) {
        let number = self.files.partition_point(|(base, _)| *base <= at);
        match number.checked_sub(1) {
            None => (0, 0, &self.source),
            Some(index) => (number as u16, self.files[index].0, &self.files[index].1),
        }
    }

    /// The place of a range.
    pub(crate) fn span(&self, at: ByteRange) -> SourceSpan {
        let (file, base, source) = self.file_of(at.start);
        let mut span = source.span(at.start - base..at.end.saturating_sub(base));
        span.file = file;
        span
    }

    /// The text of a range; `None` if the range is not inside a text.
    pub(crate) fn text_at(&self, at: &ByteRange) -> Option<&'t str> {
        let (_, base, source) = self.file_of(at.start);
        source.text.get(at.start - base..at.end.checked_sub(base)?)
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
        self.list
            .sort_by_key(|d| (d.span.file, d.span.line, d.span.column));
        self.list
    }
}

/// The diagnostic that was just added; `None` if another copy has reported it.
pub(crate) struct Added<'f, 't>(Option<&'f mut Diagnostics<'t>>);

impl Added<'_, '_> {
    fn last(&mut self) -> Option<&mut Diagnostic> {
        self.0.as_mut()?.list.last_mut()
    }

    /// Sets the help: how to fix the mistake.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        if let Some(last) = self.last() {
            last.help = help.into();
        }
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
        let span = self.0.as_ref().map(|all| all.span(at));
        if let (Some(span), Some(last)) = (span, self.last()) {
            last.related.push((span, message.into()));
        }
        self
    }
}
