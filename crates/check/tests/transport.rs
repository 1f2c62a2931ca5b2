//! The transport: commands at their frames, the same bits in every block and executor, no note left over and no note lost.

use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler, TransportStart};
use graph::Graph;
use media::{SampleFormat, Writer};
use processor::Mode;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Channels, Frames};

/// All kinds that follow the transport.
const SESSION: &str = r#"
edges = [
  "tune -> voices", "pattern -> voices", "voices.* -> voice.notes", "voice -> out",
  "drone -> voices", "sweep -> pulse.freq", "pulse -> out", "take -> out",
]

[tempo]
map = [[0, 240], [4, 180, "linear"]]

[part.voice]
inputs = ["notes"]
outputs = ["out"]
edges = ["notes -> note", "notes -> swell.notes", "note.freq -> saw.freq", "saw -> amp.1", "swell -> amp.2", "amp -> out"]
[part.voice.nodes]
note = { kind = "note", release = 1 }
saw = { kind = "osc", freq = 0, wave = "saw" }
swell = { kind = "envelope", release = 0.01, velocity = 1 }
amp = { kind = "multiply" }

[nodes]
tune = { kind = "score", events = "0.1 C4,E4 0.3 0.4; 0.55 C5 0.5 0.1; 1 G3 1 0.5; 1.5s A3" }
drone = { kind = "score", loop = 3, events = "0.3 C2 0.3 3; 2 E2 0.2 1.5" }
pattern = { kind = "steps", pattern = "C6 . E6 -", rate = 3, swing = 0.2 }
sweep = { kind = "curve", points = "0 100; 3 900 exponential; 6 200", loop = 7 }
pulse = { kind = "osc", freq = 0, volume = 0.1 }
take = { kind = "player", file = "take.wav", channels = 1, at = 0.01 }
voices = { kind = "voices", out = 8, release = 0.02 }
voice = { kind = "voice", count = 8 }
out = { kind = "sink" }
"#;

/// A folder that goes when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("divisi-transport-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("take.wav");
        let mut writer = Writer::create(&path, rate(), Channels(1), SampleFormat::F32).unwrap();
        let samples: Vec<f32> = (0..48_000)
            .map(|n| (n * 7919 % 65_521) as f32 / 655_360.0)
            .collect();
        writer.write_interleaved(&samples).unwrap();
        writer.finish().unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn graph(text: &str) -> Graph {
    let parsed = text::toml::read(text, registry().catalogue());
    assert_eq!(parsed.diagnostics, []);
    parsed.session.graph
}

fn engine(text: &str, folder: &Path, scheduler: Scheduler, block: u32) -> (Engine, EngineCallback) {
    let mut options = EngineOptions::new(Frames(block), rate());
    options.mode = Mode::Offline;
    options.scheduler = scheduler;
    options.workers = 3;
    options.use_all_workers = true;
    options.folder = folder.to_owned();
    options.transport = Some(TransportStart {
        position: 0,
        is_rolling: true,
    });
    Engine::new(graph(text), Arc::new(registry()), options).unwrap()
}

/// Plays `frames` frames with the commands of `script`; the bits.
fn play(
    (mut engine, mut callback): (Engine, EngineCallback),
    block: u32,
    frames: usize,
    script: impl FnOnce(&mut Engine),
) -> Vec<u32> {
    script(&mut engine);
    let latency = engine.pipeline_latency() as usize;
    let mut played = Vec::new();
    while played.len() < frames + latency {
        let mut out = vec![0.0; block as usize];
        callback.process(CallbackInfo::default(), &[], &mut [&mut out]);
        played.extend(out.iter().map(|sample: &f32| sample.to_bits()));
        engine.update();
    }
    played[latency..latency + frames].to_vec()
}

/// Stops, starts, jumps and tempo at odd frames.
fn script(engine: &mut Engine) {
    engine.stop_transport(5_003).unwrap();
    engine.locate_transport(20_011, 6_001).unwrap();
    engine.start_transport(7_777).unwrap();
    engine.locate_transport(1_234, 9_999).unwrap();
    engine.set_tempo(333.0, 12_345).unwrap();
    engine.stop_transport(15_001).unwrap();
    engine.start_transport(15_002).unwrap();
    engine.loop_transport(Some(4_000..9_001), 17_000).unwrap();
    engine.locate_transport(8_000, 18_000).unwrap();
    engine.loop_transport(None, 30_001).unwrap();
    engine.set_tempo(61.0, 33_000).unwrap();
}

const FRAMES: usize = 40_000;

#[test]
fn a_session_with_a_moved_transport_has_the_same_bits_in_every_block() {
    let folder = Folder::new("blocks");
    let render = |block| {
        let made = engine(SESSION, &folder.0, Scheduler::Sequential, block);
        play(made, block, FRAMES, script)
    };
    let truth = render(64);
    let sample = |frame: usize| f32::from_bits(truth[frame]);
    assert!((0..5000).any(|frame| sample(frame).abs() > 0.1));
    for block in [1, 7, 100, 1024, 4096] {
        let other = render(block);
        let differs = (0..FRAMES).find(|frame| truth[*frame] != other[*frame]);
        assert_eq!(differs, None, "blocks of {block} frames");
    }
}

#[test]
fn a_session_with_a_moved_transport_has_the_same_bits_on_every_executor() {
    let folder = Folder::new("executors");
    let render = |scheduler| {
        play(
            engine(SESSION, &folder.0, scheduler, 64),
            64,
            FRAMES,
            script,
        )
    };
    let truth = render(Scheduler::Sequential);
    for scheduler in Scheduler::all() {
        let other = render(scheduler);
        let differs = (0..FRAMES).find(|frame| truth[*frame] != other[*frame]);
        assert_eq!(differs, None, "{scheduler}");
    }
}

#[test]
fn a_transport_that_nobody_touches_changes_no_bit() {
    let folder = Folder::new("untouched");
    let touchable = engine(SESSION, &folder.0, Scheduler::Sequential, 64);
    let mut options = EngineOptions::new(Frames(64), rate());
    options.mode = Mode::Offline;
    options.scheduler = Scheduler::Sequential;
    options.folder.clone_from(&folder.0);
    let fixed = Engine::new(graph(SESSION), Arc::new(registry()), options).unwrap();
    let touchable = play(touchable, 64, FRAMES, |_| ());
    let fixed = play(fixed, 64, FRAMES, |engine| {
        assert!(engine.stop_transport(0).is_err());
    });
    assert!(touchable == fixed);
}

#[test]
fn a_jump_plays_what_a_run_from_there_plays() {
    let folder = Folder::new("jump");
    // Without what lasts across a jump: notes that sound, and oscillators.
    let text = SESSION.replace("pulse -> out", "sweep -> out");
    let text = text.replace("\"voice -> out\",", "");
    let whole = engine(&text, &folder.0, Scheduler::Sequential, 64);
    let whole = play(whole, 64, 30_000, |_| ());
    let jumped = engine(&text, &folder.0, Scheduler::Sequential, 64);
    let jumped = play(jumped, 64, 20_000, |engine| {
        engine.stop_transport(1_001).unwrap();
        engine.locate_transport(10_000, 2_000).unwrap();
        engine.start_transport(3_000).unwrap();
    });
    // The step at the start fades within 64 frames.
    assert!(jumped[3_064..20_000] == whole[10_064..27_000]);
}

#[test]
fn notes_that_sound_end_at_a_stop_and_what_plays_them_rings_out() {
    const LONG: &str = r#"
edges = ["tune -> note", "tune -> swell.notes", "note.freq -> saw.freq", "saw -> amp.1", "swell -> amp.2", "amp -> out"]
[nodes]
tune = { kind = "score", events = "0 C4 1 1000" }
note = { kind = "note", release = 1 }
saw = { kind = "osc", freq = 0, wave = "saw" }
swell = { kind = "envelope", attack = 0, release = 0.01, velocity = 1 }
amp = { kind = "multiply" }
out = { kind = "sink" }
"#;
    let made = engine(LONG, Path::new("."), Scheduler::Sequential, 64);
    let played = play(made, 64, 20_000, |engine| {
        engine.stop_transport(5_000).unwrap();
        engine.start_transport(10_000).unwrap();
        engine.locate_transport(0, 15_000).unwrap();
    });
    let is_loud = |from: usize, to: usize| {
        let samples = played[from..to].iter();
        samples
            .map(|bits| f32::from_bits(*bits).abs())
            .any(|x| x > 0.01)
    };
    assert!(is_loud(4_000, 5_000));
    // Ten milliseconds of release, and the tail of its exponential.
    assert!(!is_loud(7_500, 15_000));
    assert!(is_loud(15_000, 16_000));
}
