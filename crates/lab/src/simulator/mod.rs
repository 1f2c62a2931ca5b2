//! A simulator of every executor: the tasks of a graph on any number of cores, event by event.
//!
//! | file | executors | model |
//! |---|---|---|
//! | `lanes.rs` | static schedules | each worker runs its list in order and waits for inputs from others |
//! | `stealing.rs` | work stealing | own queues; a worker without work takes from another's |
//! | `shared.rs` | global, weighted, deadline, mutex | one queue for all, in four variants |
//! | `event_loop.rs` | the last two | cores, a clock, the order of events |
//!
//! It knows the costs of tasks, and of moves: dispatch, transfer to another core, a count or a queue that another core
//! changed last, steal, lock, wake. It does not know cache capacity, unequal cores or shared memory bandwidth. So on many
//! cores its times are lower bounds.

mod costs;
mod event_loop;
mod lanes;
mod shared;
mod stealing;

pub use costs::{MoveCosts, Prediction};

use divisi::plan::{Dag, Schedule};
use event_loop::EventLoop;
use shared::{QueueKind, Shared};
use stealing::Stealing;

/// Assignment of tasks to workers, as in an executor.
#[derive(Clone, Debug)]
pub enum DispatchPolicy {
    /// One worker, in order.
    Sequential,
    /// A static schedule: a list for each worker.
    Lanes(Schedule),
    /// Own queues, newest first; a worker without work steals the oldest of another's.
    Stealing,
    /// One lock-free queue for all.
    Global,
    /// One queue, from which a worker takes its share of the total weight at once.
    Weighted,
    /// One set for all, most urgent first.
    Deadline,
    /// One queue behind one lock, polled by workers without work.
    Mutex,
}

/// Simulates one cycle of `dag` on `cores` cores.
pub fn simulate(dag: &Dag, moves: &MoveCosts, cores: usize, policy: &DispatchPolicy) -> Prediction {
    let cores = match policy {
        DispatchPolicy::Sequential => 1,
        DispatchPolicy::Lanes(schedule) => return lanes::simulate(dag, moves, schedule),
        _ => useful_cores(dag, cores),
    };
    let mut world = EventLoop::new(dag, moves, cores);
    let kind = match policy {
        DispatchPolicy::Global => QueueKind::Global,
        DispatchPolicy::Weighted => QueueKind::weighted(dag, cores),
        DispatchPolicy::Deadline => QueueKind::Deadline,
        DispatchPolicy::Mutex => QueueKind::Locked,
        DispatchPolicy::Sequential | DispatchPolicy::Stealing | DispatchPolicy::Lanes(_) => {
            world.run(&mut Stealing::new(dag, cores));
            return world.prediction();
        }
    };
    world.run(&mut Shared::new(kind, dag));
    world.prediction()
}

/// Upper bound on workers that can be busy at once on average; the executors wake no more either.
fn useful_cores(dag: &Dag, cores: usize) -> usize {
    let path = critical_path(dag);
    match dag.total_cost().0.div_ceil(path.max(1)) {
        0 => 1,
        max => cores.clamp(1, usize::try_from(max).unwrap_or(usize::MAX)),
    }
}

/// Cost of the critical path.
fn critical_path(dag: &Dag) -> u64 {
    dag.static_levels().into_iter().max().unwrap_or_default().0
}

#[cfg(test)]
mod tests;
