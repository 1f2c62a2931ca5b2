//! Words of a line: numbers end at a space, names may be quoted.

use graph::{Diagnostic, SourceSpan};
use std::ops::Range;

/// The rest of a line.
pub(super) struct Words<'t> {
    text: &'t str,
    line: u32,
    at: usize,
}

/// A word and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: SourceSpan,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str, line: u32) -> Self {
        Self { text, line, at: 0 }
    }

    /// Next word, up to a space.
    pub(super) fn word(&mut self) -> Option<Word> {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let length = rest.find(is_space).unwrap_or(rest.len());
        let begin = self.at;
        self.at += length;
        (length > 0).then(|| Word {
            text: rest[..length].into(),
            place: self.place(begin..self.at),
        })
    }

    /// Next name: a word, or several in quotes. `None` at the end of the line.
    pub(super) fn name(&mut self) -> Result<Option<Word>, Diagnostic> {
        self.skip_spaces();
        let begin = self.at;
        let mut text = String::new();
        let mut quote = None;
        let mut is_escaped = false;
        for (at, c) in self.text[begin..].char_indices() {
            self.at = begin + at + c.len_utf8();
            match c {
                _ if is_escaped => {
                    text.push(if c == '\t' { ' ' } else { c });
                    is_escaped = false;
                }
                '\\' if quote != Some('\'') => is_escaped = true,
                '"' | '\'' if quote == Some(c) => return Ok(Some(self.named(text, begin))),
                '"' | '\'' if quote.is_some() || !text.is_empty() => {
                    let why = "a quote within a name needs a `\\` before it";
                    return Err(self.bad(begin, why));
                }
                '"' | '\'' => quote = Some(c),
                _ if is_space(c) && quote.is_none() => {
                    self.at -= c.len_utf8();
                    return Ok(Some(self.named(text, begin)));
                }
                '\t' => text.push(' '),
                _ => text.push(c),
            }
        }
        match (quote, is_escaped) {
            (Some(_), _) => Err(self.bad(begin, "the quotes around this name never end")),
            (_, true) => Err(self.bad(begin, "there is nothing behind the `\\`")),
            _ => Ok((self.at > begin).then(|| self.named(text, begin))),
        }
    }

    /// The first word that is left over, unless it is a comment.
    pub(super) fn rest(&mut self) -> Option<SourceSpan> {
        self.skip_spaces();
        let rest = self.text[self.at..].trim_end();
        let has_words = !rest.is_empty() && !rest.starts_with('#');
        has_words.then(|| self.place(self.at..self.at + rest.len()))
    }

    /// Place behind the last word.
    pub(super) fn here(&self) -> SourceSpan {
        self.place(self.at..self.at)
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(is_space).len();
    }

    fn named(&self, text: String, begin: usize) -> Word {
        let place = self.place(begin..self.at);
        Word { text, place }
    }

    fn bad(&self, begin: usize, why: &'static str) -> Diagnostic {
        Diagnostic::error(self.place(begin..self.at), why)
    }

    fn place(&self, span: Range<usize>) -> SourceSpan {
        let chars = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let column = chars(&self.text[..span.start]).saturating_add(1);
        SourceSpan::new(self.line, column, chars(&self.text[span]).max(1))
    }
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, Diagnostic> {
        let mut words = Words::new(text, 1);
        let mut names = Vec::new();
        while let Some(word) = words.name()? {
            names.push(word.text);
        }
        Ok(names)
    }

    #[test]
    fn names_are_quoted_as_in_jconvolver() {
        assert_eq!(names("  a.wav\tb.wav ").unwrap(), ["a.wav", "b.wav"]);
        assert_eq!(names("\"a b\" 'c \\d'").unwrap(), ["a b", "c \\d"]);
        assert_eq!(
            names(r#"a\ b "it\'s" \"c\""#).unwrap(),
            ["a b", "it's", "\"c\""]
        );
        assert_eq!(names("\"\"").unwrap(), [""]);
        assert_eq!(names("   ").unwrap(), [""; 0]);
    }

    #[test]
    fn names_that_never_end_are_refused_where_they_begin() {
        for bad in ["x \"a b", "x 'a", "x a\\", "x a\"b\"", "x \"it's\""] {
            assert_eq!(names(bad).unwrap_err().span.column, 3, "{bad}");
        }
    }

    #[test]
    fn places_count_characters_and_comments_are_no_words() {
        let mut words = Words::new("é 12  x # more", 7);
        assert_eq!(words.word().unwrap().place, SourceSpan::new(7, 1, 1));
        assert_eq!(words.word().unwrap().place, SourceSpan::new(7, 3, 2));
        assert_eq!(words.rest(), Some(SourceSpan::new(7, 7, 8)));
        assert_eq!(words.word().unwrap().text, "x");
        assert_eq!(words.rest(), None);
        assert_eq!(Words::new("", 1).word(), None);
    }
}
