//! Fusion: which steps make one task, so that dispatch does not cost more than the work.
//!
//! Dispatching a task costs time, and so does data that moves from one core to another. Where steps are cheap, several of
//! them make one task. Candidates are runs of two topological orders, cut at grains from a single step to the whole graph:
//!
//! ```text
//!  A -> B -> C         depth first    A B C | D E F     chains and trees stay together
//!  D -> E -> F         level order    A D | B E | C F   neighbours of one depth stay together
//! ```
//!
//! Runs of one order cannot wait for each other in a cycle: all edges between them lead forward. Each candidate is
//! simulated on the given workers with the given overheads (`trial`); the shortest wins, and of nearly equal ones the one
//! with fewer tasks. This is grain packing (Kruatrachue and Lewis, "Grain size determination for parallel processing",
//! IEEE Software 5(1), 1988) by trial.

mod trial;

use self::trial::Trial;
use crate::depth_first::depth_first;
use crate::{Plan, StepId};
use units::Nanos;

/// Overheads that fusion weighs against parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusionOptions {
    /// Number of workers.
    pub workers: usize,
    /// Cost of dispatching one task, beyond the task itself.
    pub task_overhead: Nanos,
    /// Extra time until data of another worker is there.
    pub transfer: Nanos,
    /// Time from the start of the cycle until workers other than the first begin.
    pub wake_delay: Nanos,
    /// Gives work to all workers, even if one alone would finish sooner.
    pub use_all_workers: bool,
}

impl FusionOptions {
    /// Values typical of two cores of one processor in 2026, for machines that are not measured.
    pub const fn typical(workers: usize) -> Self {
        Self {
            workers,
            task_overhead: Nanos(15),
            transfer: Nanos(150),
            wake_delay: Nanos(1_000),
            use_all_workers: false,
        }
    }
}

/// Steps in an order in which they may run, cut into runs: each run is a task.
pub(crate) struct TaskRuns {
    pub(crate) order: Vec<StepId>,
    /// End of each run, in rising order; the last is the number of steps.
    pub(crate) ends: Vec<u32>,
}

/// A candidate must be faster than one with fewer tasks by this part (1/50).
const MIN_GAIN: u64 = 50;
/// Grains that are tried, at most.
const MAX_GRAINS: usize = 16;

/// Groups the steps of a plan into tasks.
pub(crate) fn fuse(plan: &Plan, options: FusionOptions) -> TaskRuns {
    let orders = [depth_first_steps(plan), level_order(plan)];
    let mut best: Option<(Nanos, usize, Vec<u32>)> = None;
    if options.workers > 1 {
        let mut trial = Trial::new(plan, options);
        // From coarse to fine, so that of equals the coarser stays.
        for grain in grains(plan, options) {
            for (which, order) in orders.iter().enumerate() {
                let ends = cut(plan, order, grain);
                let time = trial.simulate(order, &ends);
                let is_better = |(min, ..): &(Nanos, _, _)| time.0 < min.0 - min.0 / MIN_GAIN;
                if best.as_ref().is_none_or(is_better) {
                    best = Some((time, which, ends));
                }
            }
        }
    }
    let one_task = || cut(plan, &orders[0], Nanos(u64::MAX));
    let (which, ends) = best.map_or_else(|| (0, one_task()), |(_, which, ends)| (which, ends));
    let [deep, level_order] = orders;
    let order = if which == 0 { deep } else { level_order };
    TaskRuns { order, ends }
}

/// Grains to try, from the whole graph (where one worker may have it all) down to single steps.
fn grains(plan: &Plan, options: FusionOptions) -> Vec<Nanos> {
    let total = plan.total_cost().0;
    let finest = plan.steps.iter().map(|s| s.cost.0).min().unwrap_or(0);
    let whole = (!options.use_all_workers).then_some(Nanos(u64::MAX));
    let mut grains = Vec::from_iter(whole);
    let mut grain = total / (2 * options.workers as u64);
    while grain > finest && grains.len() < MAX_GRAINS {
        grains.push(Nanos(grain));
        grain /= 2;
    }
    grains.push(Nanos(0));
    grains
}

/// Ends of the shortest runs of `order` that cost at least `grain` each.
fn cut(plan: &Plan, order: &[StepId], grain: Nanos) -> Vec<u32> {
    let mut ends = Vec::new();
    let mut cost = Nanos(0);
    for (end, step) in (1..).zip(order) {
        cost = cost.saturating_add(plan.steps[step.0 as usize].cost);
        if cost >= grain {
            ends.push(end);
            cost = Nanos(0);
        }
    }
    let all = order.len() as u32;
    if ends.last().is_none_or(|end| *end != all) && all > 0 {
        ends.push(all);
    }
    ends
}

/// Each step, then the steps that it releases, the one with the highest static level first.
fn depth_first_steps(plan: &Plan) -> Vec<StepId> {
    let sources = plan.steps_with_ids().filter(|(_, s)| s.activation == 0);
    let order = depth_first(
        sources.map(|(id, _)| id.0).collect(),
        plan.steps.iter().map(|s| s.activation).collect(),
        |step| plan.successors_of(StepId(step)).iter().map(|next| next.0),
        |step| plan.static_levels[step as usize],
    );
    order.into_iter().map(StepId).collect()
}

/// All steps of one depth, then those of the next.
fn level_order(plan: &Plan) -> Vec<StepId> {
    let mut depth = vec![0u32; plan.steps.len()];
    for (id, _) in plan.steps_with_ids() {
        for next in plan.successors_of(id) {
            depth[next.0 as usize] = depth[next.0 as usize].max(depth[id.0 as usize] + 1);
        }
    }
    let mut order: Vec<StepId> = plan.steps_with_ids().map(|(id, _)| id).collect();
    order.sort_by_key(|id| depth[id.0 as usize]);
    order
}
