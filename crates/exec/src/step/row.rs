//! Runs a row: equal steps, one behind the other, in one call.

use super::claim::StepClaim;
use super::operations::{write_line, write_run};
use super::run::{run_plain, silence_panicked};
use crate::bound::Operation;
use processor::{ForkAbandoned, MAX_ROW, Processor, RowMember};
use rt::vectors::{WideWork, widest};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs the claimed step and, with it, those of its row behind it, up to one that sleeps or has something else to do. Returns the number
/// of these.
///
/// Real-time: hot.
#[inline(never)]
pub(super) fn run_row(claim: StepClaim<'_>) -> u32 {
    match claim.step().operation {
        Operation::Process(processor) => run_processors(claim, processor),
        _ => widest(WriteRow(&claim)),
    }
}

/// Lines that are written one after the other.
struct WriteRow<'c, 'a>(&'c StepClaim<'a>);

impl WideWork for WriteRow<'_, '_> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let mut count = 0;
        for mut claim in self.0.row() {
            if let Operation::WriteLine(line) = &claim.step().operation
                && !write_run(&mut claim, line)
            {
                write_line(&mut claim, line);
            }
            count += 1;
        }
        count - 1
    }
}

#[inline(always)]
fn run_processors(claim: StepClaim<'_>, processor: *mut dyn Processor) -> u32 {
    let mut members = [RowMember::NONE; MAX_ROW];
    let mut count = 0;
    for (place, mut claim) in members.iter_mut().zip(claim.row()) {
        match claim.row_member() {
            Some(member) => *place = member,
            None => break,
        }
        count += 1;
    }
    if count < 2 {
        run_plain(claim, processor);
        return 0;
    }
    let (members, panicked) = (&members[..count], Cell::new(0));
    let run = AssertUnwindSafe(|| claim.process_row(members, &panicked));
    match catch_unwind(run) {
        Ok(()) => count as u32 - 1,
        Err(payload) => leave_row(&claim, panicked.get(), payload),
    }
}

/// Quarantines the step of a row that has panicked. Those behind it are still to be run: returns the number of those before.
#[cold]
fn leave_row(claim: &StepClaim<'_>, at: usize, payload: Box<dyn Any + Send>) -> u32 {
    if payload.is::<ForkAbandoned>() {
        // Not a panic, and none of a row forks: the executor knows what to do.
        resume_unwind(payload);
    }
    std::mem::forget(payload);
    if let Some(mut panicked) = claim.row().nth(at) {
        panicked.quarantine_alone();
        silence_panicked(&mut panicked);
    }
    at as u32
}
