//! An edge or a chain of them, as the texts in `edges` have it: `a.out -> b.2 -> "an odd name"`.

use crate::draft::{DraftEnd, PortWord, Word};
use crate::source::Span;
use std::borrow::Cow;

/// Why a chain cannot be read, and where in its text.
pub(super) struct ChainError {
    pub(super) message: String,
    pub(super) at: Span,
}

/// The ends of the chain `text`, with places in it.
pub(super) fn ends<'t>(text: &'t str) -> Result<Vec<DraftEnd<'t>>, ChainError> {
    let mut chain = Chain { text, at: 0 };
    let mut all = vec![chain.end()?];
    while chain.blank_then("->") {
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

    fn blank_then(&mut self, mark: &str) -> bool {
        self.skip_blank();
        let is = self.rest().starts_with(mark);
        self.at += if is { mark.len() } else { 0 };
        is
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

    fn end(&mut self) -> Result<DraftEnd<'t>, ChainError> {
        self.skip_blank();
        let node = self.word("a node's name")?;
        let mut end = DraftEnd {
            port_at: node.at.clone(),
            node,
            port: PortWord::First,
            is_middle: false,
        };
        if self.rest().starts_with('.') {
            self.at += 1;
            let port = self.word("a port's name or number")?;
            let is_number = port.text.bytes().all(|b| b.is_ascii_digit());
            end.port = match is_number && !self.text[port.at.clone()].starts_with('"') {
                true => PortWord::Number(port.text.parse().unwrap_or(u64::MAX)),
                false => PortWord::Name(port.text),
            };
            end.port_at = port.at;
        }
        Ok(end)
    }

    fn word(&mut self, what: &str) -> Result<Word<'t>, ChainError> {
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
        Ok(Word {
            text: Cow::Borrowed(&rest[..length]),
            at,
        })
    }

    fn quoted(&mut self) -> Result<Word<'t>, ChainError> {
        let rest = self.rest();
        let mut escaped = true; // the first quote
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
        Ok(Word {
            text: Cow::Owned(text),
            at,
        })
    }
}

/// Whether `c` cannot stand in a name without quotes.
fn is_special(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '.' | '"')
}

/// `name` as a chain has it.
pub(super) fn written(name: &str) -> String {
    let is_plain = !name.is_empty() && !name.contains(is_special) && !name.contains("->");
    match is_plain {
        true => name.into(),
        false => serde_json::Value::from(name).to_string(),
    }
}
