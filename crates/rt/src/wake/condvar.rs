//! Sleeping and waking where there is no futex, and under loom: a lock and a condition.
//!
//! Here a wake takes a lock for a few instructions, and every sleeper wakes to look at the word.

use std::num::NonZeroU32;
use std::sync::PoisonError;
use std::time::Duration;

use units::Nanos;

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Condvar, Mutex};

#[derive(Debug)]
pub(crate) struct WordWait {
    /// Number of sleepers.
    asleep: Mutex<u32>,
    woken: Condvar,
}

impl WordWait {
    pub(crate) fn new() -> Self {
        Self {
            asleep: Mutex::new(0),
            woken: Condvar::new(),
        }
    }

    /// Here no word is shared between processes.
    #[cfg(unix)]
    pub(crate) fn shared() -> Self {
        Self::new()
    }

    pub(crate) fn wake(&self, _word: &AtomicU32, count: u32, _mask: NonZeroU32) -> u32 {
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.woken.notify_all();
        (*asleep).min(count)
    }

    pub(crate) fn sleep(
        &self,
        word: &AtomicU32,
        expected: u32,
        _mask: NonZeroU32,
        limit: Option<Nanos>,
    ) {
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: a change before the wake took the lock is seen through the lock.
        if word.load(Ordering::Relaxed) != expected {
            return;
        }
        *asleep += 1;
        let mut asleep = match limit {
            None => self
                .woken
                .wait(asleep)
                .unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let woken = self
                    .woken
                    .wait_timeout(asleep, Duration::from_nanos(limit.0));
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        *asleep -= 1;
    }
}
