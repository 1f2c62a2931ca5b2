//! A doorbell in shared memory: who rings learns if somebody has to be woken, and who goes to sleep, if it was rung meanwhile.
//!
//! ```text
//!   rings          bell + 1  │ fence │ is somebody asleep?   then wake on the word of the bell
//!   goes to sleep  asleep + 1 │ fence │ was it rung?          if not, sleep on that word; asleep - 1
//! ```
//!
//! The fences are in one order: who rings sees that the other one sleeps, or that one sees the bell. The kernel compares
//! the bell once more when the sleep begins. So no sleep misses a bell, and where nobody sleeps nobody calls the kernel.

use crate::sync::atomic::{AtomicU32, Ordering, fence};

/// Rings. Returns true if somebody may sleep, and has to be woken.
///
/// Real-time: hot.
#[must_use]
pub fn ring(bell: &AtomicU32, asleep: &AtomicU32) -> bool {
    // pairs with the load in `rung`: what it rings for comes with it.
    bell.fetch_add(1, Ordering::Release);
    // pairs with the fence in `unless_rung`.
    fence(Ordering::SeqCst);
    asleep.load(Ordering::Relaxed) != 0
}

/// The number of rings so far.
///
/// Real-time: hot.
pub fn rung(bell: &AtomicU32) -> u32 {
    // pairs with the addition in `ring`.
    bell.load(Ordering::Acquire)
}

/// Calls `sleep` as one that sleeps, unless it was rung since it was `seen`.
///
/// Real-time: waits, as `sleep` does.
pub fn unless_rung(bell: &AtomicU32, asleep: &AtomicU32, seen: u32, sleep: impl FnOnce()) {
    asleep.fetch_add(1, Ordering::Relaxed);
    // pairs with the fence in `ring`.
    fence(Ordering::SeqCst);
    if bell.load(Ordering::Relaxed) == seen {
        sleep();
    }
    asleep.fetch_sub(1, Ordering::Relaxed);
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn no_sleep_misses_a_bell_and_what_it_rings_for_comes_with_it() {
        loom::model(|| {
            let words: Arc<[AtomicU32; 3]> = Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
            let ringer = {
                let words = words.clone();
                loom::thread::spawn(move || {
                    words[2].store(7, Ordering::Relaxed);
                    ring(&words[0], &words[1])
                })
            };
            let mut ringer = Some(ringer);
            if rung(&words[0]) == 0 {
                // It sleeps until somebody wakes it: the one that rings must.
                unless_rung(&words[0], &words[1], 0, || {
                    let must_wake = ringer.take().map(|it| it.join().unwrap());
                    assert_eq!(must_wake, Some(true));
                });
            }
            if rung(&words[0]) == 1 {
                assert_eq!(words[2].load(Ordering::Relaxed), 7);
            }
            ringer.into_iter().for_each(|it| {
                it.join().unwrap();
            });
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_sleeps_is_told_to_the_one_that_rings() {
        let (bell, asleep) = (AtomicU32::new(0), AtomicU32::new(0));
        assert!(!ring(&bell, &asleep));
        assert_eq!(rung(&bell), 1);
        unless_rung(&bell, &asleep, 0, || unreachable!("it was rung"));
        let mut slept = false;
        unless_rung(&bell, &asleep, 1, || {
            slept = true;
            assert!(ring(&bell, &asleep));
        });
        assert!(slept && !ring(&bell, &asleep));
    }
}
