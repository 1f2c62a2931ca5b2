//! [`WorkerSlot`]: the public state of a worker: the step that it runs, and its fork.

use rt::fork::ForkCell;
use rt::pad::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use workers::ThreadId;

/// No step, or no task.
pub(crate) const NONE: u32 = u32::MAX;

/// One worker, as others see it.
#[derive(Default)]
pub(crate) struct WorkerSlot {
    /// Step that the worker runs; [`NONE`] between steps.
    pub(crate) current: AtomicU32,
    /// Low 32 bits of the number of the cycle in which it runs.
    pub(crate) cycle: AtomicU32,
    /// The cycle in which it runs is to be abandoned at some time. Without that, steps may wait as long as they like.
    pub(crate) has_limit: AtomicBool,
    /// The system's number of the thread that is the worker; 0 if unknown.
    pub(crate) thread: AtomicU32,
    /// The worker waits for branches of its fork that others run.
    is_joining: AtomicBool,
    /// A step, plus 1, that has used too much time; 0 for none. Set by the watchdog, taken by the host.
    overdue: AtomicU32,
    /// A step, plus 1, that the worker has left in the middle, because its fork was abandoned; 0 for none. Set by the
    /// worker, taken by the host.
    left: AtomicU32,
    /// Accesses to shared queues, in all cycles.
    pub(crate) acquisitions: AtomicU64,
    /// Wake calls inside cycles, in all cycles.
    pub(crate) wakes: AtomicU64,
    pub(crate) fork: ForkCell,
    /// Step of the worker's last fork. Unlike `current` it stays when the worker leaves a fork that was abandoned.
    fork_step: AtomicU32,
}

/// The slots of all workers; worker 0 is the host, the thread that calls `run_cycle`.
pub(crate) type WorkerSlots = Arc<[CachePadded<WorkerSlot>]>;

pub(crate) fn worker_slots(workers: usize) -> WorkerSlots {
    let slot = || {
        CachePadded(WorkerSlot {
            current: AtomicU32::new(NONE),
            ..WorkerSlot::default()
        })
    };
    (0..workers).map(|_| slot()).collect()
}

impl WorkerSlot {
    /// Publishes that the calling thread is the worker, in a cycle that is abandoned at some time or not.
    #[inline]
    pub(crate) fn begin_cycle(&self, cycle: u64, has_limit: bool) {
        // Relaxed, all: only the watchdog reads them.
        self.cycle.store(cycle as u32, Ordering::Relaxed);
        self.has_limit.store(has_limit, Ordering::Relaxed);
        let thread = ThreadId::current().map_or(0, ThreadId::number);
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// The step in which the worker is, after a cycle was abandoned.
    ///
    /// With `AsymmetricFence::heavy` before the call this is final: a worker that is in no step begins none of that
    /// cycle.
    pub(crate) fn step_in_progress(&self) -> Option<u32> {
        // Acquire pairs with `set_idle`: if the worker is in no step, all that it did in its steps is visible.
        Some(self.current.load(Ordering::Acquire)).filter(|step| *step != NONE)
    }

    /// Publishes that the worker is in no step.
    #[inline]
    pub(crate) fn set_idle(&self) {
        // Release pairs with `step_in_progress`: what the worker did in its steps, and its count of them, travel.
        self.current.store(NONE, Ordering::Release);
    }

    /// Publishes that the worker is about to fork, in its current step.
    pub(crate) fn begin_fork(&self) {
        // Relaxed, both: published by the fork, and the worker itself wrote `current`.
        let step = self.current.load(Ordering::Relaxed);
        self.fork_step.store(step, Ordering::Relaxed);
    }

    /// Runs a branch of the fork of `owner`, and returns the step that forked. This worker is in that step meanwhile, as
    /// others see it.
    pub(crate) fn run_branch_of(&self, owner: &Self) -> Option<u32> {
        let mut helped = None;
        owner.fork.help_after(|| {
            // Relaxed, both: the claim ordered it behind the owner's store, and the owner forks no more before the branch
            // has ended. Not the owner's `current`: an owner that has abandoned the fork is in no step, and this worker
            // would seem to be in none while it runs the branch.
            let step = owner.fork_step.load(Ordering::Relaxed);
            self.current.store(step, Ordering::Relaxed);
            helped = Some(step);
        });
        helped
    }

    /// Publishes that the worker waits for branches of its fork, or does so no more.
    pub(crate) fn set_joining(&self, is_joining: bool) {
        // Relaxed: the watchdog looks again and again, and no other memory depends on it.
        self.is_joining.store(is_joining, Ordering::Relaxed);
    }

    /// Returns true if the worker waits for branches of its fork.
    pub(crate) fn is_joining(&self) -> bool {
        // Relaxed: as in `set_joining`.
        self.is_joining.load(Ordering::Relaxed)
    }

    /// Marks `step` as overdue. Returns false if the host has not taken another mark yet.
    pub(crate) fn mark_overdue(&self, step: u32) -> bool {
        // Relaxed: only the number matters. A step that has just returned is marked too late. Then the host finds
        // another step current, or the cycle over, and quarantines the marked one all the same: it did take too long.
        (self.overdue)
            .compare_exchange(0, step + 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Returns true if `step` is marked as overdue.
    pub(crate) fn is_overdue(&self, step: u32) -> bool {
        // Relaxed: as in `mark_overdue`.
        self.overdue.load(Ordering::Relaxed) == step + 1
    }

    /// Marks the current step as left in the middle. The host clears its events when no worker is in it any more.
    pub(crate) fn mark_left(&self) {
        // Relaxed, both: the worker itself wrote `current`, and `set_idle` publishes the mark.
        let step = self.current.load(Ordering::Relaxed);
        self.left.store(step.wrapping_add(1), Ordering::Relaxed);
    }

    /// Takes the step that was left in the middle.
    pub(crate) fn take_left(&self) -> Option<u32> {
        // Relaxed, both: read when no worker is in a step, which `step_in_progress` has seen.
        if self.left.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.left.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    /// Takes the step that was marked as overdue.
    #[inline]
    pub(crate) fn take_overdue(&self) -> Option<u32> {
        // Relaxed, both: as in `mark_overdue`. The load comes first so that the cache line is not written for nothing.
        if self.overdue.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.overdue.swap(0, Ordering::Relaxed).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{WorkerSlots, worker_slots};
    use rt::fork::ForkTask;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_step_that_was_left_is_taken_once() {
        let slots = worker_slots(1);
        slots[0].current.store(0, Ordering::Relaxed);
        assert_eq!(slots[0].take_left(), None);
        slots[0].mark_left();
        slots[0].set_idle();
        assert_eq!(
            (slots[0].take_left(), slots[0].take_left()),
            (Some(0), None)
        );
    }

    #[test]
    fn a_helper_is_in_the_step_that_forked_though_its_owner_has_left_it() {
        static SEEN: AtomicU32 = AtomicU32::new(0);
        let slots: &'static WorkerSlots = Box::leak(Box::new(worker_slots(2)));
        let (owner, helper) = (&slots[0], &slots[1]);
        owner.current.store(5, Ordering::Relaxed);
        owner.begin_fork();
        // SAFETY: what the branches lead to lives for ever.
        let task = unsafe {
            ForkTask::new(move |branch| match branch {
                0 => {
                    // As if the owner had given up between the helper's claim and its look.
                    slots[0].set_idle();
                    assert_eq!(slots[1].run_branch_of(&slots[0]), Some(5));
                }
                _ => SEEN.store(slots[1].current.load(Ordering::Relaxed), Ordering::Relaxed),
            })
        };
        assert!(owner.fork.fork(2, &task, &mut || false).is_ok());
        assert_eq!(SEEN.load(Ordering::Relaxed), 5);
        assert_eq!(helper.step_in_progress(), Some(5));
    }
}
