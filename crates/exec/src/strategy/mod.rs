//! The executors: one file for each way of giving tasks to workers.
//!
//! | file | a worker takes its next task from | a task that becomes ready goes to |
//! |---|---|---|
//! | [`sequential`] | the plan's order; there is one worker | – |
//! | [`static_schedule`] | its own list of the plan, or a list whose worker has not come | the list in which it stands |
//! | [`stealing`] | its own deque, else another worker's | the releasing worker's deque |
//! | [`global`] | one lock-free queue for all | that queue |
//! | [`weighted`] | its own queue, filled by batches from a shared one | its own queue up to a share, else the shared one |
//! | [`deadline`] | one set for all, by latest start time | that set, except the most urgent one |
//! | [`mutex`] | one queue behind a lock, for comparison | that queue |
//!
//! [`sources`] distributes the tasks that are ready when a cycle begins.

mod deadline;
mod global;
mod mutex;
mod sequential;
mod sources;
mod static_schedule;
mod stealing;
mod weighted;

use crate::bound::Binding;
use crate::cycle::{ParallelExecutor, Strategy};
use crate::executor::Executor;
use workers::WorkerPool;

pub use sequential::sequential;

fn parallel<S: Strategy>(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    Box::new(ParallelExecutor::<S>::new(binding, pool))
}

/// Follows the plan's own schedule. A plan without one is a single list.
///
/// Real-time: setup.
pub fn static_schedule(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    parallel::<static_schedule::StaticSchedule>(binding, pool)
}

/// Runs the plan by work stealing.
///
/// Real-time: setup.
pub fn stealing(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    parallel::<stealing::Stealing>(binding, pool)
}

/// Runs the plan from one queue for all workers.
///
/// Real-time: setup.
pub fn global(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    parallel::<global::GlobalQueue>(binding, pool)
}

/// Runs the plan by batches of tasks.
///
/// Real-time: setup.
pub fn weighted(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    parallel::<weighted::WeightedBatches>(binding, pool)
}

/// Runs the plan from one locked queue, for comparison.
///
/// Real-time: setup.
pub fn mutex(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    parallel::<mutex::LockedQueue>(binding, pool)
}

/// Runs tasks by their latest start time, and deferred pieces by their deadlines.
///
/// Real-time: setup.
pub fn deadline(binding: Binding<'_>, pool: &WorkerPool) -> Box<dyn Executor> {
    let executor = ParallelExecutor::<deadline::DeadlineOrder>::new(binding, pool);
    Box::new(executor.with_low_priority(pool))
}
