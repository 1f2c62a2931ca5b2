//! [`StaticQueues`]: the lists of a static schedule. In each cycle one worker follows a list in its order.
//!
//! | word | written by | holds |
//! |---|---|---|
//! | a list's [`EpochClaim`] | the worker that claims the list for a cycle | the epoch for which it was claimed last |
//! | a worker's position in a list | that worker alone | epoch and next item: the list is the worker's in that epoch only |
//!
//! One position that all workers share would be wrong. A worker could lose its core between finding that the list is
//! its own and reading the position. In a later cycle it would continue at the position of the list's next owner.
//! Therefore each worker has a position of its own, and what it left there in an old cycle is all that it ever finds.

use crate::claim::EpochClaim;
use crate::epoch;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The lists of a static schedule, and each worker's positions in them.
pub struct StaticQueues {
    claims: Box<[EpochClaim]>,
    /// A row per worker: epoch (32 bits) | next item (32).
    positions: Box<[CachePadded<Box<[AtomicU64]>>]>,
}

impl StaticQueues {
    /// `lists` lists for `workers` workers; no list is claimed.
    ///
    /// Real-time: setup.
    pub fn new(lists: usize, workers: usize) -> Self {
        let row = || CachePadded((0..lists).map(|_| AtomicU64::new(0)).collect());
        Self {
            claims: (0..lists).map(|_| EpochClaim::new()).collect(),
            positions: (0..workers).map(|_| row()).collect(),
        }
    }

    /// Claims `list` for `worker` in the cycle `epoch` (not 0), and returns true if it is the worker's now.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_claim(&self, worker: usize, list: usize, epoch: u32) -> bool {
        let is_claimed = self.claims[list].try_claim(epoch);
        if is_claimed {
            // Relaxed: only this worker uses it.
            self.positions[worker][list].store(epoch::pack(epoch, 0), Ordering::Relaxed);
        }
        is_claimed
    }

    /// Returns the next item of `list`, if the list is `worker`'s in this cycle.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn next(&self, worker: usize, list: usize, epoch: u32) -> Option<u32> {
        // Relaxed: only this worker uses it.
        let position = self.positions[worker][list].load(Ordering::Relaxed);
        (epoch::of(position) == epoch).then_some(position as u32)
    }

    /// Advances by one item. Only after [`next`](Self::next) has returned one to that worker.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn advance(&self, worker: usize, list: usize) {
        let position = &self.positions[worker][list];
        // Relaxed, both: only this worker uses it.
        position.store(position.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Returns true if nobody seems to have claimed `list` for `epoch`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_free(&self, list: usize, epoch: u32) -> bool {
        self.claims[list].is_free(epoch)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::StaticQueues;
    use crate::progress::CycleProgress;
    use crate::sync::{Arc, UnsafeCell};

    /// One list of two items; worker 1 may have it in epoch 1, perhaps losing its core at any point; the host takes it
    /// over in epoch 2.
    #[test]
    fn a_worker_that_had_a_list_in_an_old_cycle_runs_nothing_of_a_new_one() {
        // Three forced switches; without a bound the model takes hours.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let cells = [0, 1].map(|_| UnsafeCell::new(0_u32));
            let shared = Arc::new((StaticQueues::new(1, 2), CycleProgress::new(), cells));
            let follow =
                |s: &(StaticQueues, CycleProgress, [UnsafeCell<u32>; 2]), worker, epoch| {
                    s.0.try_claim(worker, 0, epoch);
                    while let Some(item) = s.0.next(worker, 0, epoch).filter(|item| *item < 2) {
                        s.0.advance(worker, 0);
                        // SAFETY: the list is ours in this epoch, and each item comes once.
                        s.2[item as usize].with_mut(|n| unsafe { *n += 1 });
                        s.1.finish(1);
                    }
                };
            shared.1.begin(1, 2);
            let worker = {
                let shared = shared.clone();
                loom::thread::spawn(move || follow(&shared, 1, 1))
            };
            while !shared.1.is_over(1) {
                loom::thread::yield_now();
            }
            shared.1.begin(2, 2);
            follow(&shared, 0, 2);
            assert!(shared.1.is_complete());
            worker.join().unwrap();
            for cell in &shared.2 {
                // SAFETY: the worker has ended.
                assert_eq!(cell.with(|n| unsafe { *n }), 2);
            }
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::StaticQueues;

    #[test]
    fn a_list_is_one_workers_and_begins_anew_each_cycle() {
        let lanes = StaticQueues::new(2, 2);
        assert!(lanes.is_free(1, 1) && lanes.try_claim(0, 1, 1) && !lanes.try_claim(1, 1, 1));
        assert_eq!((lanes.next(0, 1, 1), lanes.next(1, 1, 1)), (Some(0), None));
        lanes.advance(0, 1);
        assert_eq!(lanes.next(0, 1, 1), Some(1));
        assert!(lanes.try_claim(1, 1, 2));
        assert_eq!((lanes.next(1, 1, 2), lanes.next(0, 1, 2)), (Some(0), None));
    }
}
