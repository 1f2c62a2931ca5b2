//! What holds for any graph.

mod common;
use common::random::patches;
use common::symbols::{Follower, Oracle};
use divisi_plan::{Plan, StepId, Work, compile, hlfet, random, simulate};
use proptest::prelude::*;
use units::Nanos;

fn plan_of(patch: &common::Patch) -> Plan {
    compile(&patch.graph, &patch.catalogue, &patch.options).expect("it has no mistakes")
}

fn own_cost(plan: &Plan) -> impl Fn(StepId) -> Nanos + '_ {
    |id| plan.steps[id.0 as usize].cost
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn its_plan_is_valid(mut patch in patches(60), lanes in 0..5usize) {
        patch.options.lanes = lanes;
        let plan = plan_of(&patch);
        prop_assert_eq!(plan.validate(), Ok(()));
        prop_assert_eq!(plan.lanes.len(), lanes);
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
        let all = plan.steps.iter().chain(&plan.inner);
        let mut nodes: Vec<_> = all.filter_map(|s| match s.work {
            Work::Node { node, .. } | Work::Keep { node } | Work::Mute { node } => Some(node),
            Work::Write { .. } | Work::Loop(_) => None,
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
        let bound = plan.bound(workers);
        for schedule in [hlfet(&plan, workers), random(&plan, workers, seed)] {
            prop_assert!(bound <= schedule.makespan);
            prop_assert!(schedule.makespan.0 <= 2 * bound.0);
        }
        let one = hlfet(&plan, 1);
        prop_assert_eq!(one.makespan, plan.total());
    }

    #[test]
    fn a_schedule_is_what_its_replay_gives(patch in patches(60), workers in 1..6usize) {
        let plan = plan_of(&patch);
        let schedule = hlfet(&plan, workers);
        let replay = simulate(&plan, &schedule.steps(), own_cost(&plan)).expect("it comes to an end");
        prop_assert_eq!(replay.makespan, schedule.makespan);
        for placed in schedule.lanes.iter().flatten() {
            let at = placed.step.0 as usize;
            prop_assert_eq!(replay.start[at], placed.start);
            prop_assert_eq!(replay.finish[at], placed.finish);
        }
    }

    #[test]
    fn the_critical_path_is_a_way_as_long_as_the_highest_level(patch in patches(60)) {
        let plan = plan_of(&patch);
        let path = plan.critical_path();
        for pair in path.windows(2) {
            prop_assert!(plan.after(pair[0]).contains(&pair[1]));
        }
        let length = path.iter().map(|id| own_cost(&plan)(*id).0).sum();
        prop_assert_eq!(plan.static_levels.iter().max(), Some(&Nanos(length)));
        let t = plan.t_levels(|_, _| Nanos(0));
        let longest = plan.ids().map(|(id, _)| t[id.0 as usize].0 + plan.static_levels[id.0 as usize].0);
        prop_assert_eq!(longest.max(), Some(length));
    }
}
