//! Futexes: one wake call for all levels that start, an atomic count of those that are due, no lock.

use super::{COUNTED_CALLS, Scheme};
use divisi::rt::wake::{Futex, WakeMask};
use std::sync::atomic::{AtomicU32, Ordering};

/// The scheme: levels sleep on one word, the callback on another.
pub(super) struct FutexScheme {
    /// One more than the last call in which a level started; `u32::MAX` to end.
    started: Futex,
    counts: [AtomicU32; COUNTED_CALLS],
    /// The last call whose count became complete.
    complete: Futex,
}

impl Default for FutexScheme {
    fn default() -> Self {
        Self {
            started: Futex::new(0),
            counts: [const { AtomicU32::new(0) }; COUNTED_CALLS],
            complete: Futex::new(0),
        }
    }
}

impl Scheme for FutexScheme {
    fn start(&self, call: u32, count: usize) {
        let mask = (1..count).fold(WakeMask::bit(0), |mask, level| {
            mask.union(WakeMask::bit(level))
        });
        if count > 0 {
            self.started.store(call + 1);
            self.started.wake_masked(mask);
        }
    }

    fn wait_done(&self, call: u32, count: usize) {
        let done = &self.counts[call as usize % COUNTED_CALLS];
        loop {
            let complete = self.complete.load();
            // pairs with the addition in `done`: what the levels wrote is visible.
            if done.load(Ordering::Acquire) as usize >= count {
                break;
            }
            self.complete.wait(complete);
        }
        // Relaxed: no level counts here before it is started again, which publishes this.
        done.store(0, Ordering::Relaxed);
    }

    fn wait_start(&self, level: usize, call: u32, _: usize) -> bool {
        loop {
            let started = self.started.load();
            if started > call {
                return started != u32::MAX;
            }
            self.started.wait_masked(started, WakeMask::bit(level));
        }
    }

    fn done(&self, _: usize, due: u32, count: usize) {
        // pairs with the load in `wait_done`.
        let before = self.counts[due as usize % COUNTED_CALLS].fetch_add(1, Ordering::AcqRel);
        if before as usize + 1 == count {
            self.complete.store(due);
            self.complete.wake(1);
        }
    }

    fn stop(&self) {
        self.started.store(u32::MAX);
        self.started.wake_masked(WakeMask::ALL);
    }
}
