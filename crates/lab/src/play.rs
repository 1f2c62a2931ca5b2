//! One run: a graph, played for a while in one way, and what that cost.
//!
//! Cycles are timed from outside, as whoever gives the beat would. The player is told that it has ages for each block,
//! so that it never mutes itself; what the real deadline would have been is counted here.

use crate::LabError;
use crate::figures::Figures;
use crate::machine::RATE_HZ;
use crate::threads::Spent;
use divisi::driver::{self, DriverConfig, OpenDriver};
use divisi::plan::MeasuredCosts;
use divisi::prelude::*;
use divisi::report::{CoreTimings, Histogram, Report};
use divisi::rt::stamp::{self, TickScale};
use divisi::workers::{AudioThread, Priority};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Cycles at the beginning that count for nothing: memory is touched, threads find their cores.
const WARM: u32 = 8;
/// What a player is told that it has for a block.
const AGES: Nanos = Nanos(3_600_000_000_000);
/// What the threads are called that play block after block.
const NAME: &str = "divisi-lab";
/// Every thread that plays begins so.
const OURS: &str = "divisi";

/// When the next block comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As soon as the last one is done.
    Behind,
    /// When a device would ask for it.
    Beat,
}

impl Pace {
    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Behind => "behind",
            Self::Beat => "beat",
        }
    }
}

/// What to play, and how.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) scheduler: Scheduler,
    pub(crate) workers: usize,
    pub(crate) block: Frames,
    pub(crate) fuse: bool,
    pub(crate) pace: Pace,
    /// What is known of the machine and of the nodes.
    pub(crate) facts: CoreTimings,
    pub(crate) costs: MeasuredCosts,
    pub(crate) time: Duration,
}

/// Plays.
pub(crate) fn play(run: Run<'_>) -> Result<Figures, LabError> {
    match run.pace {
        Pace::Behind => behind(&run),
        Pace::Beat => beat(&run),
    }
}

fn prepare(run: &Run<'_>, priority: Priority) -> Result<(Engine, Stopwatch), LabError> {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let mut options = EngineOptions::new(run.block, rate);
    options.scheduler = run.scheduler;
    options.workers = run.workers;
    options.priority = priority;
    options.fuse = run.fuse;
    options.core_timings = run.facts.clone();
    options.costs = run.costs.clone();
    let made = Engine::new(run.graph.clone(), Arc::new(divisi::registry()), options);
    let (engine, player) = made.map_err(|error| LabError::Play(error.to_string()))?;
    let watch = Stopwatch {
        player,
        scale: TickScale::calibrated(),
        warm: WARM,
        seen: Seen::default(),
        counted: Arc::default(),
    };
    Ok((engine, watch))
}

/// A player that is timed.
struct Stopwatch {
    player: EngineCallback,
    scale: TickScale,
    warm: u32,
    seen: Seen,
    /// How many cycles have counted, for who waits for them.
    counted: Arc<AtomicU64>,
}

#[derive(Default)]
struct Seen {
    times: Histogram,
    missed: u64,
    xruns: u64,
}

impl AudioCallback for Stopwatch {
    fn process(&mut self, beat: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let start = stamp::now();
        let long = CallbackInfo {
            budget: Some(AGES),
            ..beat
        };
        self.player.process(long, inputs, outputs);
        let took = self.scale.between(start, stamp::now());
        if self.warm > 0 {
            self.warm -= 1;
            return;
        }
        self.seen.times.record(took);
        // Relaxed: the count is all there is.
        self.counted.fetch_add(1, Ordering::Relaxed);
        self.seen.missed += u64::from(beat.budget.is_some_and(|budget| took > budget));
        self.seen.xruns += u64::from(beat.xruns);
    }
}

/// What passed while it was played.
struct Passed {
    spent: Spent,
    wall: Duration,
}

/// Times what lies between this and `end`.
struct Clock {
    before: Spent,
    begun: Instant,
}

impl Clock {
    fn begin() -> Self {
        Self {
            before: Spent::so_far(is_ours),
            begun: Instant::now(),
        }
    }

    fn end(&self) -> Passed {
        Passed {
            wall: self.begun.elapsed(),
            spent: Spent::so_far(is_ours).since(self.before),
        }
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with(OURS)
}

fn behind(run: &Run<'_>) -> Result<Figures, LabError> {
    let (mut engine, mut watch) = prepare(run, Priority::Ordinary)?;
    let (block, time) = (run.block, run.time);
    let thread = Builder::new().name(NAME.into());
    let playing = thread.spawn(move || {
        let _plays = AudioThread::enter();
        let passed = play_behind(&mut engine, &mut watch, block, time);
        (engine.report(), watch.seen, passed)
    });
    let playing = playing.map_err(|error| LabError::Play(error.to_string()))?;
    let ended = playing.join();
    let (report, seen, passed) =
        ended.map_err(|_| LabError::Play("the run panicked".to_owned()))?;
    Ok(figures(&report, &seen, &passed, false))
}

fn play_behind(
    engine: &mut Engine,
    watch: &mut Stopwatch,
    block: Frames,
    time: Duration,
) -> Passed {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let beat = CallbackInfo {
        budget: Some(block.duration(rate)),
        ..CallbackInfo::default()
    };
    let mut out = vec![0.0; block.0 as usize];
    while watch.warm > 0 {
        watch.process(beat, &[], &mut [&mut out]);
    }
    let clock = Clock::begin();
    while clock.begun.elapsed() < time {
        watch.process(beat, &[], &mut [&mut out]);
        if watch.seen.times.count().is_multiple_of(256) {
            engine.update();
        }
    }
    clock.end()
}

fn beat(run: &Run<'_>) -> Result<Figures, LabError> {
    let refused = |error: driver::DriverError| LabError::Play(error.to_string());
    let mut request = DriverConfig::new("divisi-lab", run.block);
    request.rate = SampleRate::new(RATE_HZ);
    request.outputs = 1;
    // More threads than cores that never let go would only take turns: those are ordinary ones.
    if run.workers > divisi::workers::cores().len() {
        request.priority = None;
    }
    let opened: Box<dyn OpenDriver> = driver::clock::open(&request).map_err(refused)?;
    let level = opened.info().priority.and_then(|l| u8::try_from(l).ok());
    let priority = level.map_or(Priority::Ordinary, Priority::RealTime);
    let (mut engine, watch) = prepare(run, priority)?;
    let counted = watch.counted.clone();
    let has_begun = move || counted.load(Ordering::Relaxed) > 0;
    let running = opened.start(Box::new(watch)).map_err(refused)?;
    await_or_give_up(has_begun);
    let clock = Clock::begin();
    std::thread::sleep(run.time);
    let passed = clock.end();
    let back: Box<dyn Any> = running.stop();
    let watch: Box<Stopwatch> = back.downcast().expect("it was given to the driver");
    let report = engine.report();
    Ok(figures(&report, &watch.seen, &passed, level.is_some()))
}

/// Waits until `is_so`, for a minute at most: a machine that plays no cycle in that time never will.
fn await_or_give_up(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn figures(report: &Report, seen: &Seen, passed: &Passed, is_real_time: bool) -> Figures {
    let share = |ns: u64| ns as f64 / (passed.wall.as_nanos() as f64).max(1.0);
    Figures {
        cycles: seen.times.count(),
        took: seen.times.summary(),
        bars: seen.times.buckets(8),
        missed: seen.missed,
        lost: seen.xruns + report.abandoned,
        takes: report.acquisitions_per_cycle,
        wakes: report.wakes_per_cycle,
        ran: share(passed.spent.ran),
        waited: share(passed.spent.waited),
        stolen_ms: passed.spent.stolen as f64 / 1e6,
        is_real_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::graph::shape;

    #[test]
    fn every_scheduler_plays_at_both_paces_and_counts_its_cycles() {
        let graph = shape::diamond(16, None).unwrap();
        for scheduler in Scheduler::all() {
            for pace in [Pace::Behind, Pace::Beat] {
                let figures = play(Run {
                    graph: &graph,
                    scheduler,
                    workers: 3,
                    block: Frames(64),
                    fuse: false,
                    pace,
                    facts: CoreTimings::default(),
                    costs: MeasuredCosts::default(),
                    time: Duration::from_millis(20),
                });
                let figures = figures.unwrap();
                assert!(figures.cycles > 0, "{scheduler} {pace:?}");
                let counted: u64 = figures.bars.iter().map(|bar| bar.count).sum();
                assert_eq!(counted, figures.cycles);
                assert!(figures.missed <= figures.cycles);
                assert!(figures.took.mean > 0.0 && figures.took.max >= figures.took.p50);
            }
        }
    }

    #[test]
    fn a_graph_that_cannot_be_played_is_refused_in_words() {
        let mut graph = Graph::default();
        graph.add(Node::new("x", "no such kind")).unwrap();
        let refused = play(Run {
            graph: &graph,
            scheduler: Scheduler::Sequential,
            workers: 1,
            block: Frames(64),
            fuse: false,
            pace: Pace::Behind,
            facts: CoreTimings::default(),
            costs: MeasuredCosts::default(),
            time: Duration::ZERO,
        });
        assert!(matches!(refused, Err(LabError::Play(why)) if !why.is_empty()));
    }
}
