//! Checks that delay lines are written and read in the order that [`DelayLine`](crate::DelayLine) demands.

use super::dependencies::{Claim, Reason};
use crate::{DelayLineId, Plan, Step, StepOp};
use units::Frames;

/// A step that writes or reads a line: its index, and its place in a loop.
type Access = (u32, usize);

/// The steps of one line.
#[derive(Clone, Default)]
struct Accesses {
    reads: Vec<Access>,
    writes: Vec<Access>,
}

/// Collects what must be ordered, and what is wrong in any order.
pub(super) fn check(plan: &Plan, claims: &mut Vec<Claim>, faults: &mut Vec<String>) {
    let mut accesses = vec![Accesses::default(); plan.delay_lines.len()];
    for (index, step) in (0..).zip(&plan.steps) {
        for (place, step) in plan.flatten(step).iter().enumerate() {
            note(step, (index, place), &mut accesses);
        }
    }
    for (line, accesses) in accesses.iter().enumerate() {
        match (accesses.reads.as_slice(), accesses.writes.as_slice()) {
            ([read], [write]) => {
                check_line(
                    plan,
                    DelayLineId(line as u32),
                    (*read, *write),
                    claims,
                    faults,
                );
            }
            _ => faults.push(format!("line {line} has not one reader and one writer")),
        }
    }
}

fn note(step: &Step, access: Access, accesses: &mut [Accesses]) {
    match step.op {
        StepOp::Process {
            line: Some(line), ..
        } => accesses[line.0 as usize].reads.push(access),
        StepOp::WriteLine { line, .. } => accesses[line.0 as usize].writes.push(access),
        _ => {}
    }
}

fn check_line(
    plan: &Plan,
    id: DelayLineId,
    (read, write): (Access, Access),
    claims: &mut Vec<Claim>,
    faults: &mut Vec<String>,
) {
    let line = &plan.delay_lines[id.0 as usize];
    if line.max < line.min {
        faults.push(format!("line {} has a minimum above its maximum", id.0));
    }
    if read.0 != write.0 {
        if line.min < plan.block {
            claims.push(Claim::new(write.0, read.0, Reason::ReadsLine(id.0)));
        }
        return;
    }
    let sub_block = match plan.steps[read.0 as usize].op {
        StepOp::Loop(id) => plan.loops[id.0 as usize].sub_block,
        _ => Frames(u32::MAX),
    };
    if line.min < sub_block && write.1 > read.1 {
        faults.push(format!("line {} is read before it is written", id.0));
    }
}
