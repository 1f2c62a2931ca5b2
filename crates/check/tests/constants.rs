//! Constant signals: what is known of them saves work and changes no bit, and nodes at rest cost next to nothing.

use divisi_check::fixtures;
use divisi_check::rng::Rng;
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, registry};
use processor::{Block, Content, ProcessStatus, Registry};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const FRAMES: usize = 4000;

/// All kinds, and `copy`, which passes on sound and silence but not that a signal is constant.
fn kinds() -> Registry {
    let mut registry = registry();
    fixtures::add(&mut registry, fixtures::kind("copy", (1, 1)), |_| {
        |block: &mut Block<'_>| {
            match block.input(0).is_silent() {
                true => block.silence_outputs(),
                false => fixtures::pass(block),
            }
            ProcessStatus::Continue
        }
    });
    registry
}

/// A random session of `count` nodes, most of whose signals are constant most of the time. With `copies` every edge between
/// them goes through a `copy`.
fn session(seed: u64, count: usize, copies: bool) -> String {
    let mut rng = Rng(seed);
    let (mut nodes, mut edges) = (String::new(), String::new());
    let mut outputs: Vec<String> = Vec::new();
    let mut edge = |from: &str, to: &str, number: &mut usize, nodes: &mut String| {
        if copies {
            *number += 1;
            writeln!(nodes, "c{number} = {{ kind = \"copy\" }}").unwrap();
            writeln!(edges, "  \"{from} -> c{number} -> {to}\",").unwrap();
        } else {
            writeln!(edges, "  \"{from} -> {to}\",").unwrap();
        }
    };
    let mut number = 0;
    for i in 0..count {
        let name = format!("n{i}");
        let pick = |rng: &mut Rng, outputs: &[String]| outputs[rng.below(outputs.len())].clone();
        let kind = if i < 3 { i } else { rng.below(9) };
        let (text, output) = match kind {
            0..=2 => {
                let mut points = String::new();
                let mut at = 0;
                for _ in 0..6 {
                    let value = [0.0, 0.25, -0.5, 0.7][rng.below(4)];
                    let shape = ["step", "linear", "step"][rng.below(3)];
                    write!(points, "{}s {value} {shape}; ", at as f64 / 1000.0).unwrap();
                    at += 1 + rng.below(14);
                }
                let points = points.trim_end_matches("; ");
                (
                    format!("kind = \"curve\", points = \"{points}\""),
                    name.clone(),
                )
            }
            3 | 4 => {
                edge(&pick(&mut rng, &outputs), &name, &mut number, &mut nodes);
                let gain = ["0.5", "-1", "1", "0"][rng.below(4)];
                if rng.below(2) == 0 {
                    let to = format!("{name}.gain: add 0.8");
                    edge(&pick(&mut rng, &outputs), &to, &mut number, &mut nodes);
                }
                (format!("kind = \"gain\", gain = {gain}"), name.clone())
            }
            5 => {
                for port in 1..=3 {
                    let to = format!("{name}.in{port}");
                    edge(&pick(&mut rng, &outputs), &to, &mut number, &mut nodes);
                }
                edge(
                    &pick(&mut rng, &outputs),
                    &format!("{name}.in2"),
                    &mut number,
                    &mut nodes,
                );
                ("kind = \"mix\", in = 3".to_owned(), name.clone())
            }
            6 => {
                for port in 1..=2 {
                    let to = format!("{name}.in{port}");
                    edge(&pick(&mut rng, &outputs), &to, &mut number, &mut nodes);
                }
                ("kind = \"multiply\"".to_owned(), name.clone())
            }
            7 => {
                edge(
                    &pick(&mut rng, &outputs),
                    &format!("{name}.in"),
                    &mut number,
                    &mut nodes,
                );
                let to = format!("{name}.freq: 2 octaves");
                edge(&pick(&mut rng, &outputs), &to, &mut number, &mut nodes);
                (
                    "kind = \"svf\", freq = 900".to_owned(),
                    format!("{name}.low"),
                )
            }
            _ => {
                let to = format!("{name}.freq: add 300");
                edge(&pick(&mut rng, &outputs), &to, &mut number, &mut nodes);
                (
                    "kind = \"osc\", wave = \"saw\", freq = 200".to_owned(),
                    name.clone(),
                )
            }
        };
        writeln!(nodes, "{name} = {{ {text} }}").unwrap();
        outputs.push(output);
    }
    for (i, output) in outputs.iter().rev().take(4).enumerate() {
        writeln!(edges, "  \"{output} -> out{i}\",").unwrap();
        writeln!(nodes, "out{i} = {{ kind = \"sink\" }}").unwrap();
    }
    format!("edges = [\n{edges}]\n[nodes]\n{nodes}")
}

fn render(text: &str, config: RunConfig) -> Vec<Vec<u32>> {
    let registry = kinds();
    let read = text::toml::read(text, registry.catalogue());
    assert!(!read.has_errors(), "{text}\n{:?}", read.diagnostics);
    TestBench::new(&read.session.graph, &registry, config).render(4, FRAMES)
}

#[test]
fn what_is_known_of_constant_signals_changes_no_bit() {
    let mut sounding = 0;
    for seed in 0..60 {
        let expected = render(&session(seed, 24, true), RunConfig::reference(64));
        sounding += expected.iter().flatten().filter(|x| **x != 0).count();
        for block in [64, 7, 1] {
            let got = render(&session(seed, 24, false), RunConfig::reference(block));
            assert!(got == expected, "seed {seed}, block {block}");
        }
    }
    assert!(sounding > 60 * FRAMES, "{sounding}");
}

#[test]
fn what_is_known_of_constant_signals_is_the_same_under_every_executor() {
    for seed in [1, 2, 3] {
        let expected = render(&session(seed, 40, true), RunConfig::reference(64));
        for strategy in ALL_STRATEGIES {
            let got = render(&session(seed, 40, false), RunConfig::new(strategy, 2, 64));
            assert!(got == expected, "seed {seed}, {strategy:?}");
        }
    }
}

/// All kinds, and `look`, which counts the blocks in which both of its inputs are known to be constant.
fn looking(marks: &Arc<AtomicU64>) -> Registry {
    let (mut registry, seen) = (kinds(), marks.clone());
    fixtures::add(&mut registry, fixtures::kind("look", (2, 1)), move |_| {
        let seen = seen.clone();
        move |block: &mut Block<'_>| {
            let known = (0..2).all(|port| block.input(port).constant(0).is_some());
            seen.fetch_add(known.into(), Ordering::Relaxed);
            block.silence_outputs();
            ProcessStatus::Continue
        }
    });
    registry
}

/// Plays `frames` frames of a session with one `look`; returns the number of blocks that it counted.
fn blocks_known(text: &str, frames: usize) -> u64 {
    let marks = Arc::default();
    let registry = looking(&marks);
    let read = text::toml::read(text, registry.catalogue());
    assert!(!read.has_errors(), "{:?}", read.diagnostics);
    let config = RunConfig::reference(64);
    TestBench::new(&read.session.graph, &registry, config).render(1, frames);
    marks.load(Ordering::Relaxed)
}

#[test]
fn constants_pass_through_gains_sums_products_and_parameters() {
    let text = r#"
edges = ["level -> half -> sum.in1", "level -> sum.in2", "level -> sum.in2", "sum -> all.in1", "level -> all.in2",
  "level -> driven.gain: add 1", "all -> driven -> look.in1", "level -> place.in", "place.left -> look.in2", "look -> out"]
[nodes]
level = { kind = "curve", points = "0 0.5" }
half = { kind = "gain", gain = 0.5 }
driven = { kind = "gain", gain = 0.5 }
sum = { kind = "mix" }
all = { kind = "multiply" }
place = { kind = "pan" }
look = { kind = "look" }
out = { kind = "sink" }
"#;
    assert_eq!(blocks_known(text, 640), 10);
    assert_eq!(Content::Unknown as u8, 0, "fresh memory says nothing");
}

#[test]
fn an_envelope_that_has_come_to_rest_is_constant_and_has_the_same_bits() {
    let text = |path: &str, gate: &str| {
        format!(
            r#"
edges = ["gate -> {path} env.gate", "env -> look.in1", "env -> look.in2", "env -> out", "look -> out"]
[nodes]
gate = {{ kind = "curve", points = "{gate}" }}
env = {{ kind = "envelope", attack = 0.001, decay = 0.004, sustain = 0.7, release = 0.01 }}
copy = {{ kind = "copy" }}
look = {{ kind = "look" }}
out = {{ kind = "sink" }}
"#
        )
    };
    let known = blocks_known(&text("", "0 1"), 16_000);
    assert!((200..=248).contains(&known), "{known} of 250 blocks");
    let gate = "0 1; 0.2s 0 step; 0.25s 1 step";
    let bits = |path: &str, block| {
        let registry = looking(&Arc::default());
        let read = text::toml::read(text(path, gate), registry.catalogue());
        assert!(!read.has_errors(), "{:?}", read.diagnostics);
        TestBench::new(&read.session.graph, &registry, RunConfig::reference(block))
            .render(1, 16_000)
    };
    let expected = bits("copy ->", 64);
    assert!(bits("", 64) == expected && bits("", 7) == expected);
}
