//! `expr`, `expr~` and `fexpr~`: the text of a box to a program, and its evaluation.
//!
//! The text is read once, when the patch is loaded, into postfix code. Evaluation is one loop over that code with a stack whose depth
//! is known: no recursion, no allocation. Values are integers of 64 bits, floats of 32 bits or blocks of samples, and follow the rules
//! of C as Pd's expr does: `3/2` is 1, and `int(3.7)/2` is 1.5.
//!
//! | file | holds |
//! |---|---|
//! | `lex` | text to tokens |
//! | `parse` | tokens to code |
//! | `code` | one program |
//! | `run`, `arithmetic` | evaluation: the loop, and what an instruction does |
//! | `operand` | values |
//! | `surroundings` | what an evaluation reads and writes |
//! | `operators` | operators on numbers |
//! | `functions` | functions of one and two numbers, and of arrays |
//! | `random` | the C library's random numbers |

mod arithmetic;
mod code;
mod functions;
mod lex;
mod operand;
mod operators;
mod parse;
mod random;
mod run;
mod surroundings;

pub(crate) use code::{InletType, Program, Touched};
pub(crate) use operand::{Fault, Operand};
pub(crate) use parse::parse;
pub(crate) use random::LibraryRandom;
pub(crate) use run::Stack;
pub(crate) use surroundings::{Samples, Storage, Surroundings};

/// The class of a box: it decides which variables there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `expr`: messages.
    Messages,
    /// `expr~`: blocks.
    Blocks,
    /// `fexpr~`: sample by sample, with what came before.
    Samples,
}

impl Dialect {
    /// The dialect of a class.
    pub(crate) fn of(class: &str) -> Option<Self> {
        match class {
            "expr" => Some(Self::Messages),
            "expr~" => Some(Self::Blocks),
            "fexpr~" => Some(Self::Samples),
            _ => None,
        }
    }
}

/// The words of a box as the text that the parser reads.
pub(crate) fn text_of<T: std::fmt::Display>(words: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text += &word.to_string();
    }
    text
}
