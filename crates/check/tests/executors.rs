//! One suite, every executor: the sequential bits for every shape, worker count, block and waiting policy.

use divisi_check::test_bench::{
    ALL_STRATEGIES, LATENCY_BLOCKS, PIPELINED, RunConfig, TestBench, registry,
};
use exec::{CycleInfo, CycleStatus};
use graph::{Graph, shape};
use proptest::prelude::*;
use workers::WaitPolicy;

const FRAMES: usize = 4096;

fn shapes() -> Vec<(&'static str, Graph)> {
    vec![
        ("line", shape::line(40, None).unwrap()),
        ("rake", shape::rake(101, None).unwrap()),
        ("diamond", shape::diamond(156, None).unwrap()),
        ("random", shape::random(200, 7, None).unwrap()),
    ]
}

fn reference(graph: &Graph, block: u32) -> Vec<Vec<u32>> {
    TestBench::new(graph, &registry(), RunConfig::reference(block)).render(2, FRAMES)
}

const POLICIES: [WaitPolicy; 3] = [WaitPolicy::Hybrid, WaitPolicy::Sleep, WaitPolicy::Spin];

/// Plays every shape, strategy and number of workers. `policies` has the number of the shape plus that of the workers.
fn gives_the_sequential_bits(policies: impl Fn(usize) -> Vec<WaitPolicy>) {
    for (shape, (name, graph)) in shapes().into_iter().enumerate() {
        let expected = reference(&graph, 64);
        assert!(expected[0].iter().any(|x| *x != 0), "{name} is silent");
        for way in ALL_STRATEGIES.into_iter().chain(PIPELINED) {
            for workers in 1..=4 {
                for wait in policies(shape + workers) {
                    let run_config = RunConfig {
                        strategy: way,
                        workers,
                        block: 64,
                        wait,
                    };
                    let got = TestBench::new(&graph, &registry(), run_config).render(2, FRAMES);
                    assert!(got == expected, "{name}, {run_config:?}");
                }
            }
        }
    }
}

/// Each strategy waits in each way somewhere: the policy goes round with the shape and the number of workers.
#[test]
fn every_way_gives_the_sequential_bits() {
    gives_the_sequential_bits(|number| vec![POLICIES[number % 3]]);
}

#[test]
#[ignore = "the long tier: each policy of waiting with each shape, strategy and number of workers"]
fn every_way_of_waiting_gives_the_sequential_bits() {
    gives_the_sequential_bits(|_| POLICIES.to_vec());
}

#[test]
fn a_plan_plays_on_when_the_numbers_of_its_cycles_wrap_around() {
    for (name, graph) in shapes() {
        let expected = reference(&graph, 16);
        for strategy in ALL_STRATEGIES.into_iter().chain(PIPELINED) {
            for workers in [1, 3] {
                let config = RunConfig::new(strategy, workers, 16);
                // Of 256 cycles, 100 come before the one with number 0.
                let from = u32::MAX - 100;
                let mut bench = TestBench::from_epoch(from, &graph, &registry(), config);
                let got = bench.render(2, FRAMES);
                assert!(got == expected, "{name}, {config:?}");
            }
        }
    }
}

/// The sinks are in the last stage, and hold what they played before.
#[test]
fn a_pipeline_that_begins_anew_is_silent_until_its_last_stage_plays() {
    let graph = shape::random(60, 7, None).unwrap();
    for way in PIPELINED {
        let workers = 2;
        let run_config = RunConfig {
            strategy: way,
            workers,
            ..RunConfig::reference(64)
        };
        let mut test_bench = TestBench::new(&graph, &registry(), run_config);
        test_bench.render(1, FRAMES);
        let first = test_bench.cycle;
        for cycle in first..first + 10 {
            let info = CycleInfo {
                first_frame: 64 * first,
                ..CycleInfo::unlimited(64 * cycle, cycle)
            };
            let result = test_bench.executor.run_cycle(&info, &[]);
            assert_eq!(result.status, CycleStatus::Complete);
            let mut out = [0.0_f32; 64];
            test_bench.executor.add_output(0, &mut out);
            let is_heard = out.iter().any(|x| *x != 0.0);
            assert_eq!(
                is_heard,
                cycle >= first + u64::from(LATENCY_BLOCKS),
                "{run_config:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_block_gives_the_same_bits(
        nodes in 3_usize..200,
        seed in any::<u64>(),
        block in prop_oneof![1_u32..16, 16_u32..300, 300_u32..=4096],
        strategy in prop::sample::select([&ALL_STRATEGIES[1..], &PIPELINED[..]].concat()),
        workers in 1_usize..=4,
    ) {
        let graph = shape::random(nodes, seed, None).unwrap();
        let expected = reference(&graph, 64);
        let run_config = RunConfig { strategy, workers, block, wait: WaitPolicy::Hybrid };
        let got = TestBench::new(&graph, &registry(), run_config).render(2, FRAMES);
        prop_assert!(got == expected, "{run_config:?}");
    }
}
