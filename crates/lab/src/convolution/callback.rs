//! A callback at the period of a device: its times, its misses, and which of these the machine explains.
//!
//! ```text
//! priority 90   probe      sleeps 250 µs at a time on the callback's core, records by how much it woke late
//!          80   callback   computes a block each period
//!          70   levels     and below, one less for each
//! ```
//!
//! ```text
//!                 period n           period n+1         period n+2
//! due          ┊ call n           ┊ call n+1         ┊ call n+2        call n must be done when call n+1 is due
//! callback     ┊▓▓▓▓▓             ┊   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓┊▓▓               done late: a miss of the time behind the ┊
//! probe        ┊.  .  .  .  .  .  ┊      .  .  .  .  ┊  .  .           woke late: a gap
//! ```
//!
//! No thread of this process runs before the probe. So its gaps are due to the machine: other programs, interrupts, the
//! host. A miss is explained if the probe's gaps in its time are together at least as long.

use divisi::rt::stamp::{self, TickScale};
use divisi::workers::{self, AudioThread, Priority};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::usage::ThreadTimes;

/// Real-time priorities: of the callback, of the probe, and of the first level, below which the others are.
pub(super) const CALLBACK_PRIORITY: u8 = 80;
const PROBE_PRIORITY: u8 = 90;
pub(super) const LEVEL_PRIORITY: u8 = 70;
/// Name of the probe's thread, whose time counts for no load.
const PROBE_NAME: &str = "probe";
/// Sleep of the probe, and the lateness from which it records a gap.
const PROBE_SLEEP_NS: u64 = 250_000;
const MIN_GAP_NS: u64 = 40_000;
/// Upper bound on recorded gaps.
const MAX_GAPS: usize = 1 << 16;
/// A run with more misses than this ends: no machine explains them all.
const MAX_MISSES: usize = 1000;
/// Upper bound on the load of a valid run: the system stops real-time threads for a while in each second in which they
/// leave it less than a twentieth (`sched_rt_runtime_us`).
const MAX_LOAD: f64 = 0.93;

/// Cores and priority of a run's threads: each thread on one of `cores` cores, in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) cores: usize,
    /// True if real-time priority is requested.
    pub(super) is_real_time: bool,
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            cores: usize::MAX,
            is_real_time: false,
        }
    }
}

impl Placement {
    /// The core of thread `number`, from the machine's last core down: the system itself prefers the first ones.
    pub(super) fn core(self, number: usize) -> workers::CoreId {
        let cores = workers::cores();
        let count = self.cores.clamp(1, cores.len());
        cores[cores.len() - 1 - number % count]
    }

    /// Applies this to the calling thread, as far as the system permits.
    pub(super) fn apply(self, number: usize, priority: Priority) {
        let _ = workers::pin(self.core(number));
        if self.is_real_time {
            let _ = workers::set_priority(priority);
        }
    }
}

/// Results of a block that were not there when they were due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LateResults {
    pub(super) count: u64,
    /// The longest period among them, in blocks.
    pub(super) period_blocks: u32,
}

/// A function that is called each period.
pub(super) trait Callback: Send {
    /// Computes a block.
    fn process_block(&mut self) -> LateResults;
}

/// Times of the calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallbackSchedule {
    pub(super) period: Duration,
    /// Number of first calls, which do not count, and of those that do.
    pub(super) warm_up: usize,
    pub(super) calls: usize,
    /// Upper bound on the random delay of a call.
    pub(super) max_delay: Duration,
    pub(super) placement: Placement,
}

/// Measurements of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct CallbackStats {
    /// Durations of the calls, sorted.
    pub(super) durations_ns: Vec<u64>,
    /// Calls that were not done before the next was due, or lacked a result.
    pub(super) missed: usize,
    /// Those of them that the probe's gaps do not explain.
    pub(super) unexplained: usize,
    /// Time of this process without the probe, as a share of its cores' time.
    pub(super) load: f64,
    /// The same with the probe.
    pub(super) load_with_probe: f64,
    /// Sum of the probe's gaps.
    pub(super) gaps_ns: u64,
    /// True if the callback had real-time priority.
    pub(super) is_real_time: bool,
}

impl CallbackStats {
    /// Returns true if every result was in time, or the machine explains why not.
    pub(super) fn holds(&self) -> bool {
        self.unexplained == 0 && self.missed <= MAX_MISSES && self.load_with_probe < MAX_LOAD
    }

    /// Quantile of the durations: `per_mille` of the calls were no longer.
    pub(super) fn quantile_us(&self, per_mille: usize) -> f64 {
        let last = self.durations_ns.len().saturating_sub(1);
        let at = self.durations_ns.get(last * per_mille / 1000);
        *at.unwrap_or(&0) as f64 / 1e3
    }
}

/// A miss: gaps of at least `ns` between `since` and `until` explain it. In ns since the run began.
#[derive(Clone, Copy, Debug)]
struct Miss {
    since: u64,
    until: u64,
    ns: u64,
}

/// A gap of the probe: its begin in ns since the run began, and its length.
type Gap = (u64, u64);

/// Calls `callback` every period, on a thread of its own.
///
/// Real-time: waits, for all calls.
pub(super) fn measure_callbacks(
    callback: &mut dyn Callback,
    schedule: CallbackSchedule,
) -> CallbackStats {
    let stop = AtomicBool::new(false);
    let clock = MachineClock(stamp::now(), TickScale::calibrated());
    let ((mut stats, misses), gaps) = thread::scope(|scope| {
        let named = thread::Builder::new().name(PROBE_NAME.into());
        let probe = named.spawn_scoped(scope, || run_probe(&stop, clock, schedule.placement));
        let callback = scope.spawn(|| {
            schedule
                .placement
                .apply(0, Priority::RealTime(CALLBACK_PRIORITY));
            run_callback(callback, schedule, clock)
        });
        let found = callback.join().unwrap_or_default();
        // Relaxed: a stop request alone.
        stop.store(true, Ordering::Relaxed);
        let gaps = probe.map_or(Vec::new(), |probe| probe.join().unwrap_or_default());
        (found, gaps)
    });
    stats.missed = misses.len();
    stats.unexplained = misses
        .iter()
        .filter(|miss| !is_explained(miss, &gaps))
        .count();
    stats.gaps_ns = gaps.iter().map(|(_, ns)| ns).sum();
    stats
}

/// The time that callbacks and the probe see: the machine's, or in a test one that passes only where the test says so.
trait Clock: Copy {
    /// Nanoseconds since it was started.
    fn ns(self) -> u64;
    /// Sleeps until that time.
    fn sleep_until(self, ns: u64);
}

/// The machine's clock: its begin, and the length of its ticks.
#[derive(Clone, Copy)]
struct MachineClock(u64, TickScale);

impl Clock for MachineClock {
    fn ns(self) -> u64 {
        self.1.between(self.0, stamp::now()).0
    }

    fn sleep_until(self, ns: u64) {
        thread::sleep(Duration::from_nanos(ns.saturating_sub(self.ns())));
    }
}

fn is_explained(miss: &Miss, gaps: &[Gap]) -> bool {
    let within = gaps
        .iter()
        .filter(|(at, ns)| at + ns > miss.since && *at < miss.until);
    within.map(|(_, ns)| ns).sum::<u64>() >= miss.ns
}

fn run_probe(stop: &AtomicBool, clock: impl Clock, placement: Placement) -> Vec<Gap> {
    let mut gaps = Vec::with_capacity(MAX_GAPS);
    placement.apply(0, Priority::RealTime(PROBE_PRIORITY));
    while !stop.load(Ordering::Relaxed) {
        let at = clock.ns() + PROBE_SLEEP_NS;
        clock.sleep_until(at);
        let late = clock.ns().saturating_sub(at);
        if late > MIN_GAP_NS && gaps.len() < MAX_GAPS {
            gaps.push((at, late));
        }
    }
    gaps
}

fn run_callback(
    callback: &mut dyn Callback,
    schedule: CallbackSchedule,
    clock: impl Clock,
) -> (CallbackStats, Vec<Miss>) {
    let _audio_thread = AudioThread::enter();
    let period = schedule.period.as_nanos() as u64;
    let mut misses = Vec::with_capacity(MAX_MISSES + 1);
    let mut stats = CallbackStats {
        durations_ns: Vec::with_capacity(schedule.calls),
        is_real_time: workers::current_priority() != Priority::Ordinary,
        ..CallbackStats::default()
    };
    let mut delays = RandomDelays::new(schedule.max_delay);
    let mut due = clock.ns() + period;
    let mut before = (used_ns(), 0);
    for call in 0..schedule.warm_up + schedule.calls {
        if call == schedule.warm_up {
            before = (used_ns(), clock.ns());
        }
        clock.sleep_until(due + delays.next());
        let begun = clock.ns();
        let late = callback.process_block();
        let done = clock.ns();
        if call >= schedule.warm_up {
            stats.durations_ns.push(done - begun);
            misses.extend(find_miss(due, done, period, late));
            if misses.len() > MAX_MISSES {
                break;
            }
        }
        // Periods that have passed meanwhile are skipped, as a device does.
        due += period + done.saturating_sub(due + period) / period * period;
    }
    let cores = schedule.placement.cores.clamp(1, workers::cores().len()) as f64;
    let time = (clock.ns() - before.1).max(1) as f64 * cores;
    let [own, probe] = used_ns();
    // Saturating: a thread that ended meanwhile takes its time with it.
    stats.load = own.saturating_sub(before.0[0]) as f64 / time;
    stats.load_with_probe = stats.load + probe.saturating_sub(before.0[1]) as f64 / time;
    stats.durations_ns.sort_unstable();
    (stats, misses)
}

/// Time on a core of this process's threads without the probe, and of the probe.
fn used_ns() -> [u64; 2] {
    let used = |is_probe| ThreadTimes::so_far(|name| (name == PROBE_NAME) == is_probe).ran_ns;
    [false, true].map(used)
}

/// The miss of the call that was due at `due` and done at `done`, if it is one.
fn find_miss(due: u64, done: u64, period: u64, late: LateResults) -> Option<Miss> {
    let end = due + period;
    if done > end {
        return Some(Miss {
            since: due.saturating_sub(period),
            until: done,
            ns: done - end,
        });
    }
    // The lateness of a result is not known: gaps of a period explain it, or of a twentieth of its time if that is more.
    let time = u64::from(late.period_blocks) * period;
    (late.count > 0).then(|| Miss {
        since: due.saturating_sub(time),
        until: done,
        ns: period.max(time / 20),
    })
}

/// Random delays of calls: the same sequence in every run.
struct RandomDelays {
    max_ns: u64,
    state: u64,
}

impl RandomDelays {
    fn new(max: Duration) -> Self {
        Self {
            max_ns: max.as_nanos() as u64,
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.max_ns as f64 * (self.state >> 11) as f64 / (1_u64 << 53) as f64) as u64
    }
}

/// Computes for a time.
pub(super) fn burn(time: Duration) {
    let begun = Instant::now();
    let mut x = 1_u64;
    while begun.elapsed() < time {
        for _ in 0..200 {
            x = black_box((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// A clock on which time passes in sleeps and in blocks only.
    impl Clock for &AtomicU64 {
        fn ns(self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn sleep_until(self, ns: u64) {
            self.fetch_max(ns, Ordering::Relaxed);
        }
    }

    /// Blocks of 100 ns, but the sixth of 2500; the result of the twelfth is late.
    struct Scripted<'a>(&'a AtomicU64, usize);

    impl Callback for Scripted<'_> {
        fn process_block(&mut self) -> LateResults {
            self.1 += 1;
            let ns = if self.1 == 6 { 2500 } else { 100 };
            self.0.fetch_add(ns, Ordering::Relaxed);
            LateResults {
                count: u64::from(self.1 == 12),
                period_blocks: 4,
            }
        }
    }

    #[test]
    fn every_period_has_a_call_and_a_late_result_is_a_miss() {
        let clock = AtomicU64::new(0);
        let mut scripted = Scripted(&clock, 0);
        let schedule = CallbackSchedule {
            period: Duration::from_nanos(1000),
            warm_up: 4,
            calls: 20,
            max_delay: Duration::ZERO,
            placement: Placement::default(),
        };
        let (stats, misses) = run_callback(&mut scripted, schedule, &clock);
        assert_eq!((scripted.1, stats.durations_ns.len()), (24, 20));
        // The sixth call takes the next period too, which is skipped. The seventh begins late and is in time.
        assert_eq!(clock.ns(), (24 + 1) * 1000 + 100);
        let misses: Vec<_> = misses.iter().map(|m| (m.since, m.until, m.ns)).collect();
        assert_eq!(misses, [(5000, 8500, 1500), (9000, 13_100, 1000)]);
        assert_eq!((stats.quantile_us(0), stats.quantile_us(1000)), (0.1, 2.5));
    }

    #[test]
    fn callbacks_run_on_a_thread_of_their_own_beside_a_probe() {
        let clock = AtomicU64::new(0);
        let schedule = CallbackSchedule {
            period: Duration::from_micros(500),
            warm_up: 0,
            calls: 2,
            max_delay: Duration::from_micros(50),
            placement: Placement::default(),
        };
        let stats = measure_callbacks(&mut Scripted(&clock, 0), schedule);
        assert_eq!((clock.ns(), stats.durations_ns.len()), (200, 2));
        assert!(stats.unexplained <= stats.missed);
    }

    #[test]
    fn gaps_explain_a_miss_if_they_are_long_enough_and_within_its_time() {
        let over = find_miss(5000, 6500, 1000, LateResults::default()).unwrap();
        assert!(find_miss(5000, 5900, 1000, LateResults::default()).is_none());
        assert!(is_explained(&over, &[(4800, 300), (5500, 200)]));
        assert!(!is_explained(&over, &[(5500, 499)]));
        assert!(!is_explained(&over, &[(6500, 9000)]));
        let late = LateResults {
            count: 1,
            period_blocks: 3,
        };
        let level = find_miss(5000, 5100, 1000, late).unwrap();
        assert!(is_explained(&level, &[(2500, 1000)]));
        assert!(!is_explained(&level, &[(500, 1000)]));
    }

    #[test]
    fn delays_stay_below_their_bound() {
        let mut delays = RandomDelays::new(Duration::from_nanos(1000));
        let all: Vec<_> = (0..1000).map(|_| delays.next()).collect();
        assert!(all.iter().all(|ns| *ns < 1000) && all.iter().any(|ns| *ns > 900));
        assert_eq!(RandomDelays::new(Duration::ZERO).next(), 0);
    }
}
