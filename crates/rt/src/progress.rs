//! How far a cycle is: what is left to do, for whom, and whether it was given up.
//!
//! Each word carries the cycle's epoch, so that one who lingers in an old cycle takes no part in a newer one.
//!
//! | word | written by | says |
//! |---|---|---|
//! | `left` | the host begins; whoever has run tasks counts them off | epoch, and how many tasks nobody has counted yet |
//! | `abandoned` | the host | the last epoch that was given up: nothing of it or of older ones is begun any more |
//!
//! Only who holds tasks of the epoch counts, so a cycle is never over while somebody still owes a count. Counting off is
//! `AcqRel` and pairs with the `Acquire` of whoever finds 0: all that all tasks did is seen.

use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// So many epochs after one that was given up its number is brought up; a quarter of all there are.
const FAR: u32 = 1 << 30;

/// See the module.
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
    /// Epoch 0 is over.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self {
            left: CachePadded(AtomicU64::new(0)),
            abandoned: CachePadded(AtomicU32::new(0)),
        }
    }

    /// Begins a cycle of `tasks` tasks. Host only, when the last one is over, and before it tells others of it.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32, tasks: u32) {
        // Relaxed: our own word. What lies very far behind would look as if it lay ahead: epochs wrap around.
        if epoch.wrapping_sub(self.abandoned.load(Ordering::Relaxed)) > FAR {
            self.abandoned
                .store(epoch.wrapping_sub(1), Ordering::Relaxed);
        }
        // Release: one who lingers in the cycle before may see it at any time, and learns from it that that is over.
        self.left
            .store(u64::from(epoch) << 32 | u64::from(tasks), Ordering::Release);
    }

    /// Counts `tasks` off that the caller has run in this epoch.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn finish(&self, tasks: u32) {
        // AcqRel: what we did travels, and what the others did comes.
        self.left.fetch_sub(u64::from(tasks), Ordering::AcqRel);
    }

    /// Whether nothing is left to do in `epoch`: all is done, it was given up, or a newer one has begun.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_over(&self, epoch: u32) -> bool {
        // Acquire pairs with `count_off`.
        let left = self.left.load(Ordering::Acquire);
        (left >> 32) as u32 != epoch || left as u32 == 0 || self.is_abandoned(epoch)
    }

    /// Whether every task of the last cycle has run; then all that they did is seen.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_complete(&self) -> bool {
        // Acquire pairs with `count_off`.
        self.left.load(Ordering::Acquire) as u32 == 0
    }

    /// Gives `epoch` up: nobody begins another task of it, once a fence has made sure that they see it.
    ///
    /// Real-time: hot.
    pub fn abandon(&self, epoch: u32) {
        // Relaxed: the fences of whoever begins tasks and of the host order it (`crate::fence`).
        self.abandoned.store(epoch, Ordering::Relaxed);
    }

    /// Whether `epoch` has been given up, or is older than one that was: who lost its core in it must not begin a task
    /// of it even after a second one was given up.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_abandoned(&self, epoch: u32) -> bool {
        // Relaxed: as in `abandon`.
        epoch.wrapping_sub(self.abandoned.load(Ordering::Relaxed)) as i32 <= 0
    }

    /// The epoch of the last cycle that was begun.
    ///
    /// Real-time: hot.
    pub fn epoch(&self) -> u32 {
        // Relaxed: a number to look at.
        (self.left.load(Ordering::Relaxed) >> 32) as u32
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Progress;
    use crate::claim::EpochClaim;
    use crate::fence::AsymmetricFence;
    use crate::sync::atomic::{AtomicU32, Ordering};
    use crate::sync::{Arc, UnsafeCell};

    /// One task a cycle, which whoever claims it runs; a worker that may come late, or linger.
    #[test]
    fn the_host_may_begin_again_when_a_cycle_is_complete_whoever_lingers() {
        loom::model(|| {
            let shared = Arc::new((CycleProgress::new(), Claim::new(), UnsafeCell::new(0_u32)));
            let play = |s: &(CycleProgress, Claim, UnsafeCell<u32>), epoch| {
                while !s.0.is_over(epoch) {
                    if s.1.claim(epoch) {
                        // SAFETY: claimed, for this epoch: ours until it is counted.
                        s.2.with_mut(|n| unsafe { *n += 1 });
                        s.0.count_off(1);
                    }
                    loom::thread::yield_now();
                }
            };
            shared.0.begin(1, 1);
            let worker = {
                let shared = shared.clone();
                loom::thread::spawn(move || play(&shared, 1))
            };
            play(&shared, 1);
            assert!(shared.0.is_complete());
            // SAFETY: complete: nobody has a task, though the worker may linger.
            shared.2.with_mut(|n| unsafe { *n += 10 });
            shared.0.begin(2, 1);
            play(&shared, 2);
            assert_eq!(shared.2.with(|n| unsafe { *n }), 12);
            worker.join().unwrap();
        });
    }

    #[test]
    fn after_giving_up_the_host_sees_who_is_in_a_task() {
        loom::model(|| {
            let fence = Asymmetric::symmetric();
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
                        // SAFETY: in the task, and said so before.
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
