//! What it costs to start the threads of levels and to wait for them: the three schemes of Battenberg and Avižienis
//! (2011, section 3.3), and this engine's own.
//!
//! The callback numbers its calls. Level `j` begins in every call whose number its period divides, and is due one period
//! later; periods double from level to level, or are all one call. So those that are due in a call are also those that
//! begin in it: the first so many of all.

mod condvars;
mod counted;
mod futex;

use super::beat::{self, Place};
use divisi::rt::stamp::{self, TickScale};
use divisi::workers::Priority;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// A way to start levels and to wait for them.
pub(super) trait Scheme: Sync {
    /// From the callback: the first `count` levels begin in call `call`.
    fn start(&self, call: u32, count: usize);
    /// From the callback: waits until the first `count` levels, due in call `call`, are done.
    fn finish(&self, call: u32, count: usize);
    /// From level `me`: waits until `call`, in which the first `count` begin, has come. Whether it goes on at all.
    fn begins(&self, me: usize, call: u32, count: usize) -> bool;
    /// From level `me`: done with what is due in call `due`, together with the first `count`.
    fn done(&self, me: usize, due: u32, count: usize);
    /// From the callback: nobody goes on.
    fn stop(&self);
}

/// The schemes by their names in tables, worst first.
pub(super) const SCHEMES: [&str; 4] = ["condvars", "counter-mutex", "counter-atomic", "futex"];

/// The most levels: a due call is told from others by its number modulo 64.
pub(super) const MOST_LEVELS: usize = 5;

fn scheme(name: &str, levels: usize) -> Box<dyn Scheme> {
    match name {
        "condvars" => Box::new(condvars::Condvars::new(levels)),
        "counter-mutex" => Box::new(counted::Counted::new(levels, counted::Guarded::default())),
        "counter-atomic" => Box::new(counted::Counted::new(levels, counted::Atomic::default())),
        _ => Box::new(futex::FutexScheme::default()),
    }
}

/// How the levels' periods are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Periods {
    /// Two calls, four, eight.
    Doubling,
    /// Every call, and waited for in the call itself.
    AtOnce,
}

impl Periods {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Doubling => "doubling",
            Self::AtOnce => "at-once",
        }
    }

    fn of(self, level: usize) -> u32 {
        match self {
            Self::Doubling => 2 << level,
            Self::AtOnce => 1,
        }
    }

    /// How many of `levels` begin in a call.
    fn count(self, call: u32, levels: usize) -> usize {
        let begins = |level: &usize| call.is_multiple_of(self.of(*level));
        (0..levels).take_while(begins).count()
    }
}

/// What to try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) scheme: &'a str,
    pub(super) levels: usize,
    pub(super) periods: Periods,
    pub(super) calls: u32,
    pub(super) period: Duration,
    /// What a level computes, the callback's own too, as a share of its period.
    pub(super) busy: f64,
    pub(super) place: Place,
}

/// What was seen, in ns since the first call that counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// For each call: when it began, when all that was due was there, when all that begins had been started and the
    /// callback's own level was done.
    pub(super) calls: Vec<[u64; 3]>,
    /// For each level: when it ran.
    pub(super) levels: Vec<Vec<(u64, u64)>>,
}

/// Tries it.
pub(super) fn walk(trial: Trial<'_>) -> Walk {
    let scheme = scheme(trial.scheme, trial.levels);
    let scale = TickScale::calibrated();
    let begun = stamp::now();
    let since = |at| scale.between(begun, at).0;
    let calls = Mutex::new(Vec::new());
    let levels = thread::scope(|scope| {
        let scheme = &*scheme;
        let run = |level| {
            move || {
                trial
                    .place
                    .take(level + 1, Priority::RealTime(beat::LEVELS - level as u8));
                level_runs(scheme, trial, level)
            }
        };
        let levels: Vec<_> = (0..trial.levels)
            .map(|level| scope.spawn(run(level)))
            .collect();
        let callback = scope.spawn(|| {
            trial.place.take(0, Priority::RealTime(beat::CALLBACK));
            let seen = callback_runs(scheme, trial);
            scheme.stop();
            *calls.lock().unwrap_or_else(|e| e.into_inner()) = seen;
        });
        let _ = callback.join();
        levels
            .into_iter()
            .map(|level| level.join().unwrap_or_default())
            .collect::<Vec<_>>()
    });
    let calls = calls.into_inner().unwrap_or_else(|e| e.into_inner());
    Walk {
        calls: calls.into_iter().map(|at| at.map(since)).collect(),
        levels: levels
            .into_iter()
            .map(|spans| {
                spans
                    .into_iter()
                    .map(|(from, to)| (since(from), since(to)))
                    .collect()
            })
            .collect(),
    }
}

fn callback_runs(scheme: &dyn Scheme, trial: Trial<'_>) -> Vec<[u64; 3]> {
    let mut seen = Vec::with_capacity(trial.calls as usize);
    let mut next = Instant::now() + Duration::from_millis(5);
    for call in 0..trial.calls {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        next += trial.period;
        let count = trial.periods.count(call, trial.levels);
        let begun = stamp::now();
        seen.push(match trial.periods {
            Periods::Doubling => {
                if call > 0 {
                    scheme.finish(call, count);
                }
                let there = stamp::now();
                scheme.start(call, count);
                // The first level, which needs no thread.
                if trial.busy > 0.0 {
                    beat::burn(trial.period.mul_f64(trial.busy));
                }
                [begun, there, stamp::now()]
            }
            Periods::AtOnce => {
                scheme.start(call, count);
                let started = stamp::now();
                scheme.finish(call + 1, count);
                [begun, stamp::now(), started]
            }
        });
    }
    seen
}

fn level_runs(scheme: &dyn Scheme, trial: Trial<'_>, level: usize) -> Vec<(u64, u64)> {
    let period = trial.periods.of(level);
    let work = trial.period.mul_f64(f64::from(period) * trial.busy);
    let mut spans = Vec::with_capacity((trial.calls / period) as usize + 1);
    let mut call = 0;
    while scheme.begins(level, call, trial.periods.count(call, trial.levels)) {
        let begun = stamp::now();
        beat::burn(work);
        spans.push((begun, stamp::now()));
        call += period;
        scheme.done(level, call, trial.periods.count(call, trial.levels));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn under_every_scheme_what_is_due_is_there_and_everything_that_begins_is_done_once() {
        for name in SCHEMES {
            for periods in [Periods::Doubling, Periods::AtOnce] {
                due_is_there(name, periods, 4, 200);
            }
        }
    }

    fn due_is_there(name: &str, periods: Periods, levels: usize, calls: u32) {
        let scheme = scheme(name, levels);
        let done: Vec<AtomicU32> = (0..levels).map(|_| AtomicU32::new(0)).collect();
        thread::scope(|scope| {
            for level in 0..levels {
                let (scheme, done) = (&scheme, &done);
                scope.spawn(move || {
                    let mut call = 0;
                    while scheme.begins(level, call, periods.count(call, levels)) {
                        call += periods.of(level);
                        assert!(call <= calls + periods.of(level));
                        done[level].store(call, Ordering::SeqCst);
                        scheme.done(level, call, periods.count(call, levels));
                    }
                });
            }
            for call in 0..calls {
                let count = periods.count(call, levels);
                if call > 0 {
                    scheme.finish(call, count);
                    let due = done.iter().take(count).map(|d| d.load(Ordering::SeqCst));
                    assert!(
                        due.into_iter().all(|at| at == call),
                        "{name} {periods:?} {call}"
                    );
                }
                scheme.start(call, count);
            }
            scheme.stop();
        });
    }

    #[test]
    fn levels_begin_as_their_periods_say() {
        let counts: Vec<_> = (0..9)
            .map(|call| Periods::Doubling.count(call, 3))
            .collect();
        assert_eq!(counts, [3, 0, 1, 0, 2, 0, 1, 0, 3]);
        assert_eq!(Periods::AtOnce.count(5, 3), 3);
    }

    #[test]
    fn a_walk_sees_every_call_and_every_level() {
        let trial = Trial {
            scheme: "counter-atomic",
            levels: 2,
            periods: Periods::Doubling,
            calls: 16,
            period: Duration::from_micros(300),
            busy: 0.05,
            place: Place::default(),
        };
        let walk = super::walk(trial);
        assert_eq!(walk.calls.len(), 16);
        assert!(walk.calls.iter().all(|[a, b, c]| a <= b && b <= c));
        // Whoever has not begun for the last time when all is stopped does not.
        let runs: Vec<_> = walk.levels.iter().map(Vec::len).collect();
        assert!(
            (7..=8).contains(&runs[0]) && (3..=4).contains(&runs[1]),
            "{runs:?}"
        );
    }
}
