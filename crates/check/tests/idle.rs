//! The cost of a session at rest, counted in instructions: 500 nodes whose voices wait for notes.

use divisi_check::fixtures::skip;
use divisi_check::test_bench::registry;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use processor::Mode;
use std::process::Command;
use std::sync::Arc;
use units::{Frames, SampleRate};

/// 64 voices of eight nodes.
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

/// Environment variable with the beat of the notes, for the run under valgrind.
const BEAT: &str = "DIVISI_IDLE_BEAT";
const CYCLES: usize = 200;

#[test]
#[ignore = "run by the test below, under valgrind"]
fn plays_some_cycles() {
    let Ok(beat) = std::env::var(BEAT) else {
        return;
    };
    let keys: Vec<String> = (0..64)
        .map(|i| format!("{beat} {} 0.8 100000", 30 + i))
        .collect();
    let registry = registry();
    let read = text::toml::read(
        &SESSION.replace("KEYS", &keys.join("; ")),
        registry.catalogue(),
    );
    assert!(!read.has_errors(), "{:?}", read.diagnostics);
    let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
    (options.mode, options.scheduler) = (Mode::Offline, Scheduler::Sequential);
    let graph = read.session.graph;
    assert!(graph.len() > 500);
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry), options).unwrap();
    let mut left = [0.0; 64];
    for _ in 0..CYCLES {
        callback.process(CallbackInfo::default(), &[], &mut [&mut left]);
        engine.update();
    }
    assert_eq!(left.iter().any(|x| *x != 0.0), beat == "0");
}

/// Instructions of the callback in all cycles, with the notes at `beat`.
fn instructions(beat: &str) -> Option<u64> {
    let program = std::env::current_exe().unwrap();
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg("--toggle-collect=*EngineCallback*process*");
    valgrind
        .arg(program)
        .args(["--exact", "plays_some_cycles", "--ignored"]);
    let output = valgrind.env(BEAT, beat).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    Some(
        collected
            .expect("callgrind counts")
            .1
            .trim()
            .parse()
            .unwrap(),
    )
}

#[test]
fn a_session_of_500_nodes_at_rest_costs_at_most_a_tenth_of_the_playing_one() {
    let name = "a_session_of_500_nodes_at_rest_costs_at_most_a_tenth_of_the_playing_one";
    let (Some(playing), Some(idle)) = (instructions("0"), instructions("100000")) else {
        return skip(name, "valgrind is not there");
    };
    eprintln!(
        "a cycle of 514 nodes: {} playing, {} at rest",
        playing / CYCLES as u64,
        idle / CYCLES as u64
    );
    // The first cycle at rest still calls every node.
    assert!(idle * 10 <= playing, "{idle} {playing}");
}
