//! Properties of the plans of random graphs.

mod common;
use common::random::{patches, wild_patches};
use common::symbols::{Follower, Oracle};
use divisi_plan::{Dag, MachineModel, Plan, PlanError, StepOp, compile, hlfet, random, simulate};
use proptest::prelude::*;
use units::Nanos;

fn plan_of(patch: &common::Patch) -> Plan {
    compile(&patch.graph, &patch.catalogue, &patch.options).expect("it has no mistakes")
}

/// That each name in a mistake about a cycle feeds the next, and that none of them delays.
fn is_a_way(patch: &common::Patch, words: &str) -> bool {
    let names: Vec<&str> = words
        .split('`')
        .nth(1)
        .expect("it has names")
        .split(" → ")
        .collect();
    names.windows(2).all(|pair| {
        let [from, to] = [0, 1].map(|i| patch.graph.find(pair[i]).expect("it is a node"));
        let node = patch.graph.node(from).expect("it was just found");
        let delays = node.kind == "delay" && node.number("time").is_some_and(|t| t > 0.0);
        let mut edges = patch.graph.edges().iter();
        !delays && edges.any(|e| (e.from.node, e.to.node) == (from, to))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn with_cycles_it_has_a_sound_plan_or_each_cycle_without_a_delay_is_named(
        patch in wild_patches(12), seed: u64,
    ) {
        match compile(&patch.graph, &patch.catalogue, &patch.options) {
            Ok(plan) => {
                prop_assert_eq!(plan.validate(), Ok(()));
                let [mut one, mut other] = [Follower::new(&plan), Follower::new(&plan)];
                prop_assert_eq!(one.cycle(0, seed), other.cycle(0, !seed));
            }
            Err(PlanError(mistakes)) => {
                prop_assert!(!mistakes.is_empty());
                for mistake in mistakes {
                    prop_assert!(mistake.message.starts_with("a cycle without a delay"));
                    prop_assert!(is_a_way(&patch, &mistake.message), "{}", mistake.message);
                }
            }
        }
    }

    #[test]
    fn its_plan_is_valid(mut patch in patches(60), lanes in 0..5usize) {
        patch.options.workers = lanes;
        let plan = plan_of(&patch);
        prop_assert_eq!(plan.validate(), Ok(()));
        prop_assert_eq!(plan.worker_tasks.len(), lanes);
    }

    #[test]
    fn its_plan_in_any_order_computes_what_it_says(patch in patches(60), seed: u64) {
        let plan = plan_of(&patch);
        let mut follower = Follower::new(&plan);
        let mut oracle = Oracle::default();
        for cycle in 0..6 {
            let outcome = follower.cycle(cycle, seed);
            let expected = oracle.cycle(&patch, &plan, cycle);
            for (place, value) in &outcome {
                prop_assert_eq!(value, expected.get(place).unwrap_or(&0), "at {:?}", place);
            }
            let muted = |id| patch.graph.node(id).is_some_and(|n| !n.enabled);
            for (place, _) in expected {
                prop_assert!(outcome.contains_key(&place) || muted(place.0));
            }
        }
    }

    #[test]
    fn its_plan_is_the_same_twice(patch in patches(60)) {
        prop_assert_eq!(plan_of(&patch), plan_of(&patch));
    }

    #[test]
    fn every_node_has_its_steps_once(patch in patches(60)) {
        let plan = plan_of(&patch);
        let all = plan.steps.iter().chain(&plan.loop_steps);
        let mut nodes: Vec<_> = all.filter_map(|s| match s.op {
            StepOp::Process { node, .. } | StepOp::Sink { node } | StepOp::Silence { node } => Some(node),
            _ => None,
        }).collect();
        nodes.sort_unstable();
        let ids: Vec<_> = patch.graph.nodes().map(|(id, _)| id).collect();
        prop_assert_eq!(nodes, ids);
    }

    #[test]
    fn no_schedule_beats_the_bound_and_hlfet_is_at_most_twice_it(
        patch in patches(60), workers in 1..6usize, seed: u64,
    ) {
        let plan = plan_of(&patch);
        let (dag, bound) = (Dag::from_plan(&plan), plan.lower_bound(workers));
        for schedule in [hlfet(&dag, workers), random(&dag, workers, seed)] {
            prop_assert!(bound <= schedule.makespan);
            prop_assert!(schedule.makespan.0 <= 2 * bound.0);
        }
        let one = hlfet(&dag, 1);
        prop_assert_eq!(one.makespan, plan.total_cost());
    }

    #[test]
    fn a_schedule_is_what_its_replay_gives(patch in patches(60), workers in 1..6usize) {
        let plan = plan_of(&patch);
        let dag = Dag::from_plan(&plan);
        let schedule = hlfet(&dag, workers);
        let replay = simulate(&dag, &MachineModel::without_transfer_cost(workers), &schedule.task_order(), |id| dag.cost(id));
        let replay = replay.expect("it comes to an end");
        prop_assert_eq!(replay.makespan, schedule.makespan);
        for placed in schedule.by_worker.iter().flatten() {
            let at = placed.task.0 as usize;
            prop_assert_eq!(replay.start[at], placed.start);
            prop_assert_eq!(replay.finish[at], placed.finish);
        }
    }

    #[test]
    fn the_critical_path_is_as_long_as_the_highest_static_level(patch in patches(60)) {
        let plan = plan_of(&patch);
        let dag = Dag::from_plan(&plan);
        let path = dag.critical_path(|_| Nanos(0));
        for pair in path.windows(2) {
            prop_assert!(dag.successors(pair[0]).iter().any(|edge| edge.task == pair[1]));
        }
        let length = path.iter().map(|task| dag.cost(*task).0).sum();
        prop_assert_eq!(plan.static_levels.iter().max(), Some(&Nanos(length)));
        let t_levels = dag.t_levels(|_| Nanos(0));
        let longest = t_levels.iter().zip(&plan.static_levels).map(|(t, level)| t.0 + level.0);
        prop_assert_eq!(longest.max(), Some(length));
    }
}
