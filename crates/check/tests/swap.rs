//! Edits while the engine plays: untouched nodes keep their bits, and every executor gives the same output.

use divisi_check::fixtures::graph;
use divisi_check::rng::Rng;
use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineError, EngineOptions, NodeState, Scheduler};
use graph::{Catalogue, Edge, Edit, Graph, Node, NodeId, ParamValue, PortRef, SourceSpan};
use processor::Mode;
use std::sync::Arc;
use units::{Frames, Nanos};

const BLOCK: usize = 48;

/// A graph that plays offline, and what its two channels have played so far.
struct Recording {
    engine: Engine,
    player: EngineCallback,
    played: [Vec<f32>; 2],
}

impl Recording {
    /// Edits cut, so that what is not touched can be compared bit for bit at once.
    fn new(text: &str, scheduler: Scheduler, workers: usize) -> Self {
        Self::with_fade(text, (scheduler, workers), Nanos(0))
    }

    fn with_fade(text: &str, schedule: (Scheduler, usize), fade: Nanos) -> Self {
        Self::with_latency(text, schedule, fade, 1)
    }

    /// With this many blocks of latency, if it is a pipeline.
    fn with_latency(
        text: &str,
        (scheduler, workers): (Scheduler, usize),
        fade: Nanos,
        latency_blocks: u32,
    ) -> Self {
        let registry = registry();
        let graph = graph(text, &registry);
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
        options.mode = Mode::Offline;
        options.scheduler = scheduler;
        options.workers = workers;
        options.latency_blocks = Some(latency_blocks);
        options.edit_fade = fade;
        if scheduler == Scheduler::Cpfd {
            // So dear that nodes are copied.
            options.transfer_time = Some(Nanos(2_000));
            options.fuse = false;
        }
        let (engine, player) = Engine::new(graph, Arc::new(registry), options).unwrap();
        Self {
            engine,
            player,
            played: Default::default(),
        }
    }

    /// Plays this number of blocks; returns the output of channel 1.
    fn play(&mut self, cycles: usize) -> Vec<f32> {
        let from = self.played[1].len();
        for _ in 0..cycles {
            let mut outs = [[0.0; BLOCK]; 2];
            let [left, right] = &mut outs;
            self.player
                .process(CallbackInfo::default(), &[], &mut [left, right]);
            for (played, out) in self.played.iter_mut().zip(outs) {
                played.extend(out);
            }
            self.engine.update();
        }
        self.played[1][from..].to_vec()
    }

    fn id(&self, name: &str) -> NodeId {
        self.engine.graph().find(name).unwrap()
    }

    fn bits(&self) -> Vec<Vec<u32>> {
        let bits = |channel: &Vec<f32>| channel.iter().map(|x| x.to_bits()).collect();
        self.played.iter().map(bits).collect()
    }
}

fn node(name: &str, kind: &str, params: &[(&str, f64)]) -> Node {
    let mut node = Node::new(name, kind);
    for (key, value) in params {
        node.set(*key, ParamValue::Number(*value));
    }
    let registry = registry();
    let wrong = Catalogue::assign_ports(registry.catalogue().get(kind).unwrap(), &mut node);
    assert!(wrong.is_empty(), "{wrong:?}");
    node
}

fn end(node: NodeId, port: u16) -> PortRef {
    PortRef { node, port }
}

fn wire(from: NodeId, to: NodeId) -> Edit {
    Edit::Connect(Edge {
        from: end(from, 0),
        to: end(to, 0),
        span: SourceSpan::NONE,
    })
}

/// Channel 0: an oscillator through a filter into an echo, noise, an envelope. Channel 1: an oscillator, halved.
const TWO: &str = r#"a = { kind: "osc", freq: 440, volume: 0.3, }; f = { kind: "svf", freq: 700, }; s = { kind: "sink", };
    m = { kind: "mix", in: 3, out: 1, }; h = { kind: "gain", gain: 0.5, }; d = { kind: "delay", time: 0.0007, };
    r = { kind: "noise", seed: 7, }; q = { kind: "gain", gain: 0.1, }; r.1 -> q.1 -> m.3;
    a.1 -> f.1 -> m.1 -> s.1; m.1 -> h.1 -> d.1 -> m.2;
    b = { kind: "osc", freq: 550, }; g = { kind: "gain", gain: 0.5, }; t = { kind: "sink", }; b.1 -> g.1 -> t.1;"#;

fn schedulers() -> [(Scheduler, usize); 7] {
    [
        (Scheduler::Sequential, 1),
        (Scheduler::Hlfet, 2),
        (Scheduler::Etf, 2),
        (Scheduler::Cpfd, 2),
        (Scheduler::Cpfd, 3),
        (Scheduler::Stealing, 3),
        (Scheduler::Mutex, 2),
    ]
}

fn is_silent(sound: &[f32]) -> bool {
    sound.iter().all(|x| *x == 0.0)
}

/// Samples of channel 1 of `whole`, at the time of `part` of it, which was just rendered.
fn just_now<'a>(whole: &'a Recording, take: &Recording, part: &[f32]) -> &'a [f32] {
    let to = take.played[1].len();
    &whole.played[1][to - part.len()..to]
}

#[test]
fn a_branch_that_no_edit_touches_sounds_on_bit_for_bit() {
    let mut whole = Recording::new(TWO, Scheduler::Sequential, 1);
    whole.play(100);
    for (scheduler, workers) in schedulers() {
        let mut take = Recording::new(TWO, scheduler, workers);
        let [b, g, t] = ["b", "g", "t"].map(|name| take.id(name));
        assert!(take.play(10) == whole.played[1][..10 * BLOCK]);
        take.engine.edit([Edit::Enable(g, false)]).unwrap();
        assert!(is_silent(&take.play(10)), "{scheduler}: disabled");
        take.engine.edit([Edit::Enable(g, true)]).unwrap();
        let output = take.play(10);
        assert!(output == just_now(&whole, &take, &output), "{scheduler}");
        take.engine.edit([Edit::Remove(g)]).unwrap();
        assert!(is_silent(&take.play(10)), "{scheduler}: removed");
        take.engine.edit([wire(b, t)]).unwrap();
        let output = take.play(10);
        let halved: Vec<f32> = output.iter().map(|x| x * 0.5).collect();
        assert!(
            halved == just_now(&whole, &take, &output),
            "{scheduler}: rewired"
        );
        take.engine
            .edit([Edit::Disconnect(end(b, 0), end(t, 0))])
            .unwrap();
        assert!(is_silent(&take.play(10)), "{scheduler}: disconnected");
        let new = NodeId(take.engine.graph().id_bound() as u32);
        let gain = node("new", "gain", &[("gain", 0.5)]);
        take.engine
            .edit([Edit::Add(gain), wire(b, new), wire(new, t)])
            .unwrap();
        let output = take.play(40);
        assert!(
            output == just_now(&whole, &take, &output),
            "{scheduler}: added"
        );
        assert!(take.bits()[0] == whole.bits()[0], "{scheduler}");
        assert_eq!(take.engine.report().cycles, 100);
    }
}

#[test]
fn an_edit_that_cannot_be_leaves_everything_as_it_was() {
    let mut whole = Recording::new(TWO, Scheduler::Sequential, 1);
    whole.play(40);
    for (scheduler, workers) in schedulers() {
        let mut take = Recording::new(TWO, scheduler, workers);
        take.play(10);
        let [b, g, m] = ["b", "g", "m"].map(|name| take.id(name));
        let before = take.engine.graph().clone();
        // Without a delay in it, that is no loop that can be played.
        let cycle = take.engine.edit([Edit::Remove(b), wire(g, g)]);
        assert!(matches!(cycle, Err(EngineError::Graph(_))), "{cycle:?}");
        let bad = node("x", "osc", &[("freq", -5.0)]);
        let bad = take.engine.edit([Edit::Add(bad)]);
        assert!(matches!(bad, Err(EngineError::Graph(_))), "{bad:?}");
        let nobody = take
            .engine
            .edit([Edit::Remove(m), Edit::Remove(NodeId(1000))]);
        assert!(matches!(nobody, Err(EngineError::Edit(_))), "{nobody:?}");
        assert!(*take.engine.graph() == before);
        take.play(10);
        let again = take
            .engine
            .edit([Edit::Enable(g, false), Edit::Enable(g, true)]);
        assert!(again.is_ok());
        let busy = take.engine.edit([Edit::Enable(g, true)]);
        assert!(matches!(busy, Err(EngineError::Busy)), "{busy:?}");
        take.play(20);
        assert!(take.bits() == whole.bits(), "{scheduler}");
    }
}

#[test]
fn an_event_for_a_node_that_goes_vanishes_and_holds_up_no_other() {
    for (scheduler, workers) in schedulers() {
        let mut expected = Recording::new(TWO, scheduler, workers);
        let mut take = Recording::new(TWO, scheduler, workers);
        let [a, b, g] = ["a", "b", "g"].map(|name| take.id(name));
        for take in [&mut expected, &mut take] {
            take.play(5);
            take.engine.edit([Edit::Remove(g)]).unwrap();
        }
        // As if it had been turned a moment before it went.
        let mut late = Recording::new(TWO, scheduler, workers);
        late.play(5);
        (0..300).for_each(|n| late.engine.set_param(g, "gain", n as f32 / 300.0).unwrap());
        late.engine.edit([Edit::Remove(g)]).unwrap();
        let gone = take.engine.set_param(g, "gain", 0.1);
        assert!(matches!(gone, Err(EngineError::NoParam(_))), "{gone:?}");
        for take in [&mut expected, &mut take, &mut late] {
            take.engine.set_param(a, "freq", 220.0).unwrap();
            take.engine.set_param(b, "freq", 330.0).unwrap();
            take.play(20);
        }
        assert!(take.bits() == expected.bits(), "{scheduler}");
        assert!(late.bits() == expected.bits(), "{scheduler}");
        let mut untouched = Recording::new(TWO, scheduler, workers);
        untouched.play(25);
        assert!(
            untouched.bits()[0] != take.bits()[0],
            "{scheduler}: it was turned"
        );
    }
}

/// A node of some kind.
fn some_node(rng: &mut Rng, name: String) -> Node {
    match rng.below(7) {
        0 => node(&name, "osc", &[("freq", 100.0 + rng.below(900) as f64)]),
        1 => node(&name, "onepole", &[("freq", 500.0)]),
        2 => node(&name, "svf", &[("freq", 800.0)]),
        3 => node(
            &name,
            "delay",
            &[("time", (1 + rng.below(200)) as f64 / 48_000.0)],
        ),
        4 => node(&name, "mix", &[("in", 2.0), ("out", 1.0)]),
        // It lags: what comes by other ways waits.
        5 => node(&name, "fir", &[("taps", 1.0 + 2.0 * rng.below(300) as f64)]),
        _ => node(&name, "gain", &[("gain", 0.4)]),
    }
}

/// Some change to `graph`; perhaps one that cannot be made. The nodes that were there at first stay, or soon nothing
/// would sound.
fn some_edits(rng: &mut Rng, graph: &Graph, round: usize) -> Vec<Edit> {
    let nodes: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let some = |rng: &mut Rng| nodes[rng.below(nodes.len())];
    let sinks = ["s", "t"].map(|name| graph.find(name).unwrap());
    let is_new = |id: &&NodeId| graph.node(**id).unwrap().name.starts_with('n');
    let new: Vec<NodeId> = nodes.iter().filter(is_new).copied().collect();
    let new = (!new.is_empty()).then(|| new[rng.below(new.len())]);
    match rng.below(8) {
        0..=2 => {
            let added = NodeId(graph.id_bound() as u32);
            let to = if rng.below(2) == 0 {
                sinks[rng.below(2)]
            } else {
                some(rng)
            };
            let node = some_node(rng, format!("n{round}"));
            let is_source = node.inputs.is_empty();
            let mut edits = vec![Edit::Add(node), wire(added, to)];
            if !is_source {
                edits.push(wire(some(rng), added));
            }
            edits
        }
        3 => new.map_or_else(Vec::new, |id| vec![Edit::Remove(id)]),
        4 | 5 => vec![wire(some(rng), some(rng))],
        6 => {
            let mut edges = graph.edges().iter();
            let edge = edges.rfind(|e| Some(e.from.node) == new);
            edge.map_or_else(Vec::new, |e| vec![Edit::Disconnect(e.from, e.to)])
        }
        _ => new.map_or_else(Vec::new, |id| {
            vec![Edit::Enable(id, !graph.node(id).unwrap().enabled)]
        }),
    }
}

#[test]
fn two_hundred_edits_by_chance_sound_the_same_under_every_executor() {
    // Without a fade, with one that is over after two blocks, and with one that never is before the next edit.
    for (seed, fade) in (0..6).zip([0, 0, 0, 0, 1, 10]) {
        let fade = Nanos(fade * 1_000_000);
        let [first, others @ ..] = schedulers();
        let mut reference = Recording::with_fade(TWO, first, fade);
        let mut takes = others.map(|scheduler| Recording::with_fade(TWO, scheduler, fade));
        let mut rng = Rng(seed);
        let (mut made, mut fades) = (0, 0);
        for round in 0..200 {
            let edits = some_edits(&mut rng, reference.engine.graph(), round);
            let is_made = reference.engine.edit(edits.clone()).is_ok();
            made += usize::from(is_made);
            let delayed = &reference.engine.plan().delayed_edges;
            fades += delayed.iter().filter(|it| it.tap.is_changing()).count();
            reference.play(2);
            for take in &mut takes {
                assert_eq!(
                    take.engine.edit(edits.clone()).is_ok(),
                    is_made,
                    "{edits:?}"
                );
                take.play(2);
            }
        }
        assert!((50..200).contains(&made), "{made}");
        assert!(
            fades > 10 || fade > Nanos(0),
            "{fades} times an edge went over to another delay"
        );
        let blocks = reference.played.iter().flat_map(|p| p.chunks(BLOCK));
        let output = blocks.filter(|block| !is_silent(block)).count();
        assert!(output > 400, "{output} of 800 blocks are output");
        for (take, (scheduler, _)) in takes.iter_mut().zip(others) {
            assert!(take.bits() == reference.bits(), "{scheduler}, seed {seed}");
            let report = take.engine.report();
            assert_eq!((report.faults, report.late, report.cycles), (0, 0, 400));
        }
    }
}

#[test]
fn a_pipeline_of_any_depth_takes_edits_and_parameters_and_sounds_the_same_some_blocks_later() {
    let depths = [
        (4, 1, 1),
        (5, 2, 1),
        (6, 2, 2),
        (7, 3, 3),
        (8, 1, 3),
        (9, 2, 5),
    ];
    for ((seed, workers, latency), fade) in depths.into_iter().flat_map(|it| [(it, 0), (it, 1)]) {
        // Longer than the pipeline, so that the swap behind the fade comes at the same block.
        let fade = Nanos(fade * 8_000_000);
        let mut reference = Recording::with_fade(TWO, (Scheduler::Sequential, 1), fade);
        let schedule = (Scheduler::Pipelined, workers);
        let mut piped = Recording::with_latency(TWO, schedule, fade, latency);
        let frames = BLOCK * latency as usize;
        assert_eq!(piped.engine.pipeline_latency(), frames as u64);
        let mut rng = Rng(seed);
        let mut swaps = 0;
        for round in 0..100 {
            let edits = some_edits(&mut rng, reference.engine.graph(), round);
            let name = ["a", "b", "f"][rng.below(3)];
            let (node, value) = (reference.id(name), 200.0 + rng.below(500) as f32);
            // Until the swap, and the one behind its fade, are over in both.
            let blocks = 20 + latency as usize + rng.below(3);
            let made = [&mut reference, &mut piped].map(|take| {
                let is_made = take.engine.edit(edits.clone()).is_ok();
                take.engine.set_param(node, "freq", value).unwrap();
                take.play(blocks);
                assert!(!take.engine.is_swapping());
                is_made
            });
            assert_eq!(made[0], made[1], "{edits:?}");
            swaps += usize::from(made[0]);
        }
        assert!(swaps >= 50, "{swaps}");
        piped.play(latency as usize);
        for (later, now) in piped.bits().iter().zip(reference.bits()) {
            assert!(
                later[frames..] == now,
                "seed {seed}, {latency} blocks, {workers} workers, fade {}",
                fade.0
            );
        }
    }
}

const ONE: &str = r#"b = { kind: "osc", freq: 550, }; f = { kind: "svf", freq: 700, }; t = { kind: "sink", };
    b.1 -> f.1 -> t.1;"#;

/// The nodes `b` and `f` of `ONE` in another engine.
fn moved(states: [NodeState; 2]) -> Result<Recording, EngineError> {
    let mut there = Recording::new(r#"t = { kind: "sink", };"#, Scheduler::Stealing, 2);
    let next = there.engine.graph().id_bound();
    let (b, f) = (NodeId(next as u32), NodeId(next as u32 + 1));
    let edits = [
        Edit::Add(node("b", "osc", &[("freq", 550.0)])),
        Edit::Add(node("f", "svf", &[("freq", 700.0)])),
        wire(b, f),
        wire(f, there.id("t")),
    ];
    let names = ["b".to_owned(), "f".to_owned()];
    let states = names.into_iter().zip(states);
    there.engine.edit_with_states(edits, states)?;
    Ok(there)
}

#[test]
fn nodes_that_move_to_another_engine_go_on_where_they_were() {
    let mut whole = Recording::new(ONE, Scheduler::Sequential, 1);
    whole.play(40);
    for (scheduler, workers) in schedulers() {
        let mut here = Recording::new(ONE, scheduler, workers);
        here.play(20);
        let nodes = ["b", "f"].map(|name| here.id(name));
        nodes.iter().for_each(|node| here.engine.keep_state(*node));
        let removed = here.engine.edit(nodes.map(Edit::Remove));
        removed.unwrap();
        assert_eq!(here.engine.take_state(nodes[0]), None, "it plays still");
        here.play(2);
        let states = nodes.map(|node| here.engine.take_state(node).unwrap());
        assert_eq!(here.engine.take_state(nodes[0]), None, "it was taken");
        let swapped = [states[1].clone(), states[0].clone()];
        assert!(matches!(moved(swapped), Err(EngineError::Graph(_))));
        let mut there = moved(states).unwrap();
        there.play(20);
        let heard = &there.played[0];
        let expected = &whole.played[0][20 * BLOCK..];
        assert!(expected.iter().any(|x| *x != 0.0));
        assert!(heard == expected, "{scheduler}");
    }
}
