//! [`Touched`]: things that the signals of a patch touch beside their own, and the steps that are bound to them.

use super::RowFormat;
use super::bind::{Binder, Declared};
use super::bound_step::BoundStep;
use super::moves::Moves;
use super::order::Order;
use super::shared::{SharedCell, SharedName, SharedSamples, SharedThings};
use super::world::BlockTime;
use crate::control::{ArrayId, MAX_SAMPLES, Machine, ObjectId, Symbol};
use std::collections::HashSet;
use std::sync::Arc;

/// Things that signals touch beside their own.
#[derive(Default)]
pub(super) struct Touched {
    /// Objects that set clocks while they compute, in Pd's order.
    pub(super) clock_setters: Vec<ObjectId>,
    /// Arrays that signals touch. Their points lie in the machine while messages run, and else in the cells.
    pub(super) arrays: Vec<(ArrayId, SharedCell)>,
    /// Numbers of `value` that signals touch, which move in the same way.
    pub(super) values: Vec<(Symbol, SharedCell)>,
    /// Declarations of objects.
    pub(super) declared: Declared,
}

/// Gives the steps of an order what they touch.
pub(super) fn bind_steps(
    machine: &mut Machine,
    order: Order,
    (format, time): (RowFormat, &Arc<BlockTime>),
    things: &mut SharedThings,
    (mut declared, moves): (Declared, Option<&mut Moves>),
) -> (Vec<BoundStep>, Touched) {
    let arrays = match declared.has_arrays() {
        false => Vec::new(),
        true => arrays(machine, things),
    };
    let values = values(machine, &declared, things);
    let budget = machine.globals().arrays.budget.clone();
    declared.make_things(&order, things, &budget);
    report_refused(machine);
    let mut binder = Binder {
        machine,
        declared: &declared,
        things,
        arrays: &arrays,
        values: &values,
        time,
        clock_setters: Vec::new(),
        mistakes: Vec::new(),
        written: HashSet::new(),
        moves,
    };
    let bound = binder.row(order, format);
    let (clock_setters, mistakes) = (binder.clock_setters, binder.mistakes);
    for mistake in mistakes {
        machine.globals().print(mistake);
    }
    let touched = Touched {
        clock_setters,
        arrays,
        values,
        declared,
    };
    (bound, touched)
}

/// Prints the number of arrays and delay lines for which there is no memory.
fn report_refused(machine: &mut Machine) {
    let refused = machine.globals().arrays.budget.take_refused();
    if refused > 0 {
        machine.globals().print(&format!(
            "error: {refused} arrays or delay lines are left out: those of a patch hold at most {MAX_SAMPLES} samples"
        ));
    }
}

/// Cells for all arrays.
fn arrays(machine: &Machine, things: &mut SharedThings) -> Vec<(ArrayId, SharedCell)> {
    let mut seen = HashSet::new();
    let named = machine.array_names().filter_map(|name| {
        let id = machine.array(name)?;
        seen.insert(id).then(|| {
            (
                id,
                things.add(SharedName::Array(name), SharedSamples::default()),
            )
        })
    });
    named.collect()
}

/// Cells for the numbers of `value` that signals touch.
fn values(
    machine: &mut Machine,
    declared: &Declared,
    things: &mut SharedThings,
) -> Vec<(Symbol, SharedCell)> {
    let (mut values, mut seen) = (Vec::new(), HashSet::new());
    for name in declared.names() {
        let SharedName::Value(symbol) = name else {
            continue;
        };
        let is_known = machine.globals().values.contains_key(&symbol);
        if is_known && seen.insert(symbol) {
            values.push((symbol, things.add(name, SharedSamples::number())));
        }
    }
    values
}
