//! Numbers, notes and MIDI across the border of a cell: the same bits, and what a failure leaves of them.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, wav};

/// Notes and numbers enter two cells and leave them.
const SESSION: &str = r#"
edges = [
    "chords -> arp -> up -> keys", "keys.freq -> tone.freq", "up -> swell.notes", "tone -> amp.1", "swell -> amp.2",
    "amp -> out", "slow -> tone.freq: 0.5 octaves", "slow -> last.gain_db: 6 dB", "amp -> last -> out2",
]
[tempo]
bpm = 240
[nodes.chords]
kind = "score"
loop = 4
events = """
0 A3,C4,E4 0.7 1.9
2 F3,A3,C4 0.4 1.5
"""
[nodes]
arp = { kind = "arpeggiator", rate = 4, gate = 0.4 }
up = { kind = "transpose", semitones = 12 }
keys = { kind = "note" }
tone = { kind = "osc", freq = 0 }
swell = { kind = "envelope", attack = 0.004, decay = 0.05, sustain = 0.5, release = 0.03, velocity = 1 }
slow = { kind = "curve", points = "0 0; 1 1 s-curve; 2 0", loop = 2 }
amp = { kind = "multiply" }
last = { kind = "gain" }
out = { kind = "sink" }
out2 = { kind = "sink" }
[cell.arp]
nodes = ["arp", "slow"]
[cell.voice]
nodes = ["keys", "tone"]
"#;

/// Samples of the first channel.
fn samples(here: &Folder, name: &str) -> Vec<f32> {
    let (channels, samples) = wav(&here.read(name));
    let step = usize::from(channels);
    let samples = samples.into_iter().step_by(step);
    samples.map(f32::from_bits).collect()
}

fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |peak, x| x.abs().max(peak))
}

#[test]
fn a_session_with_notes_and_numbers_has_the_same_bits_with_its_cells_and_without() {
    let here = Folder::new();
    for (first, second) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let session = SESSION
            .replace("\"slow\"]", &format!("\"slow\"]\nlatency = {first}"))
            .replace("\"tone\"]", &format!("\"tone\"]\nlatency = {second}"));
        here.write("s.toml", session);
        for block in [64, 17, 512] {
            let line = format!("--seconds 1.2 --block {block}");
            here.well(&format!("render s.toml -o whole.wav {line}"));
            here.well(&format!("cells s.toml --render cells.wav {line}"));
            let is_equal = here.read("whole.wav") == here.read("cells.wav");
            assert!(is_equal, "{first} {second}, blocks of {block}");
            assert!(peak(&samples(&here, "whole.wav")) > 0.1);
        }
    }
}

#[test]
fn a_number_that_came_before_a_failure_is_told_to_a_process_without_a_state() {
    let here = Folder::new();
    let session = r#"
edges = ["one -> keys", "keys.freq -> tone.freq", "tone -> out"]
[nodes.one]
kind = "score"
events = "0 A3 0.7 1000"
[nodes]
keys = { kind = "note" }
tone = { kind = "osc", freq = 0 }
out = { kind = "sink" }
[cell.a]
nodes = ["tone"]
"#;
    here.write("s.toml", session);
    let drills: String = (1..5).map(|n| format!(" --drill a:kill@0.{n}")).collect();
    let gave = here.call(&format!(
        "cells s.toml --render o.wav --seconds 0.6{drills}"
    ));
    assert_eq!(gave.code, Some(1), "{}", gave.err);
    let continued = gave.err.matches("continues from before").count();
    assert_eq!(continued, 3, "the last one has no state: {}", gave.err);
    let found = samples(&here, "o.wav");
    assert!(peak(&found[4_800..]) > 0.9);
    assert!(
        peak(&found[found.len() - 1_000..]) > 0.9,
        "it sounds at the end"
    );
}

#[test]
fn no_note_hangs_after_a_failure() {
    let here = Folder::new();
    // The end of the note is in the block that is lost.
    let session = |notes: &str, cell: &str| {
        format!(
            r#"
edges = ["one -> up -> keys", "keys.freq -> tone.freq", "up -> swell.notes", "tone -> amp.1", "swell -> amp.2", "amp -> out"]
[tempo]
bpm = 60
[nodes.one]
kind = "score"
events = "{notes}"
[nodes]
up = {{ kind = "transpose" }}
keys = {{ kind = "note" }}
tone = {{ kind = "osc", freq = 0 }}
swell = {{ kind = "envelope", attack = 0.001, decay = 0.01, sustain = 1, release = 0.01 }}
amp = {{ kind = "multiply" }}
out = {{ kind = "sink" }}
[cell.a]
nodes = [{cell}]
"#
        )
    };
    let cases = [
        ("0 A3 0.7 0.5", "\"keys\", \"tone\", \"swell\", \"amp\""),
        ("0 A3 0.7 100", "\"up\""),
    ];
    for (notes, cell) in cases {
        here.write("s.toml", session(notes, cell));
        let gave = here.call(
            "cells s.toml --render o.wav --seconds 0.8 --rate 48000 --block 64 --drill a:kill@0.5",
        );
        assert_eq!(gave.code, Some(1), "{}", gave.err);
        assert!(gave.err.contains("cell `a`: 1 of "), "{}", gave.err);
        let found = samples(&here, "o.wav");
        assert!(
            peak(&found[20_000..23_000]) > 0.3,
            "{cell}: it sounds before"
        );
        assert!(peak(&found[33_000..]) < 1e-3, "{cell}: it is over");
    }
}
