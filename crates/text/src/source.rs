//! The text, and the line and column of each byte.

use graph::SourceSpan;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

/// A range of bytes of the text.
pub(crate) type ByteRange = Range<usize>;

/// A text with an index from bytes to lines and columns.
///
/// Columns are numbers of characters, so characters must be counted. On a line of a megabyte that would be slow for each of many
/// diagnostics. So the number of characters is stored every `STRIDE` bytes, and a lookup counts in at most `STRIDE` bytes.
pub struct Source<'t> {
    pub(crate) text: &'t str,
    /// The first byte of each line.
    lines: Vec<usize>,
    /// Number of characters before each `STRIDE`th byte.
    marks: Vec<usize>,
    /// Line of the last lookup; the next lookup is usually near it.
    last: Cell<usize>,
}

/// Distance of the stored character counts, in bytes.
const STRIDE: usize = 128;

/// Decodes `bytes`. Invalid UTF-8 becomes U+FFFD; returns its positions too.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Vec<usize>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.into(), Vec::new());
    }
    let (mut text, mut invalid) = (String::with_capacity(bytes.len()), Vec::new());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            invalid.push(text.len());
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text.into(), invalid)
}

impl<'t> Source<'t> {
    /// The index of `text`.
    pub fn new(text: &'t str) -> Self {
        let breaks = text.match_indices('\n');
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

    /// Number of characters from byte `from` to byte `to`.
    fn chars(&self, from: usize, to: usize) -> usize {
        match to - from > STRIDE {
            true => self.chars_before(to) - self.chars_before(from),
            false => count(&self.text.as_bytes()[from..to]),
        }
    }

    /// Number of characters before byte `at`.
    fn chars_before(&self, at: usize) -> usize {
        let Some(last) = self.marks.len().checked_sub(1) else {
            return 0;
        };
        let mark = (at / STRIDE).min(last);
        self.marks[mark] + count(&self.text.as_bytes()[mark * STRIDE..at])
    }

    /// The line of a byte, from 0.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        let near = self.last.get();
        let begins_by = |line: usize| self.lines.get(line).is_some_and(|start| *start <= at);
        let found = (near..near + 3).find(|line| begins_by(*line) && !begins_by(line + 1));
        let line = found.unwrap_or_else(|| self.lines.partition_point(|start| *start <= at) - 1);
        self.last.set(line);
        line
    }

    /// The line, column and width of `range`, as far as its first line goes. A range past the text is at its end.
    pub fn span(&self, range: ByteRange) -> SourceSpan {
        let start = range.start.min(self.text.len());
        let line = self.line_of(start);
        let line_end = match self.lines.get(line + 1) {
            Some(next) => next - 1,
            None => self.text.len(),
        };
        let end = range.end.clamp(start, line_end.max(start));
        let column = self.chars(self.lines[line], start) + 1;
        let width = self.chars(start, end).max(1);
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SourceSpan::new(small(line + 1), small(column), small(width))
    }
}

/// Number of characters that begin in `bytes`: all bytes but UTF-8's continuation bytes, 0b10xxxxxx.
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
        assert_eq!(source.span(x..x + 5), SourceSpan::new(2, 1001, 5));
        assert_eq!(source.span(x..x + 99), SourceSpan::new(2, 1001, 5));
        let end = text.len();
        assert_eq!(source.span(end..end), SourceSpan::new(3, 2, 1));
        assert_eq!(source.span(end + 7..end + 9), SourceSpan::new(3, 2, 1));
        assert_eq!(Source::new("").span(0..0), SourceSpan::new(1, 1, 1));
    }

    #[test]
    fn invalid_utf8_is_found_and_the_rest_is_kept() {
        let (text, invalid) = decode(b"a\xff\xfeb\xc3");
        assert_eq!(text, "a\u{fffd}\u{fffd}b\u{fffd}");
        assert_eq!(invalid, [1, 4, 8]);
    }
}
