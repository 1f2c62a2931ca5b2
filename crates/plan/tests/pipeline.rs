//! Pipelining: stages that run a cycle later than their inputs.

mod common;
use common::random::{patches, wild_patches};
use common::symbols::{Follower, Outcome};
use common::{Patch, chain};
use divisi_plan::{FusionOptions, Plan, StepOp, compile};
use graph::NodeId;
use proptest::prelude::*;
use units::{Frames, Nanos};

fn sinks(plan: &Plan, mut outcome: Outcome) -> Outcome {
    outcome.retain(|(node, _), _| plan.output_channels.iter().any(|s| s.node == *node));
    outcome
}

/// Plays both, and compares their outputs, with the pipeline's latency in cycles.
fn same(plain: &Plan, piped: &Plan, seed: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(piped.validate(), Ok(()));
    let [mut one, mut other] = [Follower::new(plain), Follower::new(piped)];
    for cycle in 0..piped.latency_blocks {
        other.cycle(cycle, !seed);
    }
    for cycle in 0..7 {
        let expected = sinks(plain, one.cycle(cycle, seed));
        let got = sinks(piped, other.cycle(cycle + piped.latency_blocks, !seed));
        prop_assert_eq!(expected, got);
    }
    Ok(())
}

#[test]
fn a_line_is_cut_into_equal_shares() {
    let mut patch = Patch::default();
    let last = chain(&mut patch, 99);
    let sink = patch.add("sink");
    patch.wire(last, sink);
    for id in 0..100 {
        patch.options.costs.by_node.insert(NodeId(id), Nanos(1000));
    }
    patch.options.latency_blocks = 3;
    let plan = patch.plan();
    assert_eq!(plan.validate(), Ok(()));
    assert_eq!(plan.stage_buffers.len(), 3);
    for stage in 0..4 {
        let steps = plan.steps.iter().filter(|s| s.lag == stage);
        let nodes = steps.filter(|s| !matches!(s.op, StepOp::Send { .. } | StepOp::Receive { .. }));
        assert!((24..=26).contains(&nodes.count()), "stage {stage}");
    }
    assert_eq!(plan.latency, Frames(3 * 64));
    assert!(plan.lower_bound(4).0 < plan.total_cost().0 / 4 + 3000);
}

#[test]
fn what_feeds_back_and_what_hears_events_stays_in_one_stage() {
    let mut patch = Patch::default();
    let [a, b, sink] = ["mix", "mod", "sink"].map(|kind| patch.add(kind));
    let delay = patch.add_with("delay", &[("time", 1.0)]);
    patch.wire(a, b);
    patch.wire(b, delay);
    patch.wire(delay, a);
    patch.wire(b, sink);
    patch.options.latency_blocks = 2;
    let plan = patch.plan();
    assert_eq!(plan.validate(), Ok(()));
    let lag = |id| {
        let own = |w: StepOp| matches!(w, StepOp::Process { node, .. } | StepOp::WriteLine { node, .. } if node == id);
        let steps = plan.steps.iter().filter(|s| own(s.op));
        steps.map(|s| s.lag).collect::<Vec<_>>()
    };
    let all: Vec<u32> = [a, b, delay].into_iter().flat_map(lag).collect();
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|l| *l == all[0]), "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_pipelined_plan_gives_what_the_plan_gives_so_many_cycles_later(
        mut patch in patches(60), ahead in 1..4u32, seed: u64, workers in 1..4usize,
    ) {
        let plain = patch.plan();
        patch.options.latency_blocks = ahead;
        same(&plain, &patch.plan(), seed)?;
        patch.options.fusion = Some(FusionOptions::typical(workers));
        patch.options.workers = workers;
        same(&plain, &patch.plan(), seed)?;
    }

    #[test]
    fn with_cycles_too(mut patch in wild_patches(12), ahead in 1..3u32, seed: u64) {
        let plain = compile(&patch.graph, &patch.catalogue, &patch.options);
        patch.options.latency_blocks = ahead;
        let piped = compile(&patch.graph, &patch.catalogue, &patch.options);
        prop_assert_eq!(plain.is_ok(), piped.is_ok());
        if let (Ok(plain), Ok(piped)) = (plain, piped) {
            same(&plain, &piped, seed)?;
        }
    }
}
