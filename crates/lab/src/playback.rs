//! One run: plays a graph with one scheduler for a while, and measures its cycles.
//!
//! | pace | blocks come | threads |
//! |---|---|---|
//! | `behind` | as soon as the block before is done | ordinary ones |
//! | `beat` | at the period of a clock driver, as a device would ask for them | real-time ones where granted, if there are cores for all |
//!
//! Cycles are timed from outside, around the call. The player is given an endless deadline, so that it never mutes
//! itself; the real deadline is checked here.

use crate::LabError;
use crate::machine::{RATE_HZ, period_us};
use crate::record::Record;
use crate::results::Variant;
use crate::usage::ThreadTimes;
use divisi::costs::CoreTimings;
use divisi::driver::{self, DriverConfig, OpenDriver};
use divisi::plan::MeasuredCosts;
use divisi::prelude::*;
use divisi::report::{Bucket, Histogram, Report, TimeSummary};
use divisi::rt::stamp::{self, TickScale};
use divisi::workers::{AudioThread, Priority};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// First cycles, which are not counted: memory is touched, threads find their cores.
const WARM_UP_CYCLES: u32 = 8;
/// Deadline that the player is given for a block: an hour.
const ENDLESS: Nanos = Nanos(3_600_000_000_000);
/// Name of the threads that play block after block.
const NAME: &str = "divisi-lab";
/// Begin of the name of every thread that plays.
const OWN_PREFIX: &str = "divisi";

/// Moment of the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As soon as the last block is done.
    Behind,
    /// At a device's period.
    Beat,
}

impl Pace {
    /// Name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Behind => "behind",
            Self::Beat => "beat",
        }
    }
}

/// A graph and the manner of playing it.
#[derive(Clone, Debug)]
pub(crate) struct Playback<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) variant: Variant,
    pub(crate) workers: usize,
    pub(crate) block: Frames,
    pub(crate) pace: Pace,
    /// Measured costs, for the scheduler: of the machine, and of the graph's nodes.
    pub(crate) core_timings: CoreTimings,
    pub(crate) costs: MeasuredCosts,
    pub(crate) duration: Duration,
}

/// Measurements of a playback.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlaybackStats {
    /// Cycles after the first [`WARM_UP_CYCLES`].
    pub(crate) cycles: u64,
    /// Their durations.
    pub(crate) cycle_ns: TimeSummary,
    pub(crate) histogram: Vec<Bucket>,
    /// Cycles longer than the period.
    pub(crate) missed: u64,
    /// Periods that were skipped because the cycles before took too long, and cycles that the watchdog abandoned.
    pub(crate) lost: u64,
    /// Tasks taken from shared queues, and workers woken, per cycle.
    pub(crate) takes: f64,
    pub(crate) wakes: f64,
    /// Time of its threads on a core, and ready without one, as a share of the duration.
    pub(crate) ran: f64,
    pub(crate) waited: f64,
    /// Time that the host took from the machine, in ms.
    pub(crate) stolen_ms: f64,
    /// True if the threads had real-time priority.
    pub(crate) is_real_time: bool,
}

/// Columns that [`PlaybackStats::record`] sets, as part of a CSV head.
///
/// | column | holds |
/// |---|---|
/// | `date` | when the run began, UTC |
/// | `priority` | `real-time` or `ordinary` threads |
/// | `cycles`, `period_us` | cycles that counted, and the period of a block |
/// | `mean_us`, `p50_us`, `p99_us`, `worst_us` | duration of a cycle |
/// | `missed`, `lost` | cycles longer than the period; periods without a cycle, or with one that was abandoned |
/// | `takes`, `wakes` | per cycle: takes from shared queues, workers woken |
/// | `ran`, `waited` | time of the threads on a core, and ready without one, as shares of the run |
/// | `stolen_ms` | time that the host took from the machine |
macro_rules! playback_columns {
    () => {
        "date,priority,cycles,period_us,mean_us,p50_us,p99_us,worst_us,missed,lost,takes,wakes,ran,waited,stolen_ms"
    };
}
pub(crate) use playback_columns;

impl PlaybackStats {
    /// Sets the [`playback_columns`].
    pub(crate) fn record(&self, block: Frames, record: &mut Record) {
        let us = |ns: u64| ns as f64 / 1e3;
        record.set("priority", priority_name(self.is_real_time));
        record.set("cycles", self.cycles);
        record.set_number("period_us", period_us(block), 1);
        record.set_number("mean_us", self.cycle_ns.mean / 1e3, 2);
        record.set_number("p50_us", us(self.cycle_ns.p50), 1);
        record.set_number("p99_us", us(self.cycle_ns.p99), 1);
        record.set_number("worst_us", us(self.cycle_ns.max), 1);
        record.set("missed", self.missed);
        record.set("lost", self.lost);
        record.set_number("takes", self.takes, 2);
        record.set_number("wakes", self.wakes, 2);
        record.set_number("ran", self.ran, 3);
        record.set_number("waited", self.waited, 3);
        record.set_number("stolen_ms", self.stolen_ms, 0);
    }
}

/// Name of a thread's priority in tables.
pub(crate) fn priority_name(is_real_time: bool) -> &'static str {
    if is_real_time {
        "real-time"
    } else {
        "ordinary"
    }
}

/// Plays a graph and measures its cycles.
///
/// Real-time: waits, for the playback's duration.
pub(crate) fn measure_playback(playback: &Playback<'_>) -> Result<PlaybackStats, LabError> {
    match playback.pace {
        Pace::Behind => block_after_block(playback),
        Pace::Beat => at_the_beat(playback),
    }
}

/// An engine, and its player with a stopwatch around it.
fn prepare(run: &Playback<'_>, priority: Priority) -> Result<(Engine, TimedPlayer), LabError> {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let mut options = EngineOptions::new(run.block, rate);
    options.scheduler = run.variant.scheduler;
    options.workers = run.workers;
    options.priority = priority;
    options.fuse = run.variant.fuse == "on";
    options.core_timings = run.core_timings.clone();
    options.costs = run.costs.clone();
    let made = Engine::new(run.graph.clone(), Arc::new(divisi::registry()), options);
    let (engine, player) = made.map_err(|error| LabError::Play(error.to_string()))?;
    let timed = TimedPlayer {
        player,
        scale: TickScale::calibrated(),
        warm_up: WARM_UP_CYCLES,
        seen: Seen::default(),
        counted: Arc::default(),
    };
    Ok((engine, timed))
}

/// A player whose cycles are timed.
struct TimedPlayer {
    player: EngineCallback,
    scale: TickScale,
    /// Cycles left that do not count.
    warm_up: u32,
    seen: Seen,
    /// Number of cycles that counted, for the thread that waits for the first.
    counted: Arc<AtomicU64>,
}

/// Measurements inside the callback.
#[derive(Default)]
struct Seen {
    times: Histogram,
    missed: u64,
    xruns: u64,
}

impl AudioCallback for TimedPlayer {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let start = stamp::now();
        let endless = CallbackInfo {
            budget: Some(ENDLESS),
            ..info
        };
        self.player.process(endless, inputs, outputs);
        let took = self.scale.between(start, stamp::now());
        if self.warm_up > 0 {
            self.warm_up -= 1;
            return;
        }
        self.seen.times.record(took);
        // Relaxed: a count alone, no data is published with it.
        self.counted.fetch_add(1, Ordering::Relaxed);
        self.seen.missed += u64::from(info.budget.is_some_and(|budget| took > budget));
        self.seen.xruns += u64::from(info.xruns);
    }
}

/// Times that passed during a playback: of its threads, and on the wall.
struct Elapsed(ThreadTimes, Duration);

/// Stopwatch for the playback's threads.
struct Stopwatch(ThreadTimes, Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(own_times(), Instant::now())
    }

    fn elapsed(&self) -> Elapsed {
        let wall = self.1.elapsed();
        Elapsed(own_times().since(self.0), wall)
    }
}

fn own_times() -> ThreadTimes {
    ThreadTimes::so_far(|name| name.starts_with(OWN_PREFIX))
}

/// Plays on an ordinary thread, without a pause between blocks. Real-time priority would take the core from everything else,
/// the system's own threads included, for the whole run.
fn block_after_block(run: &Playback<'_>) -> Result<PlaybackStats, LabError> {
    let (mut engine, mut timed) = prepare(run, Priority::Ordinary)?;
    let (block, duration) = (run.block, run.duration);
    let thread = Builder::new().name(NAME.into());
    let playing = thread.spawn(move || {
        let _plays = AudioThread::enter();
        let elapsed = play_blocks(&mut engine, &mut timed, block, duration);
        (engine.report(), timed.seen, elapsed)
    });
    let playing = playing.map_err(|error| LabError::Play(error.to_string()))?;
    let ended = playing.join();
    let (report, seen, elapsed) =
        ended.map_err(|_| LabError::Play("the run panicked".to_owned()))?;
    Ok(stats(&report, &seen, &elapsed, false))
}

fn play_blocks(
    engine: &mut Engine,
    timed: &mut TimedPlayer,
    block: Frames,
    duration: Duration,
) -> Elapsed {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let info = CallbackInfo {
        budget: Some(block.duration(rate)),
        ..CallbackInfo::default()
    };
    let mut out = vec![0.0; block.0 as usize];
    while timed.warm_up > 0 {
        timed.process(info, &[], &mut [&mut out]);
    }
    let watch = Stopwatch::start();
    while watch.1.elapsed() < duration {
        timed.process(info, &[], &mut [&mut out]);
        if timed.seen.times.count().is_multiple_of(256) {
            engine.update();
        }
    }
    watch.elapsed()
}

/// Plays under the clock driver.
fn at_the_beat(run: &Playback<'_>) -> Result<PlaybackStats, LabError> {
    let refused = |error: driver::DriverError| LabError::Play(error.to_string());
    let mut request = DriverConfig::new("divisi-lab", run.block);
    request.rate = SampleRate::new(RATE_HZ);
    request.outputs = 1;
    // More real-time threads than cores would keep one another from running: those are ordinary ones.
    if run.workers > divisi::workers::cores().len() {
        request.priority = None;
    }
    let opened: Box<dyn OpenDriver> = driver::clock::open(&request).map_err(refused)?;
    let level = opened.info().priority.and_then(|l| u8::try_from(l).ok());
    let priority = level.map_or(Priority::Ordinary, Priority::RealTime);
    let (mut engine, timed) = prepare(run, priority)?;
    let counted = timed.counted.clone();
    let has_begun = move || counted.load(Ordering::Relaxed) > 0;
    let running = opened.start(Box::new(timed)).map_err(refused)?;
    wait_up_to_a_minute(has_begun);
    let watch = Stopwatch::start();
    std::thread::sleep(run.duration);
    let elapsed = watch.elapsed();
    let back: Box<dyn Any> = running.stop();
    let timed: Box<TimedPlayer> = back.downcast().expect("it was given to the driver");
    let report = engine.report();
    Ok(stats(&report, &timed.seen, &elapsed, level.is_some()))
}

/// Waits for a condition, for a minute at most: a machine that plays no cycle in that time never will.
fn wait_up_to_a_minute(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn stats(report: &Report, seen: &Seen, elapsed: &Elapsed, is_real_time: bool) -> PlaybackStats {
    let Elapsed(threads, wall) = elapsed;
    let share = |ns: u64| ns as f64 / (wall.as_nanos() as f64).max(1.0);
    PlaybackStats {
        cycles: seen.times.count(),
        cycle_ns: seen.times.summary(),
        histogram: seen.times.buckets(8),
        missed: seen.missed,
        lost: seen.xruns + report.abandoned,
        takes: report.acquisitions_per_cycle,
        wakes: report.wakes_per_cycle,
        ran: share(threads.ran_ns),
        waited: share(threads.waited_ns),
        stolen_ms: threads.stolen_ns as f64 / 1e6,
        is_real_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::graph::shape;

    fn playback(graph: &Graph, scheduler: Scheduler, pace: Pace) -> Playback<'_> {
        Playback {
            graph,
            variant: Variant::unfused(scheduler),
            workers: 3,
            block: Frames(64),
            pace,
            core_timings: CoreTimings::default(),
            costs: MeasuredCosts::default(),
            duration: Duration::from_millis(20),
        }
    }

    #[test]
    fn every_scheduler_plays_at_both_paces_and_counts_its_cycles() {
        let graph = shape::diamond(16, None).unwrap();
        for scheduler in Scheduler::all() {
            for pace in [Pace::Behind, Pace::Beat] {
                let stats = measure_playback(&playback(&graph, scheduler, pace)).unwrap();
                assert!(stats.cycles > 0, "{scheduler} {pace:?}");
                let counted: u64 = stats.histogram.iter().map(|bucket| bucket.count).sum();
                assert_eq!(counted, stats.cycles);
                assert!(stats.missed <= stats.cycles);
                assert!(stats.cycle_ns.mean > 0.0 && stats.cycle_ns.max >= stats.cycle_ns.p50);
            }
        }
    }

    #[test]
    fn a_graph_that_cannot_be_played_is_refused_with_a_reason() {
        let mut graph = Graph::default();
        graph.add(Node::new("x", "no such kind")).unwrap();
        let refused = measure_playback(&playback(&graph, Scheduler::Sequential, Pace::Behind));
        assert!(matches!(refused, Err(LabError::Play(why)) if !why.is_empty()));
    }
}
