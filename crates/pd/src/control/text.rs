//! [`Texts`]: texts by name, as `text define`, `textfile` and `qlist` hold them: words with their separators.

use super::symbol::{Symbol, Symbols};
use super::value::Value;
use crate::file::{Atom, parse_float};
use std::collections::HashMap;
use std::fmt::Write;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TextWord {
    Value(Value),
    Comma,
    Semicolon,
    /// `$1`: an argument of the sequence that sends the line.
    Dollar(u32),
    /// A symbol with arguments in it.
    DollarSymbol(Symbol),
}

impl TextWord {
    /// Returns true if a line ends here.
    pub(crate) fn ends_line(self) -> bool {
        matches!(self, Self::Comma | Self::Semicolon)
    }

    /// The word of a saved text.
    pub(crate) fn of_atom(atom: &Atom, symbols: &mut Symbols) -> Self {
        match atom {
            Atom::Float(number) => Self::Value(Value::Float(*number)),
            Atom::Symbol(text) => Self::restored(text, symbols),
            Atom::Comma => Self::Comma,
            Atom::Semicolon => Self::Semicolon,
            Atom::Dollar(number) => Self::Dollar(*number),
            Atom::DollarSymbol(text) => Self::DollarSymbol(symbols.intern(text)),
        }
    }

    /// The word that a value of a message stands for: the symbol `;` is a separator.
    pub(crate) fn of_value(value: Value, symbols: &mut Symbols) -> Self {
        match value {
            Value::Float(_) | Value::Pointer(_) => Self::Value(value),
            Value::Symbol(symbol) => {
                let text = symbols.text(symbol).to_owned();
                Self::restored(&text, symbols)
            }
        }
    }

    fn restored(text: &str, symbols: &mut Symbols) -> Self {
        match text {
            ";" => Self::Semicolon,
            "," => Self::Comma,
            _ if has_dollar(text) => dollar(text, symbols),
            _ => Self::Value(Value::Symbol(symbols.intern(&unescaped(text)))),
        }
    }

    /// The word alone as a value.
    pub(crate) fn plain_value(self, symbols: &mut Symbols) -> Value {
        match self {
            Self::Value(value) => value,
            other => other.to_value(symbols),
        }
    }

    /// The value that stands for the word in a list from which a text can be made again.
    pub(crate) fn to_value(self, symbols: &mut Symbols) -> Value {
        match self {
            Self::Value(Value::Symbol(symbol)) => {
                let text = symbols.text(symbol);
                match text.contains([';', ',', '$']) {
                    true => {
                        let text = escaped(text);
                        Value::Symbol(symbols.intern(&text))
                    }
                    false => Value::Symbol(symbol),
                }
            }
            Self::Value(value) => value,
            other => {
                let text = other.text(symbols);
                Value::Symbol(symbols.intern(&text))
            }
        }
    }

    /// The word as it is written in a file.
    pub(crate) fn text(self, symbols: &Symbols) -> String {
        let mut text = String::new();
        self.write(symbols, &mut text).expect("a text has room");
        text
    }

    /// Writes the word as it stands in a file.
    ///
    /// Real-time: as writing to `to`.
    pub(super) fn write(self, symbols: &Symbols, to: &mut dyn Write) -> std::fmt::Result {
        match self {
            Self::Value(Value::Symbol(symbol)) => write_escaped(symbols.text(symbol), to),
            Self::Value(value) => value.write(symbols, to),
            Self::Comma => to.write_str(","),
            Self::Semicolon => to.write_str(";"),
            Self::Dollar(number) => write!(to, "${number}"),
            Self::DollarSymbol(symbol) => to.write_str(symbols.text(symbol)),
        }
    }
}

fn has_dollar(text: &str) -> bool {
    let mut dollars = text.match_indices('$');
    dollars.any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
}

fn dollar(text: &str, symbols: &mut Symbols) -> TextWord {
    match text
        .strip_prefix('$')
        .and_then(|digits| digits.parse().ok())
    {
        Some(number) => TextWord::Dollar(number),
        None => TextWord::DollarSymbol(symbols.intern(text)),
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

/// Writes a symbol with a backslash before what would end it or mean something else.
pub(crate) fn write_escaped(text: &str, to: &mut dyn Write) -> std::fmt::Result {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_dollar = c == '$' && rest.peek().is_some_and(char::is_ascii_digit);
        if matches!(c, ';' | ',' | '\\' | ' ') || is_dollar {
            to.write_char('\\')?;
        }
        to.write_char(c)?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_escaped(text, &mut out).expect("a text has room");
    out
}

/// The words of a file. With `by_lines` each end of a line is a separator.
pub(crate) fn parse_text(text: &str, by_lines: bool, symbols: &mut Symbols) -> Vec<TextWord> {
    let mut words = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        match c {
            '\n' if by_lines => words.push(TextWord::Semicolon),
            ' ' | '\n' | '\r' | '\t' => {}
            ';' => words.push(TextWord::Semicolon),
            ',' => words.push(TextWord::Comma),
            _ => {
                let mut word = String::new();
                while let Some(&c) = chars.peek() {
                    if matches!(c, ' ' | '\n' | '\r' | '\t' | ';' | ',') {
                        break;
                    }
                    word.push(c);
                    chars.next();
                    if c == '\\' {
                        word.extend(chars.next());
                    }
                }
                words.push(of_word(&word, symbols));
                continue;
            }
        }
        chars.next();
    }
    words
}

fn of_word(word: &str, symbols: &mut Symbols) -> TextWord {
    if let Some(number) = parse_float(word) {
        return TextWord::Value(Value::Float(number));
    }
    let text = unescaped(word);
    let mut dollars = word.match_indices('$');
    let is_dollar = |(at, _): (usize, &str)| {
        !word[..at].ends_with('\\') && word[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    };
    match dollars.any(is_dollar) {
        true => dollar(&text, symbols),
        false => TextWord::Value(Value::Symbol(symbols.intern(&text))),
    }
}

/// Writes the text of a file. With `by_lines` the end of a line stands for `;`.
///
/// Real-time: as writing to `to`.
pub(crate) fn write_text(
    words: &[TextWord],
    by_lines: bool,
    symbols: &Symbols,
    to: &mut dyn Write,
) -> std::fmt::Result {
    let mut has_space = false;
    for word in words {
        // No space before the end of a line.
        if has_space && !word.ends_line() {
            to.write_char(' ')?;
        }
        let is_end = *word == TextWord::Semicolon;
        if !(by_lines && is_end) {
            word.write(symbols, to)?;
        }
        if is_end {
            to.write_char('\n')?;
        }
        has_space = !is_end;
    }
    match has_space {
        true => to.write_char(' '),
        false => Ok(()),
    }
}

/// Bytes of the text of a file.
pub(crate) fn text_bytes(words: &[TextWord], by_lines: bool, symbols: &Symbols) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = write_text(words, by_lines, symbols, &mut count);
    count.0
}

/// The range of a line, without its end.
pub(crate) fn line_of(words: &[TextWord], line: usize) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for _ in 0..line {
        start += words
            .get(start..)?
            .iter()
            .position(|word| word.ends_line())?
            + 1;
    }
    let rest = words.get(start..).filter(|rest| !rest.is_empty())?;
    let length = rest.iter().position(|word| word.ends_line());
    Some(start..start + length.unwrap_or(rest.len()))
}

/// Texts by name.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    names: HashMap<Symbol, usize>,
    texts: Vec<Vec<TextWord>>,
    /// Numbers of texts that are gone; their memory stays for the next ones.
    free: Vec<usize>,
    /// Number of those that were there when the patch was loaded.
    loaded: usize,
}

impl Texts {
    /// Adds a text. Of two with one name the last is found, as in Pd.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, name: Option<Symbol>, words: Vec<TextWord>) -> usize {
        self.texts.push(words);
        let number = self.texts.len() - 1;
        if let Some(name) = name {
            self.names.insert(name, number);
        }
        number
    }

    /// Adds an empty text without a name.
    ///
    /// Real-time: takes memory where there are more of them than ever before.
    pub(crate) fn add_unnamed(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.texts.push(Vec::new());
            self.texts.len() - 1
        })
    }

    /// Removes a text, and its name if it has one.
    ///
    /// Real-time: setup.
    pub(crate) fn forget(&mut self, number: usize) {
        self.names.retain(|_, named| *named != number);
        self.remove(number);
    }

    /// Removes a text without a name.
    ///
    /// Real-time: takes memory where more of them are gone than ever before.
    pub(crate) fn remove(&mut self, number: usize) {
        self.texts[number].clear();
        self.free.push(number);
    }

    /// The texts of the patch as it was loaded, by number, to be saved; those that are made later belong to scalars.
    pub(super) fn loaded(&self) -> &[Vec<TextWord>] {
        &self.texts[..self.loaded]
    }

    /// The same, to be changed.
    pub(super) fn loaded_mut(&mut self) -> &mut [Vec<TextWord>] {
        &mut self.texts[..self.loaded]
    }

    /// Counts those that are there as the patch's own.
    pub(super) fn end_loading(&mut self) {
        self.loaded = self.texts.len();
    }

    /// The number of a text.
    pub(crate) fn find(&self, name: Symbol) -> Option<usize> {
        self.names.get(&name).copied()
    }

    /// Its words, to be read.
    pub(crate) fn get(&self, number: usize) -> &[TextWord] {
        &self.texts[number]
    }

    /// Its words.
    pub(crate) fn words(&mut self, number: usize) -> &mut Vec<TextWord> {
        &mut self.texts[number]
    }
}
