//! Rows: cheap steps that follow each other, of which the first one runs those behind it too.
//!
//! ```text
//!  steps of a task, in order:   osc  gain1  gain2  gain3  mix        gain1 runs three, gain2 two
//! ```
//!
//! Each step of a row knows how many it may run, itself the first of them. So a row goes on behind a step that sleeps, and behind the
//! most that are run at once. None of a row waits for another of it, as in a bank ([`banks`](super::banks)): so all are as much the
//! worker's as the first one is, and none writes what another one reads.

use super::banks::last_before;
use super::plan::BoundPlan;
use super::step::{BoundStep, Operation, Preparation, RowPlace, RowWrite};
use plan::Plan;
use processor::{MAX_ROW, RowKind, RowMember};
use std::ops::Range;

/// Forms the rows of a plan that was bound. One worker runs the steps of each of `runs` one after the other.
///
/// Real-time: setup.
pub(crate) fn join_rows(
    bound: &mut BoundPlan,
    plan: &Plan,
    runs: impl Iterator<Item = Range<u32>>,
) {
    if !bound.steps.iter().any(|step| RowOf::step(step).is_some()) {
        return;
    }
    let last_before = last_before(plan);
    let (mut members, mut writes) = (Vec::new(), Vec::new());
    for mut run in runs {
        while let Some(first) = run.next() {
            let Some(of) = RowOf::step(&bound.steps[first as usize]) else {
                continue;
            };
            let is_next = |at: &u32| {
                let waits = last_before[*at as usize].is_some_and(|it| it >= first);
                let other = RowOf::step(&bound.steps[*at as usize]);
                !waits && other.is_some_and(|other| of.is(&other))
            };
            let end = (first + 1..run.end).find(|at| !is_next(at));
            run.start = end.unwrap_or(run.end);
            let steps = &mut bound.steps[first as usize..run.start as usize];
            if steps.len() < 2 {
                continue;
            }
            close(steps);
            match of {
                RowOf::Processors(kind) => add_members(steps, kind, &mut members),
                RowOf::Writes => add_writes(steps, &mut writes),
            }
        }
    }
    bound.row_members = members.into_boxed_slice();
    bound.row_writes = writes.into_boxed_slice();
}

/// Tells the steps of a row how many they may run; the last one runs by itself.
fn close(row: &mut [BoundStep]) {
    let count = row.len();
    for (at, step) in row[..count - 1].iter_mut().enumerate() {
        step.preparation = Preparation::Row;
        step.row = (count - at).min(MAX_ROW) as u8;
    }
}

/// Adds the processors of a row to the members of the plan.
fn add_members(row: &mut [BoundStep], kind: RowKind, members: &mut Vec<RowMember>) {
    for step in row {
        let Operation::Process(processor) = step.operation else {
            continue;
        };
        step.cold.row = Some(RowPlace {
            kind: Some(kind),
            at: members.len() as u32,
        });
        // SAFETY: the step was bound, and its plan keeps what its ports point to.
        members.push(unsafe { kind.member(processor.cast(), &step.state.get_mut().io) });
    }
}

/// Adds the steps of a row to the writes of the plan.
fn add_writes(row: &mut [BoundStep], writes: &mut Vec<RowWrite>) {
    for step in row {
        let Operation::WriteLine(line) = &step.operation else {
            continue;
        };
        step.cold.row = Some(RowPlace {
            kind: None,
            at: writes.len() as u32,
        });
        let inputs = step.state.get_mut().io.inputs;
        // SAFETY: the step was bound: it has as many ports, and what writes a line has an input.
        let from = unsafe { (*inputs.first).first };
        writes.push(RowWrite { line: **line, from });
    }
}

/// What the steps of a row have in common.
#[derive(Clone, Copy)]
enum RowOf {
    /// Processors of one type.
    Processors(RowKind),
    /// They write to delay lines.
    Writes,
}

impl RowOf {
    /// That of a step before which nothing is to be done in a block; `None` if it is in no row.
    fn step(step: &BoundStep) -> Option<Self> {
        if step.preparation != Preparation::None {
            return None;
        }
        match step.operation {
            Operation::WriteLine(_) => Some(Self::Writes),
            Operation::Process(_) => {
                let processor = step.cold.processor.as_ref()?;
                let row = processor.row.filter(|_| processor.lanes <= 1);
                row.map(Self::Processors)
            }
            _ => None,
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Processors(one), Self::Processors(other)) => one.is(other),
            (Self::Writes, Self::Writes) => true,
            _ => false,
        }
    }
}
