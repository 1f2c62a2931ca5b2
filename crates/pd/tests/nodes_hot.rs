//! The nodes of a patch allocate nothing while they play.

use divisi_pd::register;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::{Edge, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Channels, Frames, SampleRate};

/// Counts allocations while it is told to.
struct Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: it passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS.load(Ordering::Relaxed) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn graph(patch: &Path) -> Graph {
    let mut graph = Graph::default();
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new("patch", "pd");
    node.set("file", ParamValue::from(patch.to_str().expect("a name")));
    node.outputs = vec![mono("out")];
    let patch = graph.add(node).expect("a new name");
    let mut sink = Node::new("dac", "sink");
    sink.inputs = vec![mono("in")];
    let sink = graph.add(sink).expect("a new name");
    let port = |node| PortRef { node, port: 0 };
    let (from, to, span) = (port(patch), port(sink), SourceSpan::NONE);
    graph.connect(Edge { from, to, span });
    graph
}

/// Allocations in 200 blocks, after as many to warm up.
fn allocations(patch: &Path) -> u64 {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    register(&mut registry);
    let rate = SampleRate::new(44_100).expect("not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = Mode::Offline;
    options.scheduler = Scheduler::Sequential;
    let made = Engine::new(graph(patch), Arc::new(registry), options);
    let (mut engine, mut callback) = made.expect("the patch plays");
    ALLOCATIONS.store(0, Ordering::Relaxed);
    for block in 0..400 {
        let mut output = [0.0; 64];
        COUNTS.store(block >= 200, Ordering::Relaxed);
        callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        COUNTS.store(false, Ordering::Relaxed);
        if block % 100 == 0 {
            engine.update();
        }
    }
    ALLOCATIONS.load(Ordering::Relaxed)
}

#[test]
fn nodes_of_a_patch_allocate_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sound");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let patch = entry.expect("readable").path();
        let count = allocations(&patch);
        if count > 0 {
            found.push(format!("{}: {count}", patch.display()));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
