//! A step that does not return: the sound goes on without it, and nothing breaks when it does return.

use divisi_check::fixtures::{add, graph, kind, pass, skip};
use divisi_check::test_bench::{
    ALL_STRATEGIES, RunConfig, TestBench, TestStrategy, rate, registry,
};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use exec::{CycleStatus, ErrorCounts};
use graph::{Graph, Node};
use processor::{Block, ForkState, ProcessStatus, Registry};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use units::{Frames, Nanos};
use workers::{
    Priority, WaitPolicy, WorkerPool, WorkerPoolOptions, cores, pin, set_priority, unpin,
};

const BLOCK: usize = 64;
/// The sample that a step writes which returns too late. It must never reach an output.
const TOO_LATE: f32 = 1000.0;

/// Holds one step until it is released.
#[derive(Default)]
struct Trap {
    wants: AtomicU32,
    /// The number of the node that was caught; 0 for none.
    caught: AtomicU32,
    let_go: AtomicBool,
    has_left: AtomicBool,
    /// Processors that were dropped.
    dropped: AtomicU32,
}

/// Whom a trap waits for.
const A_WORKER: u32 = 1;
const THE_HOST: u32 = 2;

impl Trap {
    fn set(&self, wants: u32) {
        self.wants.store(wants, SeqCst);
    }

    fn caught(&self) -> u32 {
        self.caught.load(SeqCst)
    }

    fn let_go(&self) {
        self.let_go.store(true, SeqCst);
        wait_for("the step to return", || self.has_left.load(SeqCst));
    }

    /// A step of `node` comes by; whether it was held.
    fn pass(&self, node: u32) -> bool {
        let wants = self.wants.load(SeqCst);
        if wants == 0 {
            return false;
        }
        let is_worker = is_on_a_worker();
        let is_wanted = (wants == A_WORKER) == is_worker;
        if is_wanted
            && self
                .wants
                .compare_exchange(wants, 0, SeqCst, SeqCst)
                .is_ok()
        {
            self.caught.store(node, SeqCst);
            while !self.let_go.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            self.has_left.store(true, SeqCst);
            return true;
        }
        // The host leaves a worker time to come.
        let deadline = Instant::now() + Duration::from_millis(50);
        while wants == A_WORKER && !is_worker && self.caught() == 0 && Instant::now() < deadline {
            std::thread::yield_now();
        }
        false
    }
}

/// Counts itself when it is dropped.
struct Kept(Arc<Trap>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, SeqCst);
    }
}

fn wait_for(what: &str, mut happens: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !happens() {
        assert!(Instant::now() < deadline, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Two branches, each through a node that `trap` may catch: `x1` and `x2`, into channels 0 and 1.
fn trapped(trap: &Arc<Trap>) -> (Graph, Registry) {
    let mut registry = registry();
    let trap = trap.clone();
    add(
        &mut registry,
        kind("trapped", (1, 1)),
        move |node: &Node| {
            let number = node.name[1..].parse().unwrap();
            let kept = Kept(trap.clone());
            move |block: &mut Block<'_>| {
                let is_late = kept.0.pass(number);
                pass(block);
                if is_late {
                    block.output(0).channel(0).fill(TOO_LATE);
                }
                ProcessStatus::Continue
            }
        },
    );
    (graph(TWO_BRANCHES, &registry), registry)
}

const TWO_BRANCHES: &str = r#"a = { kind: "osc", freq: 440, }; x1 = { kind: "trapped", };
    b = { kind: "osc", freq: 550, }; x2 = { kind: "trapped", };
    s = { kind: "sink", }; t = { kind: "sink", };
    a.1 -> x1.1 -> s.1; b.1 -> x2.1 -> t.1;"#;

/// State of a node whose branches a trap may catch.
struct TrappedFork {
    kept: Kept,
    number: u32,
    /// The callback thread owns the fork.
    is_hosts: AtomicBool,
}

/// As [`trapped`], but the nodes fork, and the trap catches a worker that helps the callback thread in a lane.
fn trapped_in_a_fork(trap: &Arc<Trap>) -> (Graph, Registry) {
    let mut registry = registry();
    let trap = trap.clone();
    add(
        &mut registry,
        kind("trapped", (1, 1)),
        move |node: &Node| {
            let mut fork = ForkState::new(TrappedFork {
                number: node.name[1..].parse().unwrap(),
                kept: Kept(trap.clone()),
                is_hosts: AtomicBool::new(false),
            });
            move |block: &mut Block<'_>| {
                fork.is_hosts.store(!is_on_a_worker(), SeqCst);
                let all = 0..block.frames();
                block.split_with(&mut fork, all, 2, |fork, part| {
                    let is_late = fork.is_hosts.load(SeqCst) && fork.kept.0.pass(fork.number);
                    let input = part.input(0).channel(0);
                    match is_late {
                        true => part.output(0).channel(0).fill(TOO_LATE),
                        false => part.output(0).channel(0).copy_from_slice(input),
                    }
                });
                ProcessStatus::Continue
            }
        },
    );
    (graph(TWO_BRANCHES, &registry), registry)
}

fn is_on_a_worker() -> bool {
    let thread = std::thread::current();
    thread.name().is_some_and(|n| n.starts_with("divisi-"))
}

fn manners() -> impl Iterator<Item = RunConfig> {
    let ways = ALL_STRATEGIES
        .into_iter()
        .filter(|way| *way != TestStrategy::Sequential);
    let config = |way, workers| RunConfig {
        strategy: way,
        workers,
        block: BLOCK as u32,
        wait: WaitPolicy::Hybrid,
    };
    ways.into_iter()
        .flat_map(move |way| (2..=3).map(move |workers| config(way, workers)))
}

/// The loudest sample of both channels in the next block.
fn loudness(bench: &mut TestBench) -> [f32; 2] {
    assert_eq!(bench.run_cycle(&[]), CycleStatus::Complete);
    [0, 1].map(|channel| {
        let mut out = [0.0; BLOCK];
        bench.executor.add_output(channel, &mut out);
        out.iter().fold(0.0_f32, |most, x| most.max(x.abs()))
    })
}

/// Plays until a worker is in the trap, and that cycle has been given up.
fn caught(trap: &Arc<Trap>, config: RunConfig) -> (TestBench, Graph, Registry) {
    caught_in(trapped(trap), trap, config)
}

fn caught_in(
    (graph, registry): (Graph, Registry),
    trap: &Arc<Trap>,
    config: RunConfig,
) -> (TestBench, Graph, Registry) {
    let mut bench = TestBench::new(&graph, &registry, config);
    // Long enough for a worker that merely lost its core for a while.
    let scale = rt::stamp::TickScale::calibrated();
    bench.limit = Some(scale.ticks(Nanos(300_000_000)));
    for _ in 0..5 {
        assert!(loudness(&mut bench).iter().all(|x| *x > 0.2));
    }
    trap.set(A_WORKER);
    let deadline = Instant::now() + Duration::from_secs(60);
    while bench.run_cycle(&[]) == CycleStatus::Complete {
        assert!(Instant::now() < deadline, "{config:?}: nobody was caught");
    }
    assert_ne!(trap.caught(), 0, "{config:?}");
    (bench, graph, registry)
}

/// Lets the watchdog report the held step as stuck.
fn report_stuck(bench: &TestBench) {
    let mut watchdog = bench.executor.watchdog();
    wait_for("the accusation", || {
        !watchdog.find_stuck(Duration::from_millis(4)).is_empty()
    });
}

#[test]
fn a_step_that_no_watchdog_reports_plays_on_when_its_worker_comes_back() {
    for config in manners() {
        let trap = Arc::new(Trap::default());
        let (mut bench, ..) = caught(&trap, config);
        for _ in 0..20 {
            assert_eq!(bench.run_cycle(&[]), CycleStatus::Abandoned, "{config:?}");
        }
        // Its worker had lost its core, say.
        trap.let_go();
        wait_for("the next cycle", || {
            bench.run_cycle(&[]) == CycleStatus::Complete
        });
        for _ in 0..50 {
            let rendered = loudness(&mut bench);
            assert!(
                rendered.iter().all(|x| (0.2..=1.0).contains(x)),
                "{config:?}: {rendered:?}"
            );
        }
        assert_eq!(bench.counts(), ErrorCounts::default(), "{config:?}");
    }
}

/// Returns true if a node is in the output once the stuck one is silent.
fn only_the_other(trap: &Trap, loudness: [f32; 2]) -> bool {
    let victim = trap.caught() as usize - 1;
    loudness[victim] == 0.0 && (0.5..=1.0).contains(&loudness[1 - victim])
}

/// Reports the held step as stuck and releases it: from then on the graph plays without its node, which counts once.
fn plays_without_the_stuck_node(bench: &mut TestBench, trap: &Trap) {
    report_stuck(bench);
    trap.let_go();
    wait_for("the next cycle", || {
        bench.run_cycle(&[]) == CycleStatus::Complete
    });
    for _ in 0..50 {
        let rendered = loudness(bench);
        assert!(only_the_other(trap, rendered), "{rendered:?}");
    }
    assert_eq!(bench.counts().node_faults, 1);
}

#[test]
fn until_a_step_returns_its_executor_is_silent_and_then_plays_without_that_node() {
    for config in manners() {
        let trap = Arc::new(Trap::default());
        let (mut bench, ..) = caught(&trap, config);
        for _ in 0..20 {
            assert_eq!(bench.run_cycle(&[]), CycleStatus::Abandoned, "{config:?}");
            let mut out = [0.0; BLOCK];
            bench.executor.add_output(0, &mut out);
            assert_eq!(out, [0.0; BLOCK], "{config:?}");
        }
        plays_without_the_stuck_node(&mut bench, &trap);
    }
}

#[test]
fn a_helper_that_is_trapped_in_a_lane_holds_the_callback_up_no_longer_than_its_limit() {
    // Workers of the executor with a lock help in no fork.
    for config in manners().filter(|m| m.strategy != TestStrategy::Mutex) {
        let trap = Arc::new(Trap::default());
        let (mut bench, ..) = caught_in(trapped_in_a_fork(&trap), &trap, config);
        for _ in 0..20 {
            assert_eq!(bench.run_cycle(&[]), CycleStatus::Abandoned, "{config:?}");
        }
        assert!(!trap.has_left.load(SeqCst));
        plays_without_the_stuck_node(&mut bench, &trap);
    }
}

/// Replaces the executor by one for the graph without the held node; what went wrong
/// there.
fn replace(
    bench: &mut TestBench,
    (graph, registry): (&Graph, &Registry),
    way: TestStrategy,
    stuck: u32,
) -> ErrorCounts {
    let mut without = graph.clone();
    let victim = graph.find(&format!("x{stuck}")).unwrap();
    without.node_mut(victim).unwrap().enabled = false;
    bench
        .replace_executor(way, &without, registry)
        .error_counts()
}

#[test]
fn another_plan_plays_without_the_node_while_it_is_stuck_and_after() {
    for config in manners() {
        let trap = Arc::new(Trap::default());
        let (mut bench, graph, registry) = caught(&trap, config);
        assert_eq!(bench.run_cycle(&[]), CycleStatus::Abandoned);
        report_stuck(&bench);
        let counts = replace(
            &mut bench,
            (&graph, &registry),
            config.strategy,
            trap.caught(),
        );
        assert_eq!(counts.node_faults, 1, "{config:?}");
        for cycle in 0..100 {
            if cycle == 50 {
                assert!(!trap.has_left.load(SeqCst));
                trap.let_go();
            }
            let rendered = loudness(&mut bench);
            assert!(only_the_other(&trap, rendered), "{config:?}: {rendered:?}");
        }
        assert_eq!(bench.counts(), ErrorCounts::default(), "{config:?}");
    }
}

/// An engine on long blocks, so that only a trap delays a cycle by four of them.
struct Live {
    engine: Engine,
    player: EngineCallback,
}

const LONG: u32 = 4096;

fn live(trap: &Arc<Trap>, scheduler: Scheduler) -> Live {
    live_with(trapped(trap), scheduler)
}

fn live_with((graph, registry): (Graph, Registry), scheduler: Scheduler) -> Live {
    let mut options = EngineOptions::new(Frames(LONG), rate());
    options.scheduler = scheduler;
    options.workers = 2;
    options.prevent_cpu_sleep = false;
    let (engine, player) = Engine::new(graph, Arc::new(registry), options).unwrap();
    Live { engine, player }
}

/// One block of `player`, with time enough; how loud its channels are.
fn cycle(player: &mut EngineCallback) -> [f32; 2] {
    let beat = CallbackInfo {
        budget: Some(Nanos(1_000_000_000_000)),
        ..CallbackInfo::default()
    };
    let mut outs = [[0.0; LONG as usize]; 2];
    let [left, right] = &mut outs;
    player.process(beat, &[], &mut [left, right]);
    outs.map(|out| out.iter().fold(0.0_f32, |most, x| most.max(x.abs())))
}

/// Plays until a worker is held; then until the other node sounds again.
fn survive(live: &mut Live, trap: &Trap) {
    trap.set(A_WORKER);
    wait_for("a worker in the trap", || {
        cycle(&mut live.player);
        trap.caught() != 0
    });
    wait_for("sound", || {
        live.engine.update();
        only_the_other(trap, cycle(&mut live.player))
    });
}

#[test]
fn the_sound_returns_before_the_step_does() {
    for scheduler in [Scheduler::Stealing, Scheduler::Hlfet] {
        let trap = Arc::new(Trap::default());
        let mut live = live(&trap, scheduler);
        assert!(cycle(&mut live.player).iter().all(|x| *x > 0.5));
        survive(&mut live, &trap);
        assert!(!trap.has_left.load(SeqCst), "{scheduler}");
        let before = live.engine.report();
        trap.let_go();
        for _ in 0..20 {
            let rendered = cycle(&mut live.player);
            assert!(only_the_other(&trap, rendered), "{scheduler}: {rendered:?}");
        }
        let after = live.engine.report();
        assert!(before.abandoned >= 1, "{scheduler}");
        assert_eq!(after.abandoned, before.abandoned, "{scheduler}");
        assert_eq!((before.faults, after.faults), (1, 1), "{scheduler}");
        let said = format!("`x{}` did not return on worker 1", trap.caught());
        let reported = live.engine.quarantined();
        assert!(
            reported.len() == 1 && reported[0].starts_with(&said),
            "{reported:?}"
        );
    }
}

#[test]
fn the_sound_returns_before_a_helper_does_that_is_trapped_in_a_lane() {
    for scheduler in [Scheduler::Stealing, Scheduler::Hlfet] {
        let trap = Arc::new(Trap::default());
        let mut live = live_with(trapped_in_a_fork(&trap), scheduler);
        assert!(cycle(&mut live.player).iter().all(|x| *x > 0.5));
        survive(&mut live, &trap);
        assert!(!trap.has_left.load(SeqCst), "{scheduler}");
        trap.let_go();
        for _ in 0..20 {
            let rendered = cycle(&mut live.player);
            assert!(only_the_other(&trap, rendered), "{scheduler}: {rendered:?}");
        }
        assert_eq!(live.engine.report().faults, 1, "{scheduler}");
    }
}

#[test]
fn on_the_callback_thread_it_stalls_the_sound_until_it_returns_and_is_quarantined_then() {
    for scheduler in [Scheduler::Sequential, Scheduler::Stealing, Scheduler::Hlfet] {
        let trap = Arc::new(Trap::default());
        let Live {
            mut engine,
            mut player,
        } = live(&trap, scheduler);
        cycle(&mut player);
        trap.set(THE_HOST);
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                while trap.caught() == 0 {
                    cycle(&mut player);
                }
            });
            wait_for("the accusation", || {
                engine.update();
                !engine.quarantined().is_empty()
            });
            assert!(!host.is_finished());
            trap.let_go();
            host.join().unwrap();
        });
        for _ in 0..20 {
            let rendered = cycle(&mut player);
            assert!(only_the_other(&trap, rendered), "{scheduler}: {rendered:?}");
            engine.update();
        }
        let report = engine.report();
        assert_eq!((report.faults, report.abandoned), (1, 0), "{scheduler}");
        let said = format!("`x{}` did not return on worker 0", trap.caught());
        assert!(engine.quarantined()[0].starts_with(&said));
    }
}

#[test]
fn an_engine_that_is_dropped_meanwhile_leaves_the_step_what_it_needs() {
    for engine_first in [true, false] {
        let trap = Arc::new(Trap::default());
        let mut live = live(&trap, Scheduler::Stealing);
        survive(&mut live, &trap);
        let Live { engine, player } = live;
        if engine_first {
            drop(engine);
            drop(player);
        } else {
            drop(player);
            drop(engine);
        }
        // Its plan, and so both processors.
        assert_eq!(trap.dropped.load(SeqCst), 0);
        trap.let_go();
        wait_for("the last to go", || trap.dropped.load(SeqCst) == 2);
    }
}

/// A thread that takes a core from everybody below the highest priority, for as long as it lives.
struct Hog(Arc<AtomicU32>, Option<std::thread::JoinHandle<()>>);

const REFUSED: u32 = 3;

impl Hog {
    /// `None` where it is not allowed.
    fn on(core: workers::CoreId) -> Option<Self> {
        let state = Arc::new(AtomicU32::new(0));
        let reported = state.clone();
        let thread = std::thread::spawn(move || {
            if pin(core).is_err() || set_priority(Priority::RealTime(90)).is_err() {
                return reported.store(REFUSED, SeqCst);
            }
            reported.store(1, SeqCst);
            // Not for ever, if the test fails: the machine has others to serve.
            let deadline = Instant::now() + Duration::from_millis(500);
            while reported.load(SeqCst) == 1 && Instant::now() < deadline {
                std::hint::spin_loop();
            }
        });
        let hog = Self(state.clone(), Some(thread));
        wait_for("the hog", || state.load(SeqCst) != 0);
        (state.load(SeqCst) == 1).then_some(hog)
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.0.store(2, SeqCst);
        let _ended = self.1.take().map(std::thread::JoinHandle::join);
    }
}

#[test]
fn a_worker_that_a_higher_priority_starves_holds_up_no_cycle() {
    const NAME: &str = "a_worker_that_a_higher_priority_starves_holds_up_no_cycle";
    let Some(core) = cores().get(1).copied() else {
        return skip(NAME, "one core only");
    };
    let (graph, registry) = trapped(&Arc::default());
    for config in manners().filter(|m| m.workers == 2) {
        let reference = RunConfig::reference(BLOCK as u32);
        let expected = TestBench::new(&graph, &registry, reference).render(2, 60 * BLOCK);
        let crew = WorkerPool::new(WorkerPoolOptions {
            workers: 2,
            pin: Some(cores().to_vec()),
            priority: Priority::RealTime(50),
            ..WorkerPoolOptions::default()
        });
        let mut bench = TestBench::with(&graph, &registry, config, crew.unwrap());
        pin(cores()[0]).unwrap();
        let mut played = bench.render(2, 20 * BLOCK);
        let Some(hog) = Hog::on(core) else {
            unpin().unwrap();
            return skip(NAME, "real-time priority is refused");
        };
        // No cycle runs, so the worker holds no task now; the host must do all there is.
        let starved = bench.render(2, 20 * BLOCK);
        drop(hog);
        let after = bench.render(2, 20 * BLOCK);
        unpin().unwrap();
        for (channel, played) in played.iter_mut().enumerate() {
            played.extend(starved[channel].iter().chain(&after[channel]));
        }
        assert!(played == expected, "{config:?}");
        assert_eq!(bench.counts(), ErrorCounts::default(), "{config:?}");
    }
}

#[test]
fn a_real_time_callback_with_ordinary_workers_is_reported_once() {
    const NAME: &str = "a_real_time_callback_with_ordinary_workers_is_reported_once";
    let mut live = live(&Arc::default(), Scheduler::Stealing);
    let reports = |engine: &Engine| {
        let is_report = |what: &&String| what.starts_with("the callback is a real-time thread");
        engine.refused().iter().filter(is_report).count()
    };
    live.engine.update();
    assert_eq!(reports(&live.engine), 0);
    let is_granted = std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            let is_granted = set_priority(Priority::RealTime(10)).is_ok();
            cycle(&mut live.player);
            live.engine.update();
            live.engine.update();
            is_granted
        });
        host.join().unwrap()
    });
    if !is_granted {
        return skip(NAME, "real-time priority is refused");
    }
    assert_eq!(reports(&live.engine), 1);
    assert_eq!(live.engine.report().refused, live.engine.refused());
}
