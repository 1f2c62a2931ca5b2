//! The words of a patch file, and the statements that they make.
//!
//! A file is a row of statements. Each ends with `;`, and an unescaped `,` begins another message to the same receiver:
//!
//! ```text
//!  #X obj 20 40 osc~ 440 , f 12 ;
//!  └──── message ──────┘   └──┘ message
//! ```
//!
//! A backslash takes the meaning from the character behind it. So `\;` in a message box is a word of its own here and becomes a
//! separator only when the box's text is read (`atom`).

use graph::SourceSpan;

/// A word with its place; escapes are still in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    /// The text, at least one byte.
    pub text: &'t str,
    /// Its place.
    pub span: SourceSpan,
}

/// One statement: messages, each at least one word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statement<'t> {
    /// The messages, in order.
    pub messages: Vec<Vec<Word<'t>>>,
    /// False if the text ended before its `;`.
    pub is_closed: bool,
}

/// Reads the statements of a text one by one.
pub(crate) struct Statements<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// Byte at which the line begins.
    line_start: usize,
}

/// Result of a scan.
enum Token<'t> {
    Word(Word<'t>),
    Comma,
    Semicolon,
}

impl<'t> Statements<'t> {
    /// The statements of `text`.
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            line_start: 0,
        }
    }

    fn token(&mut self) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.at += 1;
            if *byte == b'\n' {
                self.begin_line(self.at);
            }
        }
        match bytes.get(self.at)? {
            b',' => {
                self.at += 1;
                Some(Token::Comma)
            }
            b';' => {
                self.at += 1;
                Some(Token::Semicolon)
            }
            _ => Some(Token::Word(self.word())),
        }
    }

    /// Scans a word, which begins here.
    fn word(&mut self) -> Word<'t> {
        let (start, line, line_start) = (self.at, self.line, self.line_start);
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\\' if self.at + 1 < bytes.len() => {
                    self.at += 1;
                    if bytes[self.at] == b'\n' {
                        self.begin_line(self.at + 1);
                    }
                }
                b',' | b';' => break,
                byte if byte.is_ascii_whitespace() => break,
                _ => {}
            }
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let column = self.text[line_start..start].chars().count() + 1;
        let len = text.lines().next().map_or(1, |line| line.chars().count());
        Word {
            text,
            span: SourceSpan::new(line, clamp(column), clamp(len.max(1))),
        }
    }

    fn begin_line(&mut self, at: usize) {
        self.line = self.line.saturating_add(1);
        self.line_start = at;
    }
}

fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl<'t> Iterator for Statements<'t> {
    type Item = Statement<'t>;

    /// The next statement that has a word. Empty messages are left out.
    fn next(&mut self) -> Option<Statement<'t>> {
        let mut messages: Vec<Vec<Word<'t>>> = Vec::new();
        let mut message = Vec::new();
        loop {
            let token = self.token();
            match token {
                Some(Token::Word(word)) => message.push(word),
                _ if !message.is_empty() => messages.push(std::mem::take(&mut message)),
                _ => {}
            }
            match token {
                Some(Token::Semicolon) if !messages.is_empty() => {
                    return Some(Statement {
                        messages,
                        is_closed: true,
                    });
                }
                None if messages.is_empty() => return None,
                None => {
                    return Some(Statement {
                        messages,
                        is_closed: false,
                    });
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<Vec<&str>>> {
        let of_message = |message: &Vec<Word<'_>>| {
            let texts = message.iter().map(|word| &text[offset(text, word)..]);
            let lens = message.iter().map(|word| word.text.len());
            texts.zip(lens).map(|(t, n)| &t[..n]).collect()
        };
        Statements::new(text)
            .map(|statement| statement.messages.iter().map(of_message).collect())
            .collect()
    }

    fn offset(text: &str, word: &Word<'_>) -> usize {
        word.text.as_ptr() as usize - text.as_ptr() as usize
    }

    #[test]
    fn a_comma_begins_a_message_and_a_semicolon_ends_the_statement() {
        let found = texts("#X obj 1 2 osc~ 440, f 5;\n#X connect 0 0\n1 0;;");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0][0], ["#X", "obj", "1", "2", "osc~", "440"]);
        assert_eq!(found[0][1], ["f", "5"]);
        assert_eq!(found[1][0], ["#X", "connect", "0", "0", "1", "0"]);
    }

    #[test]
    fn an_escaped_separator_is_a_part_of_a_word() {
        let found = texts(r"#X msg 1 2 a \, b \; c\ d \\\; e;");
        let expected = [
            "#X", "msg", "1", "2", "a", r"\,", "b", r"\;", r"c\ d", r"\\\;", "e",
        ];
        assert_eq!(found[0][0], expected);
    }

    #[test]
    fn places_count_lines_and_characters() {
        let text = "#N canvas;\n  é obj\nlast";
        let all: Vec<Statement<'_>> = Statements::new(text).collect();
        assert_eq!(
            all[1].messages[0][0].span,
            SourceSpan::new(2, 3, 1),
            "{all:?}"
        );
        assert_eq!(all[1].messages[0][1].span, SourceSpan::new(2, 5, 3));
        assert_eq!(all[1].messages[0][2].span, SourceSpan::new(3, 1, 4));
        assert!(!all[1].is_closed && all[0].is_closed);
    }
}
