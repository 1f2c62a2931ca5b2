//! Parses a string of `edges`: an edge or a chain of them.
//!
//! ```text
//! chain = end "->" end { "->" end } [ ":" amount ]
//! end   = name { "." name } [ "." port ]      (further names lead into parts)
//! port  = number | name                       (a number counts from 1)
//! name  = plain | "a JSON string in quotes"
//! plain = one or more characters but white space, control characters, dots, quotes and "->"
//!
//! amount = [ law ] number [ law ]             (behind a colon and a space: how the last end, a parameter, is driven)
//! law    = "add" | "octaves" | "semitones" | "times" | "dB" | "set"
//! ```

use crate::ast::{AstEnd, Ident, PortName};
use crate::source::ByteRange;
use graph::{Amount, AmountError, Law};
use std::borrow::Cow;

/// The chain is wrong: why, and where in its string.
pub(super) struct ChainError {
    pub(super) message: String,
    pub(super) at: ByteRange,
    pub(super) help: String,
}

impl ChainError {
    fn new(message: String, at: ByteRange) -> Self {
        let help = "an edge is written `from.port -> to.port`, without a port for the first";
        Self {
            message,
            at,
            help: help.into(),
        }
    }

    fn amount(error: &AmountError, at: ByteRange) -> Self {
        let laws = Law::WORDS.join("`, `");
        Self {
            message: format!("behind the colon {error}"),
            at,
            help: format!(
                "write an amount and one of `{laws}`, such as `lfo -> tone.freq: 2 octaves`"
            ),
        }
    }
}

/// Parses a chain into its ends, whose places are in `text`.
pub(super) fn parse(text: &str) -> Result<Vec<AstEnd<'static>>, ChainError> {
    let colon = amount_colon(text);
    let mut chain = Chain {
        text: &text[..colon.unwrap_or(text.len())],
        at: 0,
    };
    let mut all = vec![chain.end()?];
    while chain.accept("->") {
        all.push(chain.end()?);
    }
    if chain.at < chain.text.len() || all.len() < 2 {
        return Err(chain.expected("`->`"));
    }
    let last = all.len() - 1;
    all[1..last].iter_mut().for_each(|end| end.is_middle = true);
    if let Some(colon) = colon {
        let amount: Result<Amount, _> = text[colon + 1..].parse();
        let at = colon..text.len();
        all[last].amount = Some(amount.map_err(|error| ChainError::amount(&error, at))?);
    }
    Ok(all)
}

/// The colon before the amount: the first outside quotes that is followed by white space. No plain
/// name contains white space, so it is part of none before the last arrow.
fn amount_colon(text: &str) -> Option<usize> {
    let from = text.rfind("->")?;
    let mut is_quoted = false;
    let mut is_escaped = false;
    let colon = text[from..].char_indices().find(|(at, c)| {
        let is_quote = *c == '"' && !is_escaped;
        is_quoted ^= is_quote;
        is_escaped = is_quoted && *c == '\\' && !is_escaped;
        let next = text[from + at + c.len_utf8()..].chars().next();
        *c == ':' && !is_quoted && next.is_some_and(char::is_whitespace)
    });
    colon.map(|(at, _)| from + at)
}

struct Chain<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Chain<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips white space and, if it comes next, `mark`.
    fn accept(&mut self, mark: &str) -> bool {
        self.skip_blank();
        let is_next = self.rest().starts_with(mark);
        self.at += if is_next { mark.len() } else { 0 };
        is_next
    }

    fn expected(&self, what: &str) -> ChainError {
        let found = match self.rest().chars().next() {
            Some(c) => format!("found `{c}`"),
            None => "the text ends".into(),
        };
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        let at = self.at..self.at + width;
        ChainError::new(format!("expected {what}, but {found}"), at)
    }

    fn end(&mut self) -> Result<AstEnd<'static>, ChainError> {
        self.skip_blank();
        let node = self.ident("a node's name")?;
        let mut end = AstEnd {
            port_at: node.at.clone(),
            node,
            path: Vec::new(),
            port: PortName::First,
            is_middle: false,
            amount: None,
        };
        while self.rest().starts_with('.') {
            if let PortName::Name(text) | PortName::Number(text) = end.port {
                let at = end.port_at.clone();
                end.path.push(Ident { text, at });
            }
            self.at += 1;
            let port = self.ident("a port's name or number")?;
            let is_number = port.text.bytes().all(|b| b.is_ascii_digit());
            end.port = match is_number && !self.text[port.at.clone()].starts_with('"') {
                true => PortName::Number(port.text),
                false => PortName::Name(port.text),
            };
            end.port_at = port.at;
        }
        Ok(end)
    }

    fn ident(&mut self, what: &str) -> Result<Ident<'static>, ChainError> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let rest = self.rest();
        let ends =
            |(i, c): (usize, char)| is_special(c) || (c == '-' && rest[i..].starts_with("->"));
        let plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        // Most names are short and plain.
        let from = rest.as_bytes().iter().take_while(|b| plain(b)).count();
        let mut others = rest[from..].char_indices().map(|(i, c)| (from + i, c));
        let length = others.find(|x| ends(*x)).map_or(rest.len(), |(i, _)| i);
        if length == 0 {
            return Err(self.expected(what));
        }
        let at = self.at..self.at + length;
        self.at = at.end;
        Ok(Ident {
            text: Cow::Owned(rest[..length].to_owned()),
            at,
        })
    }

    fn quoted(&mut self) -> Result<Ident<'static>, ChainError> {
        let rest = self.rest();
        let mut escaped = true; // the opening quote
        let end = rest.bytes().position(|b| {
            let is_end = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            is_end
        });
        let at = self.at..self.at + end.map_or(rest.len(), |end| end + 1);
        let text = serde_json::from_str::<String>(&self.text[at.clone()]);
        let Ok(text) = text else {
            let message = "a name in quotes has JSON escapes and a quote at its end".into();
            return Err(ChainError::new(message, at));
        };
        self.at = at.end;
        Ok(Ident {
            text: Cow::Owned(text),
            at,
        })
    }
}

/// Returns true if `c` cannot be in a name without quotes.
fn is_special(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '.' | '"')
}

/// A node's name as it is written in a chain.
pub(super) fn quote_if_needed(name: &str) -> String {
    let is_plain = !name.is_empty() && !name.contains(is_special) && !name.contains("->");
    match is_plain {
        true => name.into(),
        false => serde_json::Value::from(name).to_string(),
    }
}
