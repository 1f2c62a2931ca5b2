//! Runs a row: equal steps, one behind the other, in one call.

use super::claim::StepClaim;
use super::finite::FiniteCopy;
use super::operations::write_line;
use super::run::{run_plain, silence_panicked};
use crate::bound::Operation;
use processor::{ForkAbandoned, Processor};
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
        _ => widest(WriteRow(claim)),
    }
}

/// Lines that are written one after the other.
struct WriteRow<'a>(StepClaim<'a>);

/// Frames of most blocks.
const STEP: usize = 64;

impl WideWork for WriteRow<'_> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        match self.0.info().frames as usize {
            // The compiler knows their frames then.
            STEP => self.write(STEP),
            frames => self.write(frames),
        }
    }
}

impl WriteRow<'_> {
    #[inline(always)]
    fn write(mut self, frames: usize) -> u32 {
        let writes = self.0.row_writes();
        for (at, write) in writes.iter().enumerate() {
            let is_written = match self.0.write_samples(write, frames) {
                // One that is not finite is found again there.
                Some((from, to)) => !FiniteCopy { from, to }.run(),
                None => false,
            };
            if !is_written {
                self.write_other(at);
            }
        }
        writes.len().saturating_sub(1) as u32
    }

    /// Writes the line of the step `at` of the row by itself.
    #[inline(never)]
    fn write_other(&self, at: usize) {
        if let Some(mut claim) = self.0.row().nth(at)
            && let Operation::WriteLine(line) = &claim.step().operation
        {
            write_line(&mut claim, line);
        }
    }
}

#[inline(always)]
fn run_processors(claim: StepClaim<'_>, processor: *mut dyn Processor) -> u32 {
    let Some(row) = claim.plain_row() else {
        run_plain(claim, processor);
        return 0;
    };
    let panicked = Cell::new(0);
    let run = AssertUnwindSafe(|| claim.process_row(&row, &panicked));
    match catch_unwind(run) {
        Ok(()) => row.len() as u32 - 1,
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
