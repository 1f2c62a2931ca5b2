//! Whether a schedule can be followed to its end.

use crate::{Dag, Machine, Plan, simulate};
use units::Nanos;

/// Each task once, and no circle of waiting: then a replay comes to its end.
pub(super) fn check(plan: &Plan, wrong: &mut Vec<String>) {
    if plan.lanes.is_empty() {
        return;
    }
    let placed: usize = plan.lanes.iter().map(Vec::len).sum();
    let machine = Machine::free(plan.lanes.len());
    let replay = || simulate(&Dag::of(plan), &machine, &plan.lanes, |_| Nanos(1));
    if placed != plan.tasks.len() || replay().is_none() {
        wrong.push("the lanes get stuck, or do not have every task exactly once".into());
    }
}
