//! Whether a schedule can be followed to its end.

use crate::{Plan, simulate};
use units::Nanos;

/// Each step once, and no circle of waiting: then a replay comes to its end.
pub(super) fn check(plan: &Plan, wrong: &mut Vec<String>) {
    if !plan.lanes.is_empty() && simulate(plan, &plan.lanes, |_| Nanos(1)).is_none() {
        wrong.push("the lanes get stuck, or do not have every task exactly once".into());
    }
}
