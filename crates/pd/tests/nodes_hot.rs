//! The nodes of a patch allocate nothing while they play.

use divisi_pd::register;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::{Edge, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use units::{Channels, Frames, SampleRate};

/// Counts allocations of one thread, and what it frees, while that is switched on.
struct Counting;

thread_local! {
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    if COUNTS.get() {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    }
}

// SAFETY: it passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Patches, each with a channel to a sink.
fn graph(patches: &[&Path]) -> Graph {
    let mut graph = Graph::default();
    for (at, patch) in (1..).zip(patches) {
        add_patch(&mut graph, patch, at);
    }
    graph
}

fn add_patch(graph: &mut Graph, patch: &Path, number: u32) {
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new(format!("patch{number}"), "pd");
    node.set("file", ParamValue::from(patch.to_str().expect("a name")));
    node.inputs = vec![Port::new("midi", Signal::Event)];
    node.outputs = vec![Port::new("midi", Signal::Event), mono("out")];
    let patch = graph.add(node).expect("a new name");
    let mut sink = Node::new(format!("dac{number}"), "sink");
    sink.inputs = vec![mono("in")];
    let sink = graph.add(sink).expect("a new name");
    let port = |node, port| PortRef { node, port };
    let (from, to, span) = (port(patch, 1), port(sink, 0), SourceSpan::NONE);
    graph.connect(Edge { from, to, span });
}

/// Calls of the allocator by the thread that plays, from block `warm` to block `end`. `wait` is called between two blocks.
fn calls(patch: &Path, mode: Mode, blocks: (u32, u32), wait: impl FnMut(u32)) -> u64 {
    calls_of_all(&[patch], mode, blocks, wait)
}

/// As [`calls`], of several patches.
fn calls_of_all(
    patches: &[&Path],
    mode: Mode,
    (warm, end): (u32, u32),
    mut wait: impl FnMut(u32),
) -> u64 {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    register(&mut registry);
    let rate = SampleRate::new(44_100).expect("not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = mode;
    options.scheduler = Scheduler::Sequential;
    let made = Engine::new(graph(patches), Arc::new(registry), options);
    let (mut engine, mut callback) = made.expect("the patch plays");
    ALLOCATIONS.set(0);
    for block in 0..end {
        let mut output = [0.0; 64];
        COUNTS.set(block >= warm);
        callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        COUNTS.set(false);
        if block % 100 == 0 {
            engine.update();
        }
        wait(block);
    }
    ALLOCATIONS.get()
}

#[test]
fn saving_a_state_takes_no_memory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sound");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let Ok(patch) = divisi_pd::load_patch(&path, &divisi_pd::SearchPath::only([])) else {
            continue;
        };
        let (mut player, _) = divisi_pd::PatchPlayer::new(&patch, 48_000.0, 2, 2);
        (0..60).for_each(|_| player.play(&[]));
        let mut state = Vec::new();
        player.save(&mut state);
        let mut again = Vec::with_capacity(state.len());
        ALLOCATIONS.set(0);
        COUNTS.set(true);
        player.save(&mut again);
        COUNTS.set(false);
        assert_eq!(ALLOCATIONS.get(), 0, "{}", path.display());
        assert!(again == state, "{}", path.display());
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn nodes_of_a_patch_allocate_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sound");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let patch = entry.expect("readable").path();
        // Messages that make signals take memory, in a render.
        if patch.to_string_lossy().contains("dynamic-") {
            continue;
        }
        let count = calls(&patch, Mode::Offline, (200, 400), |_| {});
        if count > 0 {
            found.push(format!("{}: {count}", patch.display()));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Files and arrays, over and over: each round reads, writes, and makes an array longer.
const BUSY: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 \\; first write -wave in.wav long;\n#X obj 0 0 r first;\n\
    #X obj 0 0 soundfiler;\n#X obj 0 0 table long 3000;\n#X obj 0 0 table short 10;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n\
    #X obj 0 0 metro 20;\n#X obj 0 0 f;\n#X obj 0 0 + 100;\n#X connect 0 0 6 0;\n#X connect 6 0 7 0;\n#X connect 7 0 8 0;\n\
    #X connect 8 0 7 1;\n#X msg 0 0 \\; grown resize \\$1;\n#X connect 7 0 9 0;\n#X obj 0 0 table grown 1;\n\
    #X msg 0 0 read -resize in.wav short \\, write -wave out.wav short long;\n#X obj 0 0 soundfiler;\n#X connect 6 0 11 0;\n\
    #X connect 11 0 12 0;\n#X obj 0 0 text define words;\n#X msg 0 0 read words.txt \\, write out.txt \\, read missing.txt;\n\
    #X connect 6 0 14 0;\n#X connect 14 0 13 0;\n#X msg 0 0 \\; wave sinesum 2048 1 0.5;\n#X obj 0 0 table wave 1;\n#X connect 6 0 15 0;\n\
    #X obj 0 0 tabread~ grown;\n#X obj 0 0 dac~;\n#X connect 17 0 18 0;\n";

#[test]
fn files_and_longer_arrays_while_it_plays_allocate_and_free_nothing_where_it_plays() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-busy-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    std::fs::write(folder.join("busy.pd"), BUSY).expect("writable");
    let words: String = (0..20_000).map(|at| format!("w{at} {at};\n")).collect();
    std::fs::write(folder.join("words.txt"), &words).expect("writable");
    divisi_pd::allow_writing(&folder);
    let outputs = ["out.wav", "out.txt"].map(|name| folder.join(name));
    let calls = calls(&folder.join("busy.pd"), Mode::Live, (300, 900), |block| {
        // The other thread gets time; a bound in blocks, not in seconds, ends the wait.
        if block % 14 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    });
    let found = outputs.map(|path| std::fs::read(path).map_or(0, |bytes| bytes.len()));
    std::fs::remove_dir_all(&folder).expect("ours");
    assert_eq!(calls, 0);
    assert_eq!(found, [12_044, words.len()]);
}

#[test]
fn sockets_of_a_patch_that_plays_allocate_and_free_nothing_where_it_plays() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-sockets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = listener.local_addr().expect("bound").port();
    drop(listener);
    let patch = format!(
        "#N canvas 0 0 9 9 12;\n#X obj 0 0 netreceive -f {port};\n#X obj 0 0 route add new;\n#X obj 0 0 + 1;\n#X obj 0 0 dac~;\n\
         #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 0 0;\n"
    );
    std::fs::write(folder.join("p.pd"), patch).expect("writable");
    let mut peer: Option<TcpStream> = None;
    let mut answers = Vec::new();
    let calls = calls(&folder.join("p.pd"), Mode::Live, (300, 900), |block| {
        let peer = peer.get_or_insert_with(|| {
            let peer = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            peer.set_nonblocking(true).expect("a socket");
            peer
        });
        if block % 14 == 0 {
            let text = format!(
                "add {block};\nnew word-{block} 1, add 7; {};",
                "x".repeat(9000)
            );
            peer.write_all(text.as_bytes()).expect("there is room");
            std::thread::sleep(std::time::Duration::from_millis(10));
            let mut bytes = [0; 4096];
            let count = peer.read(&mut bytes).unwrap_or(0);
            answers.extend_from_slice(&bytes[..count]);
        }
    });
    std::fs::remove_dir_all(&folder).expect("ours");
    assert_eq!(calls, 0);
    let answers = String::from_utf8_lossy(&answers).into_owned();
    assert!(answers.contains("15;\n8;\n29;\n8;\n"), "{answers}");
}

/// A sub-patch that is started anew all the time, with messages both ways and a file that it reads.
const PARENT: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 metro 250;\n#X msg 0 0 pd~ start -nogui child.pd;\n#X obj 0 0 pd~ -ninsig 1 -noutsig 1;\n\
    #X obj 0 0 osc~ 300;\n#X obj 0 0 dac~ 1;\n#X obj 0 0 loadbang;\n#X obj 0 0 metro 3;\n#X obj 0 0 random 100;\n#X msg 0 0 number \\$1 and more;\n\
    #X obj 0 0 route got;\n#X obj 0 0 print got;\n#X connect 5 0 0 0;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 3 0 2 0;\n\
    #X connect 2 1 4 0;\n#X connect 5 0 6 0;\n#X connect 6 0 7 0;\n#X connect 7 0 8 0;\n#X connect 8 0 2 0;\n#X connect 2 0 9 0;\n\
    #X connect 9 0 10 0;\n";
const CHILD: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 \\; pd dsp 1;\n#X obj 0 0 adc~ 1;\n#X obj 0 0 lop~ 200;\n\
    #X obj 0 0 dac~ 1;\n#X obj 0 0 r number;\n#X obj 0 0 stdout;\n#X msg 0 0 got \\$1;\n#X obj 0 0 metro 20;\n#X msg 0 0 read words.txt;\n\
    #X obj 0 0 text define words;\n#X obj 0 0 print from-the-child;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n\
    #X connect 5 0 7 0;\n#X connect 7 0 6 0;\n#X connect 5 0 11 0;\n#X connect 0 0 8 0;\n#X connect 8 0 9 0;\n#X connect 9 0 10 0;\n";

#[test]
fn sub_patches_start_stop_and_play_without_allocating_where_they_play() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-child-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    std::fs::write(folder.join("main.pd"), PARENT).expect("writable");
    std::fs::write(folder.join("child.pd"), CHILD).expect("writable");
    let words: String = (0..2000).map(|at| format!("w{at} {at};\n")).collect();
    std::fs::write(folder.join("words.txt"), words).expect("writable");
    let calls = calls(&folder.join("main.pd"), Mode::Live, (100, 900), |block| {
        if block % 14 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    });
    std::fs::remove_dir_all(&folder).expect("ours");
    assert_eq!(calls, 0);
}

/// Boxes of signals and messages that come and go, over and over.
const CHANGING: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 metro 30;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n\
    #X obj 0 0 mod 2;\n#X obj 0 0 sel 0 1;\n#X msg 0 0 \\; pd-s obj 0 0 osc~ 660 \\, obj 0 0 *~ 0.25 \\, obj 0 0 dac~ \\, obj 0 0 r n \\, \
    connect 0 0 1 0 \\, connect 1 0 2 0 \\, connect 3 0 1 1 \\; n 0.5;\n#X msg 0 0 \\; pd-s clear;\n#N canvas 0 0 9 9 s 0;\n#X restore 0 0 pd s;\n\
    #X obj 0 0 osc~ 220;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n\
    #X connect 4 0 2 1;\n#X connect 2 0 5 0;\n#X connect 5 0 6 0;\n#X connect 5 1 7 0;\n#X connect 9 0 10 0;\n";

#[test]
fn canvases_that_change_while_it_plays_allocate_and_free_nothing_where_it_plays() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-changing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    std::fs::write(folder.join("p.pd"), CHANGING).expect("writable");
    let calls = calls(&folder.join("p.pd"), Mode::Live, (300, 900), |block| {
        if block % 7 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
    std::fs::remove_dir_all(&folder).expect("ours");
    assert_eq!(calls, 0);
}

/// An array, a text, a delay line, a value and a bus, of which the other half lies in another patch.
const HALF: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 metro 5;\n#X obj 0 0 random 64;\n#X obj 0 0 s note;\n\
    #X obj 0 0 tabread tab;\n#X obj 0 0 print half;\n#X obj 0 0 delread~ line 3;\n#X obj 0 0 catch~ bus;\n#X obj 0 0 dac~ 1;\n\
    #X obj 0 0 tabread~ tab;\n#X obj 0 0 text get words;\n#X obj 0 0 r back;\n#X obj 0 0 value shared;\n#X msg 0 0 0;\n\
    #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 2 0 4 0;\n#X connect 4 0 5 0;\n#X connect 6 0 8 0;\n\
    #X connect 7 0 8 0;\n#X connect 9 0 8 0;\n#X connect 1 0 13 0;\n#X connect 13 0 10 0;\n#X connect 10 0 5 0;\n#X connect 11 0 5 0;\n\
    #X connect 2 0 12 0;\n";
const OTHER_HALF: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r note;\n#X obj 0 0 osc~ 100;\n#X obj 0 0 throw~ bus;\n\
    #X obj 0 0 delwrite~ line 50;\n#X obj 0 0 table tab 64;\n#X obj 0 0 tabwrite~ tab;\n#X obj 0 0 text define words;\n\
    #X obj 0 0 text set words 0;\n#X obj 0 0 s back;\n#X obj 0 0 value shared;\n#X msg 0 0 bang;\n#X obj 0 0 tabwrite tab;\n\
    #X obj 0 0 t f f f b;\n#X connect 0 0 12 0;\n#X connect 12 0 1 0;\n#X connect 1 0 2 0;\n#X connect 1 0 3 0;\n\
    #X connect 1 0 5 0;\n#X connect 12 1 7 0;\n#X connect 12 2 11 1;\n#X connect 12 0 11 0;\n#X connect 12 3 9 0;\n#X connect 9 0 8 0;\n\
    #X connect 12 3 10 0;\n#X connect 10 0 5 0;\n";

#[test]
fn patches_that_share_names_allocate_nothing() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-halves-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let paths = [("a.pd", HALF), ("b.pd", OTHER_HALF)].map(|(name, text)| {
        std::fs::write(folder.join(name), text).expect("writable");
        folder.join(name)
    });
    let patches = [&*paths[0], &*paths[1]];
    let found =
        [Mode::Offline, Mode::Live].map(|mode| calls_of_all(&patches, mode, (200, 500), |_| {}));
    std::fs::remove_dir_all(&folder).expect("ours");
    assert_eq!(found, [0, 0]);
}
