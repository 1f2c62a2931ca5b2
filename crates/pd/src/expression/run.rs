//! Evaluation: one loop over the code of an outlet.

use super::code::{Instruction, Program};
use super::operand::{Fault, Operand};
use super::surroundings::Surroundings;
use crate::signal::BLOCK;

/// Room for an evaluation.
pub(crate) struct Stack {
    pub(super) operands: Vec<Operand>,
    /// A block for each place; none where the program has no blocks.
    pub(super) blocks: Vec<[f32; BLOCK]>,
}

impl Stack {
    /// Room for a program.
    ///
    /// Real-time: setup.
    pub(crate) fn new(program: &Program, has_blocks: bool) -> Self {
        // A condition that is one number and false leaves a zero in place of its first branch.
        let depth = program.depth + 1;
        Self {
            operands: Vec::with_capacity(depth),
            blocks: vec![[0.0; BLOCK]; if has_blocks { depth } else { 0 }],
        }
    }

    /// Evaluates an outlet.
    ///
    /// Real-time: hot.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        outlet: usize,
        around: &mut Surroundings<'_>,
    ) -> Operand {
        self.operands.clear();
        let code = &program.outlets[outlet];
        let mut at = 0;
        while let Some(instruction) = code.get(at) {
            at = self.step(*instruction, at + 1, around);
        }
        self.operands.pop().unwrap_or(Operand::Int(0))
    }

    /// Writes the result of [`Stack::run`] as a block.
    pub(crate) fn write(&self, result: Operand, to: &mut [f32], around: &Surroundings<'_>) {
        match result {
            Operand::Block => to.copy_from_slice(&self.blocks[0][..to.len()]),
            Operand::Inlet(inlet) => to.copy_from_slice(around.block(inlet)),
            number => to.fill(number.number()),
        }
    }

    pub(super) fn pop(&mut self) -> Operand {
        self.operands.pop().expect("the parser counts operands")
    }

    /// Does one instruction; gives the number of the next.
    fn step(
        &mut self,
        instruction: Instruction,
        next: usize,
        around: &mut Surroundings<'_>,
    ) -> usize {
        let result = match instruction {
            Instruction::Int(number) => Operand::Int(number),
            Instruction::Float(number) => Operand::Float(number),
            Instruction::Name(name) => Operand::Name(Some(around.names[usize::from(name)])),
            Instruction::NameOfInlet(inlet) | Instruction::Inlet(inlet) => {
                around.inlets[usize::from(inlet)]
            }
            Instruction::Block(inlet) => Operand::Inlet(inlet),
            Instruction::Sample(inlet) => {
                let index = around.samples.as_ref().map_or(0, |samples| samples.index);
                Operand::Float(around.block(inlet).get(index).copied().unwrap_or(0.0))
            }
            Instruction::Result(outlet) => {
                Operand::Float(around.past(Instruction::ResultAt(outlet), Operand::Int(-1)))
            }
            Instruction::SampleAt(_) | Instruction::ResultAt(_) => {
                let index = self.pop();
                Operand::Float(around.past(instruction, index))
            }
            Instruction::Table(_) | Instruction::TableOfInlet(_) => {
                let index = self.pop();
                Operand::Float(around.point(instruction, index, None).unwrap_or(0.0))
            }
            Instruction::NoTable => {
                self.pop();
                around.fail(Fault::NoArgument);
                Operand::Int(0)
            }
            Instruction::Variable(name) => {
                let name = around.names[usize::from(name)];
                let value = around.storage.value(name);
                if value.is_none() {
                    around.fail(Fault::NoVariable(name));
                }
                Operand::Float(value.unwrap_or(0.0))
            }
            Instruction::Index => {
                let index = around.samples.as_ref().map_or(0, |samples| samples.index);
                #[expect(clippy::cast_precision_loss, reason = "an index in a block")]
                Operand::Float(index as f32)
            }
            Instruction::StoreVariable(_)
            | Instruction::StoreTable(_)
            | Instruction::StoreTableOfInlet(_) => self.store(instruction, around),
            Instruction::Unary(operator) => self.unary(operator, around),
            Instruction::Binary(operator) => self.binary(operator, around),
            Instruction::Call(function) => self.call(function, around),
            Instruction::If(otherwise) => {
                let condition = *self.operands.last().expect("the parser counts operands");
                if matches!(condition, Operand::Block | Operand::Inlet(_)) || condition.is_true() {
                    return next;
                }
                self.operands.push(Operand::Int(0));
                return otherwise as usize;
            }
            Instruction::Else(end) => {
                let condition = self.operands.len() - 2;
                if matches!(self.operands[condition], Operand::Block | Operand::Inlet(_)) {
                    return next;
                }
                self.drop_below(1);
                return end as usize;
            }
            Instruction::Select => {
                self.select(around);
                return next;
            }
        };
        self.operands.push(result);
        next
    }

    /// Removes the `count` operands below the topmost.
    pub(super) fn drop_below(&mut self, count: usize) {
        let top = self.operands.len() - 1;
        if matches!(self.operands[top], Operand::Block) {
            self.blocks.swap(top, top - count);
        }
        self.operands[top - count] = self.operands[top];
        self.operands.truncate(top - count + 1);
    }
}
