//! Rows: equal cheap steps that follow each other run in one call, with the bits and the promises that each has alone.

use divisi_check::alloc::Counting;
use divisi_check::alone::{self, Changes, read_graph};
use divisi_check::rng::Rng;
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, TestStrategy, registry};
use graph::Node;
use processor::{Block, InRow, ProcessStatus, Processor, RowKind, RowStatus, Setup, StepRow};
use std::fmt::Write;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Gains, pans and delays behind noises, one of which is heard for a moment only, some behind others, in an order by chance.
fn session(seed: u64, count: usize) -> String {
    let mut rng = Rng(seed);
    let mut nodes = String::from(
        r#"loud = { kind = "noise", volume = 0.3 }
burst = { kind = "envelope", attack = 0.001, decay = 0.01, sustain = 0 }
gate = { kind = "lfo", shape = "square", freq = 9 }
short = { kind = "multiply" }
still = { kind = "lfo", shape = "square", freq = 0.001 }
"#,
    );
    let mut edges =
        String::from("  \"loud -> short.1\", \"gate -> burst.gate\", \"burst -> short.2\",\n");
    let mut sources: Vec<String> = ["loud", "short", "still"].map(str::to_owned).into();
    for i in 0..count {
        let hundredths = rng.below(200) as i32 - 100;
        let factor = f64::from(hundredths) / 100.0;
        let (words, output) = match rng.below(4) {
            0 | 1 => (format!(r#"kind = "gain", gain = {factor}"#), ""),
            2 => (format!(r#"kind = "pan", pan = {factor}"#), ".right"),
            _ => {
                let ms = rng.below(20);
                (format!(r#"kind = "delay", time = 0.0{ms:02}"#), "")
            }
        };
        writeln!(nodes, "n{i} = {{ {words} }}").unwrap();
        let from = sources[rng.below(sources.len().min(4))].clone();
        writeln!(edges, "  \"{from} -> n{i}.in\",").unwrap();
        if rng.below(5) == 0 {
            // It reads a sum, so it is in no row.
            let other = ["loud", "short"].into_iter().find(|it| *it != from);
            writeln!(edges, "  \"{} -> n{i}.in\",", other.unwrap()).unwrap();
        }
        writeln!(edges, "  \"n{i}{output} -> out{}\",", i % 4).unwrap();
        if rng.below(4) == 0 {
            sources.insert(0, format!("n{i}{output}"));
        }
    }
    for i in 0..4 {
        writeln!(nodes, "out{i} = {{ kind = \"sink\", channel = {} }}", i + 1).unwrap();
    }
    format!("edges = [\n{edges}]\n[nodes]\n{nodes}")
}

#[test]
fn nodes_in_a_row_have_the_bits_of_each_alone() {
    let changes = Changes {
        name: 'n',
        value: |rng| rng.below(12) as f32 / 600.0,
    };
    for seed in 1..6 {
        changes.check_bits(&read_graph(&session(seed, 24)), seed);
    }
}

#[test]
fn a_row_allocates_nothing() {
    alone::allocates_nothing(&read_graph(&session(3, 24)));
}

/// Numbers of members of the rows that ran.
static ROWS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// One test at a time counts them.
static COUNTING: Mutex<()> = Mutex::new(());

/// Adds 1 to its input, alone or in a row. It sleeps on silence, or panics in its second block.
struct Plus {
    sleeps: bool,
    panics: bool,
    blocks: u32,
}

impl Processor for Plus {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.blocks += 1;
        assert!(!self.panics || self.blocks < 2, "it is to panic");
        if self.sleeps {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let input = block.input(0);
        for (y, x) in block.output(0).channel(0).iter_mut().zip(input.channel(0)) {
            *y = x + 1.0;
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn row(&self) -> Option<RowKind> {
        Some(RowKind::of::<Self>())
    }
}

impl InRow for Plus {
    fn process_row(row: StepRow<'_, Self>) -> RowStatus {
        let at = {
            let mut rows = ROWS.lock().unwrap();
            rows.push(0);
            rows.len() - 1
        };
        row.process(|unit, block| {
            ROWS.lock().unwrap()[at] += 1;
            unit.process(block)
        })
    }
}

/// The rows of some cycles of nodes of which `waiting` wait for the first one, and a sample of each cycle.
fn rows(
    (strategy, is_traced): (TestStrategy, bool),
    (free, waiting): (usize, usize),
    cycles: usize,
) -> Vec<(Vec<usize>, f32)> {
    let _counting = COUNTING.lock().unwrap_or_else(|it| it.into_inner());
    // One of 0 dB is plain, one of 1 dB sleeps, one of 2 dB panics.
    let graph = alone::gains((free, waiting), |i| match i {
        2 if free > 8 => 1,
        4 if free > 8 => 2,
        _ => 0,
    });
    let wrap = |node: &Node, inner: Box<dyn Processor>| match &*node.kind {
        "gain" => {
            let db = node.number("gain_db");
            Box::new(Plus {
                sleeps: db == Some(1.0),
                panics: db == Some(2.0),
                blocks: 0,
            }) as Box<dyn Processor>
        }
        _ => inner,
    };
    let config = RunConfig::new(strategy, 1, 16);
    let mut bench = TestBench::wrapped(&graph, &registry(), config, wrap);
    bench.runtime.set_traced(is_traced);
    let mut cycle = || {
        ROWS.lock().unwrap().clear();
        let played = bench.render(1, 16);
        let rows = ROWS.lock().unwrap().clone();
        (rows, f32::from_bits(played[0][0]))
    };
    (0..cycles).map(|_| cycle()).collect()
}

#[test]
fn a_row_has_at_most_32_steps_and_none_that_waits_for_another() {
    let of = |mix| rows((TestStrategy::Sequential, false), mix, 1).remove(0);
    assert_eq!(of((1, 0)), (vec![], 1.0));
    assert_eq!(of((3, 0)), (vec![3], 3.0));
    // The third of more than eight is silent.
    assert_eq!(of((32, 0)), (vec![32], 31.0));
    assert_eq!(of((33, 0)), (vec![32], 32.0));
    assert_eq!(of((70, 0)), (vec![32, 32, 6], 69.0));
    assert_eq!(of((1, 3)), (vec![3], 7.0));
    assert_eq!(of((4, 5)), (vec![4, 5], 14.0));
    // Each step is a task of its own.
    let stealing = rows((TestStrategy::Stealing, false), (5, 0), 1).remove(0);
    assert_eq!(stealing, (vec![], 5.0));
}

#[test]
fn a_row_goes_on_behind_a_step_that_sleeps_and_behind_one_that_panics() {
    for strategy in ALL_STRATEGIES {
        let cycles = rows((strategy, false), (12, 0), 4);
        let (sizes, sums): (Vec<_>, Vec<_>) = cycles.into_iter().unzip();
        // The third one is silent, and the fifth one from the second block on: no other one misses a block.
        assert_eq!(sums, [11.0, 10.0, 10.0, 10.0], "{strategy:?}");
        if strategy == TestStrategy::Sequential {
            // All; then without the one that sleeps, up to the one that panics; then without both. The fourth is alone between them.
            let expected: [&[usize]; 4] = [&[12], &[2, 2, 7], &[2, 7], &[2, 7]];
            assert_eq!(sizes, expected);
        }
    }
}

#[test]
fn a_step_that_panics_by_itself_takes_none_of_its_row_with_it() {
    // A traced step runs by itself.
    for strategy in ALL_STRATEGIES {
        let cycles = rows((strategy, true), (12, 0), 4);
        let sums: Vec<f32> = cycles.into_iter().map(|(_, sum)| sum).collect();
        assert_eq!(sums, [11.0, 10.0, 10.0, 10.0], "{strategy:?}");
    }
}
