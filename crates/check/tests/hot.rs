//! Within a cycle no thread that plays allocates, frees, or touches memory that is not there.

// The sanitizer's shadow of the memory cannot be held in place.
#![cfg(not(tsan))]

use divisi_check::alloc::{Counting, audio_calls, live};
use divisi_check::fixtures::{add, graph, kind, pass, skip};
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, rate, registry};
use divisi_check::{deferred_node, latency_node, network};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use exec::CycleStatus;
use graph::{Edge, Edit, Graph, Node, ParamValue, PortRef, SourceSpan};
use processor::{Block, Event, EventBody, EventTarget, Mode, ProcessStatus, Registry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use units::{Frames, Nanos};
use workers::{AudioThread, MemoryLock, WaitPolicy};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Threads that play are counted together, so one test at a time has some.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The usual kinds, and those that lean on the executor: `forks`, `rests` (sounds in one block of four), `deferred_node`.
fn kinds() -> Registry {
    let mut registry = registry();
    deferred_node::add(&mut registry, |_| {});
    latency_node::add(&mut registry);
    network::add(&mut registry);
    add(&mut registry, kind("forks", (1, 1)), |_| {
        |block: &mut Block<'_>| {
            block.fork(4, |lane| {
                std::hint::black_box(lane);
            });
            pass(block);
            ProcessStatus::Continue
        }
    });
    add(&mut registry, kind("rests", (0, 1)), |_| {
        |block: &mut Block<'_>| {
            if (block.position() / 64).is_multiple_of(4) {
                block.output(0).channel(0).fill(0.1);
            } else {
                block.silence_outputs();
            }
            ProcessStatus::Continue
        }
    });
    registry
}

/// A graph with all kinds of work; responses are in `folder`.
fn everything(registry: &Registry, folder: &ImpulseFiles) -> Graph {
    let mut text = String::from(
        r#"s = { kind: "sink", }; t = { kind: "sink", }; m = { kind: "mix", in: 8, out: 1, }; m.1 -> s.1; m.1 -> t.1;
        gs = { kind: "gain", split: 3, }; fs = { kind: "fir", taps: 33, split: 2, }; xs = { kind: "mixer", in: 2, split: 4, };
        m.1 -> gs.1 -> xs.1; m.1 -> fs.1 -> xs.2; xs.1 -> t.1;
        e = { kind: "metro", bpm: 6000, }; v = { kind: "envelope", attack: 0.001, release: 0.002, };
        z = { kind: "rests", }; zg = { kind: "gain", }; zf = { kind: "biquad", freq: 900, }; z.1 -> zg.1 -> zf.1 -> m.7;
        d = { kind: "delay", time: 0.0005, }; l = { kind: "mix", in: 2, out: 1, }; g = { kind: "gain", gain: 0.5, };
        m.1 -> l.1 -> g.1 -> d.1 -> l.2; l.1 -> t.1;
        e.1 -> v.2; v.1 -> m.8;
        y = { kind: "late", frames: 300, }; o2.1 -> y.1 -> m.2; y.1 -> v.1;
        w = { kind: "network", file: "any", }; m.1 -> w.1 -> t.1;"#,
    );
    for branch in 1..=6 {
        text += &format!(
            r#"o{branch} = {{ kind: "osc", freq: {branch}10, }}; f{branch} = {{ kind: "svf", freq: 900, }};
            k{branch} = {{ kind: "forks", }}; h{branch} = {{ kind: "later", }};
            o{branch}.1 -> f{branch}.1 -> k{branch}.1 -> h{branch}.1 -> m.{branch};"#
        );
    }
    let file = folder.write("one.wav", 1, 3000, 1);
    for (i, work) in ["deferred", "threads", "spread", "callback"]
        .into_iter()
        .enumerate()
    {
        text += &format!(
            r#"c{i} = {{ kind: "convolver", file: "{file}", partition: "7x64 6x256 2x1024", work: "{work}", }};
            m.1 -> c{i}.1 -> t.1;"#
        );
    }
    graph(&text, registry)
}

/// One source and filter for two branches that are dear: each worker wants its own.
fn fork(registry: &Registry) -> Graph {
    let text = r#"o = { kind: "osc", freq: 440, }; f = { kind: "svf", freq: 700, wcet: 0.5, }; o.1 -> f.1;
        a = { kind: "gain", split: 3, wcet: 9, }; s = { kind: "sink", }; f.1 -> a.1 -> s.1;
        b = { kind: "fir", taps: 33, split: 2, wcet: 9, }; t = { kind: "sink", }; f.1 -> b.1 -> t.1;"#;
    graph(text, registry)
}

fn manners() -> impl Iterator<Item = RunConfig> {
    let ways = [
        TestStrategy::Sequential,
        TestStrategy::Fixed,
        TestStrategy::Global,
        TestStrategy::Weighted,
        TestStrategy::Stealing,
        TestStrategy::Deadline,
        TestStrategy::FusedStealing,
        TestStrategy::PipelinedFixed,
        TestStrategy::Copied,
    ];
    let run_config = |way, workers| RunConfig {
        strategy: way,
        workers,
        block: 64,
        wait: WaitPolicy::Hybrid,
    };
    ways.into_iter()
        .flat_map(move |way| (1..=4).map(move |workers| run_config(way, workers)))
}

/// Plays `cycles` cycles as an audio thread does; calls to the allocator by all threads that play.
fn calls_in(bench: &mut TestBench, cycles: usize) -> u64 {
    let knob = bench.plan.steps.iter().find_map(|step| match step.op {
        plan::StepOp::Process { node, .. } => Some(node),
        _ => None,
    });
    let turn = Event {
        frame: 3,
        target: EventTarget::Param(0),
        body: EventBody::Value(500.0),
    };
    let before = settled();
    let plays = AudioThread::enter();
    let device = [0.25; 64];
    let mut out = [0.0; 64];
    for _ in 0..cycles {
        bench.send_event(knob.unwrap(), turn);
        let outcome = bench.run_cycle(&[&device]);
        bench.executor.add_output(0, &mut out);
        assert_eq!(outcome, CycleStatus::Complete);
    }
    drop(plays);
    settled() - before
}

/// The count of calls, once it stands still: threads that have just been started still tidy up.
fn settled() -> u64 {
    loop {
        let before = audio_calls();
        std::thread::sleep(Duration::from_millis(5));
        if audio_calls() == before {
            return before;
        }
    }
}

#[test]
fn no_cycle_allocates_or_frees_on_any_thread_that_plays() {
    let _alone = alone();
    let registry = kinds();
    let folder = ImpulseFiles::new("hot");
    let (everything, fork) = (everything(&registry, &folder), fork(&registry));
    for run_config in manners() {
        let is_copied = run_config.strategy == TestStrategy::Copied;
        let graph = if is_copied { &fork } else { &everything };
        let mut bench = TestBench::new(graph, &registry, run_config);
        let has_copies = bench.plan.steps.iter().any(|step| step.copy > 0);
        assert_eq!(
            has_copies,
            is_copied && run_config.workers > 1,
            "{run_config:?}"
        );
        assert_eq!(calls_in(&mut bench, 1000), 0, "{run_config:?}");
        assert_eq!(
            bench.counts(),
            exec::ErrorCounts::default(),
            "{run_config:?}"
        );
    }
}

#[test]
fn one_allocation_on_the_host_or_on_a_worker_is_seen() {
    let _alone = alone();
    let mut registry = registry();
    add(&mut registry, kind("allocates", (1, 1)), |_| {
        |block: &mut Block<'_>| {
            // The first to come waits a little for the other.
            std::thread::sleep(Duration::from_millis(1));
            drop(std::hint::black_box(Box::new(block.position())));
            pass(block);
            ProcessStatus::Continue
        }
    });
    let text = r#"a = { kind: "osc", freq: 440, }; x = { kind: "allocates", }; s = { kind: "sink", };
        b = { kind: "osc", freq: 550, }; y = { kind: "allocates", }; t = { kind: "sink", };
        a.1 -> x.1 -> s.1; b.1 -> y.1 -> t.1;"#;
    let graph = graph(text, &registry);
    for run_config in manners() {
        let mut bench = TestBench::new(&graph, &registry, run_config);
        for _ in 0..run_config.strategy.latency_blocks() {
            bench.run_cycle(&[]);
        }
        // Each of two boxes is made and freed in each of ten cycles, on any thread.
        assert_eq!(calls_in(&mut bench, 10), 40, "{run_config:?}");
    }
}

/// A node and its edge from `o1` to `m`, or both gone.
fn edits(graph: &Graph, round: usize) -> Vec<Edit> {
    let id = |name| graph.find(name).unwrap();
    let end = |node, port| PortRef { node, port };
    // Without `y` nothing of all this waits.
    let mut edits = vec![
        Edit::Enable(id("k2"), !round.is_multiple_of(3)),
        Edit::Enable(id("y"), !round.is_multiple_of(4)),
    ];
    match graph.find("extra") {
        Some(extra) => edits.push(Edit::Remove(extra)),
        None => {
            let mut extra = Node::new("extra", "gain");
            extra.set("gain", ParamValue::Number(0.3));
            let kinds = kinds();
            let kind = kinds.catalogue().get("gain").unwrap();
            graph::Catalogue::assign_ports(kind, &mut extra);
            edits.push(Edit::Add(extra));
            let edge = |from, to| {
                Edit::Connect(Edge {
                    from,
                    to,
                    span: SourceSpan::NONE,
                })
            };
            let extra = graph::NodeId(graph.id_bound() as u32);
            edits.push(edge(end(id("o1"), 0), end(extra, 0)));
            edits.push(edge(end(extra, 0), end(id("s"), 0)));
        }
    }
    edits
}

#[test]
fn edits_while_it_plays_allocate_on_no_thread_that_plays() {
    let _alone = alone();
    for (scheduler, workers) in [
        (Scheduler::Sequential, 1),
        (Scheduler::Hlfet, 2),
        (Scheduler::Stealing, 3),
    ] {
        let registry = kinds();
        let folder = ImpulseFiles::new("edits");
        let graph = everything(&registry, &folder);
        let knob = graph.find("o3").unwrap();
        let mut options = EngineOptions::new(Frames(64), rate());
        options.scheduler = scheduler;
        options.workers = workers;
        options.prevent_cpu_sleep = false;
        options.trace = true;
        let (mut engine, mut player) = Engine::new(graph, Arc::new(registry), options).unwrap();
        let beat = CallbackInfo {
            budget: Some(Nanos(1_000_000_000_000)),
            ..CallbackInfo::default()
        };
        let mut play = |cycles| {
            let plays = AudioThread::enter();
            for _ in 0..cycles {
                let mut out = [[0.0; 64]; 2];
                let [left, right] = &mut out;
                player.process(beat, &[], &mut [left, right]);
            }
            drop(plays);
        };
        play(1);
        let before = settled();
        for round in 0..60 {
            let edits = edits(engine.graph(), round);
            engine.edit(edits).unwrap();
            engine
                .set_param(knob, "freq", 300.0 + round as f32)
                .unwrap();
            play(5);
            engine.update();
        }
        assert_eq!(settled() - before, 0, "{scheduler}");
        let report = engine.report();
        assert_eq!((report.cycles, report.faults), (301, 0), "{scheduler}");
    }
}

/// Page faults of this thread so far.
fn own_faults() -> u64 {
    // SAFETY: a structure of numbers, for which zeros are right, that the call fills in.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage
    };
    (usage.ru_minflt + usage.ru_majflt) as u64
}

/// Page faults of each worker but the host so far, as the system's list of threads has them.
fn workers_faults() -> Vec<u64> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let stat = tasks.filter_map(|t| std::fs::read_to_string(t.unwrap().path().join("stat")).ok());
    let count = |stat: String| -> u64 {
        let (_name, fields) = stat.rsplit_once(')').unwrap();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        [7, 9]
            .iter()
            .map(|i| fields[*i].parse::<u64>().unwrap())
            .sum()
    };
    stat.filter(|s| s.contains("(divisi-")).map(count).collect()
}

/// Page faults of each thread in `cycles` cycles.
fn faults_in(bench: &mut TestBench, cycles: usize) -> Vec<u64> {
    let plays = AudioThread::enter();
    let workers = workers_faults();
    let host = own_faults();
    for _ in 0..cycles {
        assert_eq!(bench.run_cycle(&[]), CycleStatus::Complete);
    }
    let host = own_faults() - host;
    drop(plays);
    let after = workers_faults().into_iter().zip(workers);
    let workers = after.map(|(after, before)| after - before);
    [host].into_iter().chain(workers).collect()
}

#[test]
fn with_its_memory_held_no_cycle_after_the_first_faults_a_page() {
    let _alone = alone();
    let _held = match MemoryLock::acquire() {
        Ok(held) => held,
        Err(refusal) => {
            let name = "with_its_memory_held_no_cycle_after_the_first_faults_a_page";
            return skip(name, &refusal.to_string());
        }
    };
    let registry = kinds();
    let folder = ImpulseFiles::new("held");
    let graph = everything(&registry, &folder);
    for run_config in manners() {
        let mut bench = TestBench::new(&graph, &registry, run_config);
        faults_in(&mut bench, 1);
        let faults = faults_in(&mut bench, 1000);
        // Floors count as well, where there are any.
        let threads = faults.len();
        assert_eq!(faults, vec![0; threads], "{run_config:?}");
        assert!(threads >= run_config.workers, "{run_config:?}");
    }
}

/// An engine that plays everything, with its trace, and its callback.
fn engine_of_everything(
    (scheduler, workers): (Scheduler, usize),
    folder: &ImpulseFiles,
) -> (Engine, EngineCallback) {
    let registry = kinds();
    let graph = everything(&registry, folder);
    let mut options = EngineOptions::new(Frames(64), rate());
    options.scheduler = scheduler;
    options.workers = workers;
    options.prevent_cpu_sleep = false;
    options.trace = true;
    Engine::new(graph, Arc::new(registry), options).unwrap()
}

#[test]
fn an_engine_whose_memory_is_locked_faults_no_page_while_it_plays_and_takes_events() {
    let _alone = alone();
    let folder = ImpulseFiles::new("locked");
    for config in [(Scheduler::Sequential, 1), (Scheduler::Stealing, 2)] {
        let (mut engine, mut player) = engine_of_everything(config, &folder);
        if engine
            .refused()
            .iter()
            .any(|refused| refused.contains("memory"))
        {
            let name =
                "an_engine_whose_memory_is_locked_faults_no_page_while_it_plays_and_takes_events";
            return skip(name, "memory is not locked");
        }
        let knob = engine.graph().find("o3").unwrap();
        let info = CallbackInfo {
            budget: Some(Nanos(1_000_000_000_000)),
            ..CallbackInfo::default()
        };
        let mut play = |cycles| {
            let plays = AudioThread::enter();
            let before = own_faults();
            for _ in 0..cycles {
                let mut out = [[0.0; 64]; 2];
                let [left, right] = &mut out;
                player.process(info, &[], &mut [left, right]);
            }
            drop(plays);
            own_faults() - before
        };
        play(1);
        for round in 0..100 {
            let at = engine.position() + 1000;
            engine
                .schedule_param(knob, "freq", 300.0 + round as f32, at, Frames(500))
                .unwrap();
            // The trace's rings and the cycle messages are not read meanwhile: they reach fresh memory.
            assert_eq!(play(20), 0, "{config:?}, round {round}");
        }
        engine.update();
        assert_eq!(engine.report().faults, 0);
    }
}

#[test]
fn a_ring_is_filled_for_the_first_time_without_a_page_fault() {
    let _alone = alone();
    // Some ten megabytes: fresh from the system.
    let (mut writer, _reader) = rt::ring::ring::<[u64; 4]>(1 << 18);
    let before = own_faults();
    while writer.push([1; 4]).is_ok() {}
    let faults = own_faults() - before;
    // The first touch of each page of the ring would be 2048, or 4 of large pages.
    assert_eq!(faults, 0);
}

#[test]
fn a_page_that_is_touched_first_in_a_cycle_is_seen() {
    let _alone = alone();
    let mut registry = registry();
    add(&mut registry, kind("touches", (1, 1)), |_| {
        // Fresh from the system, and so not there yet.
        let mut memory = vec![0_u8; 1 << 26];
        move |block: &mut Block<'_>| {
            std::thread::sleep(Duration::from_millis(1));
            // Pages are large, perhaps.
            memory[(block.position() as usize / 64) << 21] = std::hint::black_box(1);
            pass(block);
            ProcessStatus::Continue
        }
    });
    let text = r#"a = { kind: "osc", freq: 440, }; x = { kind: "touches", }; s = { kind: "sink", };
        b = { kind: "osc", freq: 550, }; y = { kind: "touches", }; t = { kind: "sink", };
        a.1 -> x.1 -> s.1; b.1 -> y.1 -> t.1;"#;
    let graph = graph(text, &registry);
    for run_config in manners() {
        let mut bench = TestBench::new(&graph, &registry, run_config);
        faults_in(&mut bench, 10);
        let faults: u64 = faults_in(&mut bench, 10).iter().sum();
        assert!(faults >= 10, "{run_config:?}: {faults}");
    }
}

/// Allocations of a node with its step, one room for events included.
const MAX_PER_NODE: f64 = 15.5;

/// Allocations that an engine with a chain of `count` gains holds.
fn held_by_gains(count: usize) -> i64 {
    let registry = kinds();
    let nodes = (0..count).map(|at| format!("g{at} = {{ kind: \"gain\", }}; "));
    let edges = (1..count).map(|at| format!("g{}.1 -> g{at}.1; ", at - 1));
    let graph = graph(&nodes.chain(edges).collect::<String>(), &registry);
    let mut options = EngineOptions::new(Frames(64), rate());
    options.mode = Mode::Offline;
    options.scheduler = Scheduler::Sequential;
    let before = live();
    let engine = Engine::new(graph, Arc::new(registry), options).unwrap();
    let held = live() - before;
    drop(engine);
    held
}

/// A large graph is mostly nodes that no other node sends events to. Each has one room for the events of its parameters, not
/// one for those that come and one for those of the block.
#[test]
fn a_node_without_event_inputs_has_one_room_for_events() {
    let _alone = alone();
    let (few, many) = (held_by_gains(100), held_by_gains(300));
    let of_a_node = (many - few) as f64 / 200.0;
    assert!(of_a_node < MAX_PER_NODE, "{of_a_node}");
}
