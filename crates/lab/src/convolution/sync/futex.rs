//! Words that threads sleep on: one wake call for all that begin, an atomic count of those due, no lock anywhere.

use super::{MOST_LEVELS, Scheme};
use divisi::rt::wake::{Names, Sleeper};
use std::sync::atomic::{AtomicU32, Ordering};

const APART: usize = 2 << MOST_LEVELS;

/// The scheme.
pub(super) struct Futex {
    /// One more than the last call in which anybody began.
    begun: Sleeper,
    counts: [AtomicU32; APART],
    /// The last call whose count became full.
    full: Sleeper,
}

impl Default for Futex {
    fn default() -> Self {
        Self {
            begun: Sleeper::new(0),
            counts: [const { AtomicU32::new(0) }; APART],
            full: Sleeper::new(0),
        }
    }
}

impl Scheme for Futex {
    fn start(&self, call: u32, count: usize) {
        let names = (1..count).fold(Names::one(0), |names, level| names.and(Names::one(level)));
        if count > 0 {
            self.begun.set(call + 1);
            self.begun.wake_named(names);
        }
    }

    fn finish(&self, call: u32, count: usize) {
        let done = &self.counts[call as usize % APART];
        loop {
            let full = self.full.get();
            // pairs with the addition in `done`: what the levels have written is seen.
            if done.load(Ordering::Acquire) as usize >= count {
                break;
            }
            self.full.wait(full);
        }
        // Relaxed: nobody counts here before they are started again, which carries this along.
        done.store(0, Ordering::Relaxed);
    }

    fn begins(&self, me: usize, call: u32, _: usize) -> bool {
        loop {
            let begun = self.begun.get();
            if begun > call {
                return begun != u32::MAX;
            }
            self.begun.wait_named(begun, Names::one(me));
        }
    }

    fn done(&self, _: usize, due: u32, count: usize) {
        // pairs with the load in `finish`.
        let before = self.counts[due as usize % APART].fetch_add(1, Ordering::AcqRel);
        if before as usize + 1 == count {
            self.full.set(due);
            self.full.wake(1);
        }
    }

    fn stop(&self) {
        self.begun.set(u32::MAX);
        self.begun.wake_named(Names::ALL);
    }
}
