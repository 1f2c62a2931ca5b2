//! Words that threads sleep on: one wake call for all that begin, an atomic count of those due, no lock anywhere.

use super::{MOST_LEVELS, Scheme};
use divisi::rt::wake::{Futex, WakeMask};
use std::sync::atomic::{AtomicU32, Ordering};

const APART: usize = 2 << MOST_LEVELS;

/// The scheme.
pub(super) struct FutexScheme {
    /// One more than the last call in which anybody began.
    begun: Futex,
    counts: [AtomicU32; APART],
    /// The last call whose count became full.
    full: Futex,
}

impl Default for FutexScheme {
    fn default() -> Self {
        Self {
            begun: Futex::new(0),
            counts: [const { AtomicU32::new(0) }; APART],
            full: Futex::new(0),
        }
    }
}

impl Scheme for FutexScheme {
    fn start(&self, call: u32, count: usize) {
        let names = (1..count).fold(WakeMask::bit(0), |names, level| {
            names.union(WakeMask::bit(level))
        });
        if count > 0 {
            self.begun.store(call + 1);
            self.begun.wake_masked(names);
        }
    }

    fn finish(&self, call: u32, count: usize) {
        let done = &self.counts[call as usize % APART];
        loop {
            let full = self.full.load();
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
            let begun = self.begun.load();
            if begun > call {
                return begun != u32::MAX;
            }
            self.begun.wait_masked(begun, WakeMask::bit(me));
        }
    }

    fn done(&self, _: usize, due: u32, count: usize) {
        // pairs with the load in `finish`.
        let before = self.counts[due as usize % APART].fetch_add(1, Ordering::AcqRel);
        if before as usize + 1 == count {
            self.full.store(due);
            self.full.wake(1);
        }
    }

    fn stop(&self) {
        self.begun.store(u32::MAX);
        self.begun.wake_masked(WakeMask::ALL);
    }
}
