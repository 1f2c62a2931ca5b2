//! Plans in which nodes have copies.

mod common;
use common::Patch;
use common::dags::machines;
use common::random::patches;
use common::symbols::{Follower, Oracle};
use divisi_plan::{
    Dag, FusionOptions, Link, MachineModel, Plan, StepOp, compile, compile_with_copies, simulate,
};
use graph::NodeId;
use proptest::prelude::*;
use units::Nanos;

fn dear(workers: usize) -> MachineModel {
    let link = Link {
        base: Nanos(10_000),
        per_kib: Nanos(0),
    };
    MachineModel::uniform(workers, link)
}

fn copies(plan: &Plan) -> Vec<(NodeId, u16)> {
    let nodes = plan.steps.iter().filter(|s| s.copy > 0);
    let nodes = nodes.filter_map(|s| match s.op {
        StepOp::Process { node, .. } => Some((node, s.copy)),
        _ => None,
    });
    nodes.collect()
}

/// An oscillator feeds two long chains that end in a sink each: where handing over is dear, each has one of its own.
fn fork(patch: &mut Patch) -> NodeId {
    let source = patch.add("osc");
    patch.options.costs.by_node.insert(source, Nanos(500));
    for _ in 0..2 {
        let mut last = source;
        for _ in 0..3 {
            let next = patch.add("mod");
            patch.options.costs.by_node.insert(next, Nanos(5_000));
            patch.wire(last, next);
            last = next;
        }
        let sink = patch.add("sink");
        patch.wire(last, sink);
    }
    source
}

fn planned(patch: &Patch, machine: &MachineModel) -> Plan {
    compile_with_copies(&patch.graph, &patch.catalogue, &patch.options, machine)
        .expect("it has no mistakes")
}

#[test]
fn a_source_of_two_chains_has_a_copy_for_each() {
    let mut patch = Patch::default();
    let source = fork(&mut patch);
    let plan = planned(&patch, &dear(2));
    assert_eq!(plan.validate(), Ok(()));
    assert_eq!(copies(&plan), [(source, 1)]);
    assert_eq!(
        plan.worker_tasks.iter().map(Vec::len).collect::<Vec<_>>(),
        [5, 5]
    );
    // Nothing crosses: every task waits only for those of its lane.
    for lane in &plan.worker_tasks {
        for task in lane {
            assert!(
                plan.task_successors_of(*task)
                    .iter()
                    .all(|next| lane.contains(next))
            );
        }
    }
}

#[test]
fn what_must_stay_single_has_no_copies() {
    let mut patch = Patch::default();
    let source = fork(&mut patch);
    patch.options.not_duplicable.insert(source);
    assert_eq!(copies(&planned(&patch, &dear(2))), []);
    patch.options.not_duplicable.clear();
    patch.options.latency_blocks = 1;
    assert_eq!(copies(&planned(&patch, &dear(2))), []);
    // One that sends events.
    let mut patch = Patch::default();
    let player = patch.add("player");
    patch.options.costs.by_node.insert(player, Nanos(500));
    for _ in 0..2 {
        let synth = patch.add("synth");
        patch.options.costs.by_node.insert(synth, Nanos(20_000));
        patch.wire_ports((player, 1), (synth, 1));
    }
    assert_eq!(copies(&planned(&patch, &dear(2))), []);
}

#[test]
fn where_handing_over_is_free_nothing_is_copied() {
    let mut patch = Patch::default();
    fork(&mut patch);
    let plan = planned(&patch, &MachineModel::without_transfer_cost(2));
    assert_eq!(plan.validate(), Ok(()));
    let mut without = compile(&patch.graph, &patch.catalogue, &patch.options).expect("as before");
    without.worker_tasks.clone_from(&plan.worker_tasks);
    assert_eq!(plan, without);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn with_copies_it_computes_what_the_graph_says(
        mut patch in patches(40), machine in machines(4), is_dear: bool, fuses: bool, seed: u64,
    ) {
        let machine = if is_dear { dear(machine.workers()) } else { machine };
        patch.options.fusion = fuses.then(|| FusionOptions::typical(machine.workers()));
        let plan = planned(&patch, &machine);
        prop_assert_eq!(plan.validate(), Ok(()));
        let dag = Dag::from_plan(&plan);
        prop_assert!(simulate(&dag, &machine, &plan.worker_tasks, |t| dag.cost(t)).is_some());
        let mut follower = Follower::new(&plan);
        let mut oracle = Oracle::default();
        for cycle in 0..6 {
            let outcome = follower.cycle(cycle, seed);
            let expected = oracle.cycle(&patch, &plan, cycle);
            for (place, value) in &outcome {
                prop_assert_eq!(value, expected.get(place).unwrap_or(&0), "at {:?}", place);
            }
        }
    }
}

/// The property above would hold as well if nothing were ever copied.
#[test]
fn random_graphs_do_have_copies() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut with_copies = 0;
    for _ in 0..100 {
        let patch = patches(40).new_tree(&mut runner).expect("it makes one");
        with_copies += usize::from(!copies(&planned(&patch.current(), &dear(3))).is_empty());
    }
    assert!(with_copies > 5, "{with_copies} of 100");
}
