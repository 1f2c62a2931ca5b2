//! Whether lines are written and read in the order that [`DelayLine`](crate::Line) demands.

use super::ancestry::{Claim, Why};
use crate::{DelayLineId, Plan, Step, StepOp};
use units::Frames;

/// Where a half of a delay is: which step, which of its members.
type At = (u32, usize);

/// The halves of one line.
#[derive(Clone, Default)]
struct Halves {
    reads: Vec<At>,
    writes: Vec<At>,
}

/// Says what must be ordered, and what is wrong in any order.
pub(super) fn check(plan: &Plan, claims: &mut Vec<Claim>, wrong: &mut Vec<String>) {
    let mut halves = vec![Halves::default(); plan.delay_lines.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        match step.op {
            StepOp::Loop(id) => {
                let members = plan.loops[id.0 as usize].steps.of(&plan.loop_steps);
                for (place, member) in members.iter().enumerate() {
                    note(member, (index as u32, place), &mut halves);
                }
            }
            _ => note(step, (index as u32, 0), &mut halves),
        }
    }
    for (line, halves) in halves.iter().enumerate() {
        match (halves.reads.as_slice(), halves.writes.as_slice()) {
            ([read], [write]) => one(plan, DelayLineId(line as u32), *read, *write, claims, wrong),
            _ => wrong.push(format!("line {line} has not one reader and one writer")),
        }
    }
}

fn note(step: &Step, at: At, halves: &mut [Halves]) {
    match step.op {
        StepOp::Process {
            line: Some(line), ..
        } => halves[line.0 as usize].reads.push(at),
        StepOp::WriteLine { line, .. } => halves[line.0 as usize].writes.push(at),
        _ => {}
    }
}

fn one(
    plan: &Plan,
    id: DelayLineId,
    read: At,
    write: At,
    claims: &mut Vec<Claim>,
    wrong: &mut Vec<String>,
) {
    let line = &plan.delay_lines[id.0 as usize];
    if line.max < line.min {
        wrong.push(format!("line {} is shorter than its least", id.0));
    }
    if read.0 != write.0 {
        if line.min < plan.block {
            claims.push(Claim {
                earlier: write.0,
                later: read.0,
                why: Why::Line(id.0),
            });
        }
        return;
    }
    let round = match plan.steps[read.0 as usize].op {
        StepOp::Loop(id) => plan.loops[id.0 as usize].sub_block,
        _ => Frames(u32::MAX),
    };
    if line.min < round && write.1 > read.1 {
        wrong.push(format!("line {} is read before it is written", id.0));
    }
}
