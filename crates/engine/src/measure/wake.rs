//! Measures a wake, a claim and a steal between two cores.

use super::pair::{StopFlag, await_flag, quartile, run_rounds, stamp_after};
use rt::deque::{Deque, Steal};
use rt::pad::CachePadded;
use rt::stamp;
use rt::wake::Futex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use units::Nanos;
use workers::CoreId;

/// Longest sleep before the sleeper looks if the measurement is over.
const LOOK_INTERVAL: Nanos = Nanos(20_000_000);

/// Cost of a wake after `sleep`, in ticks: the waker's own time, and the time until the other thread runs. `None` where
/// no wake found a sleeper.
pub(super) fn wake(
    cores: (CoreId, CoreId),
    sleep: Duration,
    limit: Duration,
) -> Option<(f64, f64)> {
    let (word, ran, seen) = (Futex::new(0), AtomicU64::new(0), AtomicU32::new(0));
    let never = StopFlag::default();
    let round = |number| {
        std::thread::sleep(sleep);
        word.store(number);
        let start = stamp_after();
        let woken = word.wake(1);
        let end = stamp_after();
        await_flag(&seen, number, &never);
        // Relaxed: the flag was seen.
        let runs = ran.load(Ordering::Relaxed).saturating_sub(start);
        (woken == 1).then_some((end - start, runs))
    };
    let other = |stop: &StopFlag| {
        for number in 1.. {
            while word.load() != number {
                if stop.is_set() {
                    return;
                }
                word.wait_timeout(number - 1, LOOK_INTERVAL);
            }
            // Relaxed: published by the flag.
            ran.store(stamp::now(), Ordering::Relaxed);
            // Release pairs with the Acquire in `await_flag`.
            seen.store(number, Ordering::Release);
        }
    };
    let found = run_rounds(cores, limit, round, other);
    let (waker, sleeper) = found.into_iter().flatten().unzip();
    Some((quartile(waker)?, quartile(sleeper)?))
}

/// Cost of changing a word that the other core has changed last, in ticks.
pub(super) fn claim(cores: (CoreId, CoreId), limit: Duration) -> Option<f64> {
    let (word, never) = (CachePadded(AtomicU32::new(0)), StopFlag::default());
    let take = |value: u32, stop: &StopFlag| {
        let came = await_flag(&word, value, stop);
        // AcqRel: what each thread did before travels on, as with every claim.
        came && word
            .compare_exchange(value, value + 1, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    };
    let round = |number: u32| {
        let start = stamp_after();
        take(2 * number - 2, &never);
        await_flag(&word, 2 * number, &never);
        stamp_after() - start
    };
    let other = |stop: &StopFlag| {
        (1..)
            .step_by(2)
            .take_while(|value| take(*value, stop))
            .for_each(drop)
    };
    Some(quartile(run_rounds(cores, limit, round, other))? / 2.0)
}

/// Time from the push of a task until another core has stolen it and has answered, in ticks.
pub(super) fn steal(cores: (CoreId, CoreId), limit: Duration) -> Option<f64> {
    let (queue, stolen) = (Deque::new(1), CachePadded(AtomicU32::new(0)));
    let never = StopFlag::default();
    let round = |epoch: u32| {
        queue.begin(epoch);
        let start = stamp_after();
        queue.push(epoch);
        await_flag(&stolen, epoch, &never);
        stamp_after() - start
    };
    let other = |stop: &StopFlag| {
        for epoch in 1.. {
            while !matches!(queue.steal(epoch), Steal::Success(_)) {
                if stop.is_set() {
                    return;
                }
                std::hint::spin_loop();
            }
            // Release pairs with the Acquire in `await_flag`.
            stolen.store(epoch, Ordering::Release);
        }
    };
    quartile(run_rounds(cores, limit, round, other))
}
