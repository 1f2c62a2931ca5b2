//! Sub-patches of `pd~` as nodes: every executor gives the bits of one thread, and the prints of it.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::{Edge, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use units::{Channels, Frames, SampleRate};

/// Two sub-patches: one that waits for the sound of each block, one that is started three times and stopped. FIFO stands for numbers.
const MAIN: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 pd~ start -nogui child.pd;\n#X obj 0 0 pd~ -fifo FIFO1;\n\
    #X obj 0 0 phasor~ 300;\n#X obj 0 0 dac~;\n#X obj 0 0 print first;\n#X obj 0 0 pd~ -ninsig 1 -noutsig 1 -fifo FIFO2;\n\
    #X obj 0 0 print second;\n#X obj 0 0 metro 30;\n#X msg 0 0 pd~ start -nogui child.pd;\n#X obj 0 0 delay 110;\n#X msg 0 0 pd~ stop;\n\
    #X obj 0 0 metro 3;\n#X obj 0 0 random 100;\n#X msg 0 0 number \\$1;\n#X obj 0 0 osc~ 50;\n\
    #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 3 0 2 0;\n#X connect 2 1 4 0;\n#X connect 2 2 4 1;\n#X connect 2 0 5 0;\n\
    #X connect 3 0 6 0;\n#X connect 6 1 4 0;\n#X connect 6 0 7 0;\n#X connect 0 0 8 0;\n#X connect 8 0 9 0;\n#X connect 9 0 6 0;\n\
    #X connect 0 0 10 0;\n#X connect 10 0 11 0;\n#X connect 11 0 6 0;\n#X connect 0 0 12 0;\n#X connect 12 0 13 0;\n\
    #X connect 13 0 14 0;\n#X connect 14 0 2 0;\n#X connect 14 0 6 0;\n#X connect 15 0 4 1;\n";
const CHILD: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd dsp 1;\n#X obj 0 0 adc~;\n#X obj 0 0 *~ 0.5;\n\
    #X obj 0 0 dac~;\n#X obj 0 0 r number;\n#X obj 0 0 stdout;\n#X obj 0 0 sig~;\n#X obj 0 0 lop~ 100;\n#X obj 0 0 print got;\n\
    #X obj 0 0 metro 7;\n#X obj 0 0 random 1000;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n#X connect 5 0 6 0;\n\
    #X connect 5 0 7 0;\n#X connect 7 0 8 0;\n#X connect 8 0 4 1;\n#X connect 5 0 9 0;\n#X connect 0 0 10 0;\n#X connect 10 0 11 0;\n\
    #X connect 11 0 6 0;\n";

/// Blocks that are compared.
const BLOCKS: usize = 120;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, fifos: [u32; 2]) -> Self {
        let folder = std::env::temp_dir().join(format!("divisi-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder can be made");
        let main = MAIN.replace("FIFO1", &fifos[0].to_string());
        let main = main.replace("FIFO2", &fifos[1].to_string());
        fs::write(folder.join("main.pd"), main).expect("writable");
        fs::write(folder.join("child.pd"), CHILD).expect("writable");
        Self(folder)
    }

    fn main(&self) -> PathBuf {
        self.0.join("main.pd")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn graph(patch: &Path) -> Graph {
    let mut graph = Graph::default();
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new("main", "pd");
    node.set("file", ParamValue::from(patch.to_str().expect("a name")));
    node.inputs = vec![Port::new("midi", Signal::Event)];
    node.outputs = vec![Port::new("midi", Signal::Event), mono("out1"), mono("out2")];
    let patch = graph.add(node).expect("a new name");
    for channel in 1..3 {
        let mut sink = Node::new(format!("dac{channel}"), "sink");
        sink.inputs = vec![mono("in")];
        sink.set("channel", ParamValue::from(f64::from(channel)));
        let sink = graph.add(sink).expect("a new name");
        let port = |node, port| PortRef { node, port };
        let (from, to, span) = (port(patch, channel as u16), port(sink, 0), SourceSpan::NONE);
        graph.connect(Edge { from, to, span });
    }
    graph
}

/// Bits of both channels by blocks, and lines.
type Played = (Vec<u32>, Vec<String>);

fn alone(patch: &Path) -> Played {
    let _flush = rt::ftz::FlushToZero::enable();
    let loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    let (mut player, _) = PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    let mut bits = Vec::new();
    for _ in 0..BLOCKS {
        player.play(&[]);
        for channel in 0..2 {
            bits.extend(player.output(channel).iter().map(|sample| sample.to_bits()));
        }
    }
    (bits, player.take_console())
}

fn played(
    patch: &Path,
    mode: Mode,
    (scheduler, workers, fuse): (Scheduler, usize, bool),
) -> Played {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = lines.clone();
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    divisi_pd::register(&mut registry);
    registry.set_console(Arc::new(move |_, line| {
        heard.lock().expect("no panic").push(line.to_owned());
    }));
    let rate = SampleRate::new(44_100).expect("not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = mode;
    options.scheduler = scheduler;
    options.workers = workers;
    options.use_all_workers = true;
    options.fuse = fuse;
    let (mut engine, mut callback) =
        Engine::new(graph(patch), Arc::new(registry), options).expect("the patch plays");
    let late = engine.pipeline_latency() as usize / 64;
    let mut bits = Vec::new();
    for block in 0..BLOCKS + late {
        let mut outputs = [[0.0; 64]; 2];
        let mut channels: Vec<&mut [f32]> = outputs.iter_mut().map(|it| &mut it[..]).collect();
        callback.process(CallbackInfo::default(), &[], &mut channels);
        if block >= late {
            bits.extend(outputs.iter().flatten().map(|x| x.to_bits()));
        }
        if mode == Mode::Live {
            // The other thread gets time.
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
    engine.update();
    assert_eq!(engine.quarantined(), [] as [String; 0]);
    drop((callback, engine));
    let lines = lines.lock().expect("no panic").clone();
    (bits, lines)
}

#[test]
fn every_executor_gives_the_bits_of_one_thread() {
    for fifos in [[5, 2], [1, 3], [2, 1]] {
        let folder = Folder::new(&format!("child-nodes-{}", fifos[0]), fifos);
        let expected = alone(&folder.main());
        let is_heard = expected.0.iter().filter(|bits| **bits != 0).count();
        assert!(is_heard > BLOCKS * 64, "{is_heard}");
        assert!(
            expected
                .1
                .iter()
                .any(|line| line.starts_with("child: got: "))
        );
        for way in [
            (Scheduler::Sequential, 1, false),
            (Scheduler::Sequential, 1, true),
            (Scheduler::Stealing, 2, true),
            (Scheduler::Stealing, 4, false),
            (Scheduler::Etf, 2, true),
            (Scheduler::Random, 3, false),
            (Scheduler::Cpfd, 2, false),
            (Scheduler::Global, 2, true),
            (Scheduler::Pipelined, 2, false),
        ] {
            let found = played(&folder.main(), Mode::Offline, way);
            let first = expected.0.iter().zip(&found.0).position(|(a, b)| a != b);
            assert_eq!(first.map(|at| at / 128), None, "{way:?} {fifos:?}");
            let count = found.1.len().min(expected.1.len());
            assert_eq!(found.1[..count], expected.1[..count], "{way:?} {fifos:?}");
            assert!(count > 60, "{count} lines");
        }
    }
}

#[test]
fn a_name_in_a_message_box_is_ready_when_it_is_started_live() {
    let folder = Folder::new("child-live", [5, 2]);
    // The first start of each, which needs no other thread; those after it come when that thread is done.
    let (expected, _) = alone(&folder.main());
    let (found, lines) = played(&folder.main(), Mode::Live, (Scheduler::Stealing, 2, true));
    let blocks = (30.0 * 44.1 / 64.0) as usize;
    assert_eq!(found[..blocks * 128], expected[..blocks * 128]);
    assert!(
        !lines.iter().any(|line| line.contains("error")),
        "{lines:?}"
    );
    let is_heard = found[60 * 128..].iter().any(|bits| *bits != 0);
    assert!(is_heard, "{lines:?}");
}

#[test]
fn a_name_that_is_put_together_starts_late_live_and_says_so() {
    let main = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay 10;\n#X msg 0 0 symbol child;\n#X msg 0 0 pd~ start -nogui \\$1.pd;\n\
        #X obj 0 0 pd~;\n#X obj 0 0 osc~ 100;\n#X obj 0 0 dac~;\n#X obj 0 0 metro 2;\n#X msg 0 0 number 5;\n\
        #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n#X connect 5 0 4 0;\n#X connect 4 1 6 0;\n\
        #X connect 4 2 6 1;\n#X connect 0 0 7 0;\n#X connect 7 0 8 0;\n#X connect 8 0 4 0;\n";
    let folder = Folder::new("child-late", [5, 5]);
    fs::write(folder.main(), main).expect("writable");
    let way = (Scheduler::Sequential, 1, true);
    let (found, lines) = played(&folder.main(), Mode::Live, way);
    assert!(found.iter().any(|bits| *bits != 0), "{lines:?}");
    let says = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(says("pd~: child.pd: not ready"), "{lines:?}");
    assert!(says("pd~: file served in block"), "{lines:?}");
    // In a render it is there at once.
    let expected = alone(&folder.main());
    let rendered = played(&folder.main(), Mode::Offline, way);
    assert!(expected.0 == rendered.0);
    assert!(!rendered.1.iter().any(|line| line.contains("not ready")));
}

#[test]
fn a_patch_that_would_start_itself_is_refused_with_the_chain() {
    let folder = Folder::new("child-chain", [5, 5]);
    let start = |file: &str| {
        format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 pd~ start {file};\n#X obj 0 0 pd~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n"
        )
    };
    fs::write(folder.main(), start("child.pd")).expect("writable");
    fs::write(folder.0.join("child.pd"), start("main.pd")).expect("writable");
    let loaded = load_patch(&folder.main(), &SearchPath::only([])).expect("it is there");
    let messages = Vec::from_iter(loaded.diagnostics.iter().map(|found| &*found.message));
    let chain = "`pd~` would start the patch within itself: main.pd → child.pd → main.pd";
    assert_eq!(messages, [chain]);
    assert_eq!(loaded.diagnostics[0].span.file, 1, "it is in child.pd");
    assert_eq!(loaded.files.len(), 2);
    let (_, lines) = alone(&folder.main());
    assert!(lines[0].ends_with(chain), "{lines:?}");
    fs::write(folder.0.join("child.pd"), start("missing.pd")).expect("writable");
    let loaded = load_patch(&folder.main(), &SearchPath::only([])).expect("it is there");
    assert_eq!(
        loaded.diagnostics[0].message,
        "there is no patch `missing.pd`"
    );
}
