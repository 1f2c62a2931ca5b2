//! A patch that plays alone.

use divisi_pd::register;
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{Edge, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::path::Path;
use std::sync::{Arc, Mutex};
use units::{Channels, Frames, SampleRate};

/// Lines that a patch has printed so far.
pub(crate) type Lines = Arc<Mutex<Vec<String>>>;

/// An engine of 44100 Hz that plays a patch in blocks of so many frames, on one worker, and what the patch prints.
pub(crate) fn engine(patch: &Path, frames: u32, mode: Mode) -> (Engine, EngineCallback, Lines) {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    register(&mut registry);
    let lines = Lines::default();
    let to = lines.clone();
    registry.set_console(Arc::new(move |_, line| {
        to.lock().expect("no panic").push(line.to_owned());
    }));
    let rate = SampleRate::new(44_100).expect("not zero");
    let mut options = EngineOptions::new(Frames(frames), rate);
    options.mode = mode;
    options.scheduler = Scheduler::Sequential;
    let made = Engine::new(graph(patch), Arc::new(registry), options);
    let (engine, callback) = made.expect("the patch plays");
    (engine, callback, lines)
}

/// A patch with a port for MIDI at each side, whose only output is heard.
fn graph(patch: &Path) -> Graph {
    let mut graph = Graph::default();
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new("patch", "pd");
    node.set("file", ParamValue::from(patch.to_str().expect("a name")));
    node.inputs = vec![Port::new("midi", Signal::Event)];
    node.outputs = vec![Port::new("midi", Signal::Event), mono("out")];
    let patch = graph.add(node).expect("a new name");
    let mut sink = Node::new("dac", "sink");
    sink.inputs = vec![mono("in")];
    let sink = graph.add(sink).expect("a new name");
    let port = |node, port| PortRef { node, port };
    let (from, to, span) = (port(patch, 1), port(sink, 0), SourceSpan::NONE);
    graph.connect(Edge { from, to, span });
    graph
}
