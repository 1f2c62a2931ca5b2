//! [`Operand`]: a value of an evaluation; [`Fault`]: what went wrong in one.

use crate::control::Symbol;
use crate::state::{Held, StateReader, StateWriter, Unfit, held_arrays};

/// A value. A block lies beside the stack, in the place of the same number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Int(i64),
    Float(f32),
    Name(Option<Symbol>),
    Block,
    /// The block of an inlet of signals, which is not copied.
    Inlet(u8),
}

impl Operand {
    /// The number; 0 of what is none.
    pub(crate) fn number(self) -> f32 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "as in C")]
            Self::Int(number) => number as f32,
            Self::Float(number) => number,
            _ => 0.0,
        }
    }

    /// A whole number, as an index is read.
    pub(super) fn index(self) -> i64 {
        match self {
            Self::Int(number) => number,
            #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
            other => other.number() as i64,
        }
    }

    pub(super) fn is_true(self) -> bool {
        match self {
            Self::Int(number) => number != 0,
            other => other.number() != 0.0,
        }
    }
}

/// Its type stays as it is.
impl Held for Operand {
    fn save(&self, state: &mut StateWriter<'_>) {
        match self {
            Self::Int(number) => number.save(state),
            Self::Float(number) => number.save(state),
            Self::Name(name) => name.save(state),
            Self::Block | Self::Inlet(_) => {}
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        match self {
            Self::Int(number) => number.load(state),
            Self::Float(number) => number.load(state),
            Self::Name(name) => name.load(state),
            Self::Block | Self::Inlet(_) => Ok(()),
        }
    }
}

held_arrays!(Operand);

/// A mistake in an evaluation. The result is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    DivisionByZero,
    NoTable(Symbol),
    NoVariable(Symbol),
    /// No symbol has come to this inlet, from 0.
    NoSymbol(u8),
    NoArgument,
    /// A symbol where a number is needed, or the other way round.
    WrongType,
}
