//! One broadcast for all levels that start in a call, and one count of those that are due in it: behind a lock, or as an
//! atomic number.

use super::{COUNTED_CALLS, Scheme};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Number of levels due in a call that are done.
pub(super) trait Count: Sync {
    /// Counts one more; the level that completes `all` wakes the callback.
    fn add(&self, due: u32, all: usize);
    /// Waits for all, and resets the count.
    fn wait(&self, due: u32, all: usize);
}

/// Counts behind a lock.
pub(super) struct LockedCount {
    counts: Mutex<[usize; COUNTED_CALLS]>,
    complete: Condvar,
}

impl Default for LockedCount {
    fn default() -> Self {
        Self {
            counts: Mutex::new([0; COUNTED_CALLS]),
            complete: Condvar::new(),
        }
    }
}

impl LockedCount {
    fn counts(&self) -> MutexGuard<'_, [usize; COUNTED_CALLS]> {
        self.counts.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Count for LockedCount {
    fn add(&self, due: u32, all: usize) {
        let mut counts = self.counts();
        counts[due as usize % COUNTED_CALLS] += 1;
        if counts[due as usize % COUNTED_CALLS] == all {
            self.complete.notify_one();
        }
    }

    fn wait(&self, due: u32, all: usize) {
        let at = due as usize % COUNTED_CALLS;
        let waited = self
            .complete
            .wait_while(self.counts(), |counts| counts[at] < all);
        waited.unwrap_or_else(|e| e.into_inner())[at] = 0;
    }
}

/// Atomic counts: only the last level takes the lock.
pub(super) struct AtomicCount {
    counts: [AtomicU32; COUNTED_CALLS],
    last: Mutex<()>,
    complete: Condvar,
}

impl Default for AtomicCount {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU32::new(0) }; COUNTED_CALLS],
            last: Mutex::new(()),
            complete: Condvar::new(),
        }
    }
}

impl Count for AtomicCount {
    fn add(&self, due: u32, all: usize) {
        // pairs with the load in `wait`: the callback that finds the count complete sees what the level wrote.
        let before = self.counts[due as usize % COUNTED_CALLS].fetch_add(1, Ordering::AcqRel);
        if before as usize + 1 == all {
            // While this is held, the callback is not between reading the count and falling asleep.
            let _held = self.last.lock().unwrap_or_else(|e| e.into_inner());
            self.complete.notify_one();
        }
    }

    fn wait(&self, due: u32, all: usize) {
        let count = &self.counts[due as usize % COUNTED_CALLS];
        // pairs with the addition in `add`.
        let is_short = || (count.load(Ordering::Acquire) as usize) < all;
        if is_short() {
            let held = self.last.lock().unwrap_or_else(|e| e.into_inner());
            drop(self.complete.wait_while(held, |()| is_short()));
        }
        // Relaxed: no level counts here before the callback starts it again, which publishes this.
        count.store(0, Ordering::Relaxed);
    }
}

/// The scheme, with either count.
pub(super) struct Counted<C> {
    /// One more than the last call in which a level started; `u32::MAX` to end.
    started: Mutex<u32>,
    /// Positions at which levels wait, by the number of levels that start together.
    start: Vec<Condvar>,
    count: C,
}

impl<C: Count + Default> Counted<C> {
    pub(super) fn new(levels: usize) -> Self {
        Self {
            started: Mutex::new(0),
            start: (0..=levels).map(|_| Condvar::new()).collect(),
            count: C::default(),
        }
    }
}

impl<C> Counted<C> {
    fn set_started(&self, value: u32) {
        *self.started.lock().unwrap_or_else(|e| e.into_inner()) = value;
    }
}

impl<C: Count> Scheme for Counted<C> {
    fn start(&self, call: u32, count: usize) {
        if count > 0 {
            self.set_started(call + 1);
            self.start[count].notify_all();
        }
    }

    fn wait_done(&self, call: u32, count: usize) {
        if count > 0 {
            self.count.wait(call, count);
        }
    }

    fn wait_start(&self, _: usize, call: u32, count: usize) -> bool {
        let started = self.started.lock().unwrap_or_else(|e| e.into_inner());
        let waited = self.start[count].wait_while(started, |started| *started <= call);
        *waited.unwrap_or_else(|e| e.into_inner()) != u32::MAX
    }

    fn done(&self, _: usize, due: u32, count: usize) {
        self.count.add(due, count);
    }

    fn stop(&self) {
        self.set_started(u32::MAX);
        self.start.iter().for_each(Condvar::notify_all);
    }
}
