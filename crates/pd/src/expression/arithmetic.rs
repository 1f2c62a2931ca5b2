//! Operators, functions and conditions on the operands of a [`Stack`], numbers or blocks.

use super::code::Instruction;
use super::functions::{Function, random_between};
use super::operand::{Fault, Operand};
use super::operators::{BinaryOperator, UnaryOperator};
use super::run::Stack;
use super::surroundings::Surroundings;
use crate::signal::BLOCK;
use crate::whole_number::whole_number;
use rt::vectors::{WideWork, widest};

/// Replaces each number of a block.
struct Each<'b, F>(&'b mut [f32; BLOCK], F);

impl<F: FnMut(f32) -> f32> WideWork for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(block, mut function) = self;
        for x in block {
            *x = function(*x);
        }
    }
}

/// Replaces each number of a block by a function of it and one of another, which may be shorter.
struct EachTwo<'b, F>(&'b mut [f32; BLOCK], &'b [f32], F);

impl<F: FnMut(f32, f32) -> f32> WideWork for EachTwo<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(block, other, mut function) = self;
        for (a, b) in block.iter_mut().zip(other) {
            *a = function(*a, *b);
        }
    }
}

impl Stack {
    pub(super) fn store(
        &mut self,
        instruction: Instruction,
        around: &mut Surroundings<'_>,
    ) -> Operand {
        let value = self.pop();
        if !matches!(value, Operand::Int(_) | Operand::Float(_)) {
            around.fail(Fault::WrongType);
        }
        if let Instruction::StoreVariable(name) = instruction {
            let name = around.names[usize::from(name)];
            if !around.storage.set_value(name, value.number()) {
                around.fail(Fault::NoVariable(name));
                return Operand::Int(0);
            }
        } else {
            let index = self.pop();
            if around
                .point(instruction, index, Some(value.number()))
                .is_none()
            {
                return Operand::Float(0.0);
            }
        }
        match value {
            Operand::Int(_) | Operand::Float(_) => value,
            _ => Operand::Float(0.0),
        }
    }

    pub(super) fn unary(
        &mut self,
        operator: UnaryOperator,
        around: &mut Surroundings<'_>,
    ) -> Operand {
        match self.pop() {
            Operand::Int(number) => Operand::Int(operator.of_int(number)),
            Operand::Name(_) => wrong_type(around),
            operand => self.map(operand, around, |x| operator.of_float(x)),
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        around: &mut Surroundings<'_>,
    ) -> Operand {
        let (right, left) = (self.pop(), self.pop());
        let mut has_divided_by_zero = false;
        let result = match (left, right) {
            (Operand::Name(_), _) | (_, Operand::Name(_)) => wrong_type(around),
            (Operand::Int(left), Operand::Int(right)) => {
                has_divided_by_zero = right == 0;
                Operand::Int(operator.of_ints(left, right))
            }
            // Loops of their own: they run in vectors.
            _ => match operator {
                BinaryOperator::Divide => self.zip(left, right, around, |a, b| {
                    has_divided_by_zero |= b == 0.0;
                    BinaryOperator::Divide.of_floats(a, b)
                }),
                BinaryOperator::Remainder => self.zip(left, right, around, |a, b| {
                    has_divided_by_zero |= whole_number(b.into()) == 0;
                    BinaryOperator::Remainder.of_floats(a, b)
                }),
                BinaryOperator::Add => self.zip(left, right, around, |a, b| a + b),
                BinaryOperator::Subtract => self.zip(left, right, around, |a, b| a - b),
                BinaryOperator::Multiply => self.zip(left, right, around, |a, b| a * b),
                _ => self.zip(left, right, around, |a, b| operator.of_floats(a, b)),
            },
        };
        if has_divided_by_zero && operator.divides() {
            around.fail(Fault::DivisionByZero);
        }
        result
    }

    /// A function of one number. Of an integer it gives an integer if `keeps_int`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "as in Pd"
    )]
    #[inline(always)]
    fn one(
        &mut self,
        keeps_int: bool,
        around: &mut Surroundings<'_>,
        function: impl Fn(f64) -> f64,
    ) -> Operand {
        match self.pop() {
            Operand::Int(number) if keeps_int => {
                Operand::Int(i64::from(function(number as f64) as i32))
            }
            Operand::Name(_) => wrong_type(around),
            operand => self.map(operand, around, |x| function(f64::from(x)) as f32),
        }
    }

    /// A function of two numbers. Of two integers it gives an integer if `keeps_int`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "as in Pd"
    )]
    #[inline(always)]
    fn two(
        &mut self,
        keeps_int: bool,
        around: &mut Surroundings<'_>,
        function: impl Fn(f64, f64) -> f64,
    ) -> Operand {
        let (right, left) = (self.pop(), self.pop());
        match (left, right) {
            (Operand::Name(_), _) | (_, Operand::Name(_)) => wrong_type(around),
            (Operand::Int(left), Operand::Int(right)) if keeps_int => {
                Operand::Int(i64::from(function(left as f64, right as f64) as i32))
            }
            _ => self.zip(left, right, around, |a, b| {
                function(f64::from(a), f64::from(b)) as f32
            }),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "as in Pd")]
    pub(super) fn call(&mut self, function: Function, around: &mut Surroundings<'_>) -> Operand {
        match function {
            Function::One {
                function,
                keeps_int,
            } => self.one(keeps_int, around, function),
            Function::Absolute => self.one(true, around, f64::abs),
            Function::SquareRoot => self.one(false, around, f64::sqrt),
            Function::Smaller => self.two(true, around, |a, b| if a > b { b } else { a }),
            Function::Larger => self.two(true, around, |a, b| if a > b { a } else { b }),
            Function::Convert(function) => match self.pop() {
                Operand::Name(_) => wrong_type(around),
                operand => self.map(operand, around, function),
            },
            Function::Two {
                function,
                keeps_int,
            } => self.two(keeps_int, around, function),
            Function::Random => {
                let (right, left) = (self.pop(), self.pop());
                let mut random = std::mem::take(around.random);
                let result = self.zip(left, right, around, |a, b| {
                    random_between(a, b, random.next())
                });
                *around.random = random;
                match (left, right, result) {
                    (Operand::Int(_), Operand::Int(_), Operand::Float(number)) => {
                        Operand::Int(number as i64)
                    }
                    (_, _, result) => result,
                }
            }
            Function::Array(function) => {
                let count = Function::Array(function).argument_count();
                let first = self.operands.len() - count;
                let result = around.array(function, &self.operands[first..]);
                self.operands.truncate(first);
                result
            }
            // It is compiled to jumps.
            Function::If => Operand::Int(0),
        }
    }

    /// One number or block to another. The operand was the topmost.
    fn map(
        &mut self,
        operand: Operand,
        around: &Surroundings<'_>,
        mut function: impl FnMut(f32) -> f32,
    ) -> Operand {
        let place = self.operands.len();
        match operand {
            Operand::Block => widest(Each(&mut self.blocks[place], function)),
            Operand::Inlet(inlet) => {
                let (to, from) = (&mut self.blocks[place], around.block(inlet));
                to[..from.len()].copy_from_slice(from);
                widest(Each(to, function));
            }
            number => return Operand::Float(function(number.number())),
        }
        Operand::Block
    }

    /// Two numbers or blocks to one. They were the topmost two.
    fn zip(
        &mut self,
        left: Operand,
        right: Operand,
        around: &Surroundings<'_>,
        mut function: impl FnMut(f32, f32) -> f32,
    ) -> Operand {
        let place = self.operands.len();
        let is_block = |operand| matches!(operand, Operand::Block | Operand::Inlet(_));
        if !is_block(left) && !is_block(right) {
            return Operand::Float(function(left.number(), right.number()));
        }
        let (low, high) = self.blocks.split_at_mut(place + 1);
        let to = &mut low[place];
        if let Operand::Inlet(inlet) = left {
            let from = around.block(inlet);
            to[..from.len()].copy_from_slice(from);
        }
        let right = match right {
            Operand::Block => Ok(&high[0][..]),
            Operand::Inlet(inlet) => Ok(around.block(inlet)),
            number => Err(number.number()),
        };
        match (is_block(left), right) {
            (true, Ok(right)) => widest(EachTwo(to, right, function)),
            (true, Err(right)) => widest(Each(to, |a| function(a, right))),
            (false, Ok(right)) => {
                let left = left.number();
                widest(EachTwo(to, right, |_, b| function(left, b)));
            }
            (false, Err(_)) => {}
        }
        Operand::Block
    }

    /// The value of a condition: of one number the branch that was computed, of a block sample by sample.
    pub(super) fn select(&mut self, around: &Surroundings<'_>) {
        let place = self.operands.len() - 3;
        let [condition, left, right] = [0, 1, 2].map(|at| self.operands[place + at]);
        if !matches!(condition, Operand::Block | Operand::Inlet(_)) {
            return self.drop_below(2);
        }
        for index in 0..BLOCK {
            let value = |operand, place: usize| match operand {
                Operand::Block => self.blocks[place][index],
                Operand::Inlet(inlet) => around.block(inlet).get(index).copied().unwrap_or(0.0),
                number => number.number(),
            };
            let is_true = value(condition, place) != 0.0;
            let value = if is_true {
                value(left, place + 1)
            } else {
                value(right, place + 2)
            };
            self.blocks[place][index] = value;
        }
        self.operands.truncate(place);
        self.operands.push(Operand::Block);
    }
}

fn wrong_type(around: &mut Surroundings<'_>) -> Operand {
    around.fail(Fault::WrongType);
    Operand::Int(0)
}
