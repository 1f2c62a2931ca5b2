//! One suite, every executor: the sequential bits for every shape, worker count, block and waiting policy.

use divisi_check::hall::{Hall, Manner, PIPELINES, WAYS, registry};
use graph::{Graph, shape};
use proptest::prelude::*;
use workers::Wait;

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
    Hall::new(graph, &registry(), Manner::reference(block)).play(2, FRAMES)
}

#[test]
fn every_way_gives_the_sequential_bits() {
    for (name, graph) in shapes() {
        let expected = reference(&graph, 64);
        assert!(expected[0].iter().any(|x| *x != 0), "{name} is silent");
        for way in WAYS.into_iter().chain(PIPELINES) {
            for workers in 1..=4 {
                for wait in [Wait::Hybrid, Wait::Sleep, Wait::Spin] {
                    let manner = Manner {
                        way,
                        workers,
                        block: 64,
                        wait,
                    };
                    let got = Hall::new(&graph, &registry(), manner).play(2, FRAMES);
                    assert!(got == expected, "{name}, {manner:?}");
                }
            }
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
        way in prop::sample::select([&WAYS[1..], &PIPELINES[..]].concat()),
        workers in 1_usize..=4,
    ) {
        let graph = shape::random(nodes, seed, None).unwrap();
        let expected = reference(&graph, 64);
        let manner = Manner { way, workers, block, wait: Wait::Hybrid };
        let got = Hall::new(&graph, &registry(), manner).play(2, FRAMES);
        prop_assert!(got == expected, "{manner:?}");
    }
}
