//! Cost of a swap, counted in instructions: on the audio thread, whatever the number of nodes that stay.

// An instrumented program does not run under valgrind, and its instructions are others.
#![cfg(not(tsan))]

use divisi_check::fixtures::skip;
use divisi_check::test_bench::registry;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{Catalogue, Edge, Edit, Graph, Node, NodeId, ParamValue, PortRef, SourceSpan};
use processor::Mode;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Frames, Nanos, SampleRate};

/// Environment variable for the run under valgrind: cases of scheduler, number of nodes and 1 for sound, with commas between.
/// Without sound all nodes sleep.
const CASES: &str = "DIVISI_COUNTED_SWAPS";
/// A part is played with swaps and without.
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
    let cases = std::env::var(CASES).unwrap_or_default();
    for case in cases.split_terminator(',') {
        play_and_swap(case);
    }
}

/// Three counted parts: until the engine is settled, without swaps, and with them.
fn play_and_swap(case: &str) {
    let words: Vec<&str> = case.split(' ').collect();
    let [scheduler, nodes, sounds] = words[..] else {
        panic!("{case}");
    };
    let graph = chains(nodes.parse().unwrap(), sounds == "1");
    let (mut engine, mut callback) = engine_of(graph, scheduler, 1, Nanos(0));
    let node = engine.graph().find("g0").unwrap();
    for swaps in [0, 0, SWAPS] {
        for cycle in 0..CYCLES {
            if cycle % 3 == 0 && cycle / 3 < swaps {
                let renamed = Edit::Rename(node, format!("g{cycle}.new"));
                engine.edit([renamed]).unwrap();
            }
            play(&mut engine, &mut callback);
        }
        assert_eq!(engine.swap_frame() > 0, swaps > 0);
        end_of_part();
    }
}

fn engine_of(
    graph: Graph,
    scheduler: &str,
    workers: usize,
    edit_fade: Nanos,
) -> (Engine, EngineCallback) {
    let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
    options.mode = Mode::Offline;
    options.scheduler = scheduler.parse::<Scheduler>().unwrap();
    (options.workers, options.edit_fade) = (workers, edit_fade);
    Engine::new(graph, Arc::new(registry()), options).unwrap()
}

/// Marks the point at which callgrind writes its counts and begins anew. A function of its own, for that.
#[inline(never)]
fn end_of_part() {
    std::hint::black_box(());
}

/// Instructions of `function` in each part that `test` plays. `None` if there is no valgrind.
///
/// All cases are one run: to start a program under valgrind takes longer than most cases.
fn instructions(test: &str, cases: (&str, &str), function: &str) -> Option<Vec<u64>> {
    // Tests of this file run side by side.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let number = RUNS.fetch_add(1, Ordering::SeqCst);
    let name = format!("divisi-swap-cost-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("counts");
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind");
    valgrind.arg(format!("--callgrind-out-file={}", file.display()));
    valgrind.arg(format!("--toggle-collect={function}"));
    valgrind.arg("--dump-after=*end_of_part*");
    valgrind.arg(std::env::current_exe().unwrap());
    valgrind.args(["--exact", test, "--ignored"]);
    let output = valgrind.env(cases.0, cases.1).output();
    let parts = (1..).map_while(|part| {
        let text = std::fs::read_to_string(folder.join(format!("counts.{part}"))).ok()?;
        let mut lines = text.lines();
        let total = lines.find_map(|line| line.strip_prefix("totals: "));
        Some(total.map_or(0, |count| count.trim().parse().unwrap()))
    });
    let parts: Vec<u64> = parts.collect();
    std::fs::remove_dir_all(&folder).unwrap();
    let output = output.ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(parts)
}

/// Instructions of a swap on the audio thread in each case: of a cycle with one, less those of a cycle without.
fn of_swaps(cases: &[String]) -> Option<Vec<u64>> {
    let function = "*EngineCallback*process*";
    let parts = instructions("plays_and_swaps", (CASES, &cases.join(",")), function)?;
    assert_eq!(parts.len(), 3 * cases.len(), "{parts:?}");
    let swaps = parts.chunks(3).zip(cases).map(|(parts, case)| {
        let one = parts[2].saturating_sub(parts[1]) / SWAPS as u64;
        eprintln!("{case} (scheduler, nodes, sound): {one} instructions a swap");
        assert!(parts[1] > 0, "{case}: nothing was counted");
        one
    });
    Some(swaps.collect())
}

const SCHEDULERS: [&str; 5] = ["sequential", "hlfet", "cpfd", "stealing", "deadline"];

/// In graphs of each of these sizes a swap costs what it does in the first.
fn costs_a_swap_little(name: &str, sizes: [usize; 2]) {
    let case = |scheduler: &str, nodes| format!("{scheduler} {nodes} 1");
    let cases = SCHEDULERS.map(|it| sizes.map(|nodes| case(it, nodes)));
    let Some(swaps) = of_swaps(cases.as_flattened()) else {
        return skip(name, "valgrind is not there");
    };
    for (scheduler, of_count) in SCHEDULERS.iter().zip(swaps.chunks(2)) {
        let (few, many) = (of_count[0], of_count[1]);
        assert!(few.max(many) <= MAX_INSTRUCTIONS, "{scheduler}: {swaps:?}");
        assert!(many <= few + 100, "{scheduler}: {swaps:?}");
    }
}

#[test]
fn a_swap_costs_the_audio_thread_little_however_many_nodes_stay() {
    let name = "a_swap_costs_the_audio_thread_little_however_many_nodes_stay";
    costs_a_swap_little(name, [250, 1000]);
}

#[test]
#[ignore = "the long tier: it takes a minute to make and play such graphs under valgrind"]
fn a_swap_costs_the_audio_thread_no_more_in_a_graph_of_5000_nodes() {
    let name = "a_swap_costs_the_audio_thread_no_more_in_a_graph_of_5000_nodes";
    costs_a_swap_little(name, [500, 5000]);
}

#[test]
fn a_swap_leaves_nodes_at_rest_asleep() {
    let case = |scheduler: &str| [100, 500].map(|nodes| format!("{scheduler} {nodes} 0"));
    let cases = ["sequential", "stealing"].map(case);
    let Some(swaps) = of_swaps(cases.as_flattened()) else {
        return skip(
            "a_swap_leaves_nodes_at_rest_asleep",
            "valgrind is not there",
        );
    };
    for of_count in swaps.chunks(2) {
        // A node that runs on silence takes more; this is the look at its mark, and the first mark of its slot.
        assert!(of_count[1] <= of_count[0] + 400 * 80, "{swaps:?}");
    }
}

/// Environment variable for the run under valgrind: cases of scheduler and number of nodes, with commas between.
const EDIT_CASES: &str = "DIVISI_COUNTED_EDITS";

#[test]
#[ignore = "run by the tests below, under valgrind"]
fn edits_ten_times() {
    let cases = std::env::var(EDIT_CASES).unwrap_or_default();
    for case in cases.split_terminator(',') {
        edit_ten_times(case);
        end_of_part();
    }
}

fn edit_ten_times(case: &str) {
    let (scheduler, nodes) = case.split_once(' ').unwrap();
    let graph = chains(nodes.parse().unwrap(), false);
    let fade = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap()).edit_fade;
    let (mut engine, mut callback) = engine_of(graph, scheduler, 2, fade);
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

/// Ten edits at once, and what follows from them on the control thread, take a number of instructions that grows as the graph
/// does, and by at most 1.4 times that.
fn edits_grow_as_the_graph_does(name: &str, sizes: [usize; 2]) {
    let schedulers = ["sequential", "etf", "stealing"];
    let cases = schedulers.map(|it| sizes.map(|nodes| format!("{it} {nodes}")));
    let cases = cases.as_flattened();
    let Some(counts) = instructions(
        "edits_ten_times",
        (EDIT_CASES, &cases.join(",")),
        "*control_side*",
    ) else {
        return skip(name, "valgrind is not there");
    };
    assert_eq!(counts.len(), cases.len(), "{counts:?}");
    eprintln!("instructions for ten edits: {cases:?} {counts:?}");
    let growth = sizes[1] as f64 / sizes[0] as f64;
    for (scheduler, of_count) in schedulers.iter().zip(counts.chunks(2)) {
        let most = 1.4 * growth * of_count[0] as f64;
        assert!(of_count[1] as f64 <= most, "{scheduler}: {counts:?}");
    }
}

#[test]
fn what_ten_edits_cost_grows_as_the_graph_does() {
    let name = "what_ten_edits_cost_grows_as_the_graph_does";
    edits_grow_as_the_graph_does(name, [250, 1000]);
}

#[test]
#[ignore = "the long tier: it takes a minute to make and edit such graphs under valgrind"]
fn what_ten_edits_cost_grows_as_a_graph_of_5000_nodes_does() {
    let name = "what_ten_edits_cost_grows_as_a_graph_of_5000_nodes_does";
    edits_grow_as_the_graph_does(name, [500, 5000]);
}
