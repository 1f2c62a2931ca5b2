//! A node as nearly every session has it: a header, then one key and one short value a line.
//!
//! Reads only what it understands to the last byte, and then as the TOML reader would; gives nothing for the rest.

use super::scalar::Scalar;
use crate::draft::Word;
use crate::source::Span;

/// More keys than a plain node has.
const MOST_KEYS: usize = 24;

/// `key = value`, with the place of the value.
pub(super) type PlainEntry<'t> = (Word<'t>, Scalar<'t>, Span);

/// The name of the plain node that `text` says from `at` on, up to its end, and its entries; `None` if it says anything
/// else.
pub(super) fn node<'t>(
    text: &'t str,
    at: usize,
    entries: &mut Vec<PlainEntry<'t>>,
) -> Option<Word<'t>> {
    entries.clear();
    let mut line = Line { text, at };
    line.skip_blank()?;
    line.expect(b"[nodes.")?;
    let name = match line.peek() {
        Some(b'"') => {
            let quoted = line.quoted()?;
            let inside = &text[quoted.start + 1..quoted.end - 1];
            word(inside, quoted)
        }
        _ => line.bare()?,
    };
    line.expect(b"]")?;
    line.end()?;
    line.skip_blank()?;
    while line.at < text.len() {
        let key = line.bare()?;
        line.skip_space();
        line.expect(b"=")?;
        line.skip_space();
        let start = line.at;
        let value = line.value()?;
        let at = start..line.at;
        line.end()?;
        let is_known = entries.iter().any(|(k, ..)| k.text == key.text);
        if is_known || entries.len() == MOST_KEYS {
            return None;
        }
        entries.push((key, value, at));
        line.skip_blank()?;
    }
    Some(name)
}

fn word(text: &str, at: Span) -> Word<'_> {
    Word {
        text: text.into(),
        at,
    }
}

struct Line<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Line<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes behind the bytes that are `wanted`.
    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> Span {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += rest.iter().position(|b| !wanted(*b)).unwrap_or(rest.len());
        start..self.at
    }

    fn skip_space(&mut self) {
        self.skip(|b| b == b' ' || b == b'\t');
    }

    fn expect(&mut self, bytes: &[u8]) -> Option<()> {
        let is = self.text.as_bytes()[self.at..].starts_with(bytes);
        self.at += bytes.len();
        is.then_some(())
    }

    /// Goes behind the end of the line, and a comment before it.
    fn end(&mut self) -> Option<()> {
        self.skip_space();
        if self.peek() == Some(b'#') {
            self.skip(|b| b == b'\t' || (b >= b' ' && b != 0x7f));
        }
        match self.peek() {
            None => Some(()),
            Some(b'\r') => self.expect(b"\r\n"),
            Some(_) => self.expect(b"\n"),
        }
    }

    /// Goes behind lines that say nothing, and the space before the first one that does.
    fn skip_blank(&mut self) -> Option<()> {
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'\r' | b'\n' | b'#') => self.end()?,
                _ => return Some(()),
            }
        }
    }

    /// A name without quotes.
    fn bare(&mut self) -> Option<Word<'t>> {
        let at = self.skip(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        (!at.is_empty()).then(|| word(&self.text[at.clone()], at))
    }

    /// A text on one line without escapes, with its quotes.
    fn quoted(&mut self) -> Option<Span> {
        let start = self.at;
        self.expect(b"\"")?;
        self.skip(|b| !matches!(b, b'"' | b'\\' | 0x7f) && (b >= b' ' || b == b'\t'));
        self.expect(b"\"")?;
        Some(start..self.at)
    }

    fn value(&mut self) -> Option<Scalar<'t>> {
        if self.peek() == Some(b'"') {
            let at = self.quoted()?;
            return Some(Scalar::Text(self.text[at.start + 1..at.end - 1].into()));
        }
        let at = self.skip(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
        match &self.text[at] {
            "true" => Some(Scalar::Flag(true)),
            "false" => Some(Scalar::Flag(false)),
            number => decimal(number),
        }
    }
}

/// A number in the decimal notation that most are in.
fn decimal(text: &str) -> Option<Scalar<'_>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let is_whole = |s: &str| is_digits(s) && (s == "0" || !s.starts_with('0'));
    if is_whole(unsigned) {
        return text.parse().ok().map(Scalar::Whole);
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    let is_number =
        is_whole(whole) && fraction.is_none_or(is_digits) && exponent.is_none_or(is_digits);
    let number = text.parse().ok().filter(|n: &f64| n.is_finite());
    number.filter(|_| is_number).map(Scalar::Real)
}
