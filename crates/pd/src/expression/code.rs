//! [`Program`]: what the box computes, as postfix code.

use super::functions::Function;
use super::operators::{BinaryOperator, UnaryOperator};
use crate::class::Ports;

/// One instruction. It takes its operands from the stack and leaves its result there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Int(i64),
    Float(f32),
    /// The name of an array, for a function: its number in the program.
    Name(u16),
    /// The symbol at an inlet, for a function.
    NameOfInlet(u8),
    /// The number at an inlet.
    Inlet(u8),
    /// The block at an inlet of signals, counted among these.
    Block(u8),
    /// The sample at an inlet of signals now.
    Sample(u8),
    /// The sample at an inlet of signals, at an index of 0 or less from now.
    SampleAt(u8),
    /// The last sample of an outlet.
    Result(u8),
    /// The sample of an outlet, at an index below 0 from now.
    ResultAt(u8),
    /// A point of an array by name.
    Table(u16),
    /// A point of the array that an inlet names.
    TableOfInlet(u8),
    /// A point of an array whose name is an argument that is missing: 0.
    NoTable,
    /// The number of a `value`.
    Variable(u16),
    /// Index of the sample in its block.
    Index,
    StoreVariable(u16),
    StoreTable(u16),
    StoreTableOfInlet(u8),
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Call(Function),
    /// Looks at a condition: goes on if it is true or a block, else leaves a zero and goes to the instruction of this number.
    If(u32),
    /// Ends the first branch of a condition that is one number.
    Else(u32),
    /// Takes a condition and both branches.
    Select,
}

/// Type of an inlet, by the letter of its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InletType {
    /// No variable names it: it takes numbers and ignores them.
    Unused,
    Int,
    Float,
    Symbol,
    Signal,
}

/// An array or a variable, by the number of its name, and true if it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    Array(usize, bool),
    Variable(usize, bool),
    /// The array that a message names.
    AnyArray(bool),
}

/// What a box computes.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Types of the inlets, at least one. The first one of `expr~` and `fexpr~` is a signal.
    pub(crate) inlets: Vec<InletType>,
    /// Code of each outlet.
    pub(super) outlets: Vec<Vec<Instruction>>,
    /// Names of arrays and variables.
    pub(crate) names: Vec<Box<str>>,
    /// Operands on the stack at once, at most.
    pub(super) depth: usize,
    pub(super) has_signal_outlets: bool,
}

impl Program {
    /// Number of outlets.
    pub(crate) fn outlet_count(&self) -> usize {
        self.outlets.len()
    }

    /// Number of inlets of signals.
    pub(crate) fn signal_count(&self) -> usize {
        let signals = self.inlets.iter();
        signals.filter(|kind| **kind == InletType::Signal).count()
    }

    /// Arrays and variables that the program reads or, where true, changes.
    pub(crate) fn touched(&self) -> impl Iterator<Item = Touched> + '_ {
        let code = self.outlets.iter().flatten();
        code.filter_map(|instruction| {
            Some(match *instruction {
                Instruction::Name(name) | Instruction::Table(name) => {
                    Touched::Array(name.into(), false)
                }
                Instruction::StoreTable(name) => Touched::Array(name.into(), true),
                Instruction::Variable(name) => Touched::Variable(name.into(), false),
                Instruction::StoreVariable(name) => Touched::Variable(name.into(), true),
                Instruction::NameOfInlet(_) | Instruction::TableOfInlet(_) => {
                    Touched::AnyArray(false)
                }
                Instruction::StoreTableOfInlet(_) => Touched::AnyArray(true),
                _ => return None,
            })
        })
    }

    /// Inlets and outlets of the box.
    pub(crate) fn ports(&self) -> Ports {
        let inlet = |kind: &InletType| match kind {
            InletType::Signal => '~',
            _ => 'm',
        };
        let inlets: String = self.inlets.iter().map(inlet).collect();
        let outlet = if self.has_signal_outlets { "~" } else { "m" };
        Ports::of(&inlets, &outlet.repeat(self.outlets.len()))
    }
}
