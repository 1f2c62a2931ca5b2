//! What is wrong with a text, as it is found.

use crate::source::{Source, Span};
use graph::{Diagnostic, nearest};

/// Collects diagnostics; and bounds what the search for nearest names may cost, for files with nothing but mistakes.
pub(crate) struct Findings<'t> {
    pub(crate) source: Source<'t>,
    pub(crate) list: Vec<Diagnostic>,
    /// How many more names may be compared.
    comparisons: usize,
}

/// Longer words have no nearest name.
const LONGEST: usize = 64;

impl<'t> Findings<'t> {
    /// `not_utf8`: where the text was not UTF-8; said once a line.
    pub(crate) fn new(text: &'t str, not_utf8: &[usize]) -> Self {
        let mut findings = Self {
            source: Source::new(text),
            list: Vec::new(),
            comparisons: 300_000,
        };
        let mut last = None;
        for at in not_utf8 {
            let line = findings.source.line_of(*at);
            if last.replace(line) != Some(line) {
                findings
                    .error(*at..*at + 3, "this is not UTF-8")
                    .help("save the file as UTF-8 text");
            }
        }
        findings
    }

    pub(crate) fn error(&mut self, at: Span, message: impl Into<String>) -> More<'_, 't> {
        let place = self.source.place(at);
        self.list.push(Diagnostic::error(place, message));
        More(self)
    }

    pub(crate) fn warning(&mut self, at: Span, message: impl Into<String>) -> More<'_, 't> {
        let place = self.source.place(at);
        self.list.push(Diagnostic::warning(place, message));
        More(self)
    }

    /// What to come [back to](Self::back_to).
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.list.len(), self.comparisons)
    }

    /// Forgets all that was found since `mark`.
    pub(crate) fn back_to(&mut self, (found, comparisons): (usize, usize)) {
        self.list.truncate(found);
        self.comparisons = comparisons;
    }

    /// The candidate most like `word`, while there is time to look for it.
    pub(crate) fn nearest<'a>(
        &mut self,
        word: &str,
        candidates: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let chars = word.chars().count();
        self.comparisons = self.comparisons.checked_sub(candidates.len())?;
        if chars > LONGEST {
            return None;
        }
        let limit = (chars / 3).max(1);
        let alike = candidates.filter(|c| c.len().abs_diff(word.len()) <= 4 * limit);
        nearest(word, alike.filter(|c| c.len() <= 4 * LONGEST))
    }

    /// Everything that was found, by place.
    pub(crate) fn sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.span.line, d.span.column));
        self.list
    }
}

/// The finding just made, to say more about it.
pub(crate) struct More<'f, 't>(&'f mut Findings<'t>);

impl More<'_, '_> {
    fn last(&mut self) -> &mut Diagnostic {
        self.0.list.last_mut().expect("a finding was just made")
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.last().help = help.into();
        self
    }

    /// "did you mean", where there is something that may have been meant.
    pub(crate) fn meant(self, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    pub(crate) fn also(mut self, at: Span, why: &str) -> Self {
        let place = self.0.source.place(at);
        self.last().related.push((place, why.into()));
        self
    }
}
