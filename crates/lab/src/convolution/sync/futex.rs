//! Futexes: one wake call for all levels that start, an atomic count of those that are due, no lock.

use super::{COUNTED_CALLS, Scheme};
use divisi::rt::wake::{Names, Sleeper};
use std::sync::atomic::{AtomicU32, Ordering};

/// The scheme: levels sleep on one word, the callback on another.
pub(super) struct Futex {
    /// One more than the last call in which a level started; `u32::MAX` to end.
    started: Sleeper,
    counts: [AtomicU32; COUNTED_CALLS],
    /// The last call whose count became complete.
    complete: Sleeper,
}

impl Default for Futex {
    fn default() -> Self {
        Self {
            started: Sleeper::new(0),
            counts: [const { AtomicU32::new(0) }; COUNTED_CALLS],
            complete: Sleeper::new(0),
        }
    }
}

impl Scheme for Futex {
    fn start(&self, call: u32, count: usize) {
        let names = (1..count).fold(Names::one(0), |names, level| names.and(Names::one(level)));
        if count > 0 {
            self.started.set(call + 1);
            self.started.wake_named(names);
        }
    }

    fn wait_done(&self, call: u32, count: usize) {
        let done = &self.counts[call as usize % COUNTED_CALLS];
        loop {
            let complete = self.complete.get();
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
            let started = self.started.get();
            if started > call {
                return started != u32::MAX;
            }
            self.started.wait_named(started, Names::one(level));
        }
    }

    fn done(&self, _: usize, due: u32, count: usize) {
        // pairs with the load in `wait_done`.
        let before = self.counts[due as usize % COUNTED_CALLS].fetch_add(1, Ordering::AcqRel);
        if before as usize + 1 == count {
            self.complete.set(due);
            self.complete.wake(1);
        }
    }

    fn stop(&self) {
        self.started.set(u32::MAX);
        self.started.wake_named(Names::ALL);
    }
}
