//! How many steps something still waits for; whoever counts the last one off has it, and arms it again.
//!
//! | count | belongs to |
//! |---|---|
//! | above 0 | nobody: steps count off, each at most once a cycle |
//! | just became 0 | whoever's exchange did that; it arms the count for the next cycle and goes on |
//!
//! Counting off is `AcqRel`: what each step did before travels through the chain of exchanges to the one who counts the
//! last. Arming is a plain store: nobody counts again before the next cycle, whose start comes after the end of this
//! one, which comes after whatever was released here has run.

use crate::sync::atomic::{AtomicU32, Ordering};

/// See the module.
#[derive(Debug)]
pub struct Countdown(AtomicU32);

impl Countdown {
    /// Waits for `steps`.
    ///
    /// Real-time: setup.
    pub fn new(steps: u32) -> Self {
        Self(AtomicU32::new(steps))
    }

    /// Counts `steps` off; whether those were the last of `all`. Then it is armed again.
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

    /// The same where there is only one thread.
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

    /// Counts `steps` off, for somebody who looks by [`is_down`](Self::is_down) whether it is their turn.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn signal(&self, steps: u32) {
        // AcqRel, as in `count_off`.
        self.0.fetch_sub(steps, Ordering::AcqRel);
    }

    /// Whether all have signalled: then all that they did is seen. Arm it before anybody signals again.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_zero(&self) -> bool {
        // Acquire pairs with `signal`: each one's, through the chain of exchanges.
        self.0.load(Ordering::Acquire) == 0
    }

    /// Waits for `all` again. Only for who has it, or when nobody counts.
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
                let last = shared.0.count_off(steps, 3);
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
            if shared.0.is_down() {
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
