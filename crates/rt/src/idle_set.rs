//! [`IdleSet`]: the workers that left a cycle early to sleep, and may be woken in the same cycle.
//!
//! Each word holds the epoch, and one bit for each of 32 workers that left and has not been woken:
//!
//! ```text
//!   63                32 31                 0
//!  ┌────────────────────┬────────────────────┐
//!  │       epoch        │  a bit per worker  │
//!  └────────────────────┴────────────────────┘
//! ```
//!
//! | a worker that leaves, in [`IdleSet::insert`] | a worker that pushed a task, in [`IdleSet::pop`] |
//! |---|---|
//! | sets its bit | has pushed the task |
//! | full fence | full fence |
//! | looks for tasks once more; if there is one, [removes](IdleSet::remove) itself | looks at the bits and clears one: it wakes that worker |
//!
//! This is the store-buffering pattern (Dekker): by the two fences at least one side sees the other's store, so no task
//! is left behind while all workers sleep. The epoch keeps a worker of an old cycle out of a newer cycle's bits.

use crate::epoch;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU64, Ordering, fence};

/// The set of workers that left the current cycle and have not been woken.
pub struct IdleSet(Box<[CachePadded<AtomicU64>]>);

/// Workers in a word.
const BITS: usize = 32;

impl IdleSet {
    /// An empty set for workers below `workers`, in epoch 0.
    ///
    /// Real-time: setup.
    pub fn new(workers: usize) -> Self {
        let word = |_| CachePadded(AtomicU64::new(0));
        Self((0..workers.div_ceil(BITS)).map(word).collect())
    }

    /// Begins the cycle `epoch` with an empty set. Host only.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        for word in &self.0 {
            // Relaxed: nothing travels with it.
            word.store(epoch::pack(epoch, 0), Ordering::Relaxed);
        }
    }

    /// Adds `worker`, which leaves the cycle `epoch`. After that it must look for tasks once more.
    ///
    /// Real-time: hot.
    pub fn insert(&self, worker: usize, epoch: u32) {
        change(&self.0[worker / BITS], epoch, |bits| bits | bit(worker));
        // pairs with the fence in `pop`, as the table says.
        fence(Ordering::SeqCst);
    }

    /// Removes `worker`, which has found a task.
    ///
    /// Real-time: hot.
    pub fn remove(&self, worker: usize, epoch: u32) {
        change(&self.0[worker / BITS], epoch, |bits| bits & !bit(worker));
    }

    /// Removes and returns a worker that left the cycle `epoch`, if there is one. The caller must wake it, since nobody
    /// else will.
    ///
    /// Real-time: hot.
    pub fn pop(&self, epoch: u32) -> Option<usize> {
        // pairs with the fence in `insert`, as the table says.
        fence(Ordering::SeqCst);
        (0..).zip(&self.0).find_map(|(at, word)| {
            let before = change(word, epoch, |bits| bits & bits.wrapping_sub(1));
            (before != 0).then(|| at * BITS + before.trailing_zeros() as usize)
        })
    }
}

/// Changes the bits of a word if the cycle is still `epoch`, and returns what they were; else 0.
fn change(word: &AtomicU64, epoch: u32, to: impl Fn(u32) -> u32) -> u32 {
    // Relaxed throughout: nothing travels with it, and the fences order it.
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        let bits = epoch::low_in(seen, epoch);
        let changed = epoch::pack(epoch, to(bits));
        if epoch::of(seen) != epoch || changed == seen {
            return 0;
        }
        match word.compare_exchange_weak(seen, changed, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return bits,
            Err(now) => seen = now,
        }
    }
}

fn bit(worker: usize) -> u32 {
    1 << (worker % BITS)
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::IdleSet;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn a_worker_that_leaves_sees_the_task_or_is_woken() {
        loom::model(|| {
            let shared = Arc::new((IdleSet::new(8), AtomicU32::new(0)));
            shared.0.begin(1);
            let worker = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.0.insert(1, 1);
                    let sees = shared.1.load(Relaxed) == 1;
                    if sees {
                        shared.0.remove(1, 1);
                    }
                    sees
                })
            };
            shared.1.store(1, Relaxed);
            let woken = shared.0.pop(1);
            let sees = worker.join().unwrap();
            assert!(sees || woken == Some(1));
            assert_eq!(shared.0.pop(1), None);
        });
    }

    #[test]
    fn a_worker_is_woken_once_and_an_old_cycle_adds_nobody() {
        loom::model(|| {
            let set = Arc::new(IdleSet::new(8));
            set.begin(1);
            set.insert(3, 1);
            let other = {
                let set = set.clone();
                loom::thread::spawn(move || {
                    let woken = set.pop(1);
                    set.insert(4, 1);
                    woken
                })
            };
            let mine = set.pop(1);
            set.begin(2);
            assert_eq!(set.pop(2), None);
            let theirs = other.join().unwrap();
            assert!(mine.is_none() || theirs != mine);
            assert_eq!(set.pop(2), None);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::IdleSet;

    #[test]
    fn who_is_away_is_called_once() {
        let away = IdleSet::new(8);
        away.begin(7);
        [1, 2].into_iter().for_each(|worker| away.insert(worker, 7));
        away.insert(3, 6);
        assert_eq!((away.pop(6), away.pop(7)), (None, Some(1)));
        away.remove(2, 7);
        assert_eq!(away.pop(7), None);
    }

    #[test]
    fn of_128_workers_each_is_woken_by_its_own_number() {
        let away = IdleSet::new(128);
        for epoch in [u32::MAX, 0] {
            away.begin(epoch);
            [3, 35, 127]
                .into_iter()
                .for_each(|worker| away.insert(worker, epoch));
            away.remove(35, epoch);
            let woken: Vec<_> = std::iter::from_fn(|| away.pop(epoch)).collect();
            assert_eq!(woken, [3, 127]);
        }
    }
}
