//! Splits `.ag` text into tokens.
//!
//! ```text
//!   a = { kind: "osc", freq: 220, };  a.1 -> b.1;
//!   │ │ │ │   │ │    │                │   └ arrow
//!   │ │ │ │   │ │    └ mark           └ port: name, dot, what follows the dot
//!   │ │ │ │   │ └ string
//!   │ │ │ │   └ mark
//!   └ name, marks, name
//! ```
//!
//! A `-` is part of a name unless it begins an arrow, so `a-b` is a name and `a->b` an edge. A character that begins no token is reported
//! here and becomes [`Token::Bad`]: the parser skips its statement without a second message.

use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name: a letter, then letters, digits, `-` and `_`.
    Name,
    /// A name, a dot and what is right after the dot: `a.1`.
    Port {
        /// The byte of the dot.
        dot: usize,
    },
    /// A number, maybe with a sign or an exponent.
    Number,
    /// A string with its quotes.
    String,
    /// `->`.
    Arrow,
    /// One of `= { } : , ;`.
    Mark(char),
    /// A string without its closing quote, or a character that begins no token. It is reported already.
    Bad,
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) at: ByteRange,
    /// True if it is the first of its line.
    pub(super) is_first: bool,
}

/// Iterates over the tokens of a text. After the last one it returns [`Token::End`] forever.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    is_first: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            is_first: true,
        }
    }

    pub(super) fn lexeme(&mut self, diagnostics: &mut Diagnostics<'_>) -> Lexeme {
        self.is_first |= self.skip_blank(diagnostics);
        let start = self.at;
        let token = self.token(diagnostics);
        Lexeme {
            token,
            at: start..self.at,
            is_first: std::mem::take(&mut self.is_first),
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

    /// Skips white space, comments and a byte order mark. Returns true if a line began.
    fn skip_blank(&mut self, diagnostics: &mut Diagnostics<'_>) -> bool {
        let mut has_new_line = false;
        loop {
            let start = self.at;
            self.take_while(|b| {
                has_new_line |= b == b'\n';
                b.is_ascii_whitespace()
            });
            if self.rest().starts_with("//") {
                self.take_while(|b| b != b'\n');
            } else if self.rest().starts_with("/*") {
                match self.rest().find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        let more = diagnostics.error(start..start + 2, "this comment never ends");
                        more.help("end it with `*/`");
                        self.at = self.text.len();
                    }
                }
            } else if self.at == 0 && self.rest().starts_with('\u{feff}') {
                self.at = '\u{feff}'.len_utf8();
            }
            if self.at == start {
                return has_new_line;
            }
        }
    }

    fn token(&mut self, diagnostics: &mut Diagnostics<'_>) -> Token {
        let start = self.at;
        let Some(first) = self.peek() else {
            return Token::End;
        };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' => self.name_or_port(),
            b'0'..=b'9' => self.number(),
            b'-' if self.rest().starts_with("->") => {
                self.at += 2;
                Token::Arrow
            }
            b'-' | b'+' | b'.' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.number()
            }
            b'"' => self.string(diagnostics),
            b'=' | b'{' | b'}' | b':' | b',' | b';' => {
                self.at += 1;
                Token::Mark(first.into())
            }
            _ => {
                let unexpected = self.rest().chars().next().unwrap_or_default();
                self.at += unexpected.len_utf8();
                // Invalid UTF-8 is reported already.
                if unexpected != char::REPLACEMENT_CHARACTER {
                    let message = format!("unexpected `{}`", unexpected.escape_debug());
                    diagnostics.error(start..self.at, message);
                }
                Token::Bad
            }
        }
    }

    fn name_or_port(&mut self) -> Token {
        self.name();
        if self.peek() != Some(b'.') {
            return Token::Name;
        }
        let dot = self.at;
        self.at += 1;
        self.name();
        Token::Port { dot }
    }

    /// Skips letters, digits, `_`, and `-` if it begins no arrow.
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

    fn string(&mut self, diagnostics: &mut Diagnostics<'_>) -> Token {
        let start = self.at;
        let mut escaped = true; // the opening quote
        self.take_while(|b| {
            let is_inside = b != b'\n' && (b != b'"' || escaped);
            escaped = b == b'\\' && !escaped;
            is_inside
        });
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Token::String;
        }
        let more = diagnostics.error(start..self.at, "this string is never closed");
        more.help("close it with `\"` on the same line");
        Token::Bad
    }
}
