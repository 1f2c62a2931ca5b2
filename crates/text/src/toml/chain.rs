//! Parses a string of `edges`: an edge or a chain of them.
//!
//! ```text
//! chain = end "->" end { "->" end }
//! end   = name [ "." port ]
//! port  = number | name                       (a number counts from 1)
//! name  = plain | "a JSON string in quotes"
//! plain = one or more characters but white space, control characters, dots, quotes and "->"
//! ```

use crate::ast::{AstEnd, Ident, PortName};
use crate::source::ByteRange;
use std::borrow::Cow;

/// The chain is wrong: why, and where in its string.
pub(super) struct ChainError {
    pub(super) message: String,
    pub(super) at: ByteRange,
}

/// Parses a chain into its ends, whose places are in `text`.
pub(super) fn parse(text: &str) -> Result<Vec<AstEnd<'static>>, ChainError> {
    let mut chain = Chain { text, at: 0 };
    let mut all = vec![chain.end()?];
    while chain.accept("->") {
        all.push(chain.end()?);
    }
    if chain.at < text.len() || all.len() < 2 {
        return Err(chain.expected("`->`"));
    }
    let last = all.len() - 1;
    all[1..last].iter_mut().for_each(|end| end.is_middle = true);
    Ok(all)
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
        ChainError {
            message: format!("expected {what}, but {found}"),
            at: self.at..self.at + width,
        }
    }

    fn end(&mut self) -> Result<AstEnd<'static>, ChainError> {
        self.skip_blank();
        let node = self.ident("a node's name")?;
        let mut end = AstEnd {
            port_at: node.at.clone(),
            node,
            port: PortName::First,
            is_middle: false,
        };
        if self.rest().starts_with('.') {
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
        let length = rest
            .char_indices()
            .find(|x| ends(*x))
            .map_or(rest.len(), |(i, _)| i);
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
            return Err(ChainError { message, at });
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
