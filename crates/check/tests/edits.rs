//! Edits by chance under every executor: no click, no allocation, no leak, and in the end the sound of a graph made afresh.

use divisi_check::alloc::{Counting, audio_calls, calls, live};
use divisi_check::rng::Rng;
use divisi_check::test_bench::{rate, registry};
use divisi_check::{fixtures, latency_node};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{Catalogue, Edge, Edit, Graph, Node, NodeId, ParamValue, PortRef, SourceSpan};
use processor::{Mode, Registry};
use std::sync::{Arc, PoisonError, RwLock};
use units::Frames;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BLOCK: usize = 48;
/// Blocks after which a fade of 10 ms and both of its swaps are over in a pipeline of four stages.
const SETTLED: usize = 20;
/// Largest step from frame to frame of the device's input, which is a sine of 50 Hz.
const STEP: f32 = std::f32::consts::TAU * 50.0 / 48_000.0;
/// Largest step of a signal of amplitude 1 while one connection fades out and another in.
const FADED_STEP: f32 = STEP + 2.0 / 480.0;
/// Allocations that the test runner may make meanwhile.
const MARGIN: i64 = 64;
/// Held by each test, and by one that counts allocations alone.
static ALONE: RwLock<()> = RwLock::new(());

fn kinds() -> Registry {
    let mut registry = registry();
    latency_node::add(&mut registry);
    registry
}

/// A graph that plays, and the last frame and the largest step of its output.
struct Playing {
    engine: Engine,
    callback: EngineCallback,
    position: usize,
    last: f32,
    max_step: f32,
    max: f32,
    /// Calls to the allocator within callbacks.
    calls: u64,
}

impl Playing {
    fn new(graph: Graph, scheduler: Scheduler, workers: usize) -> Self {
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
        options.mode = Mode::Offline;
        options.scheduler = scheduler;
        options.workers = workers;
        options.latency_blocks = Some(3);
        options.input_channels = 1;
        let (engine, callback) = Engine::new(graph, Arc::new(kinds()), options).unwrap();
        Self {
            engine,
            callback,
            position: 0,
            last: 0.0,
            max_step: 0.0,
            max: 0.0,
            calls: 0,
        }
    }

    fn of(text: &str) -> Self {
        Self::new(fixtures::graph(text, &kinds()), Scheduler::Sequential, 1)
    }

    /// Plays until nothing is let go of any more: on a busy machine a worker may keep the last plan but one for a while.
    fn let_go(&mut self) {
        let mut rounds = 0;
        while rounds < 3 {
            let before = live();
            std::thread::sleep(std::time::Duration::from_millis(20));
            self.play(6 * SETTLED);
            rounds = if live() < before { 0 } else { rounds + 1 };
        }
    }

    /// Plays this number of blocks; returns the output.
    fn play(&mut self, blocks: usize) -> Vec<f32> {
        let mut played = Vec::with_capacity(blocks * BLOCK);
        for _ in 0..blocks {
            let (mut input, mut out) = ([0.0; BLOCK], [0.0; BLOCK]);
            for (at, x) in (self.position..).zip(&mut input) {
                *x = (at as f32 * 50.0 / 48_000.0 * std::f32::consts::TAU).sin();
            }
            let before = calls();
            (self.callback).process(CallbackInfo::default(), &[&input], &mut [&mut out]);
            self.calls += calls() - before;
            self.engine.update();
            self.position += BLOCK;
            for x in out {
                self.max_step = self.max_step.max((x - self.last).abs());
                self.max = self.max.max(x.abs());
                self.last = x;
            }
            played.extend(out);
        }
        played
    }

    /// Makes the edits, plays until they have settled, and checks that nothing clicked: of two signals, each may fade, and
    /// each may fade from one delay to another. A click would be ten times as large.
    fn edit(&mut self, edits: impl IntoIterator<Item = Edit>) {
        self.play(SETTLED);
        self.max_step = 0.0;
        self.engine.edit(edits).unwrap();
        self.play(6 * SETTLED);
        let step = self.max_step;
        assert!(step <= 2.0 * FADED_STEP, "a step of {step}");
    }

    fn id(&self, name: &str) -> NodeId {
        self.engine.graph().find(name).unwrap()
    }

    fn edge(&self, from: &str, to: &str) -> Edge {
        edge(self.id(from), self.id(to))
    }

    fn connect(&self, from: &str, to: &str) -> Edit {
        Edit::Connect(self.edge(from, to))
    }

    fn disconnect(&self, from: &str, to: &str) -> Edit {
        let edge = self.edge(from, to);
        Edit::Disconnect(edge.from, edge.to)
    }

    /// The sound when all is settled is that of the same graph made afresh.
    fn assert_as_afresh(&mut self) {
        let mut afresh = Self::new(self.engine.graph().clone(), Scheduler::Sequential, 1);
        let late = self.engine.pipeline_latency() as usize;
        self.play(6 * SETTLED);
        afresh.position = self.position - late;
        let played = self.play(8 * SETTLED);
        let expected = afresh.play(8 * SETTLED);
        let settled = 6 * SETTLED * BLOCK;
        let (played, expected) = (&played[settled..], &expected[settled..]);
        assert!(played == expected, "{played:?} {expected:?}");
    }
}

fn edge(from: NodeId, to: NodeId) -> Edge {
    let port = |node| PortRef { node, port: 0 };
    let span = SourceSpan::NONE;
    let (from, to) = (port(from), port(to));
    Edge { from, to, span }
}

fn gain(name: String, gain: f64) -> Node {
    let mut node = Node::new(name, "gain");
    node.set("gain", ParamValue::Number(gain));
    let registry = registry();
    let kind = registry.catalogue().get("gain").unwrap();
    assert!(Catalogue::assign_ports(kind, &mut node).is_empty());
    node
}

#[test]
fn a_bypassed_node_passes_its_input_by_without_a_click_and_runs_on() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let text =
        "i = { kind: \"input\", }; g = { kind: \"gain\", gain: \"-0.5\", }; s = { kind: \"sink\", };
        i.1 -> g.1 -> s.1;";
    let mut playing = Playing::of(text);
    let id = playing.id("g");
    playing.edit([Edit::Bypass(id, true)]);
    let mut through = Playing::of("i = { kind: \"input\", }; s = { kind: \"sink\", }; i.1 -> s.1;");
    through.position = playing.position;
    assert_eq!(playing.play(4), through.play(4));
    playing.assert_as_afresh();
    playing.edit([Edit::Rename(id, "h".to_owned()), Edit::Bypass(id, false)]);
    assert_eq!(playing.id("h"), id);
    through.position = playing.position;
    let halved = through.play(4).into_iter().map(|x| -0.5 * x);
    assert_eq!(playing.play(4), halved.collect::<Vec<_>>());
}

#[test]
fn a_delay_that_is_bypassed_and_back_has_gone_on_in_between() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let text = "o = { kind: \"osc\", freq: 50, volume: 1, }; d = { kind: \"delay\", time: 0.3, }; s = { kind: \"sink\", };
        o.1 -> d.1 -> s.1;";
    let (mut straight, mut playing) = (Playing::of(text), Playing::of(text));
    let id = playing.id("d");
    for on in [true, false] {
        playing.play(30);
        playing.engine.edit([Edit::Bypass(id, on)]).unwrap();
    }
    playing.play(400);
    straight.play(460);
    playing.play(40);
    straight.play((playing.position - straight.position) / BLOCK);
    assert_eq!(playing.play(4), straight.play(4));
}

#[test]
fn a_recording_that_is_lost_stays_in_the_report_when_its_node_is_removed() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let folder = std::env::temp_dir().join(format!("divisi-removed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let full = folder.join("full.wav");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let mut playing = Playing::of(&format!(
        r#"
        a = {{ kind: "osc", freq: 220, out: 1, }};
        r = {{ kind: "recorder", file: "{}", in: 1, out: 1, }};
        o = {{ kind: "sink", in: 1, }};
        a.1 -> r.1; a.1 -> o.1;
        "#,
        full.display()
    ));
    playing.play(SETTLED);
    let recorder = playing.id("r");
    playing.engine.edit([Edit::Remove(recorder)]).unwrap();
    playing.play(6 * SETTLED);
    let problems = playing.engine.file_problems();
    let report = playing.engine.report();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(playing.engine.graph().find("r").is_none());
    assert!(
        problems.len() == 1 && problems[0].0 == "r" && problems[0].1.is_loss(),
        "{problems:?}"
    );
    assert_eq!(report.lost_recordings, 1);
}

#[test]
fn an_edit_of_a_connection_whose_latency_is_compensated_does_not_click() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    for frames in [10, 100, 1000] {
        let text = format!(
            "i = {{ kind: \"input\", }}; l = {{ kind: \"late\", frames: {frames}, }}; a = {{ kind: \"gain\", gain: 0.5, }};
            m = {{ kind: \"mix\", in: 2, out: 1, }}; s = {{ kind: \"sink\", }}; i.1 -> l.1 -> m.1 -> s.1; i.1 -> a.1 -> m.2;"
        );
        let mut playing = Playing::of(&text);
        let mut direct = edge(playing.id("a"), playing.id("m"));
        direct.to.port = 1;
        playing.play(100);
        playing.edit([Edit::Disconnect(direct.from, direct.to)]);
        playing.edit([Edit::Connect(direct)]);
        playing.assert_as_afresh();
        let late = playing.id("l");
        playing.edit([Edit::Bypass(late, true)]);
        playing.edit([Edit::Bypass(late, false)]);
        playing.assert_as_afresh();
    }
}

#[test]
fn a_change_of_the_number_of_equal_edges_does_not_click() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let text = "i = { kind: \"input\", }; g = { kind: \"gain\", gain: 0.2, }; s = { kind: \"sink\", }; i.1 -> g.1 -> s.1;";
    let mut playing = Playing::of(text);
    let connect = || playing.connect("g", "s");
    let (one, two) = ([connect()], [connect(), connect()]);
    playing.edit(one.clone());
    playing.edit(two);
    let all = playing.disconnect("g", "s");
    playing.edit([all].into_iter().chain(one));
    playing.assert_as_afresh();
}

#[test]
fn taps_that_come_and_go_take_one_id_which_no_node_gets() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let text = "i = { kind: \"input\", }; g = { kind: \"gain\", gain: \"-0.5\", }; s = { kind: \"sink\", };
        i.1 -> g.1 -> s.1;";
    let mut playing = Playing::of(text);
    let bound = playing.engine.graph().id_bound();
    let mut heard = 0;
    for _ in 0..5 {
        let mut tap = playing.engine.add_tap("g", "out").unwrap();
        playing.play(SETTLED);
        tap.read(|samples| heard += samples.iter().filter(|x| **x != 0.0).count());
        playing.engine.remove_tap(&tap).unwrap();
        playing.play(SETTLED);
    }
    assert!(heard > 5 * BLOCK, "{heard}");
    assert_eq!(playing.engine.graph().id_bound(), bound + 1);
    let place = || Edit::Place(NodeId(bound as u32), gain("late".to_owned(), 0.5));
    assert!(playing.engine.edit([place()]).is_err());
    playing.assert_as_afresh();
}

#[test]
fn an_edit_that_turns_a_chain_round_fades_in_two_steps() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let text = "i = { kind: \"input\", }; a = { kind: \"gain\", gain: 0.5, }; b = { kind: \"gain\", gain: \"-0.5\", };
        s = { kind: \"sink\", }; i.1 -> a.1 -> b.1 -> s.1;";
    let mut playing = Playing::of(text);
    let edits = [
        playing.disconnect("i", "a"),
        playing.disconnect("a", "b"),
        playing.disconnect("b", "s"),
        playing.connect("i", "b"),
        playing.connect("b", "a"),
        playing.connect("a", "s"),
    ];
    playing.edit(edits);
    playing.assert_as_afresh();
    assert!(playing.max > 0.2);
}

#[test]
fn a_signal_and_its_negative_cancel_across_every_swap() {
    let _shared = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    for (scheduler, workers) in schedulers() {
        let text = "i = { kind: \"input\", }; p = { kind: \"gain\", gain: 1, }; n = { kind: \"gain\", gain: \"-1\", };
            m = { kind: \"mix\", in: 2, out: 1, }; s = { kind: \"sink\", }; i.1 -> p.1; i.1 -> n.1;
            p.1 -> m.1 -> s.1; n.1 -> m.2;";
        let mut playing = Playing::new(fixtures::graph(text, &kinds()), scheduler, workers);
        let mut rng = Rng(3);
        let mut swaps = 0;
        for round in 0..60 {
            let mut edits = Vec::new();
            let first = playing.engine.graph().id_bound() as u32;
            let volume = rng.below(100) as f64 / 50.0 - 1.0;
            for (at, path) in (0..).zip(["p", "n"]) {
                let added = NodeId(first + u32::from(at));
                let name = format!("{path}{round}");
                edits.push(Edit::Add(gain(name, volume)));
                let mut new = edge(playing.id(path), added);
                edits.push(Edit::Connect(new));
                new = edge(added, playing.id("m"));
                new.to.port = at;
                edits.push(Edit::Connect(new));
                let old = playing
                    .engine
                    .graph()
                    .find(&format!("{path}{}", round - rounds_before(round)));
                edits.extend(old.filter(|_| round > 2).map(Edit::Remove));
            }
            swaps += usize::from(playing.engine.edit(edits).is_ok());
            assert!(playing.play(1 + rng.below(30)).iter().all(|x| *x == 0.0));
        }
        assert!(swaps > 30, "{scheduler}: {swaps}");
    }
}

/// By how many rounds a removed node is older than the round that removes it.
fn rounds_before(round: i32) -> i32 {
    1 + round % 2
}

fn schedulers() -> [(Scheduler, usize); 8] {
    [
        (Scheduler::Sequential, 1),
        (Scheduler::Hlfet, 2),
        (Scheduler::Etf, 2),
        (Scheduler::Cpfd, 2),
        (Scheduler::Stealing, 3),
        (Scheduler::Deadline, 2),
        (Scheduler::Global, 2),
        (Scheduler::Pipelined, 3),
    ]
}

/// A graph of `count` gains, each with at most two inputs, behind the device's input: no sound is louder than 1.
fn random_graph(rng: &mut Rng, count: usize) -> Graph {
    let mut graph = fixtures::graph(
        "i = { kind: \"input\", }; s = { kind: \"sink\", };",
        &kinds(),
    );
    let mut ids = vec![graph.find("i").unwrap()];
    for at in 0..count {
        let id = graph.add(gain(format!("g{at}"), 0.5)).unwrap();
        for _ in 0..1 + rng.below(2) {
            let recent = ids.len().saturating_sub(12);
            graph.connect(edge(ids[recent + rng.below(ids.len() - recent)], id));
        }
        ids.push(id);
    }
    let sink = graph.find("s").unwrap();
    graph.connect(edge(ids[count / 2], sink));
    graph.connect(edge(ids[8], sink));
    graph
}

/// Edits to `graph` by chance. They may fail, for instance where they close a cycle.
fn random_edits(rng: &mut Rng, graph: &Graph, round: usize) -> Vec<Edit> {
    let ids: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let gains: Vec<NodeId> = ids
        .into_iter()
        .filter(|id| graph.node(*id).unwrap().kind == "gain")
        .collect();
    let some = |rng: &mut Rng| gains[rng.below(gains.len())];
    let has_room = |to: NodeId| {
        graph
            .edges()
            .iter()
            .filter(|edge| edge.to.node == to)
            .count()
            < 2
    };
    let edges = graph.edges();
    let new = NodeId(graph.id_bound() as u32);
    let id = some(rng);
    match rng.below(8) {
        0 | 1 => {
            let (from, to) = (some(rng), some(rng));
            let mut edits = vec![
                Edit::Add(gain(format!("n{round}"), 0.5)),
                Edit::Connect(edge(from, new)),
            ];
            edits.extend(has_room(to).then(|| Edit::Connect(edge(new, to))));
            edits
        }
        2 if gains.len() > 250 => vec![Edit::Remove(id)],
        3 if has_room(id) => vec![Edit::Connect(edge(some(rng), id))],
        4 => {
            let gone = edges[rng.below(edges.len())];
            vec![
                Edit::Disconnect(gone.from, gone.to),
                Edit::Connect(edge(some(rng), gone.to.node)),
            ]
        }
        5 => vec![Edit::Enable(id, !graph.node(id).unwrap().enabled)],
        6 => {
            let was = graph
                .nodes()
                .find(|(_, node)| node.bypassed)
                .map(|(id, _)| Edit::Bypass(id, false));
            was.into_iter().chain([Edit::Bypass(id, true)]).collect()
        }
        _ => {
            let value = ParamValue::Number(rng.below(50) as f64 / 100.0);
            vec![
                Edit::Rename(id, format!("r{round}")),
                Edit::Set(id, "gain".to_owned(), value),
            ]
        }
    }
}

/// Makes `rounds` edits by chance to a graph of 300 nodes that plays under every executor.
fn stress(seed: u64, rounds: usize) {
    let mut rng = Rng(seed);
    let graph = random_graph(&mut rng, 300);
    let mut all =
        schedulers().map(|(scheduler, workers)| Playing::new(graph.clone(), scheduler, workers));
    let mut made = 0;
    let before = audio_calls();
    for it in &mut all {
        it.play(6 * SETTLED);
    }
    // Loudest sample of each in the last round: a fade begins there.
    let mut loudest = all.each_ref().map(|it| it.max);
    for round in 0..rounds {
        let edits = random_edits(&mut rng, all[0].engine.graph(), round);
        // The pipeline swaps later, so all wait for it.
        let results = all
            .iter_mut()
            .map(|it| it.engine.edit(edits.clone()).is_ok());
        let results: Vec<bool> = results.collect();
        assert!(
            results.iter().all(|it| *it == results[0]),
            "{results:?} of {edits:?}"
        );
        made += usize::from(results[0]);
        (all.iter_mut()).for_each(|it| (it.max, it.max_step) = (0.0, 0.0));
        let mut outputs = all.iter_mut().map(|it| it.play(SETTLED + 20));
        let first = outputs.next().unwrap();
        for (output, (scheduler, _)) in outputs.zip(&schedulers()[1..]) {
            let is_late = *scheduler == Scheduler::Pipelined;
            assert!(
                is_late || output == first,
                "{scheduler}, seed {seed}, round {round}"
            );
        }
        for ((it, loudest), (scheduler, _)) in all.iter().zip(&mut loudest).zip(schedulers()) {
            // Two connections fade behind each other at most, or a gain moves in 5 ms.
            let (step, most) = (it.max_step, it.max.max(*loudest));
            assert!(
                step <= 1.01 * FADED_STEP * most + 1e-7,
                "{scheduler}, seed {seed}, round {round}: a step of {step}, at most {most}: {edits:?}"
            );
            *loudest = it.max;
        }
    }
    assert!(made * 2 > rounds, "{made} of {rounds}");
    assert_eq!(
        audio_calls(),
        before,
        "a thread that plays allocated or freed"
    );
    for (playing, (scheduler, _)) in all.iter_mut().zip(schedulers()) {
        assert_eq!(
            playing.calls, 0,
            "{scheduler}: the callback allocated or freed"
        );
        playing.assert_as_afresh();
    }
    for (playing, schedule) in all.into_iter().zip(schedulers()) {
        assert_holds_as_afresh(playing, schedule);
    }
}

/// What plays holds as many allocations as one that plays the same graph from the start.
fn assert_holds_as_afresh(mut playing: Playing, (scheduler, workers): (Scheduler, usize)) {
    playing.let_go();
    let held = |playing: Playing| {
        let before = live();
        drop(playing);
        before - live()
    };
    let mut afresh = Playing::new(playing.engine.graph().clone(), scheduler, workers);
    afresh.let_go();
    let (held, needed) = (held(playing), held(afresh));
    assert!(
        held <= needed + MARGIN,
        "{scheduler}: {held} allocations, and {needed} afresh"
    );
}

#[test]
fn edits_by_chance_leave_no_click_no_allocation_and_no_leak() {
    let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
    stress(1, 24);
}

#[test]
#[ignore = "the long tier: 8000 edits under each of eight executors take seven minutes; DIVISI_EDITS says how many, DIVISI_SEED which"]
fn many_edits_by_chance_leave_no_click_no_allocation_and_no_leak() {
    let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let edits: usize = number("DIVISI_EDITS").unwrap_or(8000);
    let first = number("DIVISI_SEED").unwrap_or(0);
    for seed in (first..).take(edits.div_ceil(1000)) {
        stress(seed as u64, 1000.min(edits));
    }
}
