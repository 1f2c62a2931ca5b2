//! Banks: equal processors that one step computes side by side have the bits that each has alone.

use divisi_check::alloc::Counting;
use divisi_check::alone::{self, Changes, read_graph};
use divisi_check::rng::Rng;
use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, registry};
use graph::Node;
use processor::{BankKind, BankMembers, Block, ProcessStatus, Processor, Setup};
use std::any::TypeId;
use std::fmt::Write;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The words of a filter with numbers of its own, and its output.
fn filter(rng: &mut Rng, number: usize) -> (String, &'static str) {
    let freq = 100 + 150 * rng.below(60);
    let mode = |modes: &[&str], rng: &mut Rng| modes[rng.below(modes.len())].to_owned();
    match number % 5 {
        0 => {
            let modes = ["low24", "low12", "band12", "high12", "band24", "high24"];
            let mode = mode(&modes, rng);
            let resonance = rng.below(10) as f64 / 10.0;
            let drive = rng.below(30) as f64 - 10.0;
            (
                format!(
                    r#"kind = "ladder", freq = {freq}, mode = "{mode}", resonance = {resonance}, drive_db = {drive}"#
                ),
                "",
            )
        }
        1 => {
            let output = [".low", ".band", ".high"][rng.below(3)];
            (
                format!(r#"kind = "svf", freq = {freq}, q = {}"#, 1 + rng.below(9)),
                output,
            )
        }
        2 => {
            let modes = ["lowpass", "bandpass", "peak", "highshelf"];
            let mode = mode(&modes, rng);
            (
                format!(r#"kind = "biquad", freq = {freq}, mode = "{mode}", gain_db = 6"#),
                "",
            )
        }
        3 => {
            let threshold = -30 - rng.below(20) as i32;
            let words = format!(
                r#"kind = "compressor", threshold_db = {threshold}, attack = 0.001, release = 0.0{}"#,
                1 + rng.below(9)
            );
            (words, "")
        }
        _ => {
            let mode = mode(&["lowpass", "highpass"], rng);
            (
                format!(r#"kind = "onepole", freq = {freq}, mode = "{mode}""#),
                "",
            )
        }
    }
}

/// Filters behind noises, one of which is heard for a moment only, some behind others, some driven, in an order by chance.
fn session(seed: u64, count: usize) -> String {
    let mut rng = Rng(seed);
    let (mut nodes, mut edges) = (String::new(), String::new());
    writeln!(nodes, r#"loud = {{ kind = "noise", volume = 0.3 }}"#).unwrap();
    writeln!(
        nodes,
        r#"other = {{ kind = "noise", seed = 5, volume = 0.3 }}"#
    )
    .unwrap();
    writeln!(
        nodes,
        r#"burst = {{ kind = "envelope", attack = 0.001, decay = 0.01, sustain = 0 }}"#
    )
    .unwrap();
    writeln!(nodes, r#"short = {{ kind = "multiply" }}"#).unwrap();
    writeln!(nodes, r#"slow = {{ kind = "osc", freq = 3 }}"#).unwrap();
    writeln!(
        nodes,
        r#"gate = {{ kind = "lfo", shape = "square", freq = 9 }}"#
    )
    .unwrap();
    edges += "  \"other -> short.1\", \"gate -> burst.gate\", \"burst -> short.2\",\n";
    let mut sources = vec!["loud".to_owned(), "other".to_owned(), "short".to_owned()];
    for i in 0..count {
        let kind = rng.below(5);
        let (words, output) = filter(&mut rng, kind);
        writeln!(nodes, "f{i} = {{ {words} }}").unwrap();
        let from = sources[rng.below(sources.len())].clone();
        writeln!(edges, "  \"{from} -> f{i}.in\",").unwrap();
        if kind != 3 && rng.below(5) == 0 {
            writeln!(edges, "  \"slow -> f{i}.freq: 1 octaves\",").unwrap();
        }
        writeln!(edges, "  \"f{i}{output} -> out{}\",", i % 4).unwrap();
        if rng.below(3) == 0 {
            sources.push(format!("f{i}{output}"));
        }
    }
    for i in 0..4 {
        writeln!(nodes, "out{i} = {{ kind = \"sink\", channel = {} }}", i + 1).unwrap();
    }
    format!("edges = [\n{edges}]\n[nodes]\n{nodes}")
}

#[test]
fn filters_side_by_side_have_the_bits_of_each_alone() {
    let changes = Changes {
        name: 'f',
        value: |rng| 200.0 + 100.0 * rng.below(20) as f32,
    };
    for seed in 1..7 {
        changes.check_bits(&read_graph(&session(seed, 24)), seed);
    }
}

#[test]
fn a_bank_allocates_nothing() {
    alone::allocates_nothing(&read_graph(&session(3, 24)));
}

/// Numbers of members of the banks that ran.
static BANKS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Adds 1 to its input, alone or in a bank.
struct Plus;

impl Plus {
    fn add(block: &mut Block<'_>) {
        let input = block.input(0);
        for (y, x) in block.output(0).channel(0).iter_mut().zip(input.channel(0)) {
            *y = x + 1.0;
        }
    }

    fn run(members: &mut BankMembers<'_>) {
        BANKS.lock().unwrap().push(members.iter().flatten().count());
        for member in members.iter_mut().flatten() {
            let (_, block) = member.parts::<Self>().expect("all are of one type");
            Self::add(block);
        }
    }
}

impl Processor for Plus {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        Self::add(block);
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn bank(&self) -> Option<BankKind> {
        Some(BankKind {
            of: TypeId::of::<Self>(),
            run: Self::run,
        })
    }
}

/// The banks of a cycle of gains of which `waiting` wait for the first one.
fn banks(strategy: TestStrategy, mix: (usize, usize)) -> (Vec<usize>, f32) {
    let graph = alone::gains(mix, |_| 0);
    let wrap = |node: &Node, inner: Box<dyn Processor>| match &*node.kind {
        "gain" => Box::new(Plus) as Box<dyn Processor>,
        _ => inner,
    };
    let config = RunConfig::new(strategy, 1, 16);
    let mut bench = TestBench::wrapped(&graph, &registry(), config, wrap);
    BANKS.lock().unwrap().clear();
    let played = bench.render(1, 16);
    (BANKS.lock().unwrap().clone(), f32::from_bits(played[0][0]))
}

#[test]
fn a_bank_has_at_most_eight_members_and_none_that_waits_for_another() {
    let of = |mix| banks(TestStrategy::Sequential, mix);
    assert_eq!(of((1, 0)), (vec![], 1.0));
    assert_eq!(of((3, 0)), (vec![3], 3.0));
    assert_eq!(of((8, 0)), (vec![8], 8.0));
    assert_eq!(of((11, 0)), (vec![8, 3], 11.0));
    assert_eq!(of((1, 3)), (vec![3], 7.0));
    assert_eq!(of((4, 5)), (vec![4, 5], 14.0));
    // Each step is a task of its own.
    assert_eq!(banks(TestStrategy::Stealing, (5, 0)), (vec![], 5.0));
}
