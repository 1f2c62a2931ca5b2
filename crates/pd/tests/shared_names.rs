//! Patches of one session share their names, as in Pd, and every executor gives the same bits.

use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::{Edge, Edit, Graph, Node, NodeId, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use units::{Channels, Frames, SampleRate};

/// Sends notes, takes the sum of a bus and hears a line; prints what comes back, and its own numbers.
const FIRST: &str = "#N canvas 0 0 450 300 12;
#X obj 0 0 metro 20;
#X obj 0 0 f 1;
#X obj 0 0 + 1;
#X obj 0 0 s note;
#X obj 0 0 loadbang;
#X obj 0 0 catch~ bus;
#X obj 0 0 dac~;
#X obj 0 0 r~ line;
#X msg 0 0 1;
#X obj 0 0 table tab 100;
#X obj 0 0 print a;
#X obj 0 0 r back;
#X obj 0 0 snapshot~;
#X obj 0 0 print a-line;
#X obj 0 0 value shared;
#X obj 0 0 print a-value;
#X msg 0 0 \\; at-load first;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 2 0 1 1;
#X connect 1 0 3 0;
#X connect 4 0 16 0;
#X connect 4 0 8 0;
#X connect 8 0 0 0;
#X connect 5 0 6 0;
#X connect 7 0 6 1;
#X connect 11 0 10 0;
#X connect 7 0 12 0;
#X connect 0 0 12 0;
#X connect 12 0 13 0;
#X connect 0 0 14 0;
#X connect 14 0 15 0;
";

/// Plays the notes on the bus and the line, from an array of the first; sends back and sets a value.
const SECOND: &str = "#N canvas 0 0 450 300 12;
#X obj 0 0 r note;
#X obj 0 0 * 110;
#X obj 0 0 osc~;
#X obj 0 0 throw~ bus;
#X obj 0 0 s~ line;
#X obj 0 0 value shared;
#X obj 0 0 s back;
#X msg 0 0 \\; back hello;
#X obj 0 0 loadbang;
#X obj 0 0 r note;
#X obj 0 0 tabread tab;
#X obj 0 0 r at-load;
#X obj 0 0 print b-load;
#X obj 0 0 snapshot~;
#X obj 0 0 print b-line;
#X obj 0 0 tabwrite tab;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 2 0 3 0;
#X connect 2 0 4 0;
#X connect 2 0 13 0;
#X connect 0 0 13 0;
#X connect 13 0 14 0;
#X connect 0 0 5 0;
#X connect 0 0 15 0;
#X connect 9 0 10 0;
#X connect 10 0 6 0;
#X connect 8 0 7 0;
#X connect 11 0 12 0;
";

/// Writes an array, a delay line and a text; reads the array, the line and the text of the other.
const THINGS: &str = "#N canvas 0 0 450 300 12;
#X obj 0 0 loadbang;
#X obj 0 0 metro 10;
#X obj 0 0 f 1;
#X obj 0 0 + 1;
#X obj 0 0 t f f f;
#X obj 0 0 mod 64;
#X obj 0 0 tabwrite tab;
#X obj 0 0 table tab 64;
#X obj 0 0 text define words;
#X obj 0 0 osc~ 331;
#X obj 0 0 delwrite~ line 100;
#X obj 0 0 delread~ back 20;
#X obj 0 0 dac~;
#X obj 0 0 phasor~ 30;
#X obj 0 0 *~ 64;
#X obj 0 0 tabread~ wave;
#X obj 0 0 snapshot~;
#X obj 0 0 print a-wave;
#X msg 0 0 0;
#X obj 0 0 text get words;
#X obj 0 0 print a-text;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 1 0 16 0;
#X connect 1 0 18 0;
#X connect 2 0 3 0;
#X connect 3 0 2 1;
#X connect 2 0 4 0;
#X connect 4 1 5 0;
#X connect 5 0 6 1;
#X connect 4 0 6 0;
#X connect 9 0 10 0;
#X connect 11 0 12 0;
#X connect 13 0 14 0;
#X connect 14 0 15 0;
#X connect 15 0 12 1;
#X connect 15 0 16 0;
#X connect 16 0 17 0;
#X connect 18 0 19 0;
#X connect 19 0 20 0;
";

/// Has the other array, line and words.
const OTHER_THINGS: &str = "#N canvas 0 0 450 300 12;
#X obj 0 0 loadbang;
#X obj 0 0 metro 15;
#X obj 0 0 f 1;
#X obj 0 0 + 1;
#X msg 0 0 list word \\$1;
#X obj 0 0 text set words 0;
#X obj 0 0 delread~ line 10;
#X obj 0 0 *~ 0.5;
#X obj 0 0 delwrite~ back 100;
#X obj 0 0 dac~ 1;
#X obj 0 0 table wave 64;
#X obj 0 0 tabwrite~ wave;
#X obj 0 0 osc~ 70;
#X obj 0 0 tabread tab;
#X obj 0 0 print b-tab;
#X obj 0 0 snapshot~;
#X obj 0 0 print b-line;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 1 0 11 0;
#X connect 1 0 15 0;
#X connect 2 0 3 0;
#X connect 3 0 2 1;
#X connect 2 0 4 0;
#X connect 4 0 5 0;
#X connect 2 0 13 0;
#X connect 13 0 14 0;
#X connect 6 0 7 0;
#X connect 7 0 8 0;
#X connect 6 0 9 0;
#X connect 12 0 11 0;
#X connect 6 0 15 0;
#X connect 15 0 16 0;
";

/// A folder of its own.
fn folder(name: &str) -> PathBuf {
    folder_of(name, FIRST, SECOND)
}

fn folder_of(name: &str, first: &str, second: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("divisi-names-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join("a.pd"), first).expect("writable");
    fs::write(folder.join("b.pd"), second).expect("writable");
    folder
}

/// A patch with two channels each way.
fn patch(path: &Path, name: &str) -> Node {
    let mono = |name: String| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new(name, "pd");
    node.set("file", ParamValue::from(path.to_str().expect("a name")));
    node.inputs = vec![Port::new("midi", Signal::Event)];
    node.outputs = node.inputs.clone();
    let ports = || (1..3).map(|at| mono(format!("port{at}")));
    node.inputs.extend(ports());
    node.outputs.extend(ports());
    node
}

fn connect(graph: &mut Graph, (from, a): (NodeId, u16), (to, b): (NodeId, u16)) {
    let port = |node, port| PortRef { node, port };
    let (from, to, span) = (port(from, a), port(to, b), SourceSpan::NONE);
    graph.connect(Edge { from, to, span });
}

/// The first patch between sinks and the second, which `names` says.
fn graph(folder: &Path, names: &str, is_chained: bool) -> (Graph, NodeId) {
    let mut graph = Graph::default();
    let first = graph.add(patch(&folder.join("a.pd"), "a")).expect("new");
    let mut node = patch(&folder.join("b.pd"), "b");
    node.set("names", ParamValue::from(names));
    let second = graph.add(node).expect("new");
    for (from, port) in [(first, 1), (first, 2), (second, 1), (second, 2)] {
        let mut sink = Node::new(format!("sink{}{port}", from.0), "sink");
        sink.inputs = vec![Port::new("in", Signal::Audio(Channels(1)))];
        let sink = graph.add(sink).expect("new");
        connect(&mut graph, (from, port), (sink, 0));
    }
    if is_chained {
        connect(&mut graph, (first, 1), (second, 1));
    }
    (graph, second)
}

/// Printed lines, by node.
type Lines = Arc<Mutex<Vec<String>>>;

fn start(
    graph: Graph,
    (scheduler, workers, fuse): (Scheduler, usize, bool),
) -> (Engine, engine::EngineCallback, Lines) {
    let lines = Lines::default();
    let heard = lines.clone();
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    divisi_pd::register(&mut registry);
    registry.set_console(Arc::new(move |node, line| {
        heard
            .lock()
            .expect("no panic")
            .push(format!("{node} {line}"));
    }));
    let rate = SampleRate::new(44_100).expect("not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = Mode::Offline;
    options.scheduler = scheduler;
    options.workers = workers;
    options.use_all_workers = true;
    options.fuse = fuse;
    let (engine, callback) =
        Engine::new(graph, Arc::new(registry), options).expect("the patches play");
    (engine, callback, lines)
}

fn play(callback: &mut impl AudioCallback, blocks: usize) -> Vec<f32> {
    let mut sound = Vec::new();
    for _ in 0..blocks {
        let mut outputs = [[0.0; 64]; 4];
        let mut channels: Vec<&mut [f32]> = outputs.iter_mut().map(|it| &mut it[..]).collect();
        callback.process(CallbackInfo::default(), &[], &mut channels);
        sound.extend(outputs.iter().flatten());
    }
    sound
}

/// Sound, and lines of each patch in their order.
fn played(
    graph: Graph,
    way: (Scheduler, usize, bool),
    blocks: usize,
) -> (Vec<u32>, [Vec<String>; 2]) {
    let (mut engine, mut callback, lines) = start(graph, way);
    let late = engine.pipeline_latency() as usize / 64;
    let sound = play(&mut callback, blocks + late).split_off(late * 256);
    engine.update();
    assert_eq!(engine.quarantined(), [] as [String; 0], "{way:?}");
    drop((callback, engine));
    let lines = lines.lock().expect("no panic").clone();
    let of = |node: &str| {
        let own = lines.iter().filter_map(|line| line.strip_prefix(node));
        own.map(str::to_owned).collect()
    };
    let sound = sound.into_iter().map(f32::to_bits).collect();
    (sound, [of("a "), of("b ")])
}

const ALONE: (Scheduler, usize, bool) = (Scheduler::Sequential, 1, false);

/// Compares what the patches of a folder print with what the real Pd prints. Gives the lines.
fn compare_with_pd(folder: &Path, test: &str) -> [Vec<String>; 2] {
    let end = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd dsp 1;\n#X obj 0 0 delay 200;\n\
               #X msg 0 0 \\; pd quit;\n#X connect 0 0 1 0;\n#X connect 0 0 2 0;\n#X connect 2 0 3 0;\n";
    fs::write(folder.join("end.pd"), end).expect("writable");
    let said = Command::new("pd")
        .args(["-nogui", "-noprefs", "-batch", "-noaudio", "-stderr"])
        .args(["a.pd", "b.pd", "end.pd"].map(|name| folder.join(name)))
        .stdin(Stdio::null())
        .output();
    // 200 ms, and the rest of a block.
    let (_, lines) = played(graph(folder, "shared", false).0, ALONE, 137);
    fs::remove_dir_all(folder).expect("ours");
    let Ok(said) = said else {
        println!("SKIPPED {test}: needs puredata-core");
        return lines;
    };
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    for (patch, lines) in ["a", "b"].iter().zip(&lines) {
        // Pd's mistakes do not say in which patch they are.
        let ours = lines.iter().filter(|line| !line.starts_with("error"));
        let own = said.lines().filter(|line| line.starts_with(patch));
        assert_eq!(Vec::from_iter(ours), Vec::from_iter(own), "{said}");
    }
    lines
}

#[test]
fn patches_share_their_names_as_in_pd() {
    let lines = compare_with_pd(&folder("pd"), "patches_share_their_names_as_in_pd");
    assert!(lines[0].iter().any(|line| line == "a: hello"), "{lines:?}");
}

#[test]
fn patches_share_arrays_texts_and_delay_lines_as_in_pd() {
    let folder = folder_of("things", THINGS, OTHER_THINGS);
    let test = "patches_share_arrays_texts_and_delay_lines_as_in_pd";
    let lines = compare_with_pd(&folder, test);
    let has = |patch: usize, line: &str| lines[patch].iter().any(|it| it == line);
    assert!(
        has(0, "a-text: list word 5") && has(1, "b-tab: 5"),
        "{lines:?}"
    );
    let moves = |patch: usize, start: &str| {
        let own = lines[patch].iter().filter(|line| line.starts_with(start));
        own.collect::<std::collections::BTreeSet<_>>().len() > 5
    };
    assert!(moves(0, "a-wave:") && moves(1, "b-line:"), "{lines:?}");
}

#[test]
fn every_executor_gives_the_bits_of_one_thread() {
    let folders = [
        folder("bits"),
        folder_of("bits-things", THINGS, OTHER_THINGS),
    ];
    for (folder, is_chained) in [(0, false), (0, true), (1, false), (1, true)] {
        let folder = &folders[folder];
        let graph = || graph(folder, "shared", is_chained).0;
        let expected = played(graph(), ALONE, 150);
        let is_heard = expected.0.iter().filter(|bits| **bits != 0).count();
        assert!(is_heard > 10_000, "{is_heard}");
        for way in [
            (Scheduler::Sequential, 1, true),
            (Scheduler::Stealing, 3, true),
            (Scheduler::Etf, 2, false),
            (Scheduler::Global, 2, false),
            (Scheduler::Pipelined, 2, true),
        ] {
            let found = played(graph(), way, 150);
            assert!(expected.0 == found.0, "{way:?} {is_chained}");
            assert_eq!(expected.1, found.1, "{way:?}");
        }
    }
    for folder in folders {
        fs::remove_dir_all(folder).expect("ours");
    }
}

#[test]
fn a_patch_with_names_of_its_own_reaches_no_other() {
    let folder = folder("own");
    let (sound, lines) = played(graph(&folder, "own", false).0, ALONE, 50);
    fs::remove_dir_all(&folder).expect("ours");
    assert!(sound.iter().all(|bits| *bits == 0));
    assert!(!lines[0].iter().any(|line| line == "a: hello"), "{lines:?}");
}

#[test]
fn a_patch_that_is_removed_is_silent_and_the_others_go_on() {
    let folder = folder("removed");
    let (graph, second) = graph(&folder, "shared", false);
    let (mut engine, mut callback, lines) = start(graph, ALONE);
    assert!(play(&mut callback, 60).iter().any(|x| *x != 0.0));
    engine.edit([Edit::Remove(second)]).expect("it can go");
    play(&mut callback, 60);
    engine.update();
    let before = play(&mut callback, 60);
    drop((callback, engine));
    fs::remove_dir_all(&folder).expect("ours");
    assert!(before.iter().all(|x| *x == 0.0));
    let lines = lines.lock().expect("no panic").clone();
    let count = |start: &str| lines.iter().filter(|it| it.starts_with(start)).count();
    assert!(count("a a-line:") > count("b b-line:"), "{lines:?}");
}
