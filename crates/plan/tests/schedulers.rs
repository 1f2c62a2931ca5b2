//! Promises of every scheduler, on random graphs and worked by hand.

mod common;
use common::dags::{dags, machines};
use divisi_plan::{
    Dag, Link, MachineModel, Schedule, TaskId, cpfd, etf, hlfet, optimal, random, simulate,
};
use proptest::prelude::*;
use units::Nanos;

fn dag(costs: &[u64], edges: &[(u32, u32, u32)]) -> Dag {
    let edges = edges.iter().map(|(a, b, n)| (TaskId(*a), TaskId(*b), *n));
    let costs = costs.iter().copied().map(Nanos).collect();
    Dag::new(costs, edges).expect("all lead forward")
}

/// A link that costs a nanosecond a byte.
fn by_byte(workers: usize) -> MachineModel {
    let link = Link {
        base: Nanos(0),
        per_kib: Nanos(1024),
    };
    MachineModel::uniform(workers, link)
}

/// (task, start, finish) by lane.
fn times(schedule: &Schedule) -> Vec<Vec<(u32, u64, u64)>> {
    let lanes = schedule.by_worker.iter();
    let lanes = lanes.map(|l| l.iter().map(|p| (p.task.0, p.start.0, p.finish.0)));
    lanes.map(Iterator::collect).collect()
}

/// The obvious way: every ready task on every worker, anew for each placement.
fn slow_etf(dag: &Dag, machine: &MachineModel) -> Vec<Vec<(u32, u64, u64)>> {
    let levels = dag.static_levels();
    let mut lanes = vec![Vec::new(); machine.workers()];
    let mut placed: Vec<Option<(usize, u64)>> = vec![None; dag.len()];
    for _ in 0..dag.len() {
        let mut best = None;
        for task in dag.tasks().filter(|t| placed[t.0 as usize].is_none()) {
            let from = |a: &divisi_plan::DagEdge| placed[a.task.0 as usize].map(|p| (p, a.bytes));
            let parents: Option<Vec<_>> = dag.predecessors(task).iter().map(from).collect();
            let Some(parents) = parents else { continue };
            for (worker, lane) in lanes.iter().enumerate() {
                let free = lane.last().map_or(0, |(_, _, finish)| *finish);
                let there = parents.iter().map(|((from, finish), bytes)| {
                    finish + machine.transfer_time(*from, worker, *bytes).0
                });
                let start = there.fold(free, u64::max);
                let level = std::cmp::Reverse(levels[task.0 as usize]);
                let offer = (start, level, task.0, worker);
                best = Some(best.map_or(offer, |b| offer.min(b)));
            }
        }
        let (start, _, task, worker) = best.expect("one is ready");
        let finish = start + dag.cost(TaskId(task)).0;
        placed[task as usize] = Some((worker, finish));
        lanes[worker].push((task, start, finish));
    }
    lanes
}

/// The most that handing over can cost along one way.
fn longest_handing(dag: &Dag, machine: &MachineModel) -> u64 {
    let free = vec![Nanos(0); dag.len()];
    let edges = dag
        .tasks()
        .flat_map(|t| dag.successors(t).iter().map(move |a| (t, a.task, a.bytes)));
    let bare = Dag::new(free, edges).expect("as before");
    let levels = bare.b_levels(|bytes| machine.max_transfer_time(bytes));
    levels.iter().map(|l| l.0).max().unwrap_or(0)
}

/// Costs 2, 3, 3, 4; 0 hands 4 bytes to 1 and 1 byte to 2, and both hand to 3. Worker 0 goes on with 1 (level 7, as 2,
/// but first); 2 could start there at 5, and elsewhere at 3. For 3, what 2 hands over comes at 6 + 5, and what 1
/// hands over to the other at 5 + 2: so it goes to the other, at 7.
#[test]
fn etf_places_as_by_hand() {
    let dag = dag(&[2, 3, 3, 4], &[(0, 1, 4), (0, 2, 1), (1, 3, 2), (2, 3, 5)]);
    let schedule = etf(&dag, &by_byte(2));
    assert_eq!(
        times(&schedule),
        [vec![(0, 0, 2), (1, 2, 5)], vec![(2, 3, 6), (3, 7, 11)]]
    );
    assert_eq!(schedule.makespan, Nanos(11));
    let free = etf(&dag, &MachineModel::without_transfer_cost(2));
    assert_eq!(free.makespan, Nanos(9));
}

/// To hand over from worker 0 to 1 costs much, the other way little.
#[test]
fn etf_knows_each_way_between_two_workers() {
    let dag = dag(&[1, 9, 1, 1], &[(0, 3, 1), (0, 1, 1), (2, 3, 1)]);
    let link = |base| Link {
        base: Nanos(base),
        per_kib: Nanos(0),
    };
    let machine = MachineModel::new(2, [0, 50, 1, 0].map(link).to_vec()).expect("they are four");
    let schedule = etf(&dag, &machine);
    // Task 3 waits for worker 0 rather than for the way to worker 1.
    assert_eq!(
        times(&schedule),
        [vec![(0, 0, 1), (1, 1, 10), (3, 10, 11)], vec![(2, 0, 1)]]
    );
}

/// Costs 2, 2, 4, 8, 5; 0 hands 3 bytes to 2 and 6 to 3; 1 hands 3 to 4, and 2 hands 4. The critical path is 0, 2, 4
/// (18 with what is handed over); 1 is in-branch, 3 out-branch: the sequence is 0, 2, 1, 4, 3.
///
/// On virtual cores: 0 on A from 0. 2 on A from 2 (on an unused core, beside a copy of 0, no earlier). 1 on B from 0. 4
/// on A from 6 (on B with copies of 0 and 2 from 8; on an unused core from 6 too, but with copies). 3 on C from 2, with
/// a copy of 0 (on A from 11, on B behind 1 and a copy of 0 from 4).
///
/// On two workers: A is 11 long, C 10, B 2, so B and C share one. There 1 goes between the copy of 0 and 3, and what it
/// gives comes to 4 at 7. Without the copy 3 would start at 8.
#[test]
fn cpfd_places_as_by_hand() {
    let costs = [2, 2, 4, 8, 5];
    let dag = dag(&costs, &[(0, 2, 3), (0, 3, 6), (1, 4, 3), (2, 4, 4)]);
    let machine = by_byte(2);
    let all = dag.clone().with_duplicable(|_| true);
    let schedule = cpfd(&all, &machine);
    assert_eq!(
        times(&schedule),
        [
            vec![(0, 0, 2), (2, 2, 6), (4, 7, 12)],
            vec![(0, 0, 2), (1, 2, 4), (3, 4, 12)]
        ]
    );
    assert_eq!(schedule.makespan, Nanos(12));
    assert_eq!(schedule.duplicate_count(), 1);
    assert_eq!(schedule.check(&all, &machine), Ok(()));
    assert!(!schedule.abridged);
    // Without copies no schedule is as short.
    let best = optimal(&dag, &machine, 1_000_000).expect("it is small");
    assert_eq!(best.makespan, Nanos(14));
    let single = cpfd(&dag, &machine);
    assert_eq!(single.duplicate_count(), 0);
    assert!(single.makespan >= Nanos(14));
}

#[test]
fn the_optimum_of_a_fork_is_found() {
    // 3 + 3 beside 2 + 2 + 2: no list order by level alone finds it.
    let dag = dag(&[3, 3, 2, 2, 2], &[]);
    let best =
        optimal(&dag, &MachineModel::without_transfer_cost(2), 1_000_000).expect("it is small");
    assert_eq!(best.makespan, Nanos(6));
    assert_eq!(
        best.check(&dag, &MachineModel::without_transfer_cost(2)),
        Ok(())
    );
    assert_eq!(hlfet(&dag, 2).makespan, Nanos(7));
    assert_eq!(
        optimal(&dag, &MachineModel::without_transfer_cost(2), 3),
        None
    );
}

#[test]
fn check_names_what_is_wrong_with_a_schedule() {
    let dag = dag(&[1, 2], &[(0, 1, 5)]).with_duplicable(|t| t.0 == 0);
    let machine = by_byte(2);
    let right = etf(&dag, &machine);
    assert_eq!(right.check(&dag, &machine), Ok(()));
    let wrong = |change: fn(&mut Schedule)| {
        let mut schedule = right.clone();
        change(&mut schedule);
        schedule.check(&dag, &machine).expect_err("it is wrong")
    };
    assert!(wrong(|s| s.by_worker.truncate(1)).contains("1 workers"));
    assert!(wrong(|s| s.makespan = Nanos(9)).contains("makespan"));
    assert!(wrong(|s| s.by_worker[0].truncate(1)).contains("is missing"));
    assert!(wrong(|s| s.by_worker[0][1].start = Nanos(0)).contains("does not fit"));
    assert!(wrong(|s| s.by_worker[0][1].task = TaskId(7)).contains("there is no"));
    assert!(wrong(|s| s.by_worker[0][1].task = TaskId(0)).contains("does not fit"));
    assert!(
        wrong(|s| {
            let late = s.by_worker[0].pop().expect("it has two");
            s.by_worker[1].push(late);
        })
        .contains("has arrived")
    );
    assert!(
        wrong(|s| {
            let copy = s.by_worker[0][1];
            s.by_worker[1].push(copy);
        })
        .contains("must not have copies")
    );
}

#[test]
fn a_replay_takes_what_comes_first_from_any_copy() {
    // 0 and 1 feed 2; 0 is copied.
    let dag = dag(&[4, 2, 3], &[(0, 2, 10), (1, 2, 1)]).with_duplicable(|t| t.0 == 0);
    let ids = |all: &[u32]| all.iter().copied().map(TaskId).collect::<Vec<_>>();
    let machine = by_byte(2);
    let replay = |lanes: &[Vec<TaskId>]| simulate(&dag, &machine, lanes, |t| dag.cost(t));
    let single = replay(&[ids(&[0]), ids(&[1, 2])]).expect("it ends");
    assert_eq!(single.makespan, Nanos(4 + 10 + 3));
    let double = replay(&[ids(&[0]), ids(&[1, 0, 2])]).expect("it ends");
    assert_eq!((double.start[2], double.makespan), (Nanos(6), Nanos(9)));
    assert_eq!((double.start[0], double.finish[0]), (Nanos(0), Nanos(4)));
    assert_eq!(double.to_schedule().check(&dag, &machine), Ok(()));
    // A copy that comes too late is not waited for.
    let late = replay(&[ids(&[0, 2]), ids(&[1, 0])]).expect("it ends");
    assert_eq!((late.start[2], late.makespan), (Nanos(4), Nanos(7)));
    assert_eq!(replay(&[ids(&[2, 0]), ids(&[1])]), None, "it is stuck");
    assert_eq!(
        replay(&[ids(&[0, 0, 2]), ids(&[1])]),
        None,
        "twice in a lane"
    );
    assert_eq!(replay(&[ids(&[0, 2])]), None, "one is missing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn etf_is_what_the_obvious_way_gives(dag in dags(30, 0..60), machine in machines(4)) {
        prop_assert_eq!(times(&etf(&dag, &machine)), slow_etf(&dag, &machine));
    }

    /// Hwang, Chow, Anger and Lee 1989: with the critical path or an equal share for the optimum it holds all the more.
    #[test]
    fn etf_keeps_its_published_bound(dag in dags(40, 0..40), machine in machines(5)) {
        let schedule = etf(&dag, &machine);
        prop_assert_eq!(schedule.check(&dag, &machine), Ok(()));
        let workers = machine.workers() as u64;
        let most = (2 * workers - 1) * dag.lower_bound(machine.workers()).0;
        let handing = workers * longest_handing(&dag, &machine);
        prop_assert!(workers * schedule.makespan.0 <= most + handing);
    }

    #[test]
    fn every_schedule_is_sound_and_not_below_the_bound(
        dag in dags(40, 0..60), machine in machines(5), seed: u64,
    ) {
        let workers = machine.workers();
        let free = MachineModel::without_transfer_cost(workers);
        let all = [
            (hlfet(&dag, workers), &free),
            (random(&dag, workers, seed), &free),
            (etf(&dag, &machine), &machine),
            (cpfd(&dag, &machine), &machine),
        ];
        for (schedule, machine) in all {
            prop_assert_eq!(schedule.check(&dag, machine), Ok(()));
            prop_assert!(schedule.makespan >= dag.lower_bound(workers));
            let replay = simulate(&dag, machine, &schedule.task_order(), |t| dag.cost(t));
            prop_assert_eq!(replay.map(|r| r.to_schedule()), Some(schedule));
        }
    }

    #[test]
    fn copies_are_sound_and_only_of_what_is_duplicable(
        dag in dags(40, 0..60), machine in machines(5), which: u64,
    ) {
        let dag = dag.with_duplicable(|t| which >> (t.0 % 64) & 1 == 1);
        let schedule = cpfd(&dag, &machine);
        prop_assert_eq!(schedule.check(&dag, &machine), Ok(()));
        prop_assert!(schedule.makespan >= dag.lower_bound(machine.workers()));
        prop_assert!(schedule.makespan <= dag.total_cost());
        prop_assert!(!schedule.abridged);
        let replay = simulate(&dag, &machine, &schedule.task_order(), |t| dag.cost(t));
        prop_assert_eq!(replay.map(|r| r.to_schedule()), Some(schedule));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// All ways to deal tasks out, each in all orders.
    #[test]
    fn the_optimum_is_the_least_of_all_lanes(dag in dags(5, 0..60), machine in machines(2)) {
        let best = optimal(&dag, &machine, 1_000_000).expect("it is small");
        prop_assert_eq!(best.check(&dag, &machine), Ok(()));
        let mut least = u64::MAX;
        let workers = machine.workers();
        for deal in 0..workers.pow(dag.len() as u32) {
            for order in orders(dag.len() as u32) {
                let mut lanes = vec![Vec::new(); workers];
                for task in order {
                    lanes[deal / workers.pow(task) % workers].push(TaskId(task));
                }
                if let Some(replay) = simulate(&dag, &machine, &lanes, |t| dag.cost(t)) {
                    least = least.min(replay.makespan.0);
                }
            }
        }
        prop_assert_eq!(best.makespan.0, least);
    }

    #[test]
    fn nothing_without_copies_beats_the_optimum(
        dag in dags(9, 0..60), machine in machines(3), seed: u64,
    ) {
        let Some(best) = optimal(&dag, &machine, 300_000) else { return Ok(()) };
        prop_assert_eq!(best.check(&dag, &machine), Ok(()));
        let workers = machine.workers();
        prop_assert!(best.makespan >= dag.lower_bound(workers));
        for schedule in [hlfet(&dag, workers), random(&dag, workers, seed), cpfd(&dag, &machine)] {
            let replay = simulate(&dag, &machine, &schedule.task_order(), |t| dag.cost(t));
            prop_assert!(best.makespan <= replay.expect("it ends").makespan);
        }
        let etf = etf(&dag, &machine);
        prop_assert!(best.makespan <= etf.makespan);
        // Hwang, Chow, Anger and Lee 1989.
        let bare = optimal(&dag, &MachineModel::without_transfer_cost(workers), 300_000);
        if let Some(bare) = bare {
            let w = workers as u64;
            let most = (2 * w - 1) * bare.makespan.0 + w * longest_handing(&dag, &machine);
            prop_assert!(w * etf.makespan.0 <= most);
        }
    }
}

/// All orders of a number of tasks.
fn orders(count: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for task in 0..count {
        let longer = all.iter().flat_map(|order: &Vec<u32>| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, task);
                order
            })
        });
        all = longer.collect();
    }
    all
}
