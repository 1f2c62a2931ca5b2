//! Operators on numbers, by the rules of C.

use crate::whole_number::whole_number;

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Negate,
    Not,
    Invert,
}

impl UnaryOperator {
    pub(super) fn of_int(self, a: i64) -> i64 {
        match self {
            Self::Negate => a.wrapping_neg(),
            Self::Not => i64::from(a == 0),
            Self::Invert => !a,
        }
    }

    pub(super) fn of_float(self, a: f32) -> f32 {
        match self {
            Self::Negate => -a,
            Self::Not => truth(a == 0.0),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "as in C"
            )]
            Self::Invert => !(a as i64) as f32,
        }
    }
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    LogicalOr,
    LogicalAnd,
    Or,
    Xor,
    And,
    NotEqual,
    Equal,
    GreaterOrEqual,
    Greater,
    LessOrEqual,
    Less,
    ShiftRight,
    ShiftLeft,
    Subtract,
    Add,
    Remainder,
    Divide,
    Multiply,
}

impl BinaryOperator {
    /// Operators of a higher precedence are computed first; of the same, the left one.
    pub(super) fn precedence(self) -> u8 {
        match self {
            Self::LogicalOr => 1,
            Self::LogicalAnd => 2,
            Self::Or => 3,
            Self::Xor => 4,
            Self::And => 5,
            Self::NotEqual | Self::Equal => 6,
            Self::GreaterOrEqual | Self::Greater | Self::LessOrEqual | Self::Less => 7,
            Self::ShiftRight | Self::ShiftLeft => 8,
            Self::Subtract | Self::Add => 9,
            Self::Remainder | Self::Divide | Self::Multiply => 10,
        }
    }

    /// Returns true if the operator divides.
    pub(super) fn divides(self) -> bool {
        matches!(self, Self::Divide | Self::Remainder)
    }

    pub(super) fn of_ints(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Multiply => a.wrapping_mul(b),
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::Divide if b == 0 => 0,
            Self::Divide => a.wrapping_div(b),
            Self::Less => i64::from(a < b),
            Self::LessOrEqual => i64::from(a <= b),
            Self::Greater => i64::from(a > b),
            Self::GreaterOrEqual => i64::from(a >= b),
            Self::Equal => i64::from(a == b),
            Self::NotEqual => i64::from(a != b),
            #[expect(clippy::cast_possible_truncation, reason = "as in C")]
            operator => i64::from(operator.of_words(a as i32, b as i32)),
        }
    }

    pub(super) fn of_floats(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Multiply => a * b,
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Divide if b == 0.0 => 0.0,
            Self::Divide => a / b,
            Self::Less => truth(a < b),
            Self::LessOrEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterOrEqual => truth(a >= b),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            #[expect(clippy::cast_precision_loss, reason = "as in C")]
            operator => operator.of_words(whole_number(a.into()), whole_number(b.into())) as f32,
        }
    }

    /// Operators that see integers of 32 bits, whatever they are given.
    fn of_words(self, a: i32, b: i32) -> i32 {
        match self {
            Self::ShiftLeft => a.wrapping_shl(b.cast_unsigned()),
            Self::ShiftRight => a.wrapping_shr(b.cast_unsigned()),
            Self::And => a & b,
            Self::Xor => a ^ b,
            Self::Or => a | b,
            Self::LogicalAnd => i32::from(a != 0 && b != 0),
            Self::LogicalOr => i32::from(a != 0 || b != 0),
            Self::Remainder if b != 0 => a.wrapping_rem(b),
            _ => 0,
        }
    }
}

fn truth(is_true: bool) -> f32 {
    f32::from(u8::from(is_true))
}
