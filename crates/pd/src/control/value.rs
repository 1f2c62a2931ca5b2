//! [`Value`] and [`Message`]: what goes along a wire.

use super::pointer::Pointer;
use super::symbol::{Symbol, Symbols, words};
use crate::file::Atom;
use std::fmt::Write;

/// A word of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Float(f32),
    Symbol(Symbol),
    /// A place in data structures.
    Pointer(Pointer),
}

impl Value {
    /// The number; that of anything else is 0.
    pub(crate) fn number(self) -> f32 {
        match self {
            Self::Float(number) => number,
            Self::Symbol(_) | Self::Pointer(_) => 0.0,
        }
    }

    /// The value of a word without dollars and separators.
    pub(crate) fn of(atom: &Atom, symbols: &mut Symbols) -> Self {
        match atom {
            Atom::Float(number) => Self::Float(*number),
            Atom::Symbol(text) => Self::Symbol(symbols.intern(text)),
            other => Self::Symbol(symbols.intern(&other.to_string())),
        }
    }

    /// Writes the text that Pd prints.
    ///
    /// Real-time: as writing to `to`.
    pub(crate) fn write(self, symbols: &Symbols, to: &mut dyn Write) -> std::fmt::Result {
        match self {
            Self::Float(number) => crate::file::write_float(to, number),
            Self::Symbol(symbol) => to.write_str(symbols.text(symbol)),
            Self::Pointer(_) => to.write_str("(pointer)"),
        }
    }

    /// The text that Pd prints.
    pub(crate) fn text(self, symbols: &Symbols) -> String {
        match self {
            Self::Float(number) => Atom::Float(number).to_string(),
            Self::Symbol(symbol) => symbols.text(symbol).to_owned(),
            Self::Pointer(_) => "(pointer)".to_owned(),
        }
    }
}

/// A message: its selector and the words behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'m> {
    /// `bang`, `float`, `symbol`, `pointer`, `list`, or any other word.
    pub selector: Symbol,
    /// One for `float`, `symbol` and `pointer`, none for `bang`.
    pub values: &'m [Value],
}

/// Returns true for two numbers, symbols or pointers.
pub(crate) fn is_same_type(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

impl<'m> Message<'m> {
    /// A list of any length, as what Pd makes of it: an empty one is a bang, one of a single value that value.
    pub(crate) fn of_list(values: &'m [Value]) -> Self {
        let selector = match values {
            [] => words::BANG,
            [Value::Float(_)] => words::FLOAT,
            [Value::Symbol(_)] => words::SYMBOL,
            [Value::Pointer(_)] => words::POINTER,
            _ => words::LIST,
        };
        Self { selector, values }
    }

    /// Words as a message box sends them: the selector first, unless they begin with a number.
    pub(crate) fn of_words(words: &'m [Value]) -> Self {
        match words {
            [Value::Symbol(selector), values @ ..] => Self {
                selector: *selector,
                values,
            },
            values => Self::of_list(values),
        }
    }

    /// The selector as a word, unless it is the name of a type.
    pub(crate) fn selector_word(&self) -> Option<Value> {
        let types = [
            words::LIST,
            words::FLOAT,
            words::SYMBOL,
            words::BANG,
            words::POINTER,
        ];
        (!types.contains(&self.selector)).then_some(Value::Symbol(self.selector))
    }

    /// The value that an inlet takes which holds one: a number, a symbol or a pointer, also as a list of nothing else.
    pub(crate) fn one_value(&self) -> Option<Value> {
        match (self.selector, self.values) {
            (words::FLOAT, [value @ Value::Float(_), ..])
            | (words::SYMBOL, [value @ Value::Symbol(_), ..])
            | (words::POINTER, [value @ Value::Pointer(_), ..])
            | (words::LIST, [value]) => Some(*value),
            (words::FLOAT, []) => Some(Value::Float(0.0)),
            _ => None,
        }
    }

    /// As [`one_value`](Self::one_value), also the first of a list.
    pub(crate) fn first_value(&self) -> Option<Value> {
        match (self.selector, self.values) {
            (words::LIST, [value, ..]) => Some(*value),
            _ => self.one_value(),
        }
    }

    /// The number that an inlet takes which holds one.
    pub(crate) fn one_number(&self) -> Option<f32> {
        match self.one_value() {
            Some(Value::Float(number)) => Some(number),
            _ => None,
        }
    }

    /// The number that an inlet takes which calls a method of Pd's: also the first of a list.
    pub(crate) fn first_number(&self) -> Option<f32> {
        match (self.selector, self.values) {
            (words::FLOAT | words::LIST, [Value::Float(number), ..]) => Some(*number),
            _ => None,
        }
    }

    /// The first number; 0 without one.
    pub(crate) fn number(&self) -> f32 {
        self.values.first().map_or(0.0, |value| value.number())
    }
}
