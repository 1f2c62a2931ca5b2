//! [`IdleSet`]: the workers that left a cycle early to sleep, and may be woken in the same cycle.
//!
//! The word holds the epoch and one bit for each worker that left and has not been woken:
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
pub struct IdleSet(CachePadded<AtomicU64>);

impl Default for IdleSet {
    fn default() -> Self {
        Self::new()
    }
}

impl IdleSet {
    /// An empty set, in epoch 0.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self(CachePadded(AtomicU64::new(0)))
    }

    /// Begins the cycle `epoch` with an empty set. Host only.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        // Relaxed: nothing travels with it.
        self.0.store(epoch::pack(epoch, 0), Ordering::Relaxed);
    }

    /// Adds `worker`, which leaves the cycle `epoch`. After that it must look for tasks once more. Every 32nd worker
    /// shares a bit: one of them may be woken while the others continue to sleep.
    ///
    /// Real-time: hot.
    pub fn insert(&self, worker: usize, epoch: u32) {
        self.change(epoch, |bits| bits | bit(worker));
        // pairs with the fence in `pop`, as the table says.
        fence(Ordering::SeqCst);
    }

    /// Removes `worker`, which has found a task.
    ///
    /// Real-time: hot.
    pub fn remove(&self, worker: usize, epoch: u32) {
        self.change(epoch, |bits| bits & !bit(worker));
    }

    /// Removes and returns a worker that left the cycle `epoch`, if there is one. The caller must wake it, since nobody
    /// else will.
    ///
    /// Real-time: hot.
    pub fn pop(&self, epoch: u32) -> Option<usize> {
        // pairs with the fence in `insert`, as the table says.
        fence(Ordering::SeqCst);
        let before = self.change(epoch, |bits| bits & bits.wrapping_sub(1));
        (before != 0).then(|| before.trailing_zeros() as usize)
    }

    /// Changes the bits if the cycle is still `epoch`, and returns what they were; else 0.
    fn change(&self, epoch: u32, to: impl Fn(u32) -> u32) -> u32 {
        // Relaxed throughout: nothing travels with it, and the fences order it.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let bits = epoch::low_in(word, epoch);
            let changed = epoch::pack(epoch, to(bits));
            if epoch::of(word) != epoch || changed == word {
                return 0;
            }
            match self
                .0
                .compare_exchange_weak(word, changed, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return bits,
                Err(now) => word = now,
            }
        }
    }
}

fn bit(worker: usize) -> u32 {
    1 << (worker % 32)
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::IdleSet;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn a_worker_that_leaves_sees_the_task_or_is_woken() {
        loom::model(|| {
            let shared = Arc::new((IdleSet::new(), AtomicU32::new(0)));
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
            let set = Arc::new(IdleSet::new());
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
        let away = IdleSet::new();
        away.begin(7);
        [1, 2].into_iter().for_each(|worker| away.insert(worker, 7));
        away.insert(3, 6);
        assert_eq!((away.pop(6), away.pop(7)), (None, Some(1)));
        away.remove(2, 7);
        assert_eq!(away.pop(7), None);
    }
}
