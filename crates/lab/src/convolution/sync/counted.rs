//! One broadcast for all that begin in a call, one count of all that are due in it: with the count behind a lock, or as
//! one atomic number.

use super::{MOST_LEVELS, Scheme};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Calls that can be told apart.
const APART: usize = 2 << MOST_LEVELS;

/// How many of those due in a call are done.
pub(super) trait Count: Sync {
    /// Another one is. Whoever completes `all` says so.
    fn add(&self, due: u32, all: usize);
    /// Waits for all; counts anew.
    fn wait(&self, due: u32, all: usize);
}

/// Behind a lock.
pub(super) struct Guarded {
    counts: Mutex<[usize; APART]>,
    bell: Condvar,
}

impl Default for Guarded {
    fn default() -> Self {
        Self {
            counts: Mutex::new([0; APART]),
            bell: Condvar::new(),
        }
    }
}

impl Guarded {
    fn counts(&self) -> MutexGuard<'_, [usize; APART]> {
        self.counts.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Count for Guarded {
    fn add(&self, due: u32, all: usize) {
        let mut counts = self.counts();
        counts[due as usize % APART] += 1;
        if counts[due as usize % APART] == all {
            self.bell.notify_one();
        }
    }

    fn wait(&self, due: u32, all: usize) {
        let at = due as usize % APART;
        let waited = self
            .bell
            .wait_while(self.counts(), |counts| counts[at] < all);
        waited.unwrap_or_else(|e| e.into_inner())[at] = 0;
    }
}

/// As atomic numbers: no lock on the way of whoever is not the last.
pub(super) struct Atomic {
    counts: [AtomicU32; APART],
    last: Mutex<()>,
    bell: Condvar,
}

impl Default for Atomic {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU32::new(0) }; APART],
            last: Mutex::new(()),
            bell: Condvar::new(),
        }
    }
}

impl Count for Atomic {
    fn add(&self, due: u32, all: usize) {
        // pairs with the load in `wait`: what the level has written is seen by whoever finds the count full.
        let before = self.counts[due as usize % APART].fetch_add(1, Ordering::AcqRel);
        if before as usize + 1 == all {
            // Nobody is between looking at the count and falling asleep while this is held.
            let _held = self.last.lock().unwrap_or_else(|e| e.into_inner());
            self.bell.notify_one();
        }
    }

    fn wait(&self, due: u32, all: usize) {
        let count = &self.counts[due as usize % APART];
        // pairs with the addition in `add`.
        let is_short = || (count.load(Ordering::Acquire) as usize) < all;
        if is_short() {
            let held = self.last.lock().unwrap_or_else(|e| e.into_inner());
            drop(self.bell.wait_while(held, |()| is_short()));
        }
        // Relaxed: nobody counts here before the callback has started them again, which carries this along.
        count.store(0, Ordering::Relaxed);
    }
}

/// The scheme, over either count.
pub(super) struct Counted<C> {
    /// One more than the last call in which anybody began.
    begun: Mutex<u32>,
    /// For each number of levels that may begin together, where these wait.
    bells: Vec<Condvar>,
    count: C,
}

impl<C: Count> Counted<C> {
    pub(super) fn new(levels: usize, count: C) -> Self {
        Self {
            begun: Mutex::new(0),
            bells: (0..=levels).map(|_| Condvar::new()).collect(),
            count,
        }
    }

    fn begin(&self, value: u32) {
        *self.begun.lock().unwrap_or_else(|e| e.into_inner()) = value;
    }
}

impl<C: Count> Scheme for Counted<C> {
    fn start(&self, call: u32, count: usize) {
        if count > 0 {
            self.begin(call + 1);
            self.bells[count].notify_all();
        }
    }

    fn finish(&self, call: u32, count: usize) {
        if count > 0 {
            self.count.wait(call, count);
        }
    }

    fn begins(&self, _: usize, call: u32, count: usize) -> bool {
        let begun = self.begun.lock().unwrap_or_else(|e| e.into_inner());
        let waited = self.bells[count].wait_while(begun, |begun| *begun <= call);
        *waited.unwrap_or_else(|e| e.into_inner()) != u32::MAX
    }

    fn done(&self, _: usize, due: u32, count: usize) {
        self.count.add(due, count);
    }

    fn stop(&self) {
        self.begin(u32::MAX);
        self.bells.iter().for_each(Condvar::notify_all);
    }
}
