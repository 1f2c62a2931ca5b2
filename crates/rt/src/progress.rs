//! The progress of a cycle: how many tasks are left, and whether the cycle was abandoned.
//!
//! Each word holds the cycle's epoch, so that a worker that is still in an old cycle takes no part in a newer one.
//!
//! | word | written by | holds |
//! |---|---|---|
//! | `left` | the host, at the start; then each worker that ran tasks | epoch, and the number of tasks that are not counted off yet |
//! | `abandoned` | the host | the last epoch that was abandoned: no task of it or of an older one begins any more |
//!
//! Only a worker that holds tasks of the epoch counts them, so no cycle is over while somebody still has a count to
//! make. The subtraction is `AcqRel` and pairs with the `Acquire` of the thread that finds 0: it sees what all tasks did.

use crate::epoch;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Distance at which the number of an abandoned epoch is moved along: a quarter of all epochs.
const MAX_DISTANCE: u32 = 1 << 30;

/// Tasks left in the current cycle, and the last epoch that was abandoned.
pub struct CycleProgress {
    left: CachePadded<AtomicU64>,
    abandoned: CachePadded<AtomicU32>,
}

impl Default for CycleProgress {
    fn default() -> Self {
        Self::new()
    }
}

impl CycleProgress {
    /// The progress of epoch 0, which is over.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self {
            left: CachePadded(AtomicU64::new(0)),
            abandoned: CachePadded(AtomicU32::new(0)),
        }
    }

    /// Begins a cycle of `tasks` tasks. Host only, when the last cycle is over, and before it tells other workers of
    /// it.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32, tasks: u32) {
        // Relaxed: only the host writes it. An abandoned epoch very far behind would look as if it lay ahead, since
        // epochs wrap around.
        if epoch.wrapping_sub(self.abandoned.load(Ordering::Relaxed)) > MAX_DISTANCE {
            self.abandoned
                .store(epoch.wrapping_sub(1), Ordering::Relaxed);
        }
        // Release: a worker that is still in the cycle before may see it at any time, and learns that that cycle is
        // over.
        self.left
            .store(epoch::pack(epoch, tasks), Ordering::Release);
    }

    /// Counts `tasks` tasks that the caller has run in this epoch.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn finish(&self, tasks: u32) {
        // AcqRel: what this worker did travels, and what the others did comes.
        self.left.fetch_sub(u64::from(tasks), Ordering::AcqRel);
    }

    /// Returns true if `epoch` is over: all tasks have run, it was abandoned, or a newer one has begun.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_over(&self, epoch: u32) -> bool {
        // Acquire pairs with `finish`.
        let left = self.left.load(Ordering::Acquire);
        epoch::low_in(left, epoch) == 0 || self.is_abandoned(epoch)
    }

    /// Returns true if every task of the last cycle has run; then all that they did is visible.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_complete(&self) -> bool {
        // Acquire pairs with `finish`.
        self.left.load(Ordering::Acquire) as u32 == 0
    }

    /// Abandons `epoch`: nobody begins another task of it, once a fence has made sure that all workers see it.
    ///
    /// Real-time: hot.
    pub fn abandon(&self, epoch: u32) {
        // Relaxed: the fences of the workers that begin tasks and of the host order it (`crate::fence`).
        self.abandoned.store(epoch, Ordering::Relaxed);
    }

    /// Returns true if `epoch` was abandoned, or is older than one that was. A worker that lost its core in it must not
    /// begin a task of it, even after a second one was abandoned.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_abandoned(&self, epoch: u32) -> bool {
        // Relaxed: the fences order it, as in `abandon`.
        epoch.wrapping_sub(self.abandoned.load(Ordering::Relaxed)) as i32 <= 0
    }

    /// Epoch of the last cycle that was begun.
    ///
    /// Real-time: hot.
    pub fn epoch(&self) -> u32 {
        // Relaxed: a number to look at.
        epoch::of(self.left.load(Ordering::Relaxed))
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::CycleProgress;
    use crate::claim::EpochClaim;
    use crate::fence::AsymmetricFence;
    use crate::sync::atomic::{AtomicU32, Ordering};
    use crate::sync::{Arc, UnsafeCell};

    /// One task a cycle, run by the worker that claims it; a worker may come late, or stay for long.
    #[test]
    fn the_host_may_begin_again_when_a_cycle_is_complete_though_a_worker_is_still_in_it() {
        loom::model(|| {
            let shared = Arc::new((
                CycleProgress::new(),
                EpochClaim::new(0),
                UnsafeCell::new(0_u32),
            ));
            let work = |s: &(CycleProgress, EpochClaim, UnsafeCell<u32>), epoch| {
                while !s.0.is_over(epoch) {
                    if s.1.try_claim(epoch) {
                        // SAFETY: claimed, for this epoch: ours until it is counted.
                        s.2.with_mut(|n| unsafe { *n += 1 });
                        s.0.finish(1);
                    }
                    loom::thread::yield_now();
                }
            };
            shared.0.begin(1, 1);
            let worker = {
                let shared = shared.clone();
                loom::thread::spawn(move || work(&shared, 1))
            };
            work(&shared, 1);
            assert!(shared.0.is_complete());
            // SAFETY: complete: nobody has a task, though the worker may still be in the cycle.
            shared.2.with_mut(|n| unsafe { *n += 10 });
            shared.0.begin(2, 1);
            work(&shared, 2);
            assert_eq!(shared.2.with(|n| unsafe { *n }), 12);
            worker.join().unwrap();
        });
    }

    #[test]
    fn after_abandoning_a_cycle_the_host_sees_who_is_in_a_task() {
        loom::model(|| {
            let fence = AsymmetricFence::symmetric();
            let shared = Arc::new((
                CycleProgress::new(),
                AtomicU32::new(0),
                UnsafeCell::new(0_u32),
            ));
            shared.0.begin(1, 1);
            let worker = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.1.store(1, Ordering::Relaxed);
                    fence.light();
                    if !shared.0.is_abandoned(1) {
                        // SAFETY: in the task, which it published before.
                        shared.2.with_mut(|n| unsafe { *n += 1 });
                    }
                    shared.1.store(0, Ordering::Release);
                })
            };
            shared.0.abandon(1);
            fence.heavy();
            if shared.1.load(Ordering::Acquire) == 0 {
                // SAFETY: not in the task now, so it never will be.
                shared.2.with_mut(|n| unsafe { *n += 10 });
            }
            worker.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::CycleProgress;

    #[test]
    fn an_epoch_is_over_when_all_is_counted_or_another_begins() {
        let progress = CycleProgress::new();
        progress.begin(1, 2);
        progress.finish(1);
        assert!(!progress.is_over(1) && progress.is_over(2));
        progress.finish(1);
        assert!(progress.is_over(1) && progress.is_complete());
        progress.begin(2, 1);
        assert!(progress.is_over(1) && !progress.is_over(2));
        progress.abandon(2);
        assert!(progress.is_over(2) && !progress.is_complete());
    }

    #[test]
    fn who_lingers_from_before_two_that_were_given_up_begins_nothing() {
        let progress = CycleProgress::new();
        for epoch in [1, 2] {
            progress.begin(epoch, 1);
            progress.abandon(epoch);
        }
        progress.begin(3, 1);
        assert!(progress.is_abandoned(1) && progress.is_abandoned(2) && !progress.is_abandoned(3));
    }

    #[test]
    fn epochs_wrap_around() {
        let progress = CycleProgress::new();
        for epoch in (1..=u32::MAX).step_by(1 << 28).chain([u32::MAX, 0, 5]) {
            progress.begin(epoch, 1);
            assert!(!progress.is_abandoned(epoch));
        }
        progress.abandon(5);
        assert!(progress.is_abandoned(5) && progress.is_abandoned(u32::MAX));
    }
}
