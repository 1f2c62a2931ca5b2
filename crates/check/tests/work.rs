//! The four kinds of work: steps that sleep, forks, deferred pieces and background, each with the sequential bits.

use divisi_check::deferred_node::{self, PART};
use divisi_check::fixtures::{add, graph, kind, pass};
use divisi_check::test_bench::{
    ALL_STRATEGIES, RunConfig, TestBench, TestStrategy, rate, registry,
};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use exec::CycleStatus;
use graph::Graph;
use processor::{
    BackgroundTask, Block, Event, EventBody, EventTarget, ForkState, Mode, ProcessStatus,
    Processor, Registry, Setup, TaskStatus,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use units::{Frames, Nanos};
use workers::WaitPolicy;

const FRAMES: usize = 6400;

fn manners(block: u32) -> impl Iterator<Item = RunConfig> {
    let config = move |way, workers| RunConfig {
        strategy: way,
        workers,
        block,
        wait: WaitPolicy::Hybrid,
    };
    ALL_STRATEGIES
        .into_iter()
        .flat_map(move |way| (1..=4).map(move |workers| config(way, workers)))
}

fn is_on_a_worker() -> bool {
    let thread = std::thread::current();
    thread.name().is_some_and(|n| n.starts_with("divisi-"))
}

fn wait_for(what: &str, mut happens: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !happens() {
        assert!(Instant::now() < deadline, "still waiting for {what}");
    }
}

/// Branches of an oscillator, a node of `kind` and a sink.
fn branches(kind: &str, count: usize) -> String {
    let branch = |n| {
        format!(
            r#"o{n} = {{ kind: "osc", freq: {n}31, }}; x{n} = {{ kind: "{kind}", }}; s{n} = {{ kind: "sink", }};
            o{n}.1 -> x{n}.1 -> s{n}.1;"#
        )
    };
    (1..=count).map(branch).collect()
}

/// State of the lanes of [`quarters`].
struct Quarters {
    lanes_run: Arc<AtomicU32>,
    input: Vec<f32>,
    loudness: [AtomicU32; 4],
}

/// The loudness of each quarter of the block, by four lanes; played as steps.
fn quarters(block: &mut Block<'_>, state: &mut ForkState<Quarters>) {
    let part = block.frames().div_ceil(4);
    state.input.clear();
    state.input.extend_from_slice(block.input(0).channel(0));
    block.fork_with(state, 4, move |state, lane| {
        state.lanes_run.fetch_add(1, SeqCst);
        let quarter = state.input.chunks(part).nth(lane as usize);
        let sum: f32 = quarter.unwrap_or_default().iter().map(|x| x * x).sum();
        state.loudness[lane as usize].store(sum.to_bits(), SeqCst);
    });
    let mut output = block.output(0);
    for (lane, quarter) in output.channel(0).chunks_mut(part).enumerate() {
        quarter.fill(f32::from_bits(state.loudness[lane].load(SeqCst)));
    }
}

#[test]
fn a_fork_runs_every_lane_once_and_gives_the_sequential_bits() {
    let lanes_run = Arc::new(AtomicU32::new(0));
    let mut registry = registry();
    let counted = lanes_run.clone();
    add(&mut registry, kind("quarters", (1, 1)), move |_| {
        let mut state = ForkState::new(Quarters {
            lanes_run: counted.clone(),
            input: Vec::with_capacity(64),
            loudness: Default::default(),
        });
        move |block: &mut Block<'_>| {
            quarters(block, &mut state);
            ProcessStatus::Continue
        }
    });
    let graph = graph(&branches("quarters", 3), &registry);
    let expected = TestBench::new(&graph, &registry, RunConfig::reference(64)).render(3, FRAMES);
    assert!(expected.iter().flatten().all(|x| *x != 0));
    for config in manners(64) {
        lanes_run.store(0, SeqCst);
        let played = TestBench::new(&graph, &registry, config).render(3, FRAMES);
        assert!(played == expected, "{config:?}");
        let lanes = lanes_run.load(SeqCst) as usize;
        assert_eq!(lanes, FRAMES / 64 * 3 * 4, "{config:?}");
    }
}

#[test]
fn lanes_run_on_several_workers_at_once() {
    for config in manners(64).filter(|m| m.workers == 2 && m.strategy != TestStrategy::Sequential) {
        let met = Arc::new(AtomicBool::new(false));
        let mut registry = registry();
        let reported = met.clone();
        add(&mut registry, kind("meets", (1, 1)), move |_| {
            let mut state = ForkState::new((reported.clone(), AtomicU32::new(0)));
            move |block: &mut Block<'_>| {
                state.1.store(0, SeqCst);
                block.fork_with(&mut state, 2, |(met, here), _| {
                    here.fetch_add(1, SeqCst);
                    let deadline = Instant::now() + Duration::from_millis(20);
                    while here.load(SeqCst) < 2 && Instant::now() < deadline {
                        std::hint::spin_loop();
                    }
                    // Where one thread ran both lanes, the first had gone when the second came.
                    if is_on_a_worker() && here.load(SeqCst) == 2 && Instant::now() < deadline {
                        met.store(true, SeqCst);
                    }
                });
                pass(block);
                ProcessStatus::Continue
            }
        });
        let graph = graph(&branches("meets", 2), &registry);
        let mut bench = TestBench::new(&graph, &registry, config);
        wait_for("two lanes at once", || {
            assert_eq!(bench.run_cycle(&[]), CycleStatus::Complete);
            met.load(SeqCst)
        });
    }
}

/// Expected output of the deferred node for the input `dry`, by a plain loop.
fn plain_later(dry: &[u32]) -> Vec<u32> {
    let mut played = vec![0_u32; dry.len() + 2 * PART];
    for (part, dry) in dry.chunks_exact(PART).enumerate() {
        let mut last = 0.0;
        for (frame, x) in dry.iter().enumerate() {
            last = 0.5 * f32::from_bits(*x) + 0.5 * last;
            played[(part + 2) * PART + frame] = f32::to_bits(last);
        }
    }
    played.truncate(dry.len());
    played
}

#[test]
fn deferred_work_is_done_in_time_offline_by_any_worker() {
    let mut registry = registry();
    deferred_node::add(&mut registry, |_| {});
    let graph_of = |text: String| graph(&text, &registry);
    let dry = graph_of(branches("gain", 3));
    let dry = TestBench::new(&dry, &registry, RunConfig::reference(64)).render(3, FRAMES);
    let expected: Vec<_> = dry.iter().map(|dry| plain_later(dry)).collect();
    let graph = graph_of(branches("later", 3));
    for config in [16, 64, 333, 2048].into_iter().flat_map(manners) {
        let mut bench = TestBench::new(&graph, &registry, config);
        assert!(bench.render(3, FRAMES) == expected, "{config:?}");
        assert_eq!(bench.counts().late_results, 0, "{config:?}");
    }
}

#[test]
fn deferred_work_for_which_there_is_no_time_is_silent_and_counted_and_goes_on_when_there_is() {
    let mut registry = registry();
    deferred_node::add(&mut registry, |_| {});
    let graph = graph(&branches("later", 1), &registry);
    let mut bench = TestBench::new(&graph, &registry, RunConfig::reference(PART as u32));
    bench.help = Some(0);
    let played = bench.render(1, 11 * PART);
    // The first turn has nothing to wait for; the ten after it... the work that the first began never comes.
    assert_eq!(bench.counts().late_results, 9);
    assert!(played[0].iter().all(|x| *x == 0));
    bench.help = Some(u64::MAX / 4);
    let played = bench.render(1, 10 * PART);
    assert_eq!(bench.counts().late_results, 9);
    // This result is too old; the next part is played.
    let (old, rendered) = played[0].split_at(PART);
    assert!(old.iter().all(|x| *x == 0) && rendered.iter().all(|x| *x != 0));
}

#[test]
fn a_piece_that_hangs_on_a_worker_holds_up_one_cycle_at_most() {
    for config in
        manners(PART as u32).filter(|m| m.workers > 1 && m.strategy != TestStrategy::Sequential)
    {
        let [is_armed, is_in, let_go] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        let mut registry = registry();
        let seen = [is_armed.clone(), is_in.clone(), let_go.clone()];
        deferred_node::add(&mut registry, move |in_step| {
            let [is_armed, is_in, let_go] = &seen;
            if !in_step && is_on_a_worker() && is_armed.swap(false, SeqCst) {
                is_in.store(true, SeqCst);
                while !let_go.load(SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let graph = graph(&branches("later", 2), &registry);
        let mut bench = TestBench::new(&graph, &registry, config);
        let scale = rt::stamp::TickScale::calibrated();
        bench.help = Some(scale.ticks(Nanos(1_000_000)));
        bench.limit = Some(scale.ticks(Nanos(300_000_000)));
        is_armed.store(true, SeqCst);
        let mut given_up = 0;
        wait_for("a piece on a worker", || {
            given_up += u32::from(bench.run_cycle(&[]) == CycleStatus::Abandoned);
            is_in.load(SeqCst)
        });
        let before = bench.counts().late_results;
        for _ in 0..10 {
            given_up += u32::from(bench.run_cycle(&[]) == CycleStatus::Abandoned);
        }
        // In a static schedule the worker may have helped while its own next step was not ready.
        let most = u32::from(config.strategy == TestStrategy::Fixed);
        assert!(given_up <= most, "{config:?}: {given_up}");
        let late = bench.counts().late_results - before;
        assert!((8..=20).contains(&late), "{config:?}: {late}");
        let_go.store(true, SeqCst);
        bench.help = None;
        bench.render(2, 4 * PART);
        let before = bench.counts().late_results;
        let played = bench.render(2, 4 * PART);
        assert!(played.iter().flatten().all(|x| *x != 0), "{config:?}");
        assert_eq!(bench.counts().late_results, before, "{config:?}");
    }
}

/// Progress of the background task, and its goal.
#[derive(Default)]
struct Shelf {
    ready: AtomicU64,
    wanted: AtomicU64,
}

/// Puts some frames on the shelf a turn.
struct Filler(Arc<Shelf>);

impl BackgroundTask for Filler {
    fn poll(&mut self) -> TaskStatus {
        if self.0.ready.load(SeqCst) >= self.0.wanted.load(SeqCst) {
            return TaskStatus::Idle;
        }
        self.0.ready.fetch_add(10, SeqCst);
        TaskStatus::More
    }
}

/// Plays parts that were made ahead; a missing one is late.
struct ShelfJob(Arc<Shelf>);

impl Processor for ShelfJob {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.0.wanted.store(u64::from(setup.block.0), SeqCst);
        setup
            .services
            .spawn_background(Box::new(Filler(self.0.clone())));
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let end = block.position() + block.frames() as u64;
        self.0.wanted.store(end + block.frames() as u64, SeqCst);
        if self.0.ready.load(SeqCst) < end {
            block.count_late();
            block.silence_outputs();
        } else {
            block.output(0).channel(0).fill(0.5);
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

/// Number of blocks of 200 that were in the output, and number that were counted as late.
fn from_the_shelf(mode: Mode, scheduler: Scheduler) -> (usize, u64) {
    let mut registry = registry();
    registry.add(kind("taker", (0, 1)), |_| {
        Ok(Box::new(ShelfJob(Arc::default())))
    });
    let text = r#"x = { kind: "taker", }; s = { kind: "sink", }; y = { kind: "taker", }; t = { kind: "sink", };
        x.1 -> s.1; y.1 -> t.1;"#;
    let graph = graph(text, &registry);
    let mut options = EngineOptions::new(Frames(64), rate());
    options.mode = mode;
    options.scheduler = scheduler;
    options.workers = 2;
    options.prevent_cpu_sleep = false;
    let (mut engine, mut player) = Engine::new(graph, Arc::new(registry), options).unwrap();
    let mut rendered = 0;
    for _ in 0..200 {
        let mut outs = [[0.0; 64]; 2];
        let [left, right] = &mut outs;
        player.process(CallbackInfo::default(), &[], &mut [left, right]);
        rendered += outs.iter().flatten().filter(|x| **x == 0.5).count();
    }
    // The first blocks of a pipeline are silence: the last blocks played have not come out yet.
    let under_way = 2 * engine.pipeline_latency() as usize;
    (rendered + under_way, engine.report().late)
}

#[test]
fn offline_the_background_is_never_missing_and_live_what_is_missing_is_counted() {
    for scheduler in Scheduler::all() {
        let offline = from_the_shelf(Mode::Offline, scheduler);
        assert_eq!(offline, (2 * 200 * 64, 0), "{scheduler}");
        if scheduler == Scheduler::Pipelined {
            // A late part in a block that has not come out yet cannot be seen.
            continue;
        }
        let (rendered, late) = from_the_shelf(Mode::Live, scheduler);
        // Two hundred blocks are over long before a disk has turned so often.
        assert_eq!(rendered as u64 + 64 * late, 2 * 200 * 64, "{scheduler}");
        assert!(late > 0, "{scheduler}");
    }
}

#[test]
fn callbacks_without_any_time_left_still_finish_deferred_work_that_is_due() {
    let mut registry = registry();
    deferred_node::add(&mut registry, |_| {});
    let graph = graph(&branches("later", 1), &registry);
    // A fifth of such a block is 17 ms, and the work on each part takes microseconds.
    let block = Frames(4096);
    let mut options = EngineOptions::new(block, rate());
    options.scheduler = Scheduler::Sequential;
    options.prevent_cpu_sleep = false;
    let (mut engine, mut player) = Engine::new(graph, Arc::new(registry), options).unwrap();
    for _ in 0..10 {
        let info = CallbackInfo {
            budget: Some(Nanos(0)),
            ..CallbackInfo::default()
        };
        let mut out = [0.0; 4096];
        player.process(info, &[], &mut [&mut out]);
    }
    engine.update();
    assert_eq!(engine.report().late, 0);
}

/// A decaying memory of the input; asleep, if it `may`, when that has gone and nothing comes. Calls are counted.
fn remembers(registry: &mut Registry, name: &'static str, may: bool) -> Arc<AtomicU32> {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    add(registry, kind(name, (1, 1)), move |_| {
        let (mut memory, counted) = (0.0_f32, counted.clone());
        move |block: &mut Block<'_>| {
            counted.fetch_add(1, SeqCst);
            memory += block.events().iter().count() as f32;
            let is_silent = block.is_silent();
            if is_silent && memory.abs() < 1e-6 {
                memory = 0.0;
                block.silence_outputs();
                return if may {
                    ProcessStatus::Sleep
                } else {
                    ProcessStatus::Continue
                };
            }
            let input = block.input(0).channel(0);
            for (x, y) in input.iter().zip(block.output(0).channel(0)) {
                memory = 0.9 * memory + x;
                *y = memory;
            }
            ProcessStatus::Continue
        }
    });
    calls
}

/// Number of blocks that are not silent, at the source.
fn bursts(registry: &mut Registry) {
    add(registry, kind("bursts", (0, 1)), |_| {
        |block: &mut Block<'_>| {
            if block.position() / 64 % 25 == 3 {
                block.output(0).channel(0).fill(0.25);
            } else {
                block.silence_outputs();
            }
            ProcessStatus::Continue
        }
    });
}

/// Three nodes with state in a row, and one that reads two of them; an event for the first in block 60.
fn dozing(name: &str, registry: &Registry, config: RunConfig) -> Vec<Vec<u32>> {
    let text = format!(
        r#"b = {{ kind: "bursts", }}; x = {{ kind: "{name}", }}; y = {{ kind: "{name}", }}; z = {{ kind: "{name}", }};
        w = {{ kind: "{name}", }}; s = {{ kind: "sink", }}; t = {{ kind: "sink", }};
        b.1 -> x.1 -> y.1 -> z.1 -> s.1; x.1 -> w.1; z.1 -> w.1; w.1 -> t.1;"#
    );
    let graph: Graph = graph(&text, registry);
    let mut bench = TestBench::new(&graph, registry, config);
    let mut played = bench.render(2, 60 * 64);
    let event = Event {
        frame: 5,
        target: EventTarget::Param(0),
        body: EventBody::Value(1.0),
    };
    bench.send_event(graph.find("x").unwrap(), event);
    let after = bench.render(2, 40 * 64);
    played.iter_mut().zip(after).for_each(|(p, a)| p.extend(a));
    played
}

#[test]
fn steps_that_sleep_are_skipped_without_a_change_of_bits() {
    let mut registry = registry();
    let awake_calls = remembers(&mut registry, "awake", false);
    let calls = remembers(&mut registry, "dozes", true);
    bursts(&mut registry);
    let expected = dozing("awake", &registry, RunConfig::reference(64));
    assert_eq!(awake_calls.load(SeqCst), 4 * 100);
    let mut expected_calls = None;
    for config in manners(64) {
        calls.store(0, SeqCst);
        assert!(dozing("dozes", &registry, config) == expected, "{config:?}");
        let called = calls.load(SeqCst);
        assert!(called < 2 * 100, "{called}");
        // Every copy of a node is called.
        if config.strategy != TestStrategy::Copied {
            assert_eq!(*expected_calls.get_or_insert(called), called, "{config:?}");
        }
    }
}
