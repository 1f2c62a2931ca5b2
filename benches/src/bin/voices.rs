//! 64 voices of a synthesizer of eight nodes, all sounding: two workers beside one, in interleaved rounds.
//!
//! The voices come from a part with `count = 64`. Costs are the typical ones of the kinds: nothing was measured before, as in a
//! first run.

use divisi_benches::runners::enter_callback_thread;
use divisi_benches::stats::quartiles;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::Graph;
use processor::{Mode, Registry};
use std::sync::Arc;
use std::time::Instant;
use units::{Frames, SampleRate};

const SESSION: &str = r#"
edges = ["keys -> voices", "voices.* -> voice.notes", "voice -> out"]

[part.voice]
inputs = ["notes"]
outputs = ["out"]
edges = [
    "notes -> note", "notes -> shape.notes",
    "note.freq -> saw.freq", "note.freq -> sub.freq: 0.5",
    "saw -> both", "sub -> both", "both -> filter.in", "filter.low -> drive -> amp -> out",
    "shape -> amp.gain: times 1", "shape -> filter.freq: 2 octaves",
]
[part.voice.nodes]
note = { kind = "note" }
shape = { kind = "envelope", sustain = 0.8 }
saw = { kind = "osc", wave = "saw", freq = 0 }
sub = { kind = "osc", wave = "square", freq = 0 }
both = { kind = "mix" }
filter = { kind = "svf", freq = 600 }
drive = { kind = "shape" }
amp = { kind = "gain", gain = 0.01 }

[nodes]
keys = { kind = "score", events = "KEYS" }
voices = { kind = "voices", out = 64 }
voice = { kind = "voice", count = 64 }
out = { kind = "sink" }
"#;

/// Rounds of each engine, and cycles in a round.
const ROUNDS: usize = 41;
const CYCLES: usize = 500;

fn main() {
    let _settings = enter_callback_thread();
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    midi::register(&mut registry);
    let keys: Vec<String> = (0..64)
        .map(|i| format!("0 {} 0.8 100000", 30 + i))
        .collect();
    let text = SESSION.replace("KEYS", &keys.join("; "));
    let read = text::toml::read(&text, registry.catalogue());
    assert!(!read.has_errors(), "{:?}", read.diagnostics);
    let (graph, registry) = (read.session.graph, Arc::new(registry));
    let mut engines: Vec<(&str, Engine, EngineCallback)> = [
        ("sequential", Scheduler::Sequential, 1, true),
        ("sequential again", Scheduler::Sequential, 1, true),
        ("stealing, fused", Scheduler::Stealing, 2, true),
        ("stealing", Scheduler::Stealing, 2, false),
        ("HLFET", Scheduler::Hlfet, 2, false),
    ]
    .map(|(name, scheduler, workers, fuse)| {
        let (engine, callback) = engine(&graph, &registry, (scheduler, workers, fuse));
        (name, engine, callback)
    })
    .into();
    let mut times = vec![Vec::new(); engines.len()];
    for round in 0..=ROUNDS {
        for ((_, engine, callback), times) in engines.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let mut left = [0.0; 64];
            for _ in 0..CYCLES {
                callback.process(CallbackInfo::default(), &[], &mut [&mut left]);
            }
            let us = start.elapsed().as_secs_f64() * 1e6 / CYCLES as f64;
            // The first round begins the notes.
            if round > 0 {
                times.push(us);
            }
            engine.update();
        }
    }
    println!(
        "{} nodes, 64 frames; µs a cycle: 25 %, median, 75 %; speed-up over the first",
        graph.len()
    );
    let base = times[0].clone();
    for ((name, ..), times) in engines.iter().zip(&times) {
        let [low, median, high] = quartiles(&mut times.clone());
        let mut ratios: Vec<f64> = base.iter().zip(times).map(|(a, b)| a / b).collect();
        let [_, ratio, _] = quartiles(&mut ratios);
        println!("{name:<18} {low:8.1} {median:8.1} {high:8.1}   {ratio:.2}");
    }
}

fn engine(
    graph: &Graph,
    registry: &Arc<Registry>,
    (scheduler, workers, fuse): (Scheduler, usize, bool),
) -> (Engine, EngineCallback) {
    let rate = SampleRate::new(48_000).expect("it is not zero");
    let mut options = EngineOptions::new(Frames(64), rate);
    options.mode = Mode::Offline;
    (options.scheduler, options.workers) = (scheduler, workers);
    (options.use_all_workers, options.fuse) = (true, fuse);
    Engine::new(graph.clone(), registry.clone(), options).expect("the session can be played")
}
