//! Runs two threads on two cores, of which one is timed.

use rt::stamp;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use workers::{CoreId, Priority};

/// Largest number of rounds of one measurement.
const MAX_ROUNDS: usize = 2000;
/// Smallest number of rounds, even where time is short: fewer mean nothing.
const MIN_ROUNDS: usize = 16;

/// True when the other thread must end.
#[derive(Default)]
pub(super) struct StopFlag(AtomicBool);

impl StopFlag {
    /// Returns true if the measurement is over.
    pub(super) fn is_set(&self) -> bool {
        // Relaxed: nothing travels with it.
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends the measurement when it is dropped, also by a panic: the other thread must not spin for ever.
struct StopOnDrop<'a>(&'a StopFlag);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        // Relaxed: nothing travels with it.
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Results of `round`, called again and again for `limit`, on the first core, with the round's number from 1. Meanwhile
/// `other` runs on the second core until the [`StopFlag`] is set.
pub(super) fn run_rounds<R: Send>(
    (here, there): (CoreId, CoreId),
    limit: Duration,
    mut round: impl FnMut(u32) -> R + Send,
    other: impl FnOnce(&StopFlag) + Send,
) -> Vec<R> {
    let stop = StopFlag::default();
    std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            let _stop = StopOnDrop(&stop);
            pin_ordinary(here);
            let begun = Instant::now();
            let is_in_time =
                |number: &u32| *number as usize <= MIN_ROUNDS || begun.elapsed() < limit;
            let numbers = (1..=MAX_ROUNDS as u32).take_while(is_in_time);
            numbers.map(&mut round).collect()
        });
        scope.spawn(|| {
            pin_ordinary(there);
            other(&stop);
        });
        timer.join().unwrap_or_default()
    })
}

/// Pins this thread to `core`, at ordinary priority. Threads inherit both: two spinning threads of real-time priority
/// on one core would wait for each other for ever. Where it is refused, the measurement is less exact.
fn pin_ordinary(core: CoreId) {
    let _ = workers::set_priority(Priority::Ordinary);
    let _ = workers::pin(core);
}

/// First quartile of the readings. It is below the median, since other programs on the two cores only ever add time,
/// and on a busy machine to most readings.
pub(super) fn quartile(mut all: Vec<u64>) -> Option<f64> {
    all.sort_unstable();
    all.get(all.len() / 4).map(|ticks| *ticks as f64)
}

/// Spins until `flag` is `value`, and returns true; returns false if the measurement is over before.
pub(super) fn await_flag(flag: &AtomicU32, value: u32, stop: &StopFlag) -> bool {
    loop {
        // Acquire pairs with the Release of the thread that sets the flag: what it wrote before is there.
        if flag.load(Ordering::Acquire) == value {
            return true;
        }
        if stop.is_set() {
            return false;
        }
        std::hint::spin_loop();
    }
}

/// A time stamp that no read before it can pass.
pub(super) fn stamp_after() -> u64 {
    std::sync::atomic::fence(Ordering::SeqCst);
    stamp::now()
}
