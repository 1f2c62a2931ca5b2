//! [`Strategy`]: the interface by which a parallel executor gives tasks to workers.

use super::worker::WorkerContext;
use crate::bound::BoundPlan;
use plan::Plan;

/// A way of giving tasks to workers. Implementations are the files of `crate::strategy`.
///
/// A worker takes part in a cycle by these calls:
///
/// ```text
/// enter ─> next ─> (run the task) ─> release ─> next ─> ... ─> next gives None ─> leave
/// ```
///
/// After a panic of a step the worker runs the rest of the task, and continues with `release`.
///
/// # Safety
///
/// `enter`, `next` and `release` give out tasks, together, under this contract:
///
/// 1. each task of a cycle is given to one worker, at most once, and only in the epoch of that cycle: a worker that is
///    still in an older cycle gets nothing;
/// 2. a task is given out after every task that it waits for was passed to `release`, and with an Acquire that pairs
///    with a Release made there.
pub(crate) unsafe trait Strategy: Send + Sync + Sized + 'static {
    /// Private data of one worker in one cycle.
    type Local: Default;

    /// Strategy for a plan and a number of workers, the host included, before the cycle after an epoch.
    fn new(plan: &Plan, bound: &BoundPlan, at: (usize, u32)) -> Self;

    /// Prepares a cycle. The one before is complete, but a worker may still be in it.
    ///
    /// Real-time: hot.
    fn begin(&self, _plan: &BoundPlan, _epoch: u32) {}

    /// Makes a worker part of the cycle, also when it is woken after it left this cycle. May give a task that `next`
    /// then begins with.
    ///
    /// Real-time: hot.
    fn enter(&self, _worker: &mut WorkerContext<'_>) -> Option<u32> {
        None
    }

    /// The next task for this worker. Waits until there is one. `None` if there will be none in this cycle, or if the
    /// worker is to leave and the others know how to wake it ([`WorkerContext::wake`]).
    ///
    /// `kept` is what the last `enter` or `release` gave.
    ///
    /// Real-time: hot.
    fn next(
        &self,
        worker: &mut WorkerContext<'_>,
        local: &mut Self::Local,
        kept: Option<u32>,
    ) -> Option<u32>;

    /// Counts `task` as done for those that wait for it. May give a ready one that this worker keeps.
    ///
    /// Real-time: hot.
    fn release(
        &self,
        worker: &mut WorkerContext<'_>,
        local: &mut Self::Local,
        task: u32,
    ) -> Option<u32>;

    /// Called when `next` gave `None`.
    ///
    /// Real-time: hot.
    fn leave(&self, _worker: &mut WorkerContext<'_>) {}

    /// Resets everything after an abandoned cycle. No worker is in a task.
    ///
    /// Real-time: hot.
    fn reset(&self, plan: &BoundPlan) {
        plan.reset_pending();
    }
}
