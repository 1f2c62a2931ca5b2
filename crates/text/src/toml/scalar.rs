//! A value of a key as TOML has it, as far as a node may have it.

use crate::draft::Word;
use crate::source::Span;
use ::toml::de::{DeString, DeValue};

/// A value, decoded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'t> {
    Text(DeString<'t>),
    Flag(bool),
    Whole(i64),
    Real(f64),
    List,
    /// Anything else, and what to say of it.
    Odd(&'static str),
}

const TOO_LARGE: &str = "this is more than a number can hold exactly (2^53)";

impl<'t> Scalar<'t> {
    pub(super) fn new(value: &DeValue<'t>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.clone()),
            DeValue::Boolean(on) => Self::Flag(*on),
            DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => Self::Whole(n),
                Err(_) => Self::Odd(TOO_LARGE),
            },
            DeValue::Float(n) => match n.as_str().parse() {
                Ok(n) => Self::Real(n),
                Err(_) => Self::Real(f64::NAN),
            },
            DeValue::Array(_) => Self::List,
            DeValue::Table(_) => {
                Self::Odd("a node's name that has a dot stands in quotes: [nodes.\"a.b\"]")
            }
            DeValue::Datetime(_) => Self::Odd(NO_PARAMETER),
        }
    }

    /// The number that it is, if it is finite, and exact where it is whole.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Real(n) => Some(*n).filter(|n| n.is_finite()),
            Self::Whole(n) => (n.unsigned_abs() <= 1 << 53).then_some(*n as f64),
            _ => None,
        }
    }

    pub(super) fn text(self, at: &Span) -> Option<Word<'t>> {
        match self {
            Self::Text(text) => Some(Word {
                text,
                at: at.clone(),
            }),
            _ => None,
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(on) => Some(*on),
            _ => None,
        }
    }

    /// The whole number from 0 that it is.
    pub(super) fn count(&self) -> Option<u32> {
        match self {
            Self::Whole(n) => u32::try_from(*n).ok(),
            _ => None,
        }
    }

    /// Why it can be no parameter, where it cannot.
    pub(super) fn why_not(&self) -> &'static str {
        match self {
            Self::Whole(_) => TOO_LARGE,
            Self::Real(_) => "a parameter is a finite number",
            Self::Odd(why) => why,
            _ => NO_PARAMETER,
        }
    }
}

const NO_PARAMETER: &str = "a parameter is a number, a text, true or false";
