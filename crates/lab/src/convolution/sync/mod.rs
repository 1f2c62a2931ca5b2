//! Starting the threads of levels and waiting for them: the three schemes of Battenberg and Avižienis (2011, section
//! 3.3), and one with futexes as in this engine.
//!
//! The callback numbers its calls. A level starts in every call whose number is a multiple of its period, and is due one
//! period later. Periods double from level to level, or are all one call. So the levels that are due in a call are also
//! those that start in it, and they are always the first ones, 0 to `count - 1`:
//!
//! ```text
//! call       0  1  2  3  4  5  6  7  8
//! level 0    x     x     x     x     x      period 2
//! level 1    x           x           x      period 4
//! level 2    x                       x      period 8
//! count      3  0  1  0  2  0  1  0  3
//! ```
//!
//! | who | calls | meaning |
//! |---|---|---|
//! | callback | `wait_done(call, count)` | waits until the first `count` levels have done what is due in `call` |
//! | callback | `start(call, count)` | starts them again |
//! | level | `wait_start(level, call, count)` | waits for `call`; returns false if it is to end |
//! | level | `done(level, due, count)` | reports what is due in call `due` |

mod condvars;
mod counted;
mod futex;

use super::callback::{self, Placement};
use counted::{AtomicCount, Counted, LockedCount};
use divisi::rt::stamp::{self, TickScale};
use divisi::workers::Priority;
use std::thread;
use std::time::{Duration, Instant};

/// A scheme of synchronisation between the callback and levels; see the module's table.
trait Scheme: Sync {
    /// Callback: starts the first `count` levels in call `call`.
    fn start(&self, call: u32, count: usize);
    /// Callback: waits until the first `count` levels, due in call `call`, are done.
    fn wait_done(&self, call: u32, count: usize);
    /// Level: waits for `call`, in which the first `count` levels start. Returns false after [`stop`](Self::stop).
    fn wait_start(&self, level: usize, call: u32, count: usize) -> bool;
    /// Level: reports that what is due in call `due` is done; so do all of the first `count` levels.
    fn done(&self, level: usize, due: u32, count: usize);
    /// Callback: ends every level.
    fn stop(&self);
}

/// The schemes by their names in tables, slowest first.
pub(super) const SCHEMES: [&str; 4] = ["condvars", "counter-mutex", "counter-atomic", "futex"];

/// Upper bound on levels.
const MAX_LEVELS: usize = 5;
/// Number of calls that a scheme with counts keeps apart: twice the longest period.
const COUNTED_CALLS: usize = 2 << MAX_LEVELS;

fn scheme(name: &str, levels: usize) -> Box<dyn Scheme> {
    match name {
        "condvars" => Box::new(condvars::Condvars::new(levels)),
        "counter-mutex" => Box::new(Counted::<LockedCount>::new(levels)),
        "counter-atomic" => Box::new(Counted::<AtomicCount>::new(levels)),
        _ => Box::new(futex::FutexScheme::default()),
    }
}

/// Periods of the levels, in calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeriodPattern {
    /// 2, 4, 8.
    Doubling,
    /// 1, waited for in the call itself.
    AtOnce,
}

impl PeriodPattern {
    /// Name in tables.
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

    /// Number of `levels` that start in a call.
    fn count(self, call: u32, levels: usize) -> usize {
        let starts = |level: &usize| call.is_multiple_of(self.of(*level));
        (0..levels).take_while(starts).count()
    }
}

/// Settings of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) scheme: &'a str,
    pub(super) levels: usize,
    pub(super) periods: PeriodPattern,
    pub(super) calls: u32,
    pub(super) period: Duration,
    /// Computation of a level, the callback's own too, as a share of its period.
    pub(super) load: f64,
    pub(super) placement: Placement,
}

/// Times of a trial, in ns since its begin.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncTrace {
    /// For each call: its begin, the end of waiting for due levels, and the end of starting levels and of the callback's
    /// own level.
    pub(super) calls: Vec<[u64; 3]>,
    /// For each level: begin and end of each of its computations.
    pub(super) levels: Vec<Vec<(u64, u64)>>,
}

/// Makes a trial.
///
/// Real-time: waits, for all calls.
pub(super) fn trace(trial: Trial<'_>) -> SyncTrace {
    let scheme = scheme(trial.scheme, trial.levels);
    let scale = TickScale::calibrated();
    let zero = stamp::now();
    let since = |at| scale.between(zero, at).0;
    let (calls, levels) = thread::scope(|scope| {
        let scheme = &*scheme;
        let run = |level| {
            move || {
                let priority = callback::LEVEL_PRIORITY - level as u8;
                trial
                    .placement
                    .apply(level + 1, Priority::RealTime(priority));
                run_level(scheme, trial, level)
            }
        };
        let levels: Vec<_> = (0..trial.levels)
            .map(|level| scope.spawn(run(level)))
            .collect();
        let callback = scope.spawn(|| {
            let priority = Priority::RealTime(callback::CALLBACK_PRIORITY);
            trial.placement.apply(0, priority);
            let times = run_callback(scheme, trial);
            scheme.stop();
            times
        });
        let calls: Vec<[u64; 3]> = callback.join().unwrap_or_default();
        let levels = levels
            .into_iter()
            .map(|level| level.join().unwrap_or_default());
        (calls, levels.collect::<Vec<Vec<_>>>())
    });
    let spans = |spans: Vec<(u64, u64)>| {
        let spans = spans.into_iter();
        spans.map(|(from, to)| (since(from), since(to))).collect()
    };
    SyncTrace {
        calls: calls.into_iter().map(|at| at.map(since)).collect(),
        levels: levels.into_iter().map(spans).collect(),
    }
}

/// The callback: begin, end of waiting and end of starting of each call.
fn run_callback(scheme: &dyn Scheme, trial: Trial<'_>) -> Vec<[u64; 3]> {
    let mut times = Vec::with_capacity(trial.calls as usize);
    let mut next = Instant::now() + Duration::from_millis(5);
    for call in 0..trial.calls {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        next += trial.period;
        let count = trial.periods.count(call, trial.levels);
        let begun = stamp::now();
        times.push(match trial.periods {
            PeriodPattern::Doubling => {
                if call > 0 {
                    scheme.wait_done(call, count);
                }
                let waited = stamp::now();
                scheme.start(call, count);
                // The level in the callback, which needs no thread.
                if trial.load > 0.0 {
                    callback::burn(trial.period.mul_f64(trial.load));
                }
                [begun, waited, stamp::now()]
            }
            PeriodPattern::AtOnce => {
                scheme.start(call, count);
                let started = stamp::now();
                scheme.wait_done(call + 1, count);
                [begun, stamp::now(), started]
            }
        });
    }
    times
}

/// A level's thread: begin and end of each computation.
fn run_level(scheme: &dyn Scheme, trial: Trial<'_>, level: usize) -> Vec<(u64, u64)> {
    let period = trial.periods.of(level);
    let work = trial.period.mul_f64(f64::from(period) * trial.load);
    let mut spans = Vec::with_capacity((trial.calls / period) as usize + 1);
    let mut call = 0;
    while scheme.wait_start(level, call, trial.periods.count(call, trial.levels)) {
        let begun = stamp::now();
        callback::burn(work);
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
    fn under_every_scheme_due_levels_are_done_and_started_ones_run_once() {
        for name in SCHEMES {
            for periods in [PeriodPattern::Doubling, PeriodPattern::AtOnce] {
                check_scheme(name, periods, 4, 200);
            }
        }
    }

    fn check_scheme(name: &str, periods: PeriodPattern, levels: usize, calls: u32) {
        let scheme = scheme(name, levels);
        let done: Vec<AtomicU32> = (0..levels).map(|_| AtomicU32::new(0)).collect();
        thread::scope(|scope| {
            for level in 0..levels {
                let (scheme, done) = (&scheme, &done);
                scope.spawn(move || {
                    let mut call = 0;
                    while scheme.wait_start(level, call, periods.count(call, levels)) {
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
                    scheme.wait_done(call, count);
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
    fn levels_start_in_the_calls_of_their_periods() {
        let counts: Vec<_> = (0..9)
            .map(|call| PeriodPattern::Doubling.count(call, 3))
            .collect();
        assert_eq!(counts, [3, 0, 1, 0, 2, 0, 1, 0, 3]);
        assert_eq!(PeriodPattern::AtOnce.count(5, 3), 3);
    }

    #[test]
    fn a_trace_has_every_call_and_every_level() {
        let trial = Trial {
            scheme: "counter-atomic",
            levels: 2,
            periods: PeriodPattern::Doubling,
            calls: 16,
            period: Duration::from_micros(300),
            load: 0.05,
            placement: Placement::default(),
        };
        let trace = super::trace(trial);
        assert_eq!(trace.calls.len(), 16);
        assert!(trace.calls.iter().all(|[a, b, c]| a <= b && b <= c));
        // A level that has not started for the last time when the trial ends does not start.
        let runs: Vec<_> = trace.levels.iter().map(Vec::len).collect();
        assert!(
            (7..=8).contains(&runs[0]) && (3..=4).contains(&runs[1]),
            "{runs:?}"
        );
    }
}
