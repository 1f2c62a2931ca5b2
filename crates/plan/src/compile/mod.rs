//! The compiler: from a graph to a [`Plan`], in a chain of passes.
//!
//! | pass | file | takes | gives |
//! |---|---|---|---|
//! | 1 | `lookup`, with `delay_lines`, `output_channels`, `output_files`, `limits` | the graph and its kinds | [`Wiring`]: every node and edge looked up, or all mistakes |
//! | 2 | `align`, with `latency` | wiring | wiring with aligners where early signals must wait |
//! | 3 | `ops` | wiring | [`Ops`]: operations and their dependencies; a delay is two |
//! | 4 | `stages` | operations | each in its pipeline stage, with relays between stages (only if asked for) |
//! | 5 | `order` | operations | steps in topological order, feedback as loops, or the cycles without a delay |
//! | 6 | `phases` | wiring | the cycles in which nodes with a period of several cycles run |
//! | 7 | `slots` | the graph of steps | which slot each output is written to |
//! | 8 | `emit` | all of these | the plan's arrays |
//! | 9 | `tasks` | steps, and runs of them from fusion | tasks |
//! | 10 | a scheduler | tasks | the static schedule (only if asked for) |
//!
//! `wiring` and `costs` are what passes share; `copies` runs passes 5 to 9 again for a schedule that duplicates nodes.

mod align;
mod banks;
mod copies;
mod costs;
mod delay_lines;
mod emit;
mod latency;
mod limits;
mod lookup;
mod ops;
mod order;
mod output_channels;
mod output_files;
mod phases;
mod slots;
mod stages;
mod tasks;
mod wiring;

pub use limits::{MAX_NODES, SAMPLES_PER_EVENT, check_node_count, event_capacity, events_per_port};

use self::align::align;
use self::copies::{Instances, duplicable_dag};
use self::emit::emit;
use self::limits::check_slots;
use self::lookup::look_up;
use self::ops::{Ops, split};
use self::order::order;
use self::stages::pipeline;
use self::tasks::{make_tasks, one_task_per_step};
use self::wiring::Wiring;
use crate::schedule::fuse;
use crate::{Dag, MachineModel, Plan, PlanError, PlanOptions, cpfd, hlfet};
use graph::{Catalogue, Graph};

/// Makes the plan of a graph; the table in the source of this module lists the passes. With
/// [`PlanOptions::workers`] the schedule is that of [`hlfet`].
///
/// The same graph and options give the same plan.
///
/// # Errors
///
/// Everything that is wrong with the graph, each with its place. Cycles without a delay are reported only where there is no other
/// mistake.
///
/// Real-time: setup.
pub fn compile(
    graph: &Graph,
    catalogue: &Catalogue,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    let graph = graph.without_bypasses();
    let wiring = wiring(&graph, catalogue, options)?;
    let (_, mut plan) = compile_wiring(&wiring, options)?;
    if options.workers > 0 {
        plan.worker_tasks = hlfet(&Dag::from_plan(&plan), options.workers).task_order();
    }
    Ok(plan)
}

/// Like [`compile`], with the schedule of [`cpfd`] for `machine`, and with the copies of nodes that it asks for.
///
/// Duplicated are nodes of duplicable kinds, but not devices, nodes with event outputs, nodes in loops and pipelines, and
/// [`PlanOptions::not_duplicable`].
///
/// # Errors
///
/// As [`compile`].
///
/// Real-time: setup.
pub fn compile_with_copies(
    graph: &Graph,
    catalogue: &Catalogue,
    options: &PlanOptions,
    machine: &MachineModel,
) -> Result<Plan, PlanError> {
    let graph = graph.without_bypasses();
    let wiring = wiring(&graph, catalogue, options)?;
    let (mut ops, mut plan) = compile_wiring(&wiring, options)?;
    let dag = duplicable_dag(&plan, &wiring, options);
    let schedule = cpfd(&dag, machine);
    if schedule.duplicate_count() == 0 {
        plan.worker_tasks = schedule.task_order();
        return Ok(plan);
    }
    let instances = Instances::new((&plan, &wiring), (&dag, machine), &schedule);
    instances.add_ops(&mut ops);
    let mut copied = steps(&wiring, &ops, options)?;
    instances.schedule(&mut copied);
    Ok(copied)
}

/// Passes 1 and 2.
fn wiring<'g>(
    graph: &'g Graph,
    catalogue: &'g Catalogue,
    options: &PlanOptions,
) -> Result<Wiring<'g>, PlanError> {
    check_node_count(graph)?;
    let mut wiring = look_up(graph, catalogue, options)?;
    align(&mut wiring, options)?;
    Ok(wiring)
}

/// Passes 3 to 9.
fn compile_wiring(wiring: &Wiring<'_>, options: &PlanOptions) -> Result<(Ops, Plan), PlanError> {
    let mut ops = split(wiring, options);
    if options.latency_blocks > 0 {
        // Only a graph that has an order can be cut into stages.
        order(wiring, &ops)?;
        pipeline(wiring, &mut ops, options);
    }
    let mut plan = steps(wiring, &ops, options)?;
    match options.fusion {
        Some(fusion) => {
            let runs = fuse(&plan, fusion);
            make_tasks(&mut plan, &runs.order, &runs.ends);
        }
        None => one_task_per_step(&mut plan),
    }
    Ok((ops, plan))
}

/// Passes 5 to 8: all but tasks and schedule.
fn steps(wiring: &Wiring<'_>, ops: &Ops, options: &PlanOptions) -> Result<Plan, PlanError> {
    let order = order(wiring, ops)?;
    let plan = emit(wiring, ops, &order, options);
    check_slots(&plan)?;
    Ok(plan)
}
