//! Whether a schedule can be followed to its end.

use crate::{Dag, MachineModel, Plan, simulate};
use units::Nanos;

/// Each task once, and no circle of waiting: then a replay comes to its end.
pub(super) fn check(plan: &Plan, wrong: &mut Vec<String>) {
    if plan.worker_tasks.is_empty() {
        return;
    }
    let placed: usize = plan.worker_tasks.iter().map(Vec::len).sum();
    let machine = MachineModel::without_transfer_cost(plan.worker_tasks.len());
    let replay = || {
        simulate(&Dag::from_plan(plan), &machine, &plan.worker_tasks, |_| {
            Nanos(1)
        })
    };
    if placed != plan.tasks.len() || replay().is_none() {
        wrong.push("the lanes get stuck, or do not have every task exactly once".into());
    }
}
