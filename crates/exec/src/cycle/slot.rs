//! [`WorkerSlot`]: the public state of a worker: the step that it runs, and its fork.

use rt::fork::ForkCell;
use rt::pad::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// No step, or no task.
pub(crate) const NONE: u32 = u32::MAX;

/// One worker, as others see it.
#[derive(Default)]
pub(crate) struct WorkerSlot {
    /// Step that the worker runs; [`NONE`] between steps.
    pub(crate) current: AtomicU32,
    /// Low 32 bits of the number of the cycle in which it runs.
    pub(crate) cycle: AtomicU32,
    /// A step, plus 1, that was `current` for too long; 0 for none. Set by the watchdog and the host, never by the
    /// worker.
    overdue: AtomicU32,
    /// Value of `current` just before the last abandoned cycle was abandoned. Written and read by the host only.
    pub(crate) current_at_abandon: AtomicU32,
    /// Accesses to shared queues, in all cycles.
    pub(crate) acquisitions: AtomicU64,
    /// Wake calls inside cycles, in all cycles.
    pub(crate) wakes: AtomicU64,
    pub(crate) fork: ForkCell,
}

/// The slots of all workers; worker 0 is the host, the thread that calls `run_cycle`.
pub(crate) type WorkerSlots = Arc<[CachePadded<WorkerSlot>]>;

pub(crate) fn worker_slots(workers: usize) -> WorkerSlots {
    let slot = || {
        CachePadded(WorkerSlot {
            current: AtomicU32::new(NONE),
            current_at_abandon: AtomicU32::new(NONE),
            ..WorkerSlot::default()
        })
    };
    (0..workers).map(|_| slot()).collect()
}

impl WorkerSlot {
    /// The step in which the worker is, after a cycle was abandoned.
    ///
    /// With `AsymmetricFence::heavy` before the call this is final: a worker that is in no step begins none of that
    /// cycle.
    pub(crate) fn step_in_progress(&self) -> Option<u32> {
        // Acquire pairs with `set_idle`: if the worker is in no step, all that it did in its steps is visible.
        Some(self.current.load(Ordering::Acquire)).filter(|step| *step != NONE)
    }

    /// Publishes that the worker is in no step.
    pub(crate) fn set_idle(&self) {
        // Release pairs with `step_in_progress`: what the worker did in its steps, and its count of them, travel.
        self.current.store(NONE, Ordering::Release);
    }

    /// Marks `step` as overdue. Returns the step that was marked before, if it is another one.
    pub(crate) fn mark_overdue(&self, step: u32) -> Option<u32> {
        // Relaxed: only the number matters. A step that has just returned is marked too late. Then the host finds
        // another step current, or the cycle over, and quarantines the marked one all the same: it did take too long.
        let before = self.overdue.swap(step + 1, Ordering::Relaxed);
        before.checked_sub(1).filter(|before| *before != step)
    }

    /// Takes the step that was marked as overdue.
    pub(crate) fn take_overdue(&self) -> Option<u32> {
        // Relaxed, both: as in `mark_overdue`. The load comes first so that the cache line is not written for nothing.
        if self.overdue.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.overdue.swap(0, Ordering::Relaxed).checked_sub(1)
    }
}
