//! Where in a text a byte stands.

use graph::SourceSpan;
use std::ops::Range;

/// A text and its lines.
pub(super) struct Source<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        Self {
            lines: [0].into_iter().chain(breaks.map(|(i, _)| i + 1)).collect(),
            text,
        }
    }

    /// The stretch `at`, on the line where it begins.
    pub(super) fn place(&self, at: Range<usize>) -> SourceSpan {
        let begin = at.start.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= begin);
        let start = self.lines[line - 1];
        let count = |text: Option<&str>| text.map_or(0, |text| text.chars().count()) as u32;
        let rest = self.text.get(begin..at.end.min(self.text.len()));
        let rest = rest.map(|rest| rest.split('\n').next().unwrap_or(""));
        let column = count(self.text.get(start..begin)) + 1;
        SourceSpan::new(line as u32, column, count(rest).max(1))
    }
}
