//! Two threads on two cores, of which one is timed.

use rt::stamp;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use workers::{CoreId, Priority};

/// The most rounds of one measurement.
const ROUNDS: usize = 2000;
/// The least that count, even where time is short: fewer say nothing.
const LEAST: usize = 16;

/// Whether the other thread is to end.
#[derive(Default)]
pub(super) struct Over(AtomicBool);

impl Over {
    /// Whether it is.
    pub(super) fn is_said(&self) -> bool {
        // Relaxed: nothing travels with it.
        self.0.load(Ordering::Relaxed)
    }
}

/// Says so when it goes, however it goes: the other thread must not spin on.
struct Sayer<'a>(&'a Over);

impl Drop for Sayer<'_> {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// What `round` gives, again and again for `limit`: on core `here` with the round's number, from 1; `other` runs on
/// core `there` until it is [`Over`].
pub(super) fn rounds<R: Send>(
    (here, there): (CoreId, CoreId),
    limit: Duration,
    mut round: impl FnMut(u32) -> R + Send,
    other: impl FnOnce(&Over) + Send,
) -> Vec<R> {
    let over = Over::default();
    std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            let _sayer = Sayer(&over);
            take_place(here);
            let begun = Instant::now();
            let is_in_time = |number: &u32| *number as usize <= LEAST || begun.elapsed() < limit;
            let numbers = (1..=ROUNDS as u32).take_while(is_in_time);
            numbers.map(&mut round).collect()
        });
        scope.spawn(|| {
            take_place(there);
            other(&over);
        });
        timer.join().unwrap_or_default()
    })
}

/// Threads inherit core and priority: two that spin, of real-time priority, on one core would wait for each other for
/// good. Where a place is refused it measures too, if less well.
fn take_place(core: CoreId) {
    let _ = workers::set_priority(Priority::Ordinary);
    let _ = workers::pin(core);
}

/// A quarter of the readings is no greater. Below the median, since other programs on the two cores only ever add, and
/// on a busy machine they add to most readings.
pub(super) fn quartile(mut all: Vec<u64>) -> Option<f64> {
    all.sort_unstable();
    all.get(all.len() / 4).map(|ticks| *ticks as f64)
}

/// Spins until `flag` is `value`; whether it became that before it was over.
pub(super) fn await_flag(flag: &AtomicU32, value: u32, over: &Over) -> bool {
    loop {
        // Acquire pairs with the Release of whoever sets the flag: what was written before is there.
        if flag.load(Ordering::Acquire) == value {
            return true;
        }
        if over.is_said() {
            return false;
        }
        std::hint::spin_loop();
    }
}

/// A stamp that no read before it can pass.
pub(super) fn stamp_after() -> u64 {
    std::sync::atomic::fence(Ordering::SeqCst);
    stamp::now()
}
