//! Cost of a swap, counted in instructions: on the audio thread, whatever the number of nodes that stay.

use divisi_check::fixtures::skip;
use divisi_check::test_bench::registry;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{Catalogue, Edge, Edit, Graph, Node, NodeId, ParamValue, PortRef, SourceSpan};
use processor::Mode;
use std::process::Command;
use std::sync::Arc;
use units::{Frames, Nanos, SampleRate};

/// Environment variable for the run under valgrind: scheduler, number of nodes, number of swaps, 1 for sound. Without sound
/// all nodes sleep.
const CASE: &str = "DIVISI_COUNTED_SWAPS";
const CYCLES: usize = 16;
const SWAPS: usize = 4;
/// Most instructions of a swap on the audio thread: 5 µs at one instruction in a cycle of 2 GHz.
const MAX_INSTRUCTIONS: u64 = 10_000;

/// Gains behind each other, in chains of ten that begin at one source.
fn chains(count: usize, sounds: bool) -> Graph {
    let registry = registry();
    let mut graph = Graph::default();
    let mut add = |name: String, kind: &str, param: Option<(&str, f64)>| {
        let mut node = Node::new(name, kind);
        if let Some((key, value)) = param {
            node.set(key, ParamValue::Number(value));
        }
        let kind = registry.catalogue().get(kind).unwrap();
        assert!(Catalogue::assign_ports(kind, &mut node).is_empty());
        graph.add(node).unwrap()
    };
    let source = match sounds {
        true => add("source".into(), "noise", None),
        false => add("source".into(), "gain", None),
    };
    let gains: Vec<NodeId> = (0..count)
        .map(|at| add(format!("g{at}"), "gain", Some(("gain", 0.01))))
        .collect();
    let sink = add("sink".into(), "sink", None);
    for chain in gains.chunks(10) {
        let mut from = source;
        for gain in chain {
            graph.connect(edge(from, *gain));
            from = *gain;
        }
        graph.connect(edge(from, sink));
    }
    graph
}

fn edge(from: NodeId, to: NodeId) -> Edge {
    let port = |node| PortRef { node, port: 0 };
    let span = SourceSpan::NONE;
    let (from, to) = (port(from), port(to));
    Edge { from, to, span }
}

#[test]
#[ignore = "run by the tests below, under valgrind"]
fn plays_and_swaps() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    let words: Vec<&str> = case.split(' ').collect();
    let [scheduler, nodes, swaps, sounds] = words[..] else {
        panic!("{case}");
    };
    let graph = chains(nodes.parse().unwrap(), sounds == "1");
    let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
    options.mode = Mode::Offline;
    options.scheduler = scheduler.parse::<Scheduler>().unwrap();
    options.workers = 1;
    options.edit_fade = Nanos(0);
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry()), options).unwrap();
    let swaps: usize = swaps.parse().unwrap();
    let node = engine.graph().find("g0").unwrap();
    for cycle in 0..CYCLES {
        // From the fourth cycle on, every third.
        if cycle >= 4 && cycle % 3 == 0 && (cycle - 4) / 3 < swaps {
            let renamed = Edit::Rename(node, format!("g{cycle}.new"));
            engine.edit([renamed]).unwrap();
        }
        play(&mut engine, &mut callback);
    }
    assert_eq!(engine.swap_frame() > 0, swaps > 0);
}

/// Instructions of all callbacks of a case. `None` if there is no valgrind.
fn instructions(case: &str) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg("--toggle-collect=*EngineCallback*process*");
    valgrind.arg(std::env::current_exe().unwrap());
    valgrind.args(["--exact", "plays_and_swaps", "--ignored"]);
    let output = valgrind.env(CASE, case).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut lines = said.lines();
    let collected = lines.find_map(|line| line.split_once("Collected : "));
    collected.expect("callgrind counts").1.trim().parse().ok()
}

/// Instructions of a swap on the audio thread: of a cycle with one, less those of a cycle without.
fn of_a_swap(scheduler: &str, nodes: usize, sounds: bool) -> Option<u64> {
    let sounds = u8::from(sounds);
    let with = instructions(&format!("{scheduler} {nodes} {SWAPS} {sounds}"))?;
    let without = instructions(&format!("{scheduler} {nodes} 0 {sounds}"))?;
    let one = with.saturating_sub(without) / SWAPS as u64;
    eprintln!("{scheduler}, {nodes} nodes, sound {sounds}: {one} instructions a swap");
    Some(one)
}

#[test]
fn a_swap_costs_the_audio_thread_little_however_many_nodes_stay() {
    for scheduler in ["sequential", "hlfet", "cpfd", "stealing", "deadline"] {
        let of_count = [100, 500, 5000].map(|nodes| of_a_swap(scheduler, nodes, true));
        let [Some(few), Some(some), Some(many)] = of_count else {
            let name = "a_swap_costs_the_audio_thread_little_however_many_nodes_stay";
            return skip(name, "valgrind is not there");
        };
        let most = few.max(some).max(many);
        assert!(most <= MAX_INSTRUCTIONS, "{scheduler}: {of_count:?}");
        assert!(many <= some + 100, "{scheduler}: {of_count:?}");
    }
}

#[test]
fn a_swap_leaves_nodes_at_rest_asleep() {
    for scheduler in ["sequential", "stealing"] {
        let [Some(some), Some(more)] = [100, 500].map(|nodes| of_a_swap(scheduler, nodes, false))
        else {
            let name = "a_swap_leaves_nodes_at_rest_asleep";
            return skip(name, "valgrind is not there");
        };
        // A node that runs on silence takes more; this is the look at its mark, and the first mark of its slot.
        assert!(more <= some + 400 * 80, "{scheduler}: {some}, {more}");
    }
}

/// Environment variable for the run under valgrind: scheduler and number of nodes.
const EDIT_CASE: &str = "DIVISI_COUNTED_EDITS";

#[test]
#[ignore = "run by the test below, under valgrind"]
fn edits_ten_times() {
    let Ok(case) = std::env::var(EDIT_CASE) else {
        return;
    };
    let (scheduler, nodes) = case.split_once(' ').unwrap();
    let graph = chains(nodes.parse().unwrap(), false);
    let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
    options.mode = Mode::Offline;
    options.scheduler = scheduler.parse::<Scheduler>().unwrap();
    options.workers = 2;
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry()), options).unwrap();
    for _ in 0..3 {
        play(&mut engine, &mut callback);
    }
    let edges = engine.graph().edges();
    let edits = edges.iter().step_by(edges.len() / 10).take(10);
    let edits: Vec<Edit> = edits.map(|it| Edit::Disconnect(it.from, it.to)).collect();
    control_side(&mut engine, Some(edits));
    // Until the fades, and the swap behind them, are over.
    while engine.is_swapping() || engine.position() < 3000 {
        let mut left = [0.0; 64];
        callback.process(CallbackInfo::default(), &[], &mut [&mut left]);
        control_side(&mut engine, None);
    }
}

/// The work of the control thread. A function of its own, for valgrind.
#[inline(never)]
fn control_side(engine: &mut Engine, edits: Option<Vec<Edit>>) {
    match edits {
        Some(edits) => {
            engine.edit(edits).unwrap();
        }
        None => engine.update(),
    }
}

fn play(engine: &mut Engine, callback: &mut EngineCallback) {
    let mut left = [0.0; 64];
    callback.process(CallbackInfo::default(), &[], &mut [&mut left]);
    engine.update();
}

/// Instructions of ten edits at once and of what follows from them on the control thread. `None` if there is no valgrind.
fn of_ten_edits(scheduler: &str, nodes: usize) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg("--toggle-collect=*control_side*");
    valgrind.arg(std::env::current_exe().unwrap());
    valgrind.args(["--exact", "edits_ten_times", "--ignored"]);
    let case = format!("{scheduler} {nodes}");
    let output = valgrind.env(EDIT_CASE, &case).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut lines = said.lines();
    let collected = lines.find_map(|line| line.split_once("Collected : "));
    let count = collected.expect("callgrind counts").1.trim().parse().ok()?;
    eprintln!("{case} nodes: {count} instructions for ten edits");
    Some(count)
}

#[test]
fn what_ten_edits_cost_grows_as_the_graph_does() {
    for scheduler in ["sequential", "etf", "stealing"] {
        let of_count = [500, 5000].map(|nodes| of_ten_edits(scheduler, nodes));
        let [Some(some), Some(many)] = of_count else {
            let name = "what_ten_edits_cost_grows_as_the_graph_does";
            return skip(name, "valgrind is not there");
        };
        assert!(many <= 14 * some, "{scheduler}: {some}, then {many}");
    }
}
