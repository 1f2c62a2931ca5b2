//! Whether lines are written and read in the order that [`Line`](crate::Line) demands.

use super::ancestry::{Claim, Why};
use crate::{LineId, Plan, Step, Work};
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
    let mut halves = vec![Halves::default(); plan.lines.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        match step.work {
            Work::Loop(id) => {
                let members = plan.loops[id.0 as usize].steps.of(&plan.inner);
                for (place, member) in members.iter().enumerate() {
                    note(member, (index as u32, place), &mut halves);
                }
            }
            _ => note(step, (index as u32, 0), &mut halves),
        }
    }
    for (line, halves) in halves.iter().enumerate() {
        match (halves.reads.as_slice(), halves.writes.as_slice()) {
            ([read], [write]) => one(plan, LineId(line as u32), *read, *write, claims, wrong),
            _ => wrong.push(format!("line {line} has not one reader and one writer")),
        }
    }
}

fn note(step: &Step, at: At, halves: &mut [Halves]) {
    match step.work {
        Work::Node {
            line: Some(line), ..
        } => halves[line.0 as usize].reads.push(at),
        Work::Write { line, .. } => halves[line.0 as usize].writes.push(at),
        _ => {}
    }
}

fn one(
    plan: &Plan,
    id: LineId,
    read: At,
    write: At,
    claims: &mut Vec<Claim>,
    wrong: &mut Vec<String>,
) {
    let line = &plan.lines[id.0 as usize];
    if line.most < line.least {
        wrong.push(format!("line {} is shorter than its least", id.0));
    }
    if read.0 != write.0 {
        if line.least < plan.block {
            claims.push(Claim {
                earlier: write.0,
                later: read.0,
                why: Why::Line(id.0),
            });
        }
        return;
    }
    let round = match plan.steps[read.0 as usize].work {
        Work::Loop(id) => plan.loops[id.0 as usize].sub_block,
        _ => Frames(u32::MAX),
    };
    if line.least < round && write.1 > read.1 {
        wrong.push(format!("line {} is read before it is written", id.0));
    }
}
