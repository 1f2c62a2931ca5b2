//! [`Surroundings`]: what an evaluation reads and writes: inlets, arrays, variables, signals and their past.

use super::code::Instruction;
use super::functions::ArrayFunction;
use super::operand::{Fault, Operand};
use super::random::LibraryRandom;
use crate::control::Symbol;
use crate::signal::Inlets;
use crate::whole_number::whole_number;

/// Samples that `fexpr~` looks at: blocks of samples, as many frames long as the object computes at once.
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
    pub(super) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    pub(super) fn block(&self, inlet: u8) -> &[f32] {
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
    pub(super) fn point(
        &mut self,
        instruction: Instruction,
        index: Operand,
        new: Option<f32>,
    ) -> Option<f32> {
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

    pub(super) fn array(&mut self, function: ArrayFunction, arguments: &[Operand]) -> Operand {
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
    pub(super) fn past(&mut self, instruction: Instruction, index: Operand) -> f32 {
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
        let whole = whole_number(at.into());
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
