//! From a graph to a plan: the chain of passes.

use crate::emit::emit;
use crate::fuse::fuse;
use crate::limits::check_slots;
use crate::order::order as order_of;
use crate::schedule::hlfet;
use crate::stages::pipeline;
use crate::tasks::single;
use crate::turns::{Turns, split};
use crate::wiring::{Wiring, wire};
use crate::{Plan, PlanError, PlanOptions};
use graph::{Catalogue, Graph};
use units::{Frames, Nanos};

/// Makes the plan of a graph: looks everything up, makes up for latencies, splits delays, orders, cuts cycles into loops, gives out slots,
/// staggers what runs seldom, schedules.
///
/// The same graph and options give the same plan.
///
/// # Errors
///
/// Everything that is wrong with the graph, each with its place; but cycles are only looked for once all the rest is
/// right.
///
/// Real-time: setup.
pub fn compile(
    graph: &Graph,
    catalogue: &Catalogue,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    let wiring = wire(graph, catalogue, options)?;
    let (_, mut plan) = plain(&wiring, options)?;
    if options.workers > 0 {
        plan.worker_tasks = hlfet(&crate::Dag::from_plan(&plan), options.workers).task_order();
    }
    Ok(plan)
}

/// The plan without lanes, and the turns that its steps are.
pub(crate) fn plain(
    wiring: &Wiring<'_>,
    options: &PlanOptions,
) -> Result<(Turns, Plan), PlanError> {
    let mut turns = split(wiring, options);
    if options.latency_blocks > 0 {
        // Only what has an order can be cut into stages.
        order_of(wiring, &turns)?;
        pipeline(wiring, &mut turns, options);
    }
    let mut plan = assemble(wiring, &turns, options)?;
    match options.fusion {
        Some(how) => fuse(&mut plan, how),
        None => single(&mut plan),
    }
    Ok((turns, plan))
}

/// All but tasks and lanes.
pub(crate) fn assemble(
    wiring: &Wiring<'_>,
    turns: &Turns,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    let order = order_of(wiring, turns)?;
    let mut plan = emit(wiring, turns, &order, options);
    check_slots(&plan)?;
    activate(&mut plan);
    let lag = options.latency_blocks.saturating_mul(options.block.0);
    plan.latency = Frames(wiring.latency.0.saturating_add(lag));
    plan.static_levels = plan.b_levels(|_, _| Nanos(0));
    Ok(plan)
}

/// Counts for how many steps each step waits.
fn activate(plan: &mut Plan) {
    for id in &plan.successors {
        plan.steps[id.0 as usize].activation += 1;
    }
}
