//! [`StaticQueues`]: the lists of a static schedule. In each cycle one worker follows a list in its order.
//!
//! | word | written by | holds |
//! |---|---|---|
//! | a list's [`EpochClaim`] | the worker that claims the list for a cycle | the epoch for which it was claimed last |
//! | a worker's row | that worker alone | the lists that it has claimed in its cycle, with the next item of each |
//!
//! One position that all workers share would be wrong. A worker could lose its core between finding that the list is
//! its own and reading the position. In a later cycle it would continue at the position of the list's next owner.
//! Therefore each worker has a row of its own, and what it left there in an old cycle is all that it ever finds.
//!
//! A worker empties its row when it enters a cycle. Positions that hold their epoch instead would do until the epochs
//! have wrapped around: then a list that was taken over once belonged to two workers, 2^32 cycles later.
//!
//! A worker with nothing to do looks at its own lists, which are few, and takes over the list of a worker that has not
//! come. It looks at the claim of each list until it finds that claimed, which holds for the rest of the cycle. So all
//! its looks of a cycle together read each claim once.

use crate::claim::EpochClaim;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, Ordering};

/// Next item of a list that the worker has not claimed.
const NOT_CLAIMED: u32 = u32::MAX;

/// The lists of a static schedule, and each worker's positions in them.
pub struct StaticQueues {
    claims: Box<[EpochClaim]>,
    rows: Box<[CachePadded<WorkerRow>]>,
}

/// Claims of one worker. No other thread touches it, so its atomics are all `Relaxed`: they only make it `Sync`.
struct WorkerRow {
    /// By list: the next item, or [`NOT_CLAIMED`].
    next: Box<[AtomicU32]>,
    /// The lists that it has claimed: the first `claimed_count` places.
    claimed: Box<[AtomicU32]>,
    claimed_count: AtomicU32,
    /// Number of lists, from the worker's own on, that are known to be claimed in this cycle.
    known_claimed: AtomicU32,
}

impl StaticQueues {
    /// `lists` lists for `workers` workers, before the cycle after `epoch`; no list is claimed.
    ///
    /// Real-time: setup.
    pub fn new(lists: usize, workers: usize, epoch: u32) -> Self {
        Self {
            claims: (0..lists).map(|_| EpochClaim::new(epoch)).collect(),
            rows: (0..workers)
                .map(|_| CachePadded(WorkerRow::new(lists)))
                .collect(),
        }
    }

    /// Makes `worker` part of another cycle, in which it has claimed nothing.
    ///
    /// Real-time: hot.
    pub fn enter(&self, worker: usize) {
        let row = &self.rows[worker];
        for list in row.claimed() {
            row.next[list].store(NOT_CLAIMED, Ordering::Relaxed);
        }
        row.claimed_count.store(0, Ordering::Relaxed);
        row.known_claimed.store(0, Ordering::Relaxed);
    }

    /// Claims `list` for `worker` in the cycle `epoch`, and returns true if it is the worker's now.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_claim(&self, worker: usize, list: usize, epoch: u32) -> bool {
        let is_claimed = self.claims[list].try_claim(epoch);
        if is_claimed {
            let row = &self.rows[worker];
            let count = row.claimed_count.load(Ordering::Relaxed);
            row.claimed[count as usize].store(list as u32, Ordering::Relaxed);
            row.claimed_count.store(count + 1, Ordering::Relaxed);
            row.next[list].store(0, Ordering::Relaxed);
        }
        is_claimed
    }

    /// Returns the next item of `list`, if `worker` has claimed it in this cycle.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn next(&self, worker: usize, list: usize) -> Option<u32> {
        let next = self.rows[worker].next[list].load(Ordering::Relaxed);
        (next != NOT_CLAIMED).then_some(next)
    }

    /// Advances by one item. Only after [`next`](Self::next) has returned one to that worker.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn advance(&self, worker: usize, list: usize) {
        let next = &self.rows[worker].next[list];
        next.store(next.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The lists that `worker` has claimed in this cycle.
    ///
    /// Real-time: hot.
    pub fn claimed(&self, worker: usize) -> impl Iterator<Item = usize> + '_ {
        self.rows[worker].claimed()
    }

    /// Claims a list whose worker has not come, for `worker` in the cycle `epoch`, and returns true if there was one.
    ///
    /// Real-time: hot.
    pub fn take_over(&self, worker: usize, epoch: u32) -> bool {
        let (row, lists) = (&self.rows[worker], self.claims.len());
        for at in row.known_claimed.load(Ordering::Relaxed) as usize..lists {
            // Claimed by this worker, by another one just now, or before: from here on it is.
            row.known_claimed.store(at as u32 + 1, Ordering::Relaxed);
            let list = (worker + at) % lists;
            if self.claims[list].is_free(epoch) && self.try_claim(worker, list, epoch) {
                return true;
            }
        }
        false
    }
}

impl WorkerRow {
    fn new(lists: usize) -> Self {
        let row = |value| (0..lists).map(|_| AtomicU32::new(value)).collect();
        Self {
            next: row(NOT_CLAIMED),
            claimed: row(0),
            claimed_count: AtomicU32::new(0),
            known_claimed: AtomicU32::new(0),
        }
    }

    fn claimed(&self) -> impl Iterator<Item = usize> + '_ {
        let count = self.claimed_count.load(Ordering::Relaxed) as usize;
        let claimed = self.claimed[..count].iter();
        claimed.map(|list| list.load(Ordering::Relaxed) as usize)
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
            let shared = Arc::new((StaticQueues::new(1, 2, 0), CycleProgress::new(), cells));
            let follow =
                |s: &(StaticQueues, CycleProgress, [UnsafeCell<u32>; 2]), worker, epoch| {
                    s.0.enter(worker);
                    s.0.try_claim(worker, 0, epoch);
                    while let Some(item) = s.0.next(worker, 0).filter(|item| *item < 2) {
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

    fn begin(queues: &StaticQueues, epoch: u32) {
        [0, 1].into_iter().for_each(|worker| queues.enter(worker));
        assert!([0, 1].into_iter().all(|w| queues.try_claim(w, w, epoch)));
    }

    #[test]
    fn a_list_is_one_workers_and_begins_anew_each_cycle() {
        let queues = StaticQueues::new(2, 2, 0);
        assert!(queues.try_claim(0, 1, 1) && !queues.try_claim(1, 1, 1));
        assert_eq!((queues.next(0, 1), queues.next(1, 1)), (Some(0), None));
        queues.advance(0, 1);
        assert_eq!(queues.next(0, 1), Some(1));
        begin(&queues, 2);
        assert_eq!((queues.next(1, 1), queues.next(0, 1)), (Some(0), None));
    }

    #[test]
    fn a_list_has_one_owner_when_the_epochs_have_wrapped_around() {
        let queues = StaticQueues::new(2, 2, u32::MAX - 1);
        // Worker 1 comes too late in the last epoch before 0, and in 0 itself. Worker 0 takes its list over.
        for epoch in [u32::MAX, 0] {
            queues.enter(0);
            assert!(queues.try_claim(0, 0, epoch) && queues.take_over(0, epoch));
            assert_eq!((queues.next(0, 1), queues.next(1, 1)), (Some(0), None));
            assert!(!queues.take_over(0, epoch));
        }
        begin(&queues, 1);
        // 2^32 cycles after the one in which worker 0 had list 1.
        for epoch in [1 << 30, 2 << 30, 3 << 30, u32::MAX, 0] {
            begin(&queues, epoch);
            for (worker, list) in [(0, 1), (1, 0)] {
                assert_eq!(queues.next(worker, list), None, "in epoch {epoch}");
            }
        }
    }

    #[test]
    fn a_worker_takes_over_only_lists_whose_workers_have_not_come() {
        let queues = StaticQueues::new(4, 4, 0);
        queues.enter(2);
        assert!(queues.try_claim(2, 2, 1) && queues.try_claim(3, 3, 1));
        assert!(queues.take_over(2, 1) && queues.take_over(2, 1) && !queues.take_over(2, 1));
        assert!(queues.claimed(2).eq([2, 0, 1]));
    }
}
