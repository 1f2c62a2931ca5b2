//! A patch as nodes of the graph: every executor gives the bits of one thread.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::{Edge, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use processor::{Mode, Registry};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Channels, Frames, SampleRate};

/// Blocks that are compared.
const BLOCKS: usize = 120;
/// Channels of `dac~`, and of `adc~`.
const OUTPUTS: usize = 4;
const INPUTS: usize = 2;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    divisi_pd::register(&mut registry);
    Arc::new(registry)
}

/// The patch between inputs and sinks.
fn graph(patch: &Path) -> Graph {
    graph_with_echo(patch, None)
}

/// The same, with a delay of so many seconds from its first output to its first input.
fn graph_with_echo(patch: &Path, echo: Option<f64>) -> Graph {
    let mut graph = Graph::default();
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new("patch", "pd");
    node.set("file", ParamValue::from(patch.to_str().expect("a name")));
    let midi = || Port::new("midi", Signal::Event);
    node.inputs = (0..INPUTS).map(|at| mono(&format!("in{at}"))).collect();
    node.outputs = (0..OUTPUTS).map(|at| mono(&format!("out{at}"))).collect();
    node.inputs.insert(0, midi());
    node.outputs.insert(0, midi());
    let patch = graph.add(node).expect("a new name");
    let connect = |graph: &mut Graph, (from, a): (_, usize), (to, b): (_, usize)| {
        let port = |node, port| PortRef {
            node,
            port: u16::try_from(port).expect("few ports"),
        };
        let (from, to, span) = (port(from, a), port(to, b), SourceSpan::NONE);
        graph.connect(Edge { from, to, span });
    };
    for at in 0..INPUTS {
        let mut node = Node::new(format!("adc{at}"), "input");
        node.set("channel", ParamValue::from((at + 1) as f64));
        node.outputs = vec![mono("out")];
        let input = graph.add(node).expect("a new name");
        connect(&mut graph, (input, 0), (patch, at + 1));
    }
    for at in 0..OUTPUTS {
        let mut node = Node::new(format!("dac{at}"), "sink");
        node.inputs = vec![mono("in")];
        let sink = graph.add(node).expect("a new name");
        connect(&mut graph, (patch, at + 1), (sink, 0));
    }
    if let Some(seconds) = echo {
        let mut node = Node::new("echo", "delay");
        node.set("time", ParamValue::from(seconds));
        (node.inputs, node.outputs) = (vec![mono("in")], vec![mono("out")]);
        let echo = graph.add(node).expect("a new name");
        connect(&mut graph, (patch, 1), (echo, 0));
        connect(&mut graph, (echo, 0), (patch, 1));
    }
    graph
}

/// Noise for the inputs.
fn noise(block: usize) -> [[f32; 64]; INPUTS] {
    let mut state = block as u32 + 1;
    [(); INPUTS].map(|()| {
        [(); 64].map(|()| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
    })
}

/// Bits of the patch in one thread.
fn alone(patch: &Path) -> Vec<u32> {
    let _flush = rt::ftz::FlushToZero::enable();
    let loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    let (mut player, _) = PatchPlayer::new(&loaded, 44_100.0, INPUTS, OUTPUTS);
    let mut bits = Vec::new();
    for block in 0..BLOCKS {
        let inputs = noise(block);
        let inputs: Vec<&[f32]> = inputs.iter().map(|channel| &channel[..]).collect();
        player.play(&inputs);
        for channel in 0..OUTPUTS {
            // The engine lets no infinite sample out.
            let finite = player.output(channel).iter();
            let finite = finite.map(|x| if x.is_finite() { *x } else { 0.0 });
            bits.extend(finite.map(f32::to_bits));
        }
    }
    bits
}

/// Bits of the patch as nodes.
fn played(patch: &Path, (scheduler, workers, fuse): (Scheduler, usize, bool)) -> Vec<u32> {
    let rate = SampleRate::new(44_100).expect("not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = Mode::Offline;
    options.scheduler = scheduler;
    options.workers = workers;
    options.use_all_workers = true;
    options.fuse = fuse;
    options.input_channels = INPUTS as u16;
    let (mut engine, mut callback) =
        Engine::new(graph(patch), registry(), options).expect("the patch plays");
    let late = engine.pipeline_latency() as usize / 64;
    let mut bits = Vec::new();
    for block in 0..BLOCKS + late {
        let inputs = noise(block);
        let inputs: Vec<&[f32]> = inputs.iter().map(|channel| &channel[..]).collect();
        let mut outputs = [[0.0; 64]; OUTPUTS];
        let mut channels: Vec<&mut [f32]> = outputs.iter_mut().map(|it| &mut it[..]).collect();
        callback.process(CallbackInfo::default(), &inputs, &mut channels);
        if block >= late {
            bits.extend(outputs.iter().flatten().map(|x| x.to_bits()));
        }
        if block % 50 == 0 {
            engine.update();
        }
    }
    engine.update();
    assert_eq!(
        engine.quarantined(),
        [] as [String; 0],
        "{}",
        patch.display()
    );
    bits
}

/// Bits of the patch as one node, in blocks of so many times 64 frames.
fn played_in_long(graph: Graph, times: usize) -> Vec<u32> {
    let rate = SampleRate::new(44_100).expect("not zero");
    let frames = 64 * times;
    let mut options = EngineOptions::new(Frames(frames as u32), rate);
    options.mode = Mode::Offline;
    options.scheduler = Scheduler::Sequential;
    options.input_channels = INPUTS as u16;
    let (engine, mut callback) = Engine::new(graph, registry(), options).expect("the patch plays");
    let mut bits = Vec::new();
    for first in (0..BLOCKS).step_by(times) {
        let all = Vec::from_iter((first..first + times).map(noise));
        let channel = |at: usize| all.iter().flat_map(|noise| noise[at]).collect::<Vec<f32>>();
        let inputs = Vec::from_iter((0..INPUTS).map(channel));
        let inputs = Vec::from_iter(inputs.iter().map(|channel| &channel[..]));
        let mut outputs = vec![vec![0.0; frames]; OUTPUTS];
        let mut channels = Vec::from_iter(outputs.iter_mut().map(|it| &mut it[..]));
        callback.process(CallbackInfo::default(), &inputs, &mut channels);
        for from in (0..frames).step_by(64) {
            let block = outputs.iter().flat_map(|output| &output[from..from + 64]);
            bits.extend(block.map(|x| x.to_bits()));
        }
    }
    assert_eq!(engine.quarantined(), [] as [String; 0]);
    bits
}

fn patches() -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sound");
    let entries = std::fs::read_dir(source).expect("the folder is there");
    let mut patches: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    patches.sort();
    patches
}

fn compare(ways: &[(Scheduler, usize, bool)]) {
    let mut differing = Vec::new();
    for patch in patches() {
        let expected = alone(&patch);
        for way in ways {
            let found = played(&patch, *way);
            let first = expected.iter().zip(&found).position(|(a, b)| a != b);
            if let Some(at) = first {
                let block = at / (64 * OUTPUTS);
                differing.push(format!("{}: {way:?} from block {block}", patch.display()));
            }
        }
    }
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn one_worker_gives_the_bits_of_one_thread() {
    compare(&[
        (Scheduler::Sequential, 1, false),
        (Scheduler::Sequential, 1, true),
    ]);
}

#[test]
fn workers_that_steal_give_the_bits_of_one_thread() {
    compare(&[
        (Scheduler::Stealing, 2, false),
        (Scheduler::Stealing, 4, true),
    ]);
}

#[test]
fn static_schedules_give_the_bits_of_one_thread() {
    compare(&[
        (Scheduler::Etf, 2, true),
        (Scheduler::Random, 4, false),
        (Scheduler::Cpfd, 2, false),
    ]);
}

#[test]
fn pipelines_and_queues_give_the_bits_of_one_thread() {
    compare(&[
        (Scheduler::Pipelined, 2, false),
        (Scheduler::Global, 2, true),
    ]);
}

#[test]
fn longer_blocks_give_the_bits_of_64_frames() {
    for patch in patches() {
        let expected = alone(&patch);
        for times in [2, 8, 24] {
            let found = played_in_long(graph(&patch), times);
            let first = expected.iter().zip(&found).position(|(a, b)| a != b);
            let place = first.map(|at| at / (64 * OUTPUTS));
            assert_eq!(place, None, "{}: {times} times 64", patch.display());
            assert_eq!(found.len(), expected.len());
        }
    }
}

#[test]
fn a_loop_around_a_patch_is_cut_at_its_blocks() {
    let folder = std::env::temp_dir().join(format!("divisi-loop-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let patch = folder.join("half.pd");
    let lines = "#N canvas 0 0 9 9 12;\n#X obj 0 0 adc~ 1;\n#X obj 0 0 *~ 0.5;\n#X obj 0 0 dac~ 1;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
    std::fs::write(&patch, lines).expect("writable");
    // 100 frames are longer than a block of 64, and no multiple of it.
    let play = |times| played_in_long(graph_with_echo(&patch, Some(100.0 / 44_100.0)), times);
    let [short, long] = [play(1), play(8)];
    std::fs::remove_dir_all(&folder).expect("ours");
    assert!(short == long && short.iter().any(|x| *x != 0));
}
