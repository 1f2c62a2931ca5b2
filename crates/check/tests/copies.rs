//! Schedules in which nodes have copies: they give the sequential bits, whatever parameters and edits change.

use divisi_check::deferred_node;
use divisi_check::fixtures::{add, graph, kind, pass};
use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use exec::{Binding, CycleStatus, ProcessorPool};
use graph::{Edge, Edit, Graph, Node, NodeId, ParamValue, PortRef, SourceSpan};
use plan::{Plan, StepOp, TaskId};
use processor::{Block, Mode, ProcessStatus, Registry};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::{Frames, Nanos};
use workers::{AudioThread, WaitPolicy};

const BLOCK: usize = 48;

/// An oscillator and noise through a filter, which two long branches hear: each worker wants its own of all three.
const FORK: &str = r#"o = { kind: "osc", freq: 440, volume: 0.3, }; r = { kind: "noise", seed: 7, };
    m = { kind: "mix", in: 2, out: 1, }; f = { kind: "svf", freq: 700, };
    o.1 -> m.1; r.1 -> m.2; m.1 -> f.1;
    a = { kind: "svf", freq: 300, }; b = { kind: "svf", freq: 900, }; s = { kind: "sink", };
    f.1 -> a.1 -> b.1 -> s.1;
    c = { kind: "svf", freq: 500, }; d = { kind: "svf", freq: 2000, }; t = { kind: "sink", };
    f.1 -> c.1 -> d.1 -> t.1;"#;

/// The names of the nodes that have copies.
fn copied(plan: &Plan, graph: &Graph) -> BTreeSet<String> {
    let steps = plan.steps.iter().filter(|s| s.copy > 0);
    let nodes = steps.filter_map(|s| match s.op {
        StepOp::Process { node, .. } => graph.node(node),
        _ => None,
    });
    nodes.map(|n| n.name.clone()).collect()
}

/// A graph that plays offline, and what its two channels have played so far.
struct Recording {
    engine: Engine,
    player: EngineCallback,
    played: [Vec<u32>; 2],
}

impl Recording {
    fn new(text: &str, scheduler: Scheduler) -> Self {
        let registry = registry();
        let graph = graph(text, &registry);
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
        options.mode = Mode::Offline;
        options.scheduler = scheduler;
        options.workers = 2;
        options.edit_fade = Nanos(0);
        options.fuse = false;
        options.transfer_time = Some(Nanos(5_000));
        let (engine, player) = Engine::new(graph, Arc::new(registry), options).unwrap();
        Self {
            engine,
            player,
            played: Default::default(),
        }
    }

    fn both(text: &str) -> [Self; 2] {
        [Scheduler::Sequential, Scheduler::Cpfd].map(|scheduler| Self::new(text, scheduler))
    }

    fn play(&mut self, cycles: usize) {
        for _ in 0..cycles {
            let mut outs = [[0.0_f32; BLOCK]; 2];
            let [left, right] = &mut outs;
            self.player
                .process(CallbackInfo::default(), &[], &mut [left, right]);
            for (played, out) in self.played.iter_mut().zip(outs) {
                played.extend(out.iter().map(|x| x.to_bits()));
            }
            self.engine.update();
        }
    }

    fn id(&self, name: &str) -> NodeId {
        self.engine.graph().find(name).unwrap()
    }

    fn copied(&self) -> BTreeSet<String> {
        copied(self.engine.plan(), self.engine.graph())
    }
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

fn wire(from: NodeId, to: NodeId) -> Edit {
    let end = |node| PortRef { node, port: 0 };
    Edit::Connect(Edge {
        from: end(from),
        to: end(to),
        span: SourceSpan::NONE,
    })
}

fn same(takes: &[Recording; 2]) {
    assert!(takes[0].played[0].iter().any(|x| *x != 0));
    assert!(takes[0].played == takes[1].played);
}

#[test]
fn a_schedule_with_copies_gives_the_sequential_bits() {
    let mut takes = Recording::both(FORK);
    assert_eq!(takes[1].copied(), names(["f", "m", "o", "r"]));
    takes.iter_mut().for_each(|take| take.play(100));
    same(&takes);
    let report = takes[1].engine.report();
    assert_eq!((report.faults, report.late, report.abandoned), (0, 0, 0));
}

#[test]
fn what_is_turned_is_turned_in_every_copy() {
    let mut takes = Recording::both(FORK);
    for take in &mut takes {
        let [o, f] = ["o", "f"].map(|name| take.id(name));
        for round in 0..50 {
            let value = 200.0 + 40.0 * round as f32;
            take.engine.set_param(o, "freq", value).unwrap();
            if round % 3 == 0 {
                take.engine.set_param(f, "freq", 2.0 * value).unwrap();
            }
            take.play(1 + round % 2);
        }
    }
    same(&takes);
}

/// Without the second branch no node has copies; with it they are made again, and continue from the state of the originals.
#[test]
fn copies_that_come_and_go_keep_the_state() {
    let mut takes = Recording::both(FORK);
    for take in &mut takes {
        let [o, f, c] = ["o", "f", "c"].map(|name| take.id(name));
        take.play(10);
        let cut = Edit::Disconnect(PortRef { node: f, port: 0 }, PortRef { node: c, port: 0 });
        for round in 0..6 {
            take.engine.edit([cut.clone()]).unwrap();
            // In the middle of a ramp.
            let to = 300.0 + 100.0 * round as f32;
            take.engine.set_param(o, "freq", to).unwrap();
            take.play(3);
            assert_eq!(take.copied(), names([]));
            let set = Edit::Set(o, "freq".into(), ParamValue::Number(500.0));
            take.engine.edit([wire(f, c), set]).unwrap();
            take.play(1 + round);
        }
    }
    assert_eq!(takes[1].copied(), names(["f", "m", "o", "r"]));
    same(&takes);
}

/// A parameter that changes is in the graph from then on, and the originals were made before: their copies go on half-way
/// through the glide all the same.
#[test]
fn copies_made_while_knobs_glide_glide_along() {
    let mut takes = Recording::both(FORK);
    for take in &mut takes {
        let [r, f, c] = ["r", "f", "c"].map(|name| take.id(name));
        take.play(5);
        let cut = Edit::Disconnect(PortRef { node: f, port: 0 }, PortRef { node: c, port: 0 });
        take.engine.edit([cut]).unwrap();
        take.play(5);
        take.engine.set_param(f, "freq", 2500.0).unwrap();
        take.engine.set_param(r, "volume", 0.2).unwrap();
        take.play(2);
        take.engine.edit([wire(f, c)]).unwrap();
        take.play(60);
    }
    assert_eq!(takes[1].copied(), names(["f", "m", "o", "r"]));
    same(&takes);
}

#[test]
fn a_new_node_may_have_copies_at_once() {
    let mut takes = Recording::both(FORK);
    for take in &mut takes {
        take.play(7);
        let [f, a, c] = ["f", "a", "c"].map(|name| take.id(name));
        let bound = take.engine.graph().id_bound() as u32;
        let node = |name: &str| {
            let mut node = Node::new(name, "noise");
            node.set("seed", ParamValue::Number(3.0));
            let registry = registry();
            let kind = registry.catalogue().get("noise").unwrap();
            assert!(graph::Catalogue::assign_ports(kind, &mut node).is_empty());
            node
        };
        let new = NodeId(bound);
        let edits = [Edit::Add(node("new")), wire(new, a), wire(new, c)];
        take.engine.edit(edits).unwrap();
        take.play(20);
        take.engine.edit([Edit::Remove(f)]).unwrap();
        take.play(20);
    }
    assert!(takes[1].copied().contains("new"));
    same(&takes);
}

/// A kind that counts blocks and fails on request: all its copies, or one.
fn counters(breaks: Arc<AtomicBool>) -> Registry {
    let mut registry = registry();
    add(&mut registry, kind("counter", (1, 1)), move |_| {
        let breaks = breaks.clone();
        move |block: &mut Block<'_>| {
            assert!(!breaks.swap(false, Ordering::Relaxed), "one copy breaks");
            pass(block);
            let mut out = block.output(0);
            out.channel(0).iter_mut().for_each(|x| *x += 0.25);
            ProcessStatus::Continue
        }
    });
    registry
}

#[test]
fn where_one_copy_breaks_all_are_silent_and_it_is_one_fault() {
    let breaks = Arc::new(AtomicBool::new(false));
    let registry = counters(breaks.clone());
    let text = r#"k = { kind: "counter", wcet: 0.5, };
        a = { kind: "gain", wcet: 9, }; s = { kind: "sink", }; k.1 -> a.1 -> s.1;
        b = { kind: "gain", wcet: 9, }; t = { kind: "sink", }; k.1 -> b.1 -> t.1;"#;
    let graph = graph(text, &registry);
    let config = RunConfig {
        strategy: TestStrategy::Copied,
        workers: 2,
        block: BLOCK as u32,
        wait: WaitPolicy::Hybrid,
    };
    let mut bench = TestBench::new(&graph, &registry, config);
    assert_eq!(copied(&bench.plan, &graph), names(["k"]));
    let quarter = 0.25_f32.to_bits();
    let all = |bits: Vec<Vec<u32>>, what| bits.iter().flatten().all(|x| *x == what);
    assert!(all(bench.render(2, BLOCK), quarter));
    breaks.store(true, Ordering::Relaxed);
    let quiet = AudioThread::enter();
    // In this one cycle the other copy may still have played.
    bench.render(2, BLOCK);
    assert!(all(bench.render(2, 3 * BLOCK), 0));
    drop(quiet);
    assert_eq!(bench.counts().node_faults, 1);
}

/// Holds the worker that comes by once it is armed, until it is let go.
#[derive(Default)]
struct Gate {
    armed: AtomicBool,
    caught: AtomicBool,
    open: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        let thread = std::thread::current();
        let is_worker = thread.name().is_some_and(|n| n.starts_with("divisi-"));
        if is_worker && self.armed.swap(false, Ordering::SeqCst) {
            self.caught.store(true, Ordering::SeqCst);
            while !self.open.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// The host leaves the worker time to come.
    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_millis(50);
        while self.armed.load(Ordering::SeqCst) && Instant::now() < deadline {
            std::thread::yield_now();
        }
    }
}

/// Both sides are the noise `o` through the filter `f`, of which each worker has its own; one waits for the gated `x` too.
fn gated(gate: &Arc<Gate>) -> (Graph, Registry) {
    let mut registry = registry();
    let (waits, gate) = (gate.clone(), gate.clone());
    add(&mut registry, kind("waits", (1, 1)), move |_| {
        let waits = waits.clone();
        move |block: &mut Block<'_>| {
            waits.wait();
            pass(block);
            ProcessStatus::Continue
        }
    });
    add(&mut registry, kind("gated", (0, 1)), move |_| {
        let gate = gate.clone();
        move |block: &mut Block<'_>| {
            gate.pass();
            block.silence_outputs();
            ProcessStatus::Continue
        }
    });
    let text = r#"o = { kind: "noise", seed: 7, }; f = { kind: "svf", freq: 700, }; o.1 -> f.1;
        a = { kind: "waits", wcet: 0.03, }; s = { kind: "sink", }; f.1 -> a.1 -> s.1;
        x = { kind: "gated", }; y = { kind: "mix", in: 2, out: 1, }; t = { kind: "sink", };
        f.1 -> y.1; x.1 -> y.2; y.1 -> t.1;"#;
    (graph(text, &registry), registry)
}

/// The next block of both channels, where all of it is played.
fn sides(bench: &mut TestBench) -> Option<[Vec<u32>; 2]> {
    if bench.run_cycle(&[]) != CycleStatus::Complete {
        return None;
    }
    Some([0, 1].map(|channel| {
        let mut out = [0.0; BLOCK];
        bench.executor.add_output(channel, &mut out);
        out.iter().map(|x| x.to_bits()).collect()
    }))
}

/// Has `x` stand first in the lane of worker 1: a cycle in which it is held is one in which the host's copies have played
/// and the worker's have not.
fn begin_with_the_gate(bench: &mut TestBench, graph: &Graph) {
    let gate = graph.find("x").unwrap();
    let is_gate = |task: &TaskId| {
        let steps = bench.plan.tasks[task.0 as usize].steps;
        let mut works = steps.of(&bench.plan.steps).iter().map(|step| step.op);
        works.any(|work| matches!(work, StepOp::Process { node, .. } if node == gate))
    };
    let mut lanes = bench.plan.worker_tasks.clone();
    lanes.sort_by_key(|lane| lane.iter().any(is_gate));
    lanes[1].sort_by_key(|task| !is_gate(task));
    bench.plan.worker_tasks = lanes;
    let binding = Binding {
        plan: &bench.plan,
        processors: &bench.pool,
        delay_lines: &mut bench.lines,
        runtime: bench.runtime.clone(),
        input_channels: 0,
    };
    bench.executor = TestStrategy::Copied.make_executor(binding, &bench.worker_pool);
}

#[test]
fn after_a_cycle_that_was_given_up_copies_go_on_with_their_originals() {
    let gate = Arc::new(Gate::default());
    let (graph, registry) = gated(&gate);
    let config = RunConfig {
        strategy: TestStrategy::Copied,
        workers: 2,
        block: BLOCK as u32,
        wait: WaitPolicy::Hybrid,
    };
    let mut bench = TestBench::new(&graph, &registry, config);
    assert_eq!(copied(&bench.plan, &graph), names(["f", "o"]));
    begin_with_the_gate(&mut bench, &graph);
    let scale = rt::stamp::TickScale::calibrated();
    bench.limit = Some(scale.ticks(Nanos(300_000_000)));
    let is_one = |rendered: [Vec<u32>; 2]| {
        assert!(rendered[0].iter().any(|x| *x != 0));
        assert!(rendered[0] == rendered[1]);
    };
    (0..5).for_each(|_| is_one(sides(&mut bench).unwrap()));
    gate.armed.store(true, Ordering::SeqCst);
    let deadline = Instant::now() + Duration::from_secs(60);
    while let Some(rendered) = sides(&mut bench) {
        is_one(rendered);
        assert!(Instant::now() < deadline, "nobody was caught");
    }
    assert!(gate.caught.load(Ordering::SeqCst));
    assert_eq!(sides(&mut bench), None);
    gate.open.store(true, Ordering::SeqCst);
    let mut blocks = 0;
    while blocks < 50 {
        assert!(Instant::now() < deadline, "it goes on");
        blocks += sides(&mut bench).map_or(0, |rendered| {
            is_one(rendered);
            1
        });
    }
    // Without a watchdog that reports it, the held step plays on.
    assert_eq!(bench.counts().node_faults, 0);
}

#[test]
fn beside_a_loop_copies_give_the_bits_of_single_frames() {
    let text = format!(
        r#"{FORK} e = {{ kind: "mix", in: 2, out: 1, }}; g = {{ kind: "gain", gain: 0.5, }};
        l = {{ kind: "delay", time: 0.0005, }}; u = {{ kind: "sink", }};
        b.1 -> e.1; e.1 -> g.1 -> l.1 -> e.2; e.1 -> u.1;"#
    );
    // What is shared is cheaper than a crossing, the branches are dear.
    let text = ["300", "900", "500", "2000"].iter().fold(
        text.replace("freq: 700,", "freq: 700, wcet: 0.2,"),
        |text, freq| {
            text.replace(
                &format!("freq: {freq},"),
                &format!("freq: {freq}, wcet: 9,"),
            )
        },
    );
    let registry = registry();
    let graph = graph(&text, &registry);
    let expected = TestBench::new(&graph, &registry, RunConfig::reference(1)).render(3, 3000);
    for block in [7, 48, 100] {
        let config = RunConfig {
            strategy: TestStrategy::Copied,
            workers: 2,
            block,
            wait: WaitPolicy::Hybrid,
        };
        let mut bench = TestBench::new(&graph, &registry, config);
        assert!(!copied(&bench.plan, &graph).is_empty());
        assert_eq!(bench.plan.loops.is_empty(), block < 24);
        assert!(bench.render(3, 3000) == expected, "{block}");
    }
}

#[test]
fn who_defers_work_has_no_copies_since_it_is_in_no_state() {
    let mut registry = registry();
    deferred_node::add(&mut registry, |_| {});
    let text = r#"a = { kind: "gain", }; b = { kind: "later", };"#;
    let graph = graph(text, &registry);
    let mut pool = ProcessorPool::default();
    for (name, may) in [("a", true), ("b", false)] {
        let id = graph.find(name).unwrap();
        let node = graph.node(id).unwrap();
        let make = || registry.make(node, Path::new(".")).unwrap();
        let reported = (rate(), Frames(64), Mode::Offline);
        pool.insert(id, make(), reported);
        assert_eq!(pool.insert_copy((id, 1), make(), reported), may, "{name}");
    }
}
