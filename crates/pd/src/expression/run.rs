//! Evaluation: one loop over the code of an outlet.

use super::code::{Instruction, Program};
use super::functions::{ArrayFunction, Function, random_between};
use super::operators::{BinaryOperator, UnaryOperator, word};
use super::random::LibraryRandom;
use crate::control::Symbol;
use crate::signal::{BLOCK, Inlets};

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
    fn index(self) -> i64 {
        match self {
            Self::Int(number) => number,
            #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
            other => other.number() as i64,
        }
    }

    fn is_true(self) -> bool {
        match self {
            Self::Int(number) => number != 0,
            other => other.number() != 0.0,
        }
    }
}

/// What went wrong in an evaluation. The result is 0.
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

/// What `fexpr~` looks at: blocks of samples, as many frames long as the object computes at once.
pub(crate) struct Samples<'s> {
    /// The block before, for each inlet of signals.
    pub inputs_before: &'s [Vec<f32>],
    /// The block that is being computed, for each outlet.
    pub results: &'s [Vec<f32>],
    /// The block before.
    pub results_before: &'s [Vec<f32>],
    /// Index of the sample.
    pub index: usize,
}

/// Arrays and variables by name.
pub(crate) trait Storage {
    /// Reads an array; false if there is none of the name.
    fn read(&self, name: Symbol, read: &mut dyn FnMut(&[f32])) -> bool;
    /// Changes an array; false if there is none of the name.
    fn change(&mut self, name: Symbol, change: &mut dyn FnMut(&mut [f32])) -> bool;
    /// The number of a `value`.
    fn value(&self, name: Symbol) -> Option<f32>;
    /// Changes the number of a `value`; false if there is none of the name.
    fn set_value(&mut self, name: Symbol, number: f32) -> bool;
}

/// Everything that an evaluation reads and writes.
pub(crate) struct Surroundings<'e> {
    /// Values at the inlets of messages.
    pub inlets: &'e [Operand],
    /// Names of the program.
    pub names: &'e [Symbol],
    pub storage: &'e mut dyn Storage,
    pub random: &'e mut LibraryRandom,
    /// Signals, and the range of frames that is computed now.
    pub signals: Option<(&'e Inlets<'e>, usize, usize)>,
    pub samples: Option<Samples<'e>>,
    /// The first fault of the evaluation.
    pub fault: Option<Fault>,
}

impl Surroundings<'_> {
    fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    fn block(&self, inlet: u8) -> &[f32] {
        match &self.signals {
            Some((inlets, from, to)) => inlets
                .get(usize::from(inlet))
                .get(*from..*to)
                .unwrap_or_default(),
            None => &[],
        }
    }

    /// The array's name, if it is known.
    fn table(&mut self, instruction: Instruction) -> Option<Symbol> {
        match instruction {
            Instruction::Table(name) | Instruction::StoreTable(name) => {
                Some(self.names[usize::from(name)])
            }
            Instruction::TableOfInlet(inlet) | Instruction::StoreTableOfInlet(inlet) => {
                let Operand::Name(Some(name)) = self.inlets[usize::from(inlet)] else {
                    self.fail(Fault::NoSymbol(inlet));
                    return None;
                };
                Some(name)
            }
            _ => {
                self.fail(Fault::NoArgument);
                None
            }
        }
    }

    /// A point of an array, which gets the number `new` if there is one: indices beyond the ends are those of the ends.
    fn point(&mut self, instruction: Instruction, index: Operand, new: Option<f32>) -> Option<f32> {
        if matches!(index, Operand::Name(_) | Operand::Block | Operand::Inlet(_)) {
            self.fail(Fault::WrongType);
        }
        let name = self.table(instruction)?;
        let index = usize::try_from(index.index().max(0)).unwrap_or(usize::MAX);
        let mut found = None;
        let is_there = match new {
            None => self.storage.read(name, &mut |points| {
                found = points.get(index).or(points.last()).copied();
            }),
            Some(new) => self.storage.change(name, &mut |points| {
                let last = points.len().saturating_sub(1);
                if let Some(point) = points.get_mut(index.min(last)) {
                    *point = new;
                    found = Some(new);
                }
            }),
        };
        if !is_there {
            self.fail(Fault::NoTable(name));
        }
        found
    }

    fn array(&mut self, function: ArrayFunction, arguments: &[Operand]) -> Operand {
        let name = match arguments.first() {
            Some(Operand::Name(Some(name))) => *name,
            Some(Operand::Name(None)) | None => {
                self.fail(Fault::NoArgument);
                return Operand::Float(0.0);
            }
            _ => {
                self.fail(Fault::WrongType);
                return Operand::Int(0);
            }
        };
        let bound = |at: usize| arguments.get(at).map_or(0, |argument| argument.index());
        let bounds = (bound(1), bound(2));
        let mut result = Operand::Float(0.0);
        let is_there = self.storage.read(name, &mut |points| {
            result = match function {
                ArrayFunction::Size => {
                    Operand::Int(i64::try_from(points.len()).unwrap_or(i64::MAX))
                }
                function => Operand::Float(function.of(points, bounds)),
            };
        });
        if !is_there {
            self.fail(Fault::NoTable(name));
        }
        result
    }

    /// A sample of an inlet or of an outlet, at an index of the past.
    fn past(&mut self, instruction: Instruction, index: Operand) -> f32 {
        let Some(samples) = &self.samples else {
            return 0.0;
        };
        let at = index.number();
        let (now, before, is_output) = match instruction {
            Instruction::SampleAt(inlet) => (
                self.block(inlet),
                samples.inputs_before.get(usize::from(inlet)),
                false,
            ),
            Instruction::ResultAt(outlet) => (
                samples
                    .results
                    .get(usize::from(outlet))
                    .map_or(&[][..], Vec::as_slice),
                samples.results_before.get(usize::from(outlet)),
                true,
            ),
            _ => return 0.0,
        };
        let Some(before) = before else { return 0.0 };
        let whole = word(at);
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let rest = at - whole as f32;
        match (is_output, at) {
            // The future is not known: it is now for inputs, and the last sample for outputs.
            (false, at) if at > 0.0 => interpolated(now, before, samples.index, 0, 0.0),
            (true, at) if at >= 0.0 => interpolated(now, before, samples.index, -1, rest),
            _ => interpolated(now, before, samples.index, whole, rest),
        }
    }
}

/// The sample at `index + whole`, and a part of the step from the one before it.
fn interpolated(now: &[f32], before: &[f32], index: usize, whole: i32, rest: f32) -> f32 {
    let at = |n: i64| {
        let len = i64::try_from(before.len()).unwrap_or(0);
        let found = if n >= 0 {
            now.get(usize::try_from(n).unwrap_or(0))
        } else {
            before.get(usize::try_from(len + n).unwrap_or(0))
        };
        found.copied().unwrap_or(0.0)
    };
    let n = i64::try_from(index).unwrap_or(0) + i64::from(whole);
    // Pd keeps one block.
    if n <= -i64::try_from(before.len()).unwrap_or(0) {
        return before.first().copied().unwrap_or(0.0);
    }
    match rest == 0.0 {
        true => at(n),
        false => at(n) + rest * (at(n) - at(n - 1)),
    }
}

/// Room for an evaluation.
pub(crate) struct Stack {
    operands: Vec<Operand>,
    /// A block for each place; none where the program has no blocks.
    blocks: Vec<[f32; BLOCK]>,
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

    fn pop(&mut self) -> Operand {
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
    fn drop_below(&mut self, count: usize) {
        let top = self.operands.len() - 1;
        if matches!(self.operands[top], Operand::Block) {
            self.blocks.swap(top, top - count);
        }
        self.operands[top - count] = self.operands[top];
        self.operands.truncate(top - count + 1);
    }

    fn store(&mut self, instruction: Instruction, around: &mut Surroundings<'_>) -> Operand {
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

    fn unary(&mut self, operator: UnaryOperator, around: &mut Surroundings<'_>) -> Operand {
        match self.pop() {
            Operand::Int(number) => Operand::Int(operator.of_int(number)),
            Operand::Name(_) => wrong_type(around),
            operand => self.map(operand, around, |x| operator.of_float(x)),
        }
    }

    fn binary(&mut self, operator: BinaryOperator, around: &mut Surroundings<'_>) -> Operand {
        let (right, left) = (self.pop(), self.pop());
        let mut has_divided_by_zero = false;
        let result = match (left, right) {
            (Operand::Name(_), _) | (_, Operand::Name(_)) => wrong_type(around),
            (Operand::Int(left), Operand::Int(right)) => {
                has_divided_by_zero = right == 0;
                Operand::Int(operator.of_ints(left, right))
            }
            _ if operator.divides() => self.zip(left, right, around, |a, b| {
                has_divided_by_zero |= match operator {
                    BinaryOperator::Divide => b == 0.0,
                    _ => word(b) == 0,
                };
                operator.of_floats(a, b)
            }),
            // Loops of their own: they run in vectors.
            _ => match operator {
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

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "as in Pd"
    )]
    fn call(&mut self, function: Function, around: &mut Surroundings<'_>) -> Operand {
        match function {
            Function::One {
                function,
                keeps_int,
            } => match self.pop() {
                Operand::Int(number) if keeps_int => {
                    Operand::Int(i64::from(function(number as f64) as i32))
                }
                Operand::Name(_) => wrong_type(around),
                operand => self.map(operand, around, |x| function(f64::from(x)) as f32),
            },
            Function::Convert(function) => match self.pop() {
                Operand::Name(_) => wrong_type(around),
                operand => self.map(operand, around, function),
            },
            Function::Two {
                function,
                keeps_int,
            } => {
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
            Operand::Block => {
                for x in &mut self.blocks[place] {
                    *x = function(*x);
                }
            }
            Operand::Inlet(inlet) => {
                for (to, x) in self.blocks[place].iter_mut().zip(around.block(inlet)) {
                    *to = function(*x);
                }
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
            (true, Ok(right)) => to
                .iter_mut()
                .zip(right)
                .for_each(|(a, b)| *a = function(*a, *b)),
            (true, Err(right)) => to.iter_mut().for_each(|a| *a = function(*a, right)),
            (false, Ok(right)) => {
                let left = left.number();
                to.iter_mut()
                    .zip(right)
                    .for_each(|(to, b)| *to = function(left, *b));
            }
            (false, Err(_)) => {}
        }
        Operand::Block
    }

    /// The value of a condition: of one number the branch that was computed, of a block sample by sample.
    fn select(&mut self, around: &Surroundings<'_>) {
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
