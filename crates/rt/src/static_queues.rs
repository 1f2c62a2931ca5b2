//! Lists that are followed in order, each by one worker a cycle: whose a list is, and how far that one is.
//!
//! | word | written by | says |
//! |---|---|---|
//! | a list's [`EpochClaim`] | whoever claims the list for a cycle | for which epoch it was claimed last |
//! | a worker's place in a list | that worker alone | epoch, and the next item: only in that epoch is the list the worker's |
//!
//! A place that all workers shared would not do: a worker that lost its core between finding the list its own and reading
//! how far it is would go on, in a later cycle, with the place of the list's next owner. So each keeps its own, and what
//! it left in an old cycle is all it ever finds.

use crate::claim::EpochClaim;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU64, Ordering};

/// See the module.
pub struct StaticQueues {
    claims: Box<[EpochClaim]>,
    /// A row for each worker: epoch: 32 bits | the next item: 32.
    places: Box<[CachePadded<Box<[AtomicU64]>>]>,
}

impl StaticQueues {
    /// So many lists for so many workers; nobody has one.
    ///
    /// Real-time: setup.
    pub fn new(lists: usize, workers: usize) -> Self {
        let row = || CachePadded((0..lists).map(|_| AtomicU64::new(0)).collect());
        Self {
            claims: (0..lists).map(|_| EpochClaim::new()).collect(),
            places: (0..workers).map(|_| row()).collect(),
        }
    }

    /// Claims `list` for `worker` in the cycle `epoch` (not 0); whether it is the worker's now.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_claim(&self, worker: usize, list: usize, epoch: u32) -> bool {
        let taken = self.claims[list].try_claim(epoch);
        if taken {
            // Relaxed: ours alone.
            self.places[worker][list].store(u64::from(epoch) << 32, Ordering::Relaxed);
        }
        taken
    }

    /// Which item of `list` comes next, if the list is `worker`'s in this cycle.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn next(&self, worker: usize, list: usize, epoch: u32) -> Option<u32> {
        // Relaxed: ours alone.
        let place = self.places[worker][list].load(Ordering::Relaxed);
        ((place >> 32) as u32 == epoch).then_some(place as u32)
    }

    /// Moves on by one item. Only after [`next`](Self::next) gave one, by that worker.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn advance(&self, worker: usize, list: usize) {
        let place = &self.places[worker][list];
        // Relaxed, both: ours alone.
        place.store(place.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Whether nobody seems to have claimed `list` for `epoch`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_free(&self, list: usize, epoch: u32) -> bool {
        self.claims[list].is_free(epoch)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Lanes;
    use crate::progress::CycleProgress;
    use crate::sync::{Arc, UnsafeCell};

    /// One list of two items; worker 1 may have it in epoch 1, perhaps losing its core at any point; the host takes it
    /// over in epoch 2.
    #[test]
    fn who_had_a_list_in_an_old_cycle_runs_nothing_of_a_new_one() {
        // Three forced switches; without a bound the model takes hours.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let cells = [0, 1].map(|_| UnsafeCell::new(0_u32));
            let shared = Arc::new((StaticQueues::new(1, 2), Progress::new(), cells));
            let follow = |s: &(StaticQueues, Progress, [UnsafeCell<u32>; 2]), worker, epoch| {
                s.0.take(worker, 0, epoch);
                while let Some(item) = s.0.next(worker, 0, epoch).filter(|item| *item < 2) {
                    s.0.advance(worker, 0);
                    // SAFETY: the list is ours in this epoch, and each item comes once.
                    s.2[item as usize].with_mut(|n| unsafe { *n += 1 });
                    s.1.count_off(1);
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
