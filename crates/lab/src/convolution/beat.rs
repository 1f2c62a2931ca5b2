//! Blocks at a beat: who was done in time, and whose fault it was where not.
//!
//! The callback has a real-time priority below the probe's and above the levels'. The probe sleeps a quarter of a
//! millisecond at a time on the callback's core and notes by how much it woke late: nothing of ours stands before it, so
//! what it misses is the machine's doing. A miss is explained where the probe's gaps in its time make up for it.

use divisi::rt::stamp::{self, TickScale};
use divisi::workers::{self, AudioThread, Priority};
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::threads::Spent;

/// The callback's priority, the probe's above, and that of the first level below, from which the others go down.
pub(super) const CALLBACK: u8 = 80;
const PROBE: u8 = 90;
pub(super) const LEVELS: u8 = 70;
/// What its thread is called: what it uses is nobody's load.
const PROBE_NAME: &str = "probe";
/// How long the probe sleeps, and from which lateness on it notes a gap.
const NAP: Duration = Duration::from_micros(250);
const GAP: Duration = Duration::from_micros(40);
/// The most gaps that are noted.
const MOST_GAPS: usize = 1 << 16;
/// A run with more misses than these is broken off: no machine is to blame for so many.
const MOST_MISSES: usize = 1000;
/// A run that used more than this of its cores holds nothing: the system stops real-time threads for a while in each
/// second in which they leave it less.
const MOST_BUSY: f64 = 0.93;

/// On which cores the threads of a run are: one after another on the first so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) cores: usize,
    /// Whether real-time priority is asked for.
    pub(super) is_urgent: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            cores: usize::MAX,
            is_urgent: false,
        }
    }
}

impl Place {
    /// The core of thread number `number`; the last of the machine's cores comes first, since systems keep to the first.
    pub(super) fn core(self, number: usize) -> workers::CoreId {
        let cores = workers::cores();
        let many = self.cores.clamp(1, cores.len());
        cores[cores.len() - 1 - number % many]
    }

    /// Puts the calling thread there. Without what the system refuses.
    pub(super) fn take(self, number: usize, priority: Priority) {
        let _ = workers::pin(self.core(number));
        if self.is_urgent {
            let _ = workers::set_priority(priority);
        }
    }
}

/// What was not there when it was due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Late {
    pub(super) results: u64,
    /// The longest period of any of them, in blocks.
    pub(super) blocks: u32,
}

/// What is called at each beat.
pub(super) trait Callback: Send {
    /// Computes a block.
    fn call(&mut self) -> Late;
}

/// How to call it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    pub(super) period: Duration,
    /// Calls that do not count, then those that do.
    pub(super) warm: usize,
    pub(super) calls: usize,
    /// By how much a call may come late, of which the callback knows nothing.
    pub(super) jitter: Duration,
    pub(super) place: Place,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// How long calls took, sorted.
    pub(super) took_ns: Vec<u64>,
    /// Not done before the next beat, or with a result that was not there.
    pub(super) missed: usize,
    /// Of these, what the probe's gaps do not explain.
    pub(super) unexplained: usize,
    /// Of its cores, what this process used, without the probe.
    pub(super) busy: f64,
    /// And with it.
    pub(super) taken: f64,
    /// The probe's gaps together.
    pub(super) gaps_ns: u64,
    /// Whether the callback had real-time priority.
    pub(super) is_real_time: bool,
}

impl Seen {
    /// Whether everything was there in time, or the machine was to blame.
    pub(super) fn holds(&self) -> bool {
        self.unexplained == 0 && self.missed <= MOST_MISSES && self.taken < MOST_BUSY
    }

    /// So many per thousand of the calls took no longer.
    pub(super) fn took_us(&self, per_mille: usize) -> f64 {
        let last = self.took_ns.len().saturating_sub(1);
        let at = self.took_ns.get(last * per_mille / 1000);
        *at.unwrap_or(&0) as f64 / 1e3
    }
}

/// A miss: since when gaps excuse it, when it was over, how long they must be.
#[derive(Clone, Copy, Debug)]
struct Miss {
    since: u64,
    until: u64,
    ns: u64,
}

/// A time, in ns since the run began, in which the probe did not run.
type Gap = (u64, u64);

/// Calls `callback` at every beat, on a thread of its own.
pub(super) fn play(callback: &mut dyn Callback, beat: Beat) -> Seen {
    let stop = AtomicBool::new(false);
    let clock = Clock::begin();
    let seen = Mutex::new((Seen::default(), Vec::new()));
    let gaps = thread::scope(|scope| {
        let named = thread::Builder::new().name(PROBE_NAME.into());
        let probe = named.spawn_scoped(scope, || probe(&stop, clock, beat.place));
        let callback = scope.spawn(|| {
            beat.place.take(0, Priority::RealTime(CALLBACK));
            let played = calls(callback, beat, clock);
            *seen.lock().unwrap_or_else(|e| e.into_inner()) = played;
        });
        let _ = callback.join();
        // Relaxed: nothing travels with it.
        stop.store(true, Ordering::Relaxed);
        probe.map_or(Vec::new(), |probe| probe.join().unwrap_or_default())
    });
    let (mut seen, misses) = seen.into_inner().unwrap_or_else(|e| e.into_inner());
    seen.missed = misses.len();
    seen.unexplained = misses
        .iter()
        .filter(|miss| !is_explained(miss, &gaps))
        .count();
    seen.gaps_ns = gaps.iter().map(|(_, ns)| ns).sum();
    seen
}

#[derive(Clone, Copy)]
struct Clock(u64, TickScale);

impl Clock {
    fn begin() -> Self {
        Self(stamp::now(), TickScale::calibrated())
    }

    fn ns(self) -> u64 {
        self.1.between(self.0, stamp::now()).0
    }

    fn sleep_until(self, at: u64) {
        thread::sleep(Duration::from_nanos(at.saturating_sub(self.ns())));
    }
}

fn is_explained(miss: &Miss, gaps: &[Gap]) -> bool {
    let there = gaps
        .iter()
        .filter(|(at, ns)| at + ns > miss.since && *at < miss.until);
    there.map(|(_, ns)| ns).sum::<u64>() >= miss.ns
}

fn probe(stop: &AtomicBool, clock: Clock, place: Place) -> Vec<Gap> {
    let mut gaps = Vec::with_capacity(MOST_GAPS);
    place.take(0, Priority::RealTime(PROBE));
    let (nap, gap) = (NAP.as_nanos() as u64, GAP.as_nanos() as u64);
    while !stop.load(Ordering::Relaxed) {
        let at = clock.ns() + nap;
        clock.sleep_until(at);
        let late = clock.ns().saturating_sub(at);
        if late > gap && gaps.len() < MOST_GAPS {
            gaps.push((at, late));
        }
    }
    gaps
}

fn calls(callback: &mut dyn Callback, beat: Beat, clock: Clock) -> (Seen, Vec<Miss>) {
    let _plays = AudioThread::enter();
    let period = beat.period.as_nanos() as u64;
    let mut misses = Vec::with_capacity(MOST_MISSES + 1);
    let mut seen = Seen {
        took_ns: Vec::with_capacity(beat.calls),
        is_real_time: workers::current_priority() != Priority::Ordinary,
        ..Seen::default()
    };
    let mut late_by = Lateness::new(beat.jitter);
    let mut due = clock.ns() + period;
    let mut before = (used(), 0);
    for call in 0..beat.warm + beat.calls {
        if call == beat.warm {
            before = (used(), clock.ns());
        }
        clock.sleep_until(due + late_by.next());
        let begun = clock.ns();
        let late = callback.call();
        let done = clock.ns();
        if call >= beat.warm {
            seen.took_ns.push(done - begun);
            misses.extend(miss(due, done, period, late));
            if misses.len() > MOST_MISSES {
                break;
            }
        }
        // Beats that have passed meanwhile are left out, as a device would.
        due += period + done.saturating_sub(due + period) / period * period;
    }
    let cores = beat.place.cores.clamp(1, workers::cores().len()) as f64;
    let time = (clock.ns() - before.1).max(1) as f64 * cores;
    let [ours, probe] = used();
    seen.busy = ours.since(before.0[0]).ran as f64 / time;
    seen.taken = seen.busy + probe.since(before.0[1]).ran as f64 / time;
    seen.took_ns.sort_unstable();
    (seen, misses)
}

/// What our threads have used, and what the probe has.
fn used() -> [Spent; 2] {
    [false, true].map(|is_probe| Spent::so_far(|name| (name == PROBE_NAME) == is_probe))
}

/// What was missed in the call that was due at `due` and was done at `done`.
fn miss(due: u64, done: u64, period: u64, late: Late) -> Option<Miss> {
    let end = due + period;
    if done > end {
        return Some(Miss {
            since: due.saturating_sub(period),
            until: done,
            ns: done - end,
        });
    }
    // How late a result was is not known; a period of gaps in its time would do, if that is a twentieth of it.
    let time = u64::from(late.blocks) * period;
    (late.results > 0).then(|| Miss {
        since: due.saturating_sub(time),
        until: done,
        ns: period.max(time / 20),
    })
}

/// By how much calls come late: the same sequence every time.
struct Lateness {
    most: u64,
    state: u64,
}

impl Lateness {
    fn new(most: Duration) -> Self {
        Self {
            most: most.as_nanos() as u64,
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.most as f64 * (self.state >> 11) as f64 / (1_u64 << 53) as f64) as u64
    }
}

/// Computes for so long.
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

    struct Counted(usize);

    impl Callback for Counted {
        fn call(&mut self) -> Late {
            self.0 += 1;
            Late {
                results: u64::from(self.0 == 12),
                blocks: 4,
            }
        }
    }

    #[test]
    fn every_beat_is_a_call_and_what_was_not_there_is_a_miss() {
        let mut counted = Counted(0);
        let beat = Beat {
            period: Duration::from_micros(500),
            warm: 4,
            calls: 20,
            jitter: Duration::from_micros(50),
            place: Place::default(),
        };
        let seen = play(&mut counted, beat);
        assert_eq!((counted.0, seen.took_ns.len()), (24, 20));
        assert!(seen.missed >= 1 && seen.unexplained <= seen.missed);
        assert!(seen.took_us(0) <= seen.took_us(1000));
    }

    #[test]
    fn gaps_explain_a_miss_if_they_are_long_enough_and_in_its_time() {
        let over = miss(5000, 6500, 1000, Late::default()).unwrap();
        assert!(miss(5000, 5900, 1000, Late::default()).is_none());
        assert!(is_explained(&over, &[(4800, 300), (5500, 200)]));
        assert!(!is_explained(&over, &[(5500, 499)]));
        assert!(!is_explained(&over, &[(6500, 9000)]));
        let late = Late {
            results: 1,
            blocks: 3,
        };
        let level = miss(5000, 5100, 1000, late).unwrap();
        assert!(is_explained(&level, &[(2500, 1000)]));
        assert!(!is_explained(&level, &[(500, 1000)]));
    }

    #[test]
    fn lateness_stays_within_what_it_may_be() {
        let mut late = Lateness::new(Duration::from_nanos(1000));
        let all: Vec<_> = (0..1000).map(|_| late.next()).collect();
        assert!(all.iter().all(|ns| *ns < 1000) && all.iter().any(|ns| *ns > 900));
        assert_eq!(Lateness::new(Duration::ZERO).next(), 0);
    }
}
