//! [`EarlyMessage`]: what an object of signals keeps until its block.

use super::symbol::words;
use super::value::Value;
use super::wire::ObjectId;
use super::work::Stored;

/// Words that came before the signals of their block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum EarlyWords {
    /// A number.
    One(f32),
    /// A list of two numbers, at the left inlet.
    Two([f32; 2]),
}

impl EarlyWords {
    /// Those of a message, if they are numbers.
    pub(super) fn of(message: Stored, values: &[Value]) -> Option<Self> {
        match (message.selector, values) {
            (words::FLOAT, [Value::Float(number)]) => Some(Self::One(*number)),
            (words::LIST, [Value::Float(one), Value::Float(two)]) => Some(Self::Two([*one, *two])),
            _ => None,
        }
    }
}

/// Words that an object of signals has taken early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyMessage {
    /// Number of their block.
    pub block: u64,
    /// Logical time at which they came, in milliseconds.
    pub ms: f64,
    pub inlet: usize,
    pub words: EarlyWords,
}

/// A tick whose messages have begun to run early.
#[derive(Default)]
pub(super) struct EarlyState {
    /// Its end, while one of them waits.
    pub end: Option<f64>,
    /// Objects that have taken words in it.
    pub takers: Vec<ObjectId>,
}
