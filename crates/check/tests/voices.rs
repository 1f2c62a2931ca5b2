//! Notes to voices: a synth of parts whose idle voices run no node, with the same bits in every block and executor.

use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, registry};
use graph::Graph;
use processor::{Block, ProcessStatus, Processor, Setup, Tail};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const VOICES: usize = 16;

/// A synth of 16 voices of eight nodes, and a score of two chords.
const SYNTH: &str = r#"
edges = ["tune -> voices", "voices.* -> voice.notes", "voice -> out"]

[tempo]
bpm = 240

[part.voice]
inputs = ["notes"]
outputs = ["out"]
edges = [
  "notes -> note", "notes -> swell.notes", "notes -> sweep.notes",
  "note.freq -> saw.freq", "note.freq -> square.freq",
  "saw -> both", "square -> both", "both -> tone", "sweep -> tone.freq: 3 octaves",
  "tone.low -> amp.1", "swell -> amp.2", "amp -> out",
]
[part.voice.nodes]
note = { kind = "note", release = 1 }
saw = { kind = "osc", freq = 0, wave = "saw" }
square = { kind = "osc", freq = 0, wave = "square" }
both = { kind = "mix" }
tone = { kind = "svf", freq = 300 }
swell = { kind = "envelope", release = 0.02, velocity = 1 }
sweep = { kind = "envelope", decay = 0.1, sustain = 0, release = 0.02 }
amp = { kind = "multiply" }

[nodes]
tune = { kind = "score", events = "0.1 C4,E4 0.3 0.4; 0.55 C5 0.5 0.1; 2 G3 1 0.5" }
voices = { kind = "voices", out = 16, release = 0.05 }
voice = { kind = "voice", count = 16 }
out = { kind = "sink" }
"#;

fn synth() -> Graph {
    let registry = registry();
    let parsed = text::toml::read(SYNTH, registry.catalogue());
    assert_eq!(parsed.diagnostics, []);
    parsed.session.graph
}

/// Counts the calls of `process`.
struct Counted {
    inner: Box<dyn Processor>,
    calls: Arc<AtomicU32>,
}

impl Processor for Counted {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.inner.setup(setup);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.calls.fetch_add(1, Relaxed);
        self.inner.process(block)
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn tail(&self) -> Tail {
        self.inner.tail()
    }
}

#[test]
fn the_nodes_of_idle_voices_do_not_run() {
    const BLOCKS: u32 = 750;
    let mut calls: BTreeMap<String, Arc<AtomicU32>> = BTreeMap::new();
    let config = RunConfig::reference(64);
    let mut bench = TestBench::wrapped(&synth(), &registry(), config, |node, inner| {
        let count = Arc::new(AtomicU32::new(0));
        calls.insert(node.name.clone(), count.clone());
        Box::new(Counted {
            inner,
            calls: count,
        })
    });
    bench.render(1, 64 * BLOCKS as usize);
    for voice in 0..VOICES {
        let prefix = format!("voice.{voice}.");
        let of_voice = calls.iter().filter(|(name, _)| name.starts_with(&prefix));
        let of_voice: Vec<(&String, u32)> = of_voice.map(|(n, c)| (n, c.load(Relaxed))).collect();
        assert_eq!(of_voice.len(), 8);
        for (name, count) in of_voice {
            // Four notes, each of half a second and less, take four voices.
            match voice {
                0..4 => assert!((10..500).contains(&count), "{name} ran {count} times"),
                _ => assert!(count <= 2, "{name} ran {count} times in {BLOCKS} blocks"),
            }
        }
    }
}

#[test]
fn a_synth_has_the_same_bits_in_every_block_and_executor() {
    let (graph, registry) = (synth(), registry());
    let frames = 3 * 8192;
    let render = |config| TestBench::new(&graph, &registry, config).render(1, frames);
    let truth = render(RunConfig::reference(64));
    assert!(
        truth[0]
            .iter()
            .any(|bits| f32::from_bits(*bits).abs() > 0.05)
    );
    for block in [1, 16, 100, 1024, 4096] {
        let whole = frames / block as usize * block as usize;
        let same = render(RunConfig::reference(block))[0][..whole] == truth[0][..whole];
        assert!(same, "blocks of {block} frames");
    }
    for strategy in [
        TestStrategy::Fixed,
        TestStrategy::Stealing,
        TestStrategy::Copied,
    ] {
        assert!(
            render(RunConfig::new(strategy, 2, 64)) == truth,
            "{strategy:?}"
        );
    }
}

#[test]
fn events_and_curves_of_a_session_set_parameters_at_their_times() {
    let session = r#"
        edges = ["tone -> amp -> out"]
        [[event]]
        at = "0.1s"
        to = "amp.gain"
        value = 0
        [[event]]
        at = 0.5
        to = "amp.gain"
        value = 0.5
        [[curve]]
        to = "tone.volume"
        points = [[0, 0.5], [1, 1], [1, 0, "step"]]
        [nodes]
        tone = { kind = "osc", freq = 1000 }
        amp = { kind = "gain" }
        out = { kind = "sink" }
    "#;
    let registry = registry();
    let parsed = text::toml::read(session, registry.catalogue());
    assert_eq!(parsed.diagnostics, []);
    let mut bench = TestBench::new(&parsed.session.graph, &registry, RunConfig::reference(64));
    let played: Vec<f32> = bench.render(1, 48_000)[0]
        .iter()
        .map(|bits| f32::from_bits(*bits))
        .collect();
    let peak = |from: usize, to: usize| {
        let part = played[from..to].iter();
        part.fold(0.0_f32, |peak, sample| peak.max(sample.abs()))
    };
    // At 120 beats a minute: beat 0.5 is frame 12,000, beat 1 is frame 24,000.
    assert!(
        (0.5..0.61).contains(&peak(0, 4800)),
        "the gain is as the node says"
    );
    assert_eq!(
        peak(4800 + 240, 12_000),
        0.0,
        "the first event has muted it"
    );
    assert!(
        (0.45..0.5).contains(&peak(22_000, 24_000)),
        "half of what the curve says"
    );
    assert_eq!(
        peak(24_000 + 240, 48_000),
        0.0,
        "the curve has ended in silence"
    );
}
