//! Frames of edits while the engine plays: that of the first block of the change.

use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::{Edge, Edit, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::sync::Arc;
use units::{Channels, Frames, Nanos, SampleRate};

#[test]
fn the_frame_of_an_edit_is_that_of_its_first_block_and_not_of_the_end_of_its_fade() {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let rate = SampleRate::new(48_000).expect("not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = Mode::Live;
    options.scheduler = Scheduler::Sequential;
    options.edit_fade = Nanos(5_000_000);
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut graph = Graph::default();
    let mut tone = Node::new("tone", "osc");
    tone.set("freq", ParamValue::Number(440.0));
    tone.outputs = vec![mono("out")];
    let mut sink = Node::new("dac", "sink");
    sink.inputs = vec![mono("in")];
    let [tone, sink] = [tone, sink].map(|node| graph.add(node).expect("a new name"));
    let made = Engine::new(graph, Arc::new(registry), options);
    let (mut engine, mut callback) = made.expect("it plays");
    let mut play = |blocks| {
        for _ in 0..blocks {
            let mut output = [0.0; 64];
            callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        }
    };
    play(3);
    engine.update();
    let [from, to] = [tone, sink].map(|node| PortRef { node, port: 0 });
    let span = SourceSpan::NONE;
    let edge = Edit::Connect(Edge { from, to, span });
    engine.edit(vec![edge]).expect("it can be connected");
    // The fade is over when its first block becomes known, and its end is on its way at once.
    play(20);
    engine.update();
    assert!(engine.is_swapping(), "the fade ends in the same call");
    assert_eq!(engine.swap_frame(), 192);
    play(1);
    engine.update();
    assert!(engine.is_settled());
    assert_eq!(engine.swap_frame(), 192);
}
