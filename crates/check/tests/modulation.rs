//! Edges that drive parameters: the same bits at every block under every executor, silence that sleeps, and edits.

use divisi_check::alloc::Counting;
use divisi_check::conformance::node;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use divisi_check::test_bench::{ALL_STRATEGIES, PIPELINED, RunConfig, TestBench, rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineError, EngineOptions, Scheduler};
use graph::{Amount, Edit, Graph, GraphBuilder, Law, Modulation, Node, NodeId, PortRef, Signal};
use processor::Mode;
use std::sync::Arc;
use units::{Channels, Frames};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Parameters driven by sound, by events, at audio rate and every 16 frames, in a line and in a feedback loop whose delay is
/// driven as well.
const SESSION: &str = r#"
edges = [
  "beat -> env.notes",
  "lfo -> tone.freq: 2 octaves",
  "lfo -> tone.freq: add 20",
  "env -> tone.volume: times 1",
  "lfo -> hiss.volume: times 0.2",
  "hiss -> sum",
  "tone -> sum.in2",
  "lfo -> filter.freq: 3 octaves",
  "env -> filter.q: add 4",
  "sum -> filter.in",
  "filter.low -> echo",
  "lfo -> echo.time: add 0.0002",
  "lfo -> back.gain_db: 6 dB",
  "echo -> back -> sum.in3",
  "echo -> color -> place",
  "lfo -> color.drive_db: 12 dB",
  "beat -> place.pan: add 0.5",
  "place.left -> left",
  "place.right -> right",
]
[nodes.beat]
kind = "metro"
bpm = 3000
[nodes.lfo]
kind = "osc"
freq = 37
wave = "triangle"
[nodes.env]
kind = "envelope"
attack = 0.002
release = 0.004
[nodes.tone]
kind = "osc"
freq = 220
wave = "saw"
[nodes.hiss]
kind = "noise"
seed = 1
[nodes.sum]
kind = "mix"
in = 3
[nodes.filter]
kind = "svf"
freq = 800
[nodes.echo]
kind = "delay"
time = 0.001
min_time = 0.0005
max_time = 0.002
[nodes.back]
kind = "gain"
gain_db = -12
[nodes.color]
kind = "shape"
[nodes.place]
kind = "pan"
[nodes.left]
kind = "sink"
[nodes.right]
kind = "sink"
"#;

fn session(text: &str) -> Graph {
    let read = text::toml::read(text, registry().catalogue());
    assert_eq!(read.diagnostics, []);
    read.session.graph
}

const FRAMES: usize = 6000;

#[test]
fn what_is_driven_has_the_same_bits_at_every_block_and_under_every_executor() {
    let graph = session(SESSION);
    let reference = RunConfig::reference(64);
    let expected = TestBench::new(&graph, &registry(), reference).render(2, FRAMES);
    assert!(expected.iter().all(|side| side.iter().any(|x| *x != 0)));
    for block in [1, 7, 16, 100, 1024, 4096] {
        let config = RunConfig::reference(block);
        let got = TestBench::new(&graph, &registry(), config).render(2, FRAMES);
        assert!(got == expected, "block {block}");
    }
    for strategy in ALL_STRATEGIES.into_iter().chain(PIPELINED) {
        for (workers, block) in [(1, 64), (2, 100), (3, 64)] {
            let config = RunConfig::new(strategy, workers, block);
            let mut bench = TestBench::new(&graph, &registry(), config);
            let got = bench.render(2, FRAMES);
            assert!(got == expected, "{config:?}");
            let lost = bench.counts();
            assert_eq!(lost.lost_events, 0, "{config:?}");
        }
    }
}

/// A level that a score sets at each second frame: more events in a long block than any fixed number.
#[test]
fn all_events_that_a_port_can_send_in_a_long_block_drive_a_parameter() {
    let values: Vec<String> = (0..1500)
        .map(|i| format!("{}s value {}", f64::from(2 * i) / 48_000.0, i % 7))
        .collect();
    let graph = session(&format!(
        "edges = [\"set -> tone.volume: set 0.1\", \"tone -> out\"]\n[nodes]\n\
         set = {{ kind = \"score\", events = \"{}\" }}\n\
         tone = {{ kind = \"osc\", freq = 440 }}\nout = {{ kind = \"sink\" }}",
        values.join("; ")
    ));
    let render = |block| {
        let config = RunConfig::reference(block);
        let mut bench = TestBench::new(&graph, &registry(), config);
        let sound = bench.render(1, 2 * 4096);
        assert_eq!(bench.counts().lost_events, 0, "block {block}");
        sound
    };
    assert!(render(4096) == render(64));
}

const SOUND: Signal = Signal::Audio(Channels(1));

/// An oscillator with one driven parameter.
fn driven_osc(param: u16, name: &str, law: Law, freq: f64) -> Node {
    let mut node = node("osc", &[("freq", freq.into())]);
    let modulation = Modulation {
        param,
        law,
        amount: 1.0,
    };
    node.add_modulation(name, SOUND, modulation).unwrap();
    node
}

fn play(bench: &mut ProcessorBench, values: Vec<f32>) -> (Vec<f32>, bool) {
    let input = TestInput {
        frames: values.len(),
        inputs: vec![values],
        events: Vec::new(),
    };
    let output = bench.process(&input, BlockSplit::Even(64));
    (output.channel(0), output.asleep)
}

#[test]
fn an_oscillator_driven_by_silence_sleeps_and_goes_on_where_it_stopped() {
    for (param, name, law, freq, on) in [
        (1, "volume", Law::Times, 1000.0, 1.0),
        (0, "freq", Law::Add, 0.0, 1000.0),
    ] {
        let node = driven_osc(param, name, law, freq);
        let mut bench = ProcessorBench::new(&registry(), &node, rate());
        let (first, asleep) = play(&mut bench, vec![on; 640]);
        assert!(!asleep && first.iter().any(|x| x.abs() > 0.9));
        let (silent, asleep) = play(&mut bench, vec![0.0; 640]);
        assert!(asleep && silent.iter().all(|x| x.to_bits() == 0));
        let (again, _) = play(&mut bench, vec![on; 640]);
        let mut whole = ProcessorBench::new(&registry(), &node, rate());
        let (without_pause, _) = play(&mut whole, vec![on; 1280]);
        assert_eq!([first, again].concat(), without_pause, "{name}");
    }
}

#[test]
fn the_formula_holds_and_a_base_moves_in_five_milliseconds() {
    let mut node = node("gain", &[("gain", 2.0.into())]);
    for (law, amount) in [(Law::Octaves, 1.0), (Law::Add, 3.0), (Law::Times, 0.5)] {
        let modulation = Modulation {
            param: 1,
            law,
            amount,
        };
        node.add_modulation("gain", SOUND, modulation).unwrap();
    }
    let mut bench = ProcessorBench::new(&registry(), &node, rate());
    let frames = 480;
    let values = [1.0, 2.0, -1.0, 4.0];
    let set = processor::Event {
        frame: 0,
        target: processor::EventTarget::Param(1),
        body: processor::EventBody::Value(4.0),
    };
    let input = TestInput {
        inputs: values.map(|value: f32| vec![value; frames]).into(),
        events: vec![set],
        frames,
    };
    let out = bench.process(&input, BlockSplit::Even(64)).channel(0);
    // (base + 3 × -1) × 0.5 × 4 × 2^2, with a base from 2 to 4.
    assert!((out[0] - -8.0).abs() < 1e-4 && (out[120] - 0.0).abs() < 1e-4);
    assert!((out[240] - 8.0).abs() < 1e-4 && out[479] == out[240]);
}

fn playing(graph: Graph) -> (Engine, EngineCallback) {
    let mut options = EngineOptions::new(Frames(64), rate());
    options.mode = Mode::Offline;
    options.scheduler = Scheduler::Sequential;
    options.latency_blocks = Some(1);
    Engine::new(graph, Arc::new(registry()), options).unwrap()
}

fn render((engine, callback): &mut (Engine, EngineCallback), frames: usize) -> Vec<f32> {
    let mut played = Vec::new();
    while played.len() < frames {
        let mut out = vec![0.0; 64];
        callback.process(CallbackInfo::default(), &[], &mut [&mut out]);
        played.extend(out);
        engine.update();
    }
    played
}

/// Number of times that a sound rises through zero.
fn rises(sound: &[f32]) -> usize {
    sound
        .windows(2)
        .filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0)
        .count()
}

const DRIVEN_TONE: &str = r#"
edges = ["high -> tone.freq: 1 octaves", "tone -> out"]
[nodes.high]
kind = "osc"
freq = 0
phase = 0.25
[nodes.tone]
kind = "osc"
freq = 1000
[nodes.out]
kind = "sink"
"#;

#[test]
fn an_edge_that_goes_while_it_plays_leaves_the_base() {
    let mut host = playing(session(DRIVEN_TONE));
    render(&mut host, 9600);
    assert!(
        (398..=402).contains(&rises(&render(&mut host, 9600))),
        "an octave up"
    );
    let high = host.0.graph().find("high").unwrap();
    host.0.edit([Edit::Remove(high)]).unwrap();
    render(&mut host, 9600);
    let left = rises(&render(&mut host, 9600));
    assert!((198..=202).contains(&left), "the base: {left}");
}

#[test]
fn a_node_that_plays_refuses_to_be_driven_anew_and_a_new_one_does_not() {
    let mut host = playing(session(DRIVEN_TONE));
    render(&mut host, 640);
    let id = |host: &Engine, name: &str| host.graph().find(name).unwrap();
    let (high, tone) = (id(&host.0, "high"), id(&host.0, "tone"));
    let amount = Amount {
        law: Law::Times,
        factor: 0.5,
    };
    let drive = |patch: &mut GraphBuilder<'_>, to: NodeId| {
        patch.modulate((high, "out"), (to, "volume"), amount)
    };
    let refused = host.0.edit_with(|patch| drive(patch, tone)).unwrap_err();
    assert!(
        matches!(&refused, EngineError::PlaysUndriven(node) if node == "tone"),
        "{refused}"
    );
    let out = id(&host.0, "out");
    let added = host.0.edit_with(|patch| {
        let other = patch.add("other", "osc", &[("freq", 50.0.into())])?;
        drive(patch, other)?;
        patch.connect((other, "out"), (out, "in"))?;
        patch.disconnect((tone, "out"), (out, "in"))?;
        Ok(other)
    });
    added.unwrap();
    render(&mut host, 9600);
    let peak = render(&mut host, 9600).into_iter().fold(0.0, f32::max);
    assert!((peak - 0.5).abs() < 0.01, "{peak}");
    // The same way to drive it takes the input that has no edge.
    let from = PortRef {
        node: high,
        port: 0,
    };
    let to = PortRef {
        node: tone,
        port: 0,
    };
    host.0.edit([Edit::Disconnect(from, to)]).unwrap();
    render(&mut host, 9600);
    let octave = Amount {
        law: Law::Octaves,
        factor: 1.0,
    };
    let again = host
        .0
        .edit_with(|patch| patch.modulate((high, "out"), (tone, "freq"), octave));
    again.unwrap();
}
