//! Costs counted in instructions: of 500 nodes at rest, whose voices wait for notes, and of parameters that a constant drives.

// An instrumented program does not run under valgrind, and its instructions are others.
#![cfg(not(tsan))]

use divisi_check::fixtures::skip;
use divisi_check::test_bench::registry;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use processor::Mode;
use std::process::Command;
use std::sync::Arc;
use units::{Frames, SampleRate};

/// 64 voices of eight nodes.
const VOICES: &str = r#"
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

/// 32 filters and 32 oscillators.
const DRIVEN: &str = r#"
edges = ["hiss -> filter.in", "filter.low -> out", "tone -> out", EDGES]
[nodes]
hiss = { kind = "noise" }
filter = { kind = "svf", freq = 900, count = 32 }
tone = { kind = "osc", wave = "saw", freq = 300, count = 32 }
level = { kind = "curve", points = "0 0.25" }
wave = { kind = "osc", freq = 3 }
out = { kind = "sink" }
"#;

/// Environment variable with the session, for the run under valgrind.
const TEXT: &str = "DIVISI_COUNTED_SESSION";
const CYCLES: usize = 200;

#[test]
#[ignore = "run by the tests below, under valgrind"]
fn plays_some_cycles() {
    let Ok(text) = std::env::var(TEXT) else {
        return;
    };
    let registry = registry();
    let read = text::toml::read(&text, registry.catalogue());
    assert!(!read.has_errors(), "{:?}", read.diagnostics);
    let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
    (options.mode, options.scheduler) = (Mode::Offline, Scheduler::Sequential);
    let graph = read.session.graph;
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry), options).unwrap();
    let mut left = [0.0; 64];
    for _ in 0..CYCLES {
        callback.process(CallbackInfo::default(), &[], &mut [&mut left]);
        engine.update();
    }
}

/// Instructions of the callback in a cycle of the session `text`. `None` if there is no valgrind.
fn instructions(text: &str) -> Option<u64> {
    let program = std::env::current_exe().unwrap();
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg("--toggle-collect=*EngineCallback*process*");
    valgrind.arg(program);
    valgrind.args(["--exact", "plays_some_cycles", "--ignored"]);
    let output = valgrind.env(TEXT, text).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut lines = said.lines();
    let collected = lines.find_map(|line| line.split_once("Collected : "));
    let count: u64 = collected
        .expect("callgrind counts")
        .1
        .trim()
        .parse()
        .unwrap();
    Some(count / CYCLES as u64)
}

#[test]
fn a_session_of_500_nodes_at_rest_costs_at_most_a_tenth_of_the_playing_one() {
    let voices = |beat: u32| {
        let key = |i: u32| format!("{beat} {} 0.8 100000", 30 + i);
        let keys: Vec<String> = (0..64).map(key).collect();
        instructions(&VOICES.replace("KEYS", &keys.join("; ")))
    };
    let (Some(playing), Some(idle)) = (voices(0), voices(100_000)) else {
        let name = "a_session_of_500_nodes_at_rest_costs_at_most_a_tenth_of_the_playing_one";
        return skip(name, "valgrind is not there");
    };
    eprintln!("a cycle of 515 nodes: {playing} playing, {idle} at rest");
    assert!(idle * 10 <= playing, "{idle} {playing}");
}

#[test]
fn what_a_constant_drives_costs_little_more_than_what_nothing_drives() {
    let driven = |edges: &str| instructions(&DRIVEN.replace("EDGES", edges));
    let by = |source: &str| {
        driven(&format!(
            "\"{source} -> filter.freq: 1 octave\", \"{source} -> tone.freq: add 20\""
        ))
    };
    let (Some(plain), Some(constant), Some(moving)) = (driven(""), by("level"), by("wave")) else {
        let name = "what_a_constant_drives_costs_little_more_than_what_nothing_drives";
        return skip(name, "valgrind is not there");
    };
    eprintln!("a cycle of 64 driven nodes: {plain} undriven, {constant} constant, {moving} moving");
    // Undriven filters take two frames at once and undriven saws are lines; a constant must give the bits of any signal.
    assert!(
        constant * 10 <= plain * 17 && constant < moving,
        "{plain} {constant} {moving}"
    );
}
