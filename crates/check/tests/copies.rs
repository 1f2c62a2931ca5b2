//! Schedules in which nodes have copies, as they are played: the sequential bits, whatever is turned and edited.

use divisi_check::cast::{add, graph, kind, pass};
use divisi_check::hall::{Hall, Manner, Way, rate, registry};
use driver::{Beat, Cycle};
use engine::{Engine, EngineOptions, Player, Scheduler};
use graph::{Edge, Edit, End, Graph, Node, NodeId, Place, Value};
use plan::{Plan, Work};
use processor::{Activity, Block, Mode, Registry};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Frames, Nanos};
use workers::{AudioThread, Wait};

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
    let nodes = steps.filter_map(|s| match s.work {
        Work::Node { node, .. } => graph.node(node),
        _ => None,
    });
    nodes.map(|n| n.name.clone()).collect()
}

/// A graph that plays offline, and what its two channels have played so far.
struct Take {
    engine: Engine,
    player: Player,
    played: [Vec<u32>; 2],
}

impl Take {
    fn new(text: &str, scheduler: Scheduler) -> Self {
        let registry = registry();
        let graph = graph(text, &registry);
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
        options.mode = Mode::Offline;
        options.scheduler = scheduler;
        options.workers = 2;
        options.fuse = false;
        options.comm = Some(Nanos(5_000));
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
            self.player.cycle(Beat::default(), &[], &mut [left, right]);
            for (played, out) in self.played.iter_mut().zip(outs) {
                played.extend(out.iter().map(|x| x.to_bits()));
            }
            self.engine.tend();
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
    let end = |node| End { node, port: 0 };
    Edit::Connect(Edge {
        from: end(from),
        to: end(to),
        place: Place::NOWHERE,
    })
}

fn same(takes: &[Take; 2]) {
    assert!(takes[0].played[0].iter().any(|x| *x != 0));
    assert!(takes[0].played == takes[1].played);
}

#[test]
fn a_schedule_with_copies_gives_the_sequential_bits() {
    let mut takes = Take::both(FORK);
    assert_eq!(takes[1].copied(), names(["f", "m", "o", "r"]));
    takes.iter_mut().for_each(|take| take.play(100));
    same(&takes);
    let report = takes[1].engine.report();
    assert_eq!((report.faults, report.late, report.abandoned), (0, 0, 0));
}

#[test]
fn what_is_turned_is_turned_in_every_copy() {
    let mut takes = Take::both(FORK);
    for take in &mut takes {
        let [o, f] = ["o", "f"].map(|name| take.id(name));
        for round in 0..50 {
            let value = 200.0 + 40.0 * round as f32;
            take.engine.turn(o, "freq", value).unwrap();
            if round % 3 == 0 {
                take.engine.turn(f, "freq", 2.0 * value).unwrap();
            }
            take.play(1 + round % 2);
        }
    }
    same(&takes);
}

/// Without its second branch nobody needs copies; with it they come back, and go on from where the originals are.
#[test]
fn copies_that_come_and_go_keep_the_state() {
    let mut takes = Take::both(FORK);
    for take in &mut takes {
        let [o, f, c] = ["o", "f", "c"].map(|name| take.id(name));
        take.play(10);
        let cut = Edit::Disconnect(End { node: f, port: 0 }, End { node: c, port: 0 });
        for round in 0..6 {
            take.engine.edit([cut.clone()]).unwrap();
            // Half-way through a glide.
            let to = 300.0 + 100.0 * round as f32;
            take.engine.turn(o, "freq", to).unwrap();
            take.play(3);
            assert_eq!(take.copied(), names([]));
            let set = Edit::Set(o, "freq".into(), Value::Number(500.0));
            take.engine.edit([wire(f, c), set]).unwrap();
            take.play(1 + round);
        }
    }
    assert_eq!(takes[1].copied(), names(["f", "m", "o", "r"]));
    same(&takes);
}

/// What is turned stands in the graph from then on, and the originals were made before: their copies go on half-way
/// through the glide all the same.
#[test]
fn copies_made_while_knobs_glide_glide_along() {
    let mut takes = Take::both(FORK);
    for take in &mut takes {
        let [r, f, c] = ["r", "f", "c"].map(|name| take.id(name));
        take.play(5);
        let cut = Edit::Disconnect(End { node: f, port: 0 }, End { node: c, port: 0 });
        take.engine.edit([cut]).unwrap();
        take.play(5);
        take.engine.turn(f, "freq", 2500.0).unwrap();
        take.engine.turn(r, "volume", 0.2).unwrap();
        take.play(2);
        take.engine.edit([wire(f, c)]).unwrap();
        take.play(60);
    }
    assert_eq!(takes[1].copied(), names(["f", "m", "o", "r"]));
    same(&takes);
}

#[test]
fn a_new_node_may_have_copies_at_once() {
    let mut takes = Take::both(FORK);
    for take in &mut takes {
        take.play(7);
        let [f, a, c] = ["f", "a", "c"].map(|name| take.id(name));
        let bound = take.engine.graph().id_bound() as u32;
        let node = |name: &str| {
            let mut node = Node::new(name, "noise");
            node.set("seed", Value::Number(3.0));
            let registry = registry();
            let kind = registry.catalogue().get("noise").unwrap();
            assert!(graph::Catalogue::give_ports(kind, &mut node).is_empty());
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

/// A kind that counts blocks, and breaks when it is told to: all its copies, or one.
fn counters(breaks: Arc<AtomicBool>) -> Registry {
    let mut registry = registry();
    add(&mut registry, kind("counter", (1, 1)), move |_| {
        let breaks = breaks.clone();
        move |block: &mut Block<'_>| {
            assert!(!breaks.swap(false, Ordering::Relaxed), "one copy breaks");
            pass(block);
            let mut out = block.output(0);
            out.channel(0).iter_mut().for_each(|x| *x += 0.25);
            Activity::Awake
        }
    });
    registry
}

#[test]
fn where_one_copy_breaks_all_are_silent_and_it_is_one_fault() {
    let breaks = Arc::new(AtomicBool::new(false));
    let registry = counters(breaks.clone());
    let text = r#"k = { kind: "counter", cost: 500, };
        a = { kind: "gain", cost: 9000, }; s = { kind: "sink", }; k.1 -> a.1 -> s.1;
        b = { kind: "gain", cost: 9000, }; t = { kind: "sink", }; k.1 -> b.1 -> t.1;"#;
    let graph = graph(text, &registry);
    let manner = Manner {
        way: Way::Copied,
        workers: 2,
        block: BLOCK as u32,
        wait: Wait::Hybrid,
    };
    let mut hall = Hall::new(&graph, &registry, manner);
    assert_eq!(copied(&hall.plan, &graph), names(["k"]));
    let quarter = 0.25_f32.to_bits();
    let all = |bits: Vec<Vec<u32>>, what| bits.iter().flatten().all(|x| *x == what);
    assert!(all(hall.play(2, BLOCK), quarter));
    breaks.store(true, Ordering::Relaxed);
    let quiet = AudioThread::begin();
    // In this one cycle the other copy may still have been heard.
    hall.play(2, BLOCK);
    assert!(all(hall.play(2, 3 * BLOCK), 0));
    drop(quiet);
    assert_eq!(hall.counts().faults, 1);
}
