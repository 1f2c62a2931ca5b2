//! Services for a processor: what it may ask for in its set-up, and what an executor lends to a step.

use crate::Gauge;
use rt::background::BackgroundTask;
use rt::deferred::JobRunner;

/// Services for [`Processor::setup`](crate::Processor::setup), and only there.
///
/// Real-time: setup, each of them.
pub trait SetupServices {
    /// Registers a deferred job, whose pieces run beside the graph; see [`rt::deferred`].
    fn defer(&mut self, job: JobRunner);

    /// Registers a task for a thread that may wait.
    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>);

    /// Returns a number that the user is shown under `name`.
    fn gauge(&mut self, name: &str) -> Gauge;

    /// Tells the user of something that was done and that nobody asked for: lower case, no full stop. Does nothing
    /// where there is no user.
    fn notify_user(&mut self, _message: String) {}
}

/// Services that an executor lends to the steps it runs. Processors reach them through [`Block`](crate::Block).
pub trait ProcessServices: Sync {
    /// Runs `branch(0)` to `branch(count - 1)`, on idle workers too, and returns when all have run.
    ///
    /// Real-time: hot; the wait for the last branch is the join of the cycle, bounded by the watchdog.
    fn fork(&self, count: u32, branch: &(dyn Fn(u32) + Sync));

    /// Number of workers that run this cycle, the caller included.
    ///
    /// Real-time: hot.
    fn workers(&self) -> u32 {
        1
    }

    /// Counts a result that was not there in time.
    ///
    /// Real-time: hot.
    fn count_late(&self);

    /// Returns true if a step may still spend time on finishing deferred work: offline always, live until 20 % of the
    /// period is left.
    ///
    /// Real-time: hot.
    fn may_help(&self) -> bool;
}
