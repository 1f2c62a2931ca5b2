//! `expr`: its program, run by messages.

use super::super::arrays::Arrays;
use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use crate::expression::{
    Dialect, Fault, InletType, Operand, Program, Stack, Storage, Surroundings, parse, text_of,
};
use crate::state::held;
use std::collections::HashMap;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "expr" {
        return None;
    }
    let (program, names) = program(making)?;
    Some(Box::new(Expr {
        stack: Stack::new(&program, false),
        inlets: initial(&program),
        names,
        program,
        has_reported: false,
    }))
}

/// The program of a box and the names in it; `None` if there is a mistake in its text, which was reported when the patch was loaded.
pub(crate) fn program(making: &mut Making<'_>) -> Option<(Program, Vec<Symbol>)> {
    let symbols = &mut making.globals.symbols;
    let text = text_of(making.values.iter().map(|value| value.text(symbols)));
    let program = parse(Dialect::of(making.class)?, &text).ok()?;
    let names = program
        .names
        .iter()
        .map(|name| symbols.intern(name))
        .collect();
    Some((program, names))
}

/// Values of inlets before any message.
pub(crate) fn initial(program: &Program) -> Vec<Operand> {
    let value = |kind: &InletType| match kind {
        InletType::Int => Operand::Int(0),
        InletType::Symbol => Operand::Name(None),
        _ => Operand::Float(0.0),
    };
    program.inlets.iter().map(value).collect()
}

/// Puts a value at an inlet; false if it is of the wrong type.
pub(crate) fn set(program: &Program, inlets: &mut [Operand], at: usize, value: Value) -> bool {
    let (Some(kind), Some(inlet)) = (program.inlets.get(at), inlets.get_mut(at)) else {
        return true;
    };
    *inlet = match (kind, value) {
        (InletType::Unused, _) => return true,
        #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
        (InletType::Int, Value::Float(number)) => Operand::Int(number as i64),
        (InletType::Float, Value::Float(number)) => Operand::Float(number),
        (InletType::Symbol, Value::Symbol(symbol)) => Operand::Name(Some(symbol)),
        _ => return false,
    };
    true
}

/// Arrays and variables as messages find them.
struct Stored<'g> {
    arrays: &'g mut Arrays,
    values: &'g mut HashMap<Symbol, f32>,
}

impl Storage for Stored<'_> {
    fn read(&self, name: Symbol, read: &mut dyn FnMut(&[f32])) -> bool {
        self.arrays.named(name).map(read).is_some()
    }

    fn change(&mut self, name: Symbol, change: &mut dyn FnMut(&mut [f32])) -> bool {
        let found = self.arrays.find(name);
        found.map(|id| change(self.arrays.points_mut(id))).is_some()
    }

    fn value(&self, name: Symbol) -> Option<f32> {
        self.values.get(&name).copied()
    }

    fn set_value(&mut self, name: Symbol, number: f32) -> bool {
        let value = self.values.get_mut(&name);
        value.map(|value| *value = number).is_some()
    }
}

struct Expr {
    program: Program,
    names: Vec<Symbol>,
    inlets: Vec<Operand>,
    stack: Stack,
    /// True once a division by zero, or an inlet without a symbol, was printed: each box says so once.
    has_reported: bool,
}

impl Expr {
    fn report(&mut self, fault: Fault, context: &mut Context<'_>) {
        let is_new = !std::mem::replace(&mut self.has_reported, true);
        match fault {
            Fault::DivisionByZero | Fault::NoSymbol(_) if !is_new => {}
            Fault::NoSymbol(inlet) => {
                let inlet = inlet + 1;
                context.print_with(|_, line| {
                    write!(line, "expr: syntax error: no string for inlet {inlet}")
                });
                for text in [
                    "expr: No more table errors will be reported",
                    "expr: till the next reset",
                ] {
                    context.print_with(|_, line| line.write_str(text));
                }
            }
            fault => context.print_with(|symbols, line| match fault {
                Fault::NoTable(name) => {
                    write!(line, "error: no such table '{}'", symbols.text(name))
                }
                Fault::NoVariable(name) => {
                    write!(line, "error: no such var '{}'", symbols.text(name))
                }
                Fault::NoArgument => line.write_str("expr: abstraction argument for table not set"),
                Fault::WrongType => line.write_str(
                    "error: expr: a name stands where a number is needed, or a number where a name is",
                ),
                _ => line.write_str("expr divide by zero detected"),
            }),
        }
    }
}

impl Object for Expr {
    held!(inlets, has_reported; not program, names, stack);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        for (at, value) in values.iter().enumerate() {
            if !set(&self.program, &mut self.inlets, at, *value) {
                context.print_with(|_, line| line.write_str("error: expr: type mismatch"));
            }
        }
        let last = self.program.outlet_count() - 1;
        self.resume(u32::try_from(last).expect("there are at most 100"), context);
        Handled::Yes
    }

    fn resume(&mut self, code: u32, context: &mut Context<'_>) {
        let outlet = code as usize;
        let globals = context.globals();
        let mut around = Surroundings {
            inlets: &self.inlets,
            names: &self.names,
            storage: &mut Stored {
                arrays: &mut globals.arrays,
                values: &mut globals.values,
            },
            random: &mut globals.random,
            signals: None,
            samples: None,
            fault: None,
        };
        let result = self.stack.run(&self.program, outlet, &mut around);
        if let Some(fault) = around.fault {
            self.report(fault, context);
        }
        context.send_float(outlet, result.number());
        if let Some(next) = code.checked_sub(1) {
            context.resume(next);
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if context.symbols().text(message.selector) != "version" {
            return Handled::No;
        }
        context.print_with(|_, line| line.write_str("expr, expr~, fexpr~ version 0.57"));
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if (message.selector, message.values.len()) == (words::LIST, 0) {
            return Handled::Yes;
        }
        match message.first_value() {
            Some(value) if set(&self.program, &mut self.inlets, inlet, value) => Handled::Yes,
            _ => Handled::No,
        }
    }
}
