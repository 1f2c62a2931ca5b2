//! One record of a trace: an event of a worker with its time. Plain data that fits a ring buffer.
//!
//! Records of one worker, and the span of time that each pair encloses:
//!
//! ```text
//! record  Enter    Step 4   Step 9   Wait     Resume   DeferredPiece   Step 2   Leave
//! time      |--------|--------|--------|--------|---------------|--------|--------|
//!             step 4   step 9   search    idle        piece       step 2   search
//! ```

/// The event that a record describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TraceEvent {
    /// `worker` ended step `index`. The step began where the record before it ends, so one time stamp per step is enough.
    Step,
    /// `worker` entered the cycle.
    Enter,
    /// `worker` found no ready task and began to wait. [`TraceEvent::Resume`] follows.
    Wait,
    /// `worker` found something to do.
    Resume,
    /// `worker` left the cycle.
    Leave,
    /// The callback thread began the cycle, before it woke any worker; `index` is the number of workers that it woke.
    CycleBegin,
    /// The callback thread ended the cycle; `index` is the number of times that all workers together took from shared
    /// queues.
    CycleEnd,
    /// `worker` ended one piece of deferred work, which it began at the [`TraceEvent::Resume`] before. Between two cycles
    /// it belongs to the first of them.
    DeferredPiece,
    /// `worker` ended its part of the fork that step `index` made on another worker, likewise.
    ForkLane,
    /// The cycle was aborted.
    CycleAborted,
}

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Time, in ticks of the time-stamp counter (`rt::stamp`).
    pub stamp: u64,
    /// Low 32 bits of the cycle's number.
    pub cycle: u32,
    /// The step; for events of the cycle see [`TraceEvent`].
    pub index: u32,
    /// The worker; 0 is the callback thread.
    pub worker: u16,
    /// The event.
    pub event: TraceEvent,
}
