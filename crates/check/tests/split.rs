//! One block over several cores: the bits of an unsplit one, and on several workers indeed.

use divisi_check::fixtures::graph;
use divisi_check::processor_bench::ProcessorBench;
use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, rate, registry};
use graph::Graph;
use plan::TraceEvent;
use processor::{Event, EventBody, EventTarget};
use workers::WaitPolicy;

/// Every kind that splits, as the words of a node, and how many inputs and outputs it has.
const NODES: [(&str, usize, usize); 8] = [
    ("kind: \"gain\", gain_db: 3", 1, 1),
    ("kind: \"pan\", pan: 0.2", 1, 2),
    ("kind: \"mix\", in: 3, out: 2", 3, 2),
    ("kind: \"mix\", in: 4, out: 2, grouped: \"true\"", 4, 2),
    ("kind: \"mixer\", in: 3, level2: 6", 3, 1),
    ("kind: \"shape\", drive_db: 6", 1, 1),
    ("kind: \"shape\", mode: \"clip\", drive_db: 6", 1, 1),
    ("kind: \"fir\", freq: 900, taps: 33", 1, 1),
];

const FRAMES: usize = 4200;

/// A source for each input of the node `x`, which burns `ns` first, and a sink for each output.
fn around(words: &str, (inputs, outputs): (usize, usize), split: u32, ns: u32) -> Graph {
    let mut text = format!("x = {{ {words}, split: {split}, }};\n");
    for n in 1..=inputs {
        text += &format!(
            "o{n} = {{ kind: \"osc\", freq: {n}01, wave: \"saw\", }};
            w{n} = {{ kind: \"work\", ns: {ns}, }}; o{n}.1 -> w{n}.1 -> x.{n};\n"
        );
    }
    for n in 1..=outputs {
        text += &format!("s{n} = {{ kind: \"sink\", }}; x.{n} -> s{n}.1;\n");
    }
    graph(&text, &registry())
}

/// The output while the first parameter of `x` changes now and then.
fn played(graph: &Graph, config: RunConfig, outputs: u16) -> Vec<Vec<u32>> {
    let mut bench = TestBench::new(graph, &registry(), config);
    let x = graph.find("x").expect("it is there");
    let turns = [(10, -20.0), (700, 0.5), (1100, -1.0), (3000, -12.0)];
    let block = u64::from(config.block);
    let mut all = vec![Vec::new(); outputs.into()];
    while all[0].len() < FRAMES {
        let from = bench.cycle * block;
        for (frame, value) in turns
            .into_iter()
            .filter(|(at, _)| (from..from + block).contains(at))
        {
            let event = Event {
                frame: (frame - from) as u32,
                target: EventTarget::Param(0),
                body: EventBody::Value(value),
            };
            bench.send_event(x, event);
        }
        let one = bench.render(outputs, config.block as usize);
        all.iter_mut()
            .zip(one)
            .for_each(|(all, one)| all.extend(one));
    }
    all.iter_mut().for_each(|all| all.truncate(FRAMES));
    all
}

#[test]
fn a_split_block_has_the_bits_of_a_whole_one() {
    for (words, inputs, outputs) in NODES {
        let whole = around(words, (inputs, outputs), 1, 0);
        let expected = played(&whole, RunConfig::reference(64), outputs as u16);
        assert!(
            expected.iter().all(|c| c.iter().any(|x| *x != 0)),
            "{words}"
        );
        for split in [1, 2, 3, 7] {
            let graph = around(words, (inputs, outputs), split, 0);
            for block in [1, 16, 100, 1024, 4096] {
                for (way, workers) in [
                    (TestStrategy::Sequential, 1),
                    (TestStrategy::Stealing, 2),
                    (TestStrategy::Fixed, 2),
                ] {
                    let config = RunConfig {
                        strategy: way,
                        workers,
                        block,
                        wait: WaitPolicy::Hybrid,
                    };
                    let same = played(&graph, config, outputs as u16) == expected;
                    assert!(same, "{words} in {split}: {config:?}");
                }
            }
        }
    }
}

#[test]
fn parts_of_every_kind_run_on_two_workers() {
    let config = RunConfig {
        strategy: TestStrategy::Stealing,
        workers: 2,
        block: 4096,
        wait: WaitPolicy::Hybrid,
    };
    for (words, inputs, outputs) in NODES {
        // So much work goes before that the other worker has come when the node's turn comes.
        let graph = around(words, (inputs, outputs), 7, 50_000);
        let mut bench = TestBench::new(&graph, &registry(), config);
        bench.runtime.set_traced(true);
        let mut is_helped = || {
            bench.render(outputs as u16, 4096);
            let mut helped = false;
            for reader in &mut bench.traces {
                reader.drain(|record| helped |= record.event == TraceEvent::ForkLane);
            }
            helped
        };
        // On a busy machine two threads may share a core for long, and never run at once.
        assert!((0..100_000).any(|_| is_helped()), "{words}");
    }
}

#[test]
fn what_splits_by_itself_says_so_and_what_is_cheap_stays_whole() {
    let lanes = |words: &str| {
        let graph = graph(&format!("x = {{ {words}, }};"), &registry());
        let (_, node) = graph.nodes().next().expect("it is there");
        // Blocks of 4096 frames.
        ProcessorBench::new(&registry(), node, rate())
            .processor
            .max_parallelism()
    };
    assert_eq!(lanes("kind: \"fir\", taps: 16"), 1);
    assert_eq!(lanes("kind: \"fir\", taps: 64"), 2);
    assert!(lanes("kind: \"fir\", taps: 8192") > 8);
    assert_eq!(lanes("kind: \"fir\", taps: 8192, split: 1"), 1);
    assert_eq!(lanes("kind: \"gain\""), 1);
    assert_eq!(lanes("kind: \"gain\", split: 3"), 3);
    assert_eq!(lanes("kind: \"mixer\", in: 2"), 1);
    assert!(lanes("kind: \"mixer\", in: 64") > 1);
}
