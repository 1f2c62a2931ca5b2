//! Checks that a static schedule can be followed to its end.

use crate::{Dag, MachineModel, Plan, simulate};
use units::Nanos;

/// Each task once, and no workers that wait for each other in a cycle: then a replay comes to its end.
pub(super) fn check(plan: &Plan, faults: &mut Vec<String>) {
    if plan.worker_tasks.is_empty() {
        return;
    }
    let scheduled: usize = plan.worker_tasks.iter().map(Vec::len).sum();
    let machine = MachineModel::without_transfer_cost(plan.worker_tasks.len());
    let dag = || Dag::from_plan(plan);
    let replay = || simulate(&dag(), &machine, &plan.worker_tasks, |_| Nanos(1));
    if scheduled != plan.tasks.len() || replay().is_none() {
        faults.push("the schedule deadlocks, or has not every task exactly once".into());
    }
}
