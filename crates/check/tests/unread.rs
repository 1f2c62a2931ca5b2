//! Outputs that no node reads: units need not write them, and what is read has the same bits.

use divisi_check::rng::Rng;
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, registry};
use std::fmt::Write;

const FRAMES: usize = 3000;
const PORTS: [&str; 3] = ["low", "band", "high"];

/// Filters whose outputs are partly read, some of them in a loop shorter than a block. If `all` are read, a sink takes every output.
fn session(seed: u64, all: bool) -> String {
    let mut rng = Rng(seed);
    let (mut nodes, mut edges) = (String::new(), String::new());
    writeln!(nodes, "noise = {{ kind = \"noise\", volume = 0.2 }}").unwrap();
    writeln!(nodes, "back = {{ kind = \"delay\", time = 0.0005 }}").unwrap();
    let mut outputs = vec!["noise".to_owned()];
    for i in 0..12 {
        let freq = 200 + 300 * rng.below(20);
        writeln!(nodes, "n{i} = {{ kind = \"svf\", freq = {freq} }}").unwrap();
        for _ in 0..1 + rng.below(2) {
            let from = &outputs[rng.below(outputs.len())];
            writeln!(edges, "  \"{from} -> n{i}\",").unwrap();
        }
        // One of three, most of the time.
        outputs.push(format!("n{i}.{}", PORTS[rng.below(3)]));
        if all {
            PORTS
                .iter()
                .for_each(|port| writeln!(edges, "  \"n{i}.{port} -> spare\",").unwrap());
        }
    }
    writeln!(edges, "  \"n1.low -> n8\",").unwrap();
    writeln!(edges, "  \"{} -> quiet -> back -> n1\",", outputs[9]).unwrap();
    writeln!(nodes, "quiet = {{ kind = \"gain\", gain = 0.1 }}").unwrap();
    for (i, output) in outputs.iter().rev().take(3).enumerate() {
        writeln!(edges, "  \"{output} -> out{i}\",").unwrap();
        writeln!(nodes, "out{i} = {{ kind = \"sink\", channel = {} }}", i + 1).unwrap();
    }
    if all {
        writeln!(nodes, "spare = {{ kind = \"sink\", channel = 4 }}").unwrap();
    }
    format!("edges = [\n{edges}]\n[nodes]\n{nodes}")
}

/// The first three channels.
fn render(text: &str, config: RunConfig) -> Vec<Vec<u32>> {
    let registry = registry();
    let read = text::toml::read(text, registry.catalogue());
    assert!(!read.has_errors(), "{text}\n{:?}", read.diagnostics);
    let mut all = TestBench::new(&read.session.graph, &registry, config).render(4, FRAMES);
    all.truncate(3);
    all
}

#[test]
fn what_nobody_reads_changes_no_bit_of_what_is_read() {
    let mut sounding = 0;
    for seed in 0..12 {
        let expected = render(&session(seed, true), RunConfig::reference(64));
        sounding += expected.iter().flatten().filter(|x| **x != 0).count();
        for block in [64, 7] {
            let got = render(&session(seed, false), RunConfig::reference(block));
            assert!(got == expected, "seed {seed}, block {block}");
        }
        for strategy in ALL_STRATEGIES {
            let got = render(&session(seed, false), RunConfig::new(strategy, 2, 64));
            assert!(got == expected, "seed {seed}, {strategy:?}");
        }
    }
    assert!(sounding > 12 * FRAMES, "{sounding}");
}
