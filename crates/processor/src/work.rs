//! Work beside the step: what waits on disks, and what the executor lends to a step.

/// What a background task wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// There is more to do at once.
    More,
    /// Nothing to do now; ask again in a few milliseconds.
    Idle,
    /// Nothing to do ever again.
    Done,
}

/// Work that may wait: reading and writing files, decoding. Runs on an ordinary thread, never at real-time priority.
/// Live, each task has a turn every few milliseconds; offline, every task has turns between two blocks until it
/// answers [`TaskStatus::Idle`] or [`TaskStatus::Done`], so that nothing is ever missing.
pub trait BackgroundTask: Send {
    /// Does a bounded part of the work (some 10 ms).
    ///
    /// Real-time: waits, on the task's own files.
    fn poll(&mut self) -> TaskStatus;

    /// The last turn: the engine is about to be dropped. Flush what is written.
    ///
    /// Real-time: waits, on the task's own files.
    fn end(&mut self) {}
}

/// What an executor lends to the steps it runs. Units reach it through [`Block`](crate::Block).
pub trait ProcessServices: Sync {
    /// Runs `work(0)` to `work(lanes - 1)`, on idle workers too, and comes back when all have run.
    ///
    /// Real-time: hot; the wait for the last lane is the join of the cycle, bounded by the watchdog.
    fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync));

    /// How many workers there are to play this cycle, the caller included.
    ///
    /// Real-time: hot.
    fn workers(&self) -> u32 {
        1
    }

    /// Counts a result that was not there in time.
    ///
    /// Real-time: hot.
    fn count_late(&self);

    /// Whether a step may still spend time on finishing deferred work: offline always, live until 20 % of the period
    /// is left.
    ///
    /// Real-time: hot.
    fn may_help(&self) -> bool;
}
