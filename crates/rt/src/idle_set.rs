//! Who has left a cycle early, to sleep, and may be called back.
//!
//! The word holds the epoch and a bit for each worker that is away and has not been called.
//!
//! | who leaves, in [`IdleSet::insert`] | who has put something where others look, in [`IdleSet::pop`] |
//! |---|---|
//! | sets its bit | has put it there |
//! | full fence | full fence |
//! | looks once more whether there is something; if so, [`comes back`](Away::remove) | looks at the bits, and clears one: that worker is its to wake |
//!
//! By the two fences at least one sees what the other did. The epoch makes that nobody is called for a cycle that is
//! over, and that one who lingers there leaves no trace in a newer one.

use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU64, Ordering, fence};

/// See the module.
pub struct IdleSet(CachePadded<AtomicU64>);

impl Default for IdleSet {
    fn default() -> Self {
        Self::new()
    }
}

impl IdleSet {
    /// Nobody, in epoch 0.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self(CachePadded(AtomicU64::new(0)))
    }

    /// Begins the cycle `epoch`: nobody has left it. Host only.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        // Relaxed: nothing travels with it.
        self.0.store(u64::from(epoch) << 32, Ordering::Relaxed);
    }

    /// Says that `worker` leaves the cycle `epoch`. It must look once more for something to do after that. Every 32nd
    /// worker shares a bit: of those only one may be called, and the others sleep on.
    ///
    /// Real-time: hot.
    pub fn insert(&self, worker: usize, epoch: u32) {
        self.change(epoch, |bits| bits | bit(worker));
        // pairs with the fence in `call`, as the table says.
        fence(Ordering::SeqCst);
    }

    /// Says that `worker` is there.
    ///
    /// Real-time: hot.
    pub fn remove(&self, worker: usize, epoch: u32) {
        self.change(epoch, |bits| bits & !bit(worker));
    }

    /// A worker that has left the cycle `epoch`, if there is one; the caller is to wake it, and nobody else will.
    ///
    /// Real-time: hot.
    pub fn pop(&self, epoch: u32) -> Option<usize> {
        // pairs with the fence in `leave`, as the table says.
        fence(Ordering::SeqCst);
        let before = self.change(epoch, |bits| bits & bits.wrapping_sub(1));
        (before != 0).then(|| before.trailing_zeros() as usize)
    }

    /// Changes the bits if the cycle is `epoch`'s still; what they were, or 0.
    fn change(&self, epoch: u32, to: impl Fn(u32) -> u32) -> u32 {
        // Relaxed throughout: nothing travels with it, and the fences order it.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let (of, bits) = ((word >> 32) as u32, word as u32);
            let changed = u64::from(epoch) << 32 | u64::from(to(bits));
            if of != epoch || changed == word {
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
    use super::Away;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn who_leaves_sees_what_there_is_to_do_or_is_called() {
        loom::model(|| {
            let shared = Arc::new((IdleSet::new(), AtomicU32::new(0)));
            shared.0.begin(1);
            let leaver = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.0.leave(1, 1);
                    let sees = shared.1.load(Relaxed) == 1;
                    if sees {
                        shared.0.come_back(1, 1);
                    }
                    sees
                })
            };
            shared.1.store(1, Relaxed);
            let called = shared.0.call(1);
            let sees = leaver.join().unwrap();
            assert!(sees || called == Some(1));
            assert_eq!(shared.0.call(1), None);
        });
    }

    #[test]
    fn one_of_two_calls_a_worker_and_who_lingers_leaves_no_newer_cycle() {
        loom::model(|| {
            let away = Arc::new(IdleSet::new());
            away.begin(1);
            away.leave(3, 1);
            let other = {
                let away = away.clone();
                loom::thread::spawn(move || {
                    let called = away.call(1);
                    away.leave(4, 1);
                    called
                })
            };
            let mine = away.call(1);
            away.begin(2);
            assert_eq!(away.call(2), None);
            let theirs = other.join().unwrap();
            assert!(mine.is_none() || theirs != mine);
            assert_eq!(away.call(2), None);
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
