//! A text, and where in it a byte stands.

use graph::SourceSpan;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

/// A stretch of bytes of the text.
pub(crate) type Span = Range<usize>;

/// A text with an index from bytes to lines and columns, quick on lines of any length.
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
    /// How many characters stand before each [`STRIDE`]th byte.
    marks: Vec<usize>,
    /// The line asked for last: the next one is mostly near.
    last: Cell<usize>,
}

const STRIDE: usize = 128;

/// The text of `bytes`, and where something stood that is not UTF-8; U+FFFD stands there now.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Vec<usize>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.into(), Vec::new());
    }
    let (mut text, mut wrong) = (String::with_capacity(bytes.len()), Vec::new());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            wrong.push(text.len());
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text.into(), wrong)
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let mut chars = 0;
        let marks = text.as_bytes().chunks(STRIDE).map(|chunk| {
            let before = chars;
            chars += count(chunk);
            before
        });
        Self {
            marks: marks.collect(),
            lines: [0].into_iter().chain(breaks.map(|(i, _)| i + 1)).collect(),
            text,
            last: Cell::new(0),
        }
    }

    /// How many characters begin before byte `at`.
    fn chars_before(&self, at: usize) -> usize {
        let Some(last) = self.marks.len().checked_sub(1) else {
            return 0;
        };
        let mark = (at / STRIDE).min(last);
        self.marks[mark] + count(&self.text.as_bytes()[mark * STRIDE..at])
    }

    /// From 0.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        let near = self.last.get();
        let begins_by = |line: usize| self.lines.get(line).is_some_and(|start| *start <= at);
        let found = (near..near + 3).find(|line| begins_by(*line) && !begins_by(line + 1));
        let line = found.unwrap_or_else(|| self.lines.partition_point(|start| *start <= at) - 1);
        self.last.set(line);
        line
    }

    /// The part of `span` that stands on its first line; what begins past the text stands at its end.
    pub(crate) fn place(&self, span: Span) -> SourceSpan {
        let start = span.start.min(self.text.len());
        let line = self.line_of(start);
        let line_end = match self.lines.get(line + 1) {
            Some(next) => next - 1,
            None => self.text.len(),
        };
        let end = span.end.clamp(start, line_end.max(start));
        let before = self.chars_before(start);
        let column = before - self.chars_before(self.lines[line]) + 1;
        let width = (self.chars_before(end) - before).max(1);
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SourceSpan::new(small(line + 1), small(column), small(width))
    }
}

/// How many characters begin in `bytes`.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| (**b as i8) >= -0x40).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_on_lines_of_any_length() {
        let text = format!("a\r\n{}x = y\nz", "é".repeat(1000));
        let source = Source::new(&text);
        let x = text.find('x').unwrap();
        assert_eq!(source.place(x..x + 5), SourceSpan::new(2, 1001, 5));
        assert_eq!(source.place(x..x + 99), SourceSpan::new(2, 1001, 5));
        let end = text.len();
        assert_eq!(source.place(end..end), SourceSpan::new(3, 2, 1));
        assert_eq!(source.place(end + 7..end + 9), SourceSpan::new(3, 2, 1));
        assert_eq!(Source::new("").place(0..0), SourceSpan::new(1, 1, 1));
    }

    #[test]
    fn what_is_not_utf8_is_found_and_the_rest_kept() {
        let (text, wrong) = decode(b"a\xff\xfeb\xc3");
        assert_eq!(text, "a\u{fffd}\u{fffd}b\u{fffd}");
        assert_eq!(wrong, [1, 4, 8]);
    }
}
