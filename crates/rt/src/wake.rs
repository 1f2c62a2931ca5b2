//! [`Futex`]: a word that threads sleep on until it changes.
//!
//! The thread that changes the word wakes the sleepers, with one system call, or with none if no thread sleeps.
//!
//! # Why no wake is lost
//!
//! | sleeper, in [`Futex::wait`] | waker, in [`Futex::store`] and [`Futex::wake`] |
//! |---|---|
//! | counts itself in `asleep` | stores the word |
//! | full fence | full fence |
//! | looks at the word | looks at `asleep` |
//!
//! By the two fences at least one sees the other's store: the sleeper finds the word changed and does not sleep, or the
//! waker finds the sleeper counted and calls the kernel. The kernel looks at the word once more while sleeping and
//! waking exclude each other, so a wake between our look and the kernel's sleep is not lost either (`futex(2)`;
//! Drepper, "Futexes Are Tricky", 2011).

use std::num::NonZeroU32;

use units::Nanos;

use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, Ordering, fence};

#[cfg(any(loom, not(target_os = "linux")))]
#[path = "wake/condvar.rs"]
pub(crate) mod kernel;
#[cfg(all(not(loom), target_os = "linux"))]
#[path = "wake/futex.rs"]
pub(crate) mod kernel;

/// A 32-bit word that threads can sleep on; see `futex(2)`.
#[derive(Debug)]
pub struct Futex {
    word: CachePadded<AtomicU32>,
    asleep: CachePadded<AtomicU32>,
    kernel: kernel::WordWait,
}

/// Sleepers that a wake is for: one bit per sleeper, which it chooses itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeMask(NonZeroU32);

impl WakeMask {
    /// Every sleeper.
    pub const ALL: Self = Self(NonZeroU32::MAX);

    /// The sleeper `index`, and those that share its bit: every 32nd.
    ///
    /// Real-time: hot.
    pub fn bit(index: usize) -> Self {
        Self(NonZeroU32::new(1 << (index % 32)).unwrap_or(NonZeroU32::MIN))
    }

    /// The sleepers of both masks.
    ///
    /// Real-time: hot.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Futex {
    /// A word without sleepers.
    ///
    /// Real-time: setup.
    pub fn new(value: u32) -> Self {
        Self {
            word: CachePadded(AtomicU32::new(value)),
            asleep: CachePadded(AtomicU32::new(0)),
            kernel: kernel::WordWait::new(),
        }
    }

    /// Returns the word.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn load(&self) -> u32 {
        // pairs with the store in `store` and the addition in `fetch_add`: what was done before them is seen.
        self.word.load(Ordering::Acquire)
    }

    /// Changes the word; [`wake`](Self::wake) the sleepers then.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn store(&self, value: u32) {
        // pairs with the load in `load`.
        self.word.store(value, Ordering::Release);
    }

    /// Adds to the word, wrapping, and returns what it was; [`wake`](Self::wake) the sleepers then.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn fetch_add(&self, value: u32) -> u32 {
        // pairs with the load in `load`, and with other additions: all that each thread did before travels on.
        self.word.fetch_add(value, Ordering::AcqRel)
    }

    /// Wakes at most `count` sleepers, and returns how many it woke. No system call where nobody sleeps.
    ///
    /// Real-time: hot, wakes.
    pub fn wake(&self, count: u32) -> u32 {
        self.wake_some(count, WakeMask::ALL)
    }

    /// Wakes all sleepers that share a bit with `mask`, and returns how many it woke. No system call where nobody
    /// sleeps.
    ///
    /// Real-time: hot, wakes.
    pub fn wake_masked(&self, mask: WakeMask) -> u32 {
        self.wake_some(u32::MAX, mask)
    }

    /// Sleeps while the word is `expected`, until a wake. It may return early: look at the word again.
    ///
    /// Real-time: waits, on the thread that changes the word, without limit.
    pub fn wait(&self, expected: u32) {
        self.sleep(expected, WakeMask::ALL, None);
    }

    /// As [`wait`](Self::wait), woken only by a wake that shares a bit with `mask`.
    ///
    /// Real-time: waits, on the thread that changes the word, without limit.
    pub fn wait_masked(&self, expected: u32, mask: WakeMask) {
        self.sleep(expected, mask, None);
    }

    /// As [`wait`](Self::wait), but for about `limit` at most.
    ///
    /// Real-time: waits, on the thread that changes the word, for `limit`.
    pub fn wait_timeout(&self, expected: u32, limit: Nanos) {
        self.sleep(expected, WakeMask::ALL, Some(limit));
    }

    fn wake_some(&self, count: u32, mask: WakeMask) -> u32 {
        // pairs with the fence in `sleep`, as the table says.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if self.asleep.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        self.kernel.wake(&self.word, count, mask.0)
    }

    fn sleep(&self, expected: u32, mask: WakeMask, limit: Option<Nanos>) {
        // Relaxed: ordered by the fence.
        self.asleep.fetch_add(1, Ordering::Relaxed);
        // pairs with the fence in `wake_some`, as the table says.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence; a thread that goes on because of the word reads it again by `load`.
        if self.word.load(Ordering::Relaxed) == expected {
            self.kernel.sleep(&self.word, expected, mask.0, limit);
        }
        // Relaxed: a waker that still sees us counted makes one call for nothing.
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{Futex, WakeMask};
    use crate::sync::Arc;

    #[test]
    fn a_sleeper_never_misses_the_change() {
        loom::model(|| {
            let word = Arc::new(Futex::new(0));
            let sleeper = {
                let word = word.clone();
                loom::thread::spawn(move || {
                    while word.load() == 0 {
                        word.wait(0);
                    }
                })
            };
            word.store(1);
            word.wake(1);
            // A lost wake would leave the sleeper asleep: loom calls that a deadlock.
            sleeper.join().unwrap();
            assert_eq!(word.load(), 1);
        });
    }

    #[test]
    fn two_masked_sleepers_both_see_two_changes() {
        // Every way of switching threads at most three times.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let word = Arc::new(Futex::new(0));
            let sleepers = [0, 1].map(|index| {
                let word = word.clone();
                loom::thread::spawn(move || {
                    loop {
                        let seen = word.load();
                        if seen == 2 {
                            return;
                        }
                        word.wait_masked(seen, WakeMask::bit(index));
                    }
                })
            });
            for value in [1, 2] {
                word.store(value);
                word.wake_masked(WakeMask::bit(0).union(WakeMask::bit(1)));
            }
            sleepers.into_iter().for_each(|s| s.join().unwrap());
            assert_eq!(word.load(), 2);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Futex, WakeMask};
    use std::sync::Arc;
    use units::Nanos;

    #[test]
    fn nobody_asleep_is_nobody_woken() {
        let word = Futex::new(3);
        assert_eq!((word.wake(8), word.fetch_add(1), word.load()), (0, 3, 4));
        word.wait(3); // returns, since the word is 4
        word.wait_timeout(4, Nanos(1));
    }

    #[test]
    #[cfg(target_os = "linux")] // elsewhere a wake is for all
    fn a_sleeper_wakes_for_its_own_bit_only() {
        let word = Arc::new(Futex::new(0));
        let sleeper = {
            let word = word.clone();
            std::thread::spawn(move || {
                while word.load() == 0 {
                    word.wait_masked(0, WakeMask::bit(33));
                }
            })
        };
        assert_eq!(word.wake_masked(WakeMask::bit(2)), 0);
        // Until the sleeper is in the kernel a wake finds nobody.
        while word.wake_masked(WakeMask::bit(1)) == 0 {
            std::thread::yield_now();
        }
        word.store(1);
        word.wake_masked(WakeMask::bit(1));
        sleeper.join().unwrap();
    }
}
