//! One line of a trace: what a worker did, when. Plain data that fits a ring.

/// What a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TraceEvent {
    /// `worker` ended step `index`, which it began when its record before this one ends (or at its `Enter`): one time
    /// stamp a step is enough.
    Step,
    /// `worker` entered the cycle.
    Enter,
    /// `worker` began to wait: nothing was ready. The next record's begin is unknown, so [`TraceEvent::Resume`] follows.
    Wait,
    /// `worker` has found something to do.
    Resume,
    /// `worker` left the cycle.
    Leave,
    /// The callback thread began the cycle, before it woke anybody; `index` is how many workers it woke.
    CycleBegin,
    /// The callback thread ended the cycle; `index` is how many takes from shared queues it took all workers together.
    CycleEnd,
    /// `worker` ended one piece of deferred work, which it began at its [`TraceEvent::Resume`] before. Between two cycles too:
    /// then it counts to the cycle before.
    DeferredPiece,
    /// `worker` ended a lane of the fork that step `index` made on another worker, likewise.
    ForkLane,
    /// The cycle was given up.
    CycleAborted,
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When, in ticks of the time-stamp counter (`rt::stamp`).
    pub stamp: u64,
    /// In which cycle (its low 32 bits).
    pub cycle: u32,
    /// Which step; for marks of the cycle as [`TraceEvent`] says.
    pub index: u32,
    /// Which worker; 0 is the callback thread.
    pub worker: u16,
    /// What.
    pub event: TraceEvent,
}
