//! Due steps and deferred work on one worker, on a virtual clock: every step and every piece states its duration, and
//! nothing else takes time.

use divisi_check::fixtures::{graph, kind};
use divisi_check::test_bench::{TestStrategy, rate, registry};
use exec::{Binding, CycleInfo, CycleStatus, DelayLines, Executor, ProcessorPool, SharedRuntime};
use plan::PlanOptions;
use processor::{Block, Mode, ProcessStatus, Processor, Registry, Setup};
use rt::deferred::{DeferredJob, PiecewiseJob};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use units::Frames;
use workers::{WorkerPool, WorkerPoolOptions};

const BLOCK: u64 = 64;
/// Length of a period.
const PERIOD: u64 = 1000;
/// Deferred work is run, and helped, in so much of it.
const MARGIN: u64 = 800;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
    /// When the last step of the cycle ended.
    static ENDED: Cell<u64> = const { Cell::new(0) };
    /// Rounds of deferred work that were there in time.
    static ROUNDS: Cell<u64> = const { Cell::new(0) };
    /// True if a step waits for deferred work, and the pieces that it then did itself.
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
    static HELPED: Cell<u64> = const { Cell::new(0) };
}

fn clock() -> u64 {
    NOW.get()
}

fn spend(ticks: u64) {
    NOW.set(NOW.get() + ticks);
}

/// A step that takes a while.
struct Spends(u64);

impl Processor for Spends {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        spend(self.0);
        ENDED.set(NOW.get());
        block.output(0).channel(0).fill(0.5);
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

/// Deferred work: a number of pieces of equal length in ticks, due some periods after they are requested.
#[derive(Clone, Copy)]
struct Work {
    pieces: u64,
    ticks: u64,
    periods: u64,
}

struct Left(u64, u64);

impl PiecewiseJob for Left {
    fn run_piece(&mut self) -> bool {
        spend(self.1);
        HELPED.set(HELPED.get() + u64::from(IS_WAITING.get()));
        self.0 -= 1;
        self.0 == 0
    }
}

struct Asks {
    work: Work,
    owner: DeferredJob<Left>,
}

impl Processor for Asks {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        setup.services.defer(self.owner.job_runner());
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let now = block.position();
        if now.is_multiple_of(self.work.periods * BLOCK) {
            IS_WAITING.set(true);
            let finished = block.take_deferred(&mut self.owner);
            IS_WAITING.set(false);
            if let Some(left) = finished {
                left.0 = self.work.pieces;
                ROUNDS.set(ROUNDS.get() + u64::from(now > 0));
                self.owner.start(now + self.work.periods * BLOCK);
            }
        }
        block.silence_outputs();
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

fn kinds(work: &[(&'static str, Work)]) -> Registry {
    let mut registry = registry();
    registry.add(kind("spends", (1, 1)), |_| Ok(Box::new(Spends(100))));
    for &(name, work) in work {
        registry.add(kind(name, (0, 1)), move |_| {
            let owner = DeferredJob::new(Left(work.pieces, work.ticks));
            Ok(Box::new(Asks { work, owner }))
        });
    }
    registry
}

/// Result of a run.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// Cycles whose last step ended after the period did.
    late_cycles: u64,
    /// Rounds of deferred work that were not there in time, and that were.
    late_rounds: u64,
    rounds: u64,
    /// Pieces that were left to the step that waited for them.
    helped: u64,
}

/// Plays `cycles` periods of three steps in a line, of 100 ticks each, beside nodes that ask for `work`.
fn play(way: TestStrategy, work: &[(&'static str, Work)], cycles: u64) -> Shown {
    for cell in [&NOW, &ENDED, &ROUNDS, &HELPED] {
        cell.set(0);
    }
    let registry = kinds(work);
    let mut text = String::from(
        r#"a = { kind: "spends", }; b = { kind: "spends", }; c = { kind: "spends", }; s = { kind: "sink", };
        a.1 -> b.1 -> c.1 -> s.1;"#,
    );
    for (name, _) in work {
        text += &format!(
            r#"{name}1 = {{ kind: "{name}", }}; {name}2 = {{ kind: "sink", }}; {name}1.1 -> {name}2.1;"#
        );
    }
    let graph = graph(&text, &registry);
    let options = PlanOptions::new(Frames(BLOCK as u32), rate());
    let plan = plan::compile(&graph, registry.catalogue(), &options).unwrap();
    let mut pool = ProcessorPool::default();
    for (id, node) in graph.nodes() {
        let made = registry.make(node, Path::new(".")).unwrap();
        pool.insert(id, made, (rate(), Frames(BLOCK as u32), Mode::Live));
    }
    let options = WorkerPoolOptions {
        workers: 1,
        ..WorkerPoolOptions::default()
    };
    let crew = WorkerPool::new(options).unwrap();
    let binding = Binding {
        plan: &plan,
        processors: &pool,
        delay_lines: &mut DelayLines::default(),
        runtime: Arc::new(SharedRuntime::new(vec![rt::trace::ring(16).0]).with_clock(clock)),
        input_channels: 0,
    };
    let mut executor = way.make_executor(binding, &crew);
    let late_cycles = (0..cycles)
        .map(|cycle| u64::from(!is_in_time(&mut *executor, cycle)))
        .sum();
    Shown {
        late_cycles,
        late_rounds: executor.error_counts().late_results,
        rounds: ROUNDS.get(),
        helped: HELPED.get(),
    }
}

/// Plays one period; whether its last step ended within it.
fn is_in_time(executor: &mut dyn Executor, cycle: u64) -> bool {
    let begin = cycle * PERIOD;
    NOW.set(NOW.get().max(begin));
    let info = CycleInfo {
        help_until: begin + MARGIN,
        spare_until: begin + MARGIN,
        ..CycleInfo::unlimited(cycle * BLOCK, cycle)
    };
    let result = executor.run_cycle(&info, &[]);
    assert_eq!(result.status, CycleStatus::Complete);
    ENDED.get() <= begin + PERIOD
}

/// Ten periods of work, due forty periods later.
const LONG: Work = Work {
    pieces: 500,
    ticks: 20,
    periods: 40,
};

const WAYS: [TestStrategy; 2] = [TestStrategy::Deadline, TestStrategy::Sequential];

#[test]
fn ten_periods_of_work_due_forty_periods_later_make_no_step_late() {
    for way in WAYS {
        let shown = play(way, &[("long", LONG)], 401);
        let good = Shown {
            late_cycles: 0,
            late_rounds: 0,
            rounds: 10,
            helped: 0,
        };
        assert_eq!(shown, good, "{way:?}");
    }
}

#[test]
fn the_same_work_in_one_go_would() {
    let whole = Work {
        pieces: 1,
        ticks: LONG.pieces * LONG.ticks,
        ..LONG
    };
    for way in WAYS {
        let shown = play(way, &[("long", whole)], 401);
        // Each round takes ten periods from steps that are due, and what was missed in those is to be caught up with.
        assert!(shown.late_cycles >= 10 * 9, "{way:?}: {shown:?}");
    }
}

#[test]
fn of_two_jobs_the_one_due_first_is_worked_on_first() {
    // A tenth of each period, due with the next. Behind the long one it would be left to the step that waits for it.
    let short = Work {
        pieces: 5,
        ticks: 20,
        periods: 1,
    };
    for way in WAYS {
        // The long one is asked for first, and stands first in the plan.
        let shown = play(way, &[("long", LONG), ("short", short)], 401);
        let good = Shown {
            late_cycles: 0,
            late_rounds: 0,
            rounds: 10 + 400,
            helped: 0,
        };
        assert_eq!(shown, good, "{way:?}");
    }
}
