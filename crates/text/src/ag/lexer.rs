//! `.ag` text to tokens.

use crate::findings::Findings;
use crate::source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A letter, then letters, digits, `-` and `_`.
    Word,
    /// A word, a dot and what stands right behind the dot, from byte `dot` on: `a.1`.
    Port {
        /// Where the dot is.
        dot: usize,
    },
    /// A number, perhaps with a sign or an exponent.
    Number,
    /// A text in quotes, both included.
    Text,
    /// `->`
    Arrow,
    /// One of `= { } : , ;`
    Mark(char),
    /// A text whose quote is never closed, or something that begins no token: said already.
    Bad,
    /// The end of the text.
    End,
}

/// A token, where it stands, and whether it is the first on its line.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) at: Span,
    pub(super) opens_line: bool,
}

/// Gives the tokens of a text one by one; the last is [`Token::End`], again and again.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    opens_line: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            opens_line: true,
        }
    }

    pub(super) fn lexeme(&mut self, findings: &mut Findings<'_>) -> Lexeme {
        self.opens_line |= self.skip_blank(findings);
        let start = self.at;
        let token = self.token(findings);
        Lexeme {
            token,
            at: start..self.at,
            opens_line: std::mem::take(&mut self.opens_line),
        }
    }
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn take_while(&mut self, mut wanted: impl FnMut(u8) -> bool) {
        let bytes = &self.text.as_bytes()[self.at..];
        let end = bytes.iter().position(|b| !wanted(*b));
        self.at += end.unwrap_or(bytes.len());
    }

    /// Skips space, comments and a byte order mark; whether a line began.
    fn skip_blank(&mut self, findings: &mut Findings<'_>) -> bool {
        let mut new_line = false;
        loop {
            let start = self.at;
            self.take_while(|b| {
                new_line |= b == b'\n';
                b.is_ascii_whitespace()
            });
            if self.rest().starts_with("//") {
                self.take_while(|b| b != b'\n');
            } else if self.rest().starts_with("/*") {
                match self.rest().find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        let more = findings.error(start..start + 2, "this comment never ends");
                        more.help("end it with `*/`");
                        self.at = self.text.len();
                    }
                }
            } else if self.at == 0 && self.rest().starts_with('\u{feff}') {
                self.at = '\u{feff}'.len_utf8();
            }
            if self.at == start {
                return new_line;
            }
        }
    }

    fn token(&mut self, findings: &mut Findings<'_>) -> Token {
        let start = self.at;
        let Some(first) = self.peek() else {
            return Token::End;
        };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'0'..=b'9' => self.number(),
            b'-' if self.rest().starts_with("->") => {
                self.at += 2;
                Token::Arrow
            }
            b'-' | b'+' | b'.' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.number()
            }
            b'"' => self.text(findings),
            b'=' | b'{' | b'}' | b':' | b',' | b';' => {
                self.at += 1;
                Token::Mark(first.into())
            }
            _ => {
                let odd = self.rest().chars().next().unwrap_or_default();
                self.at += odd.len_utf8();
                // What was not UTF-8 has been said.
                if odd != char::REPLACEMENT_CHARACTER {
                    let message = format!("`{}` means nothing here", odd.escape_debug());
                    findings.error(start..self.at, message);
                }
                Token::Bad
            }
        }
    }

    fn word(&mut self) -> Token {
        self.name();
        if self.peek() != Some(b'.') {
            return Token::Word;
        }
        let dot = self.at;
        self.at += 1;
        self.name();
        Token::Port { dot }
    }

    /// Letters, digits, `_`, and `-` where it begins no arrow.
    fn name(&mut self) {
        loop {
            self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
            if self.peek() != Some(b'-') || self.rest().starts_with("->") {
                return;
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> Token {
        if matches!(self.peek(), Some(b'-' | b'+')) {
            self.at += 1;
        }
        self.take_while(|b| b.is_ascii_digit() || b == b'.');
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'-' | b'+')) {
                self.at += 1;
            }
            self.take_while(|b| b.is_ascii_digit());
        }
        Token::Number
    }

    fn text(&mut self, findings: &mut Findings<'_>) -> Token {
        let start = self.at;
        let mut escaped = true; // the first quote
        self.take_while(|b| {
            let goes_on = b != b'\n' && (b != b'"' || escaped);
            escaped = b == b'\\' && !escaped;
            goes_on
        });
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Token::Text;
        }
        let more = findings.error(start..self.at, "this text is never closed");
        more.help("close it with `\"` on the same line");
        Token::Bad
    }
}
