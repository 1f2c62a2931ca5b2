//! Fusion: which steps become one task.

mod common;
use common::random::patches;
use common::symbols::Follower;
use common::{Patch, chain};
use divisi_plan::{FusionOptions, Plan};
use graph::NodeId;
use proptest::prelude::*;
use units::Nanos;

fn fused(patch: &mut Patch, workers: usize) -> Plan {
    patch.options.fusion = Some(FusionOptions::typical(workers));
    let plan = patch.plan();
    assert_eq!(plan.validate(), Ok(()));
    plan
}

/// A source, `branches` chains of `length` nodes and a sink, each node so dear.
fn rake(branches: usize, length: usize, cost: u64) -> Patch {
    let mut patch = Patch::default();
    let source = patch.add("osc");
    let sink = patch.add("sink");
    for _ in 0..branches {
        let mut last = source;
        for _ in 0..length {
            let next = patch.add("mod");
            patch.wire(last, next);
            last = next;
        }
        patch.wire(last, sink);
    }
    for id in 0..patch.graph.id_bound() {
        patch
            .options
            .costs
            .by_node
            .insert(NodeId(id as u32), Nanos(cost));
    }
    patch
}

#[test]
fn a_chain_is_one_task() {
    let mut patch = Patch::default();
    chain(&mut patch, 500);
    assert_eq!(fused(&mut patch, 4).tasks.len(), 1);
}

#[test]
fn one_worker_gets_everything_in_one_task() {
    assert_eq!(fused(&mut rake(8, 4, 100_000), 1).tasks.len(), 1);
}

#[test]
fn what_is_cheap_is_one_task_and_what_is_dear_is_one_for_each_chain() {
    assert_eq!(fused(&mut rake(100, 4, 1), 2).tasks.len(), 1);
    let dear = fused(&mut rake(8, 4, 100_000), 2);
    let longest = dear.tasks.iter().map(|t| t.cost.0).max();
    assert!(dear.tasks.len() >= 8, "{} tasks", dear.tasks.len());
    assert!(longest <= Some(1_700_000), "{longest:?}");
}

#[test]
fn an_empty_graph_has_no_tasks() {
    for workers in [1, 2] {
        assert!(fused(&mut Patch::default(), workers).tasks.is_empty());
    }
}

#[test]
fn costs_beyond_all_measure_do_not_overflow() {
    let plan = fused(&mut rake(5, 3, u64::MAX), 3);
    assert_eq!(plan.total_cost(), Nanos(u64::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_fused_plan_is_valid_and_gives_what_the_plan_gives(
        mut patch in patches(60), workers in 1..6usize, seed: u64, lanes in 0..4usize,
    ) {
        let plan = patch.plan();
        patch.options.fusion = Some(FusionOptions { task_overhead: Nanos(seed % 300), ..FusionOptions::typical(workers) });
        patch.options.workers = lanes;
        let fused = patch.plan();
        prop_assert_eq!(fused.validate(), Ok(()));
        prop_assert_eq!(fused.total_cost(), plan.total_cost());
        prop_assert!(fused.tasks.len() <= plan.tasks.len());
        let [mut one, mut other] = [Follower::new(&plan), Follower::new(&fused)];
        for cycle in 0..5 {
            prop_assert_eq!(one.cycle(cycle, seed), other.cycle(cycle, !seed));
        }
    }
}
