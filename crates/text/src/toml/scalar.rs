//! A value as far as a node may have it.

use crate::ast::Ident;
use crate::source::ByteRange;
use ::toml::de::{DeString, DeValue};

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'t> {
    Text(DeString<'t>),
    Flag(bool),
    Integer(i64),
    Float(f64),
    List,
    /// Any other value, with the message about it.
    Unsupported(&'static str),
}

const TOO_LARGE: &str = "this is more than a number can hold exactly (2^53)";

impl<'t> Scalar<'t> {
    pub(super) fn new(value: &DeValue<'t>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.clone()),
            DeValue::Boolean(on) => Self::Flag(*on),
            DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => Self::Integer(n),
                Err(_) => Self::Unsupported(TOO_LARGE),
            },
            DeValue::Float(n) => match n.as_str().parse() {
                Ok(n) => Self::Float(n),
                Err(_) => Self::Float(f64::NAN),
            },
            DeValue::Array(_) => Self::List,
            DeValue::Table(_) => {
                Self::Unsupported("a node's name with a dot is put in quotes: [nodes.\"a.b\"]")
            }
            DeValue::Datetime(_) => Self::Unsupported(NO_PARAMETER),
        }
    }

    /// The value as a number, if it is finite, and exact if it is an integer.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Float(n) => Some(*n).filter(|n| n.is_finite()),
            Self::Integer(n) => (n.unsigned_abs() <= 1 << 53).then_some(*n as f64),
            _ => None,
        }
    }

    /// The value as a string.
    pub(super) fn text(self, at: &ByteRange) -> Option<Ident<'t>> {
        match self {
            Self::Text(text) => Some(Ident {
                text,
                at: at.clone(),
            }),
            _ => None,
        }
    }

    /// The value as a flag.
    pub(super) fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(on) => Some(*on),
            _ => None,
        }
    }

    /// The value as an integer from 0.
    pub(super) fn count(&self) -> Option<u32> {
        match self {
            Self::Integer(n) => u32::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The message why it cannot be a parameter.
    pub(super) fn why_no_parameter(&self) -> &'static str {
        match self {
            Self::Integer(_) => TOO_LARGE,
            Self::Float(_) => "a parameter is a finite number",
            Self::Unsupported(why) => why,
            _ => NO_PARAMETER,
        }
    }
}

const NO_PARAMETER: &str = "a parameter is a number, a text, true or false";
