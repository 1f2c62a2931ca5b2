//! [`Countdown`]: the number of predecessors that a step still waits for. The worker that counts the last one runs the
//! step.
//!
//! ```text
//!   predecessors        count            the step
//!      A ──────┐   3 ─▶ 2 ─▶ 1 ─▶ 0 ───▶ runs on the worker that counted 1 to 0,
//!      B ──────┼──────────────────┘      which resets the count to 3 for the next cycle
//!      C ──────┘
//! ```
//!
//! | count | the step belongs to |
//! |---|---|
//! | above 0 | nobody: each predecessor counts once a cycle |
//! | just became 0 | the worker whose subtraction did that; it resets the count and runs the step |
//!
//! The subtraction is `AcqRel`. What each predecessor did travels through the chain of subtractions to the last one.
//! The reset is a plain store: nobody counts again before the next cycle, whose start comes after the end of this
//! cycle, which comes after the step that was released here.

use crate::sync::atomic::{AtomicU32, Ordering};

/// Number of predecessors that a step still waits for in this cycle.
#[derive(Debug)]
pub struct Countdown(AtomicU32);

impl Countdown {
    /// Waits for `steps` predecessors.
    ///
    /// Real-time: setup.
    pub fn new(steps: u32) -> Self {
        Self(AtomicU32::new(steps))
    }

    /// Counts `steps` predecessors, and returns true if they were the last. Then the count is reset to `all`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn decrement(&self, steps: u32, all: u32) -> bool {
        let is_last = self.0.fetch_sub(steps, Ordering::AcqRel) == steps;
        if is_last {
            self.reset(all);
        }
        is_last
    }

    /// [`decrement`](Self::decrement) without atomic operations, for a plan with one worker.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn decrement_unsync(&self, steps: u32, all: u32) -> bool {
        // Relaxed, both: there is no other thread.
        let left = self.0.load(Ordering::Relaxed) - steps;
        self.0
            .store(if left == 0 { all } else { left }, Ordering::Relaxed);
        left == 0
    }

    /// Counts `steps` predecessors, for a waiting side that polls [`is_zero`](Self::is_zero).
    ///
    /// Real-time: hot.
    #[inline]
    pub fn signal(&self, steps: u32) {
        // AcqRel, as in `decrement`.
        self.0.fetch_sub(steps, Ordering::AcqRel);
    }

    /// Returns true if all predecessors have signalled. Then all that they did is visible. The count must be reset
    /// before the next signal.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_zero(&self) -> bool {
        // Acquire pairs with `signal`: with each of them, through the chain of subtractions.
        self.0.load(Ordering::Acquire) == 0
    }

    /// Waits for `all` predecessors again. Only for the last one, or while nobody counts.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn reset(&self, all: u32) {
        // Relaxed: the next cycle's start publishes it.
        self.0.store(all, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Countdown;
    use crate::sync::{Arc, UnsafeCell};

    #[test]
    fn one_of_them_counts_the_last_and_sees_what_all_did() {
        loom::model(|| {
            let shared = Arc::new((Countdown::new(3), [0, 1].map(|_| UnsafeCell::new(0))));
            let step = |shared: Arc<(Countdown, [UnsafeCell<u32>; 2])>, index: usize, steps| {
                // SAFETY: each writes its own cell, before it counts off.
                shared.1[index].with_mut(|cell| unsafe { *cell = 1 });
                let last = shared.0.decrement(steps, 3);
                if last {
                    for cell in &shared.1 {
                        // SAFETY: all have counted off; loom would find a race here.
                        assert_eq!(cell.with(|cell| unsafe { *cell }), 1);
                    }
                }
                u32::from(last)
            };
            let other = {
                let shared = shared.clone();
                loom::thread::spawn(move || step(shared, 0, 2))
            };
            let mine = step(shared.clone(), 1, 1);
            assert_eq!(mine + other.join().unwrap(), 1);
        });
    }

    #[test]
    fn who_looks_sees_what_was_signalled() {
        loom::model(|| {
            let shared = Arc::new((Countdown::new(2), [0, 1].map(|_| UnsafeCell::new(0))));
            let threads = [0, 1].map(|index| {
                let shared: Arc<(Countdown, [UnsafeCell<u32>; 2])> = shared.clone();
                loom::thread::spawn(move || {
                    // SAFETY: each writes its own cell, before it signals.
                    shared.1[index].with_mut(|cell| unsafe { *cell = 1 });
                    shared.0.signal(1);
                })
            });
            if shared.0.is_zero() {
                for cell in &shared.1 {
                    // SAFETY: both have signalled.
                    assert_eq!(cell.with(|cell| unsafe { *cell }), 1);
                }
            }
            threads.into_iter().for_each(|t| t.join().unwrap());
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Countdown;

    #[test]
    fn it_arms_itself() {
        let count = Countdown::new(2);
        for _ in 0..3 {
            assert!(!count.decrement(1, 2) && count.decrement(1, 2));
            assert!(!count.decrement_unsync(1, 2) && count.decrement_unsync(1, 2));
        }
    }
}
