//! The simulator against results computed by hand.

use super::*;
use divisi::plan::{Link, TaskId, hlfet};
use divisi::units::Nanos;

/// MoveCosts that cost nothing.
const FREE: MoveCosts = MoveCosts {
    dispatch: 0.0,
    cycle: 0.0,
    link: Link {
        base: Nanos(0),
        per_kib: Nanos(0),
    },
    claim: 0.0,
    steal: 0.0,
    lock: 0.0,
    wake: (0.0, 0.0),
};

fn dag(costs: &[u64], edges: &[(u32, u32)]) -> Dag {
    let costs = costs.iter().copied().map(Nanos).collect();
    let edges = edges.iter().map(|(a, b)| (TaskId(*a), TaskId(*b), 1024));
    Dag::new(costs, edges).unwrap()
}

/// Tasks in a row, of 1 µs each.
fn line(tasks: u32) -> Dag {
    let edges: Vec<_> = (1..tasks).map(|i| (i - 1, i)).collect();
    dag(&vec![1000; tasks as usize], &edges)
}

/// Independent tasks of 1 µs, and a join that costs nothing.
fn rake(teeth: u32) -> Dag {
    let mut costs = vec![1000; teeth as usize];
    costs.push(0);
    let edges: Vec<_> = (0..teeth).map(|i| (i, teeth)).collect();
    dag(&costs, &edges)
}

const DYNAMIC: [DispatchPolicy; 5] = [
    DispatchPolicy::Stealing,
    DispatchPolicy::Global,
    DispatchPolicy::Weighted,
    DispatchPolicy::Deadline,
    DispatchPolicy::Mutex,
];

fn cycle(dag: &Dag, moves: &MoveCosts, cores: usize, policy: &DispatchPolicy) -> f64 {
    simulate(dag, moves, cores, policy).cycle_ns
}

#[test]
fn one_core_takes_the_sum_of_all_costs_and_dispatches() {
    let moves = MoveCosts {
        dispatch: 10.0,
        cycle: 300.0,
        link: Link {
            base: Nanos(100),
            per_kib: Nanos(50),
        },
        claim: 70.0,
        steal: 200.0,
        ..FREE
    };
    for dag in [line(5), rake(20)] {
        let sum = dag.total_cost().0 as f64 + 10.0 * dag.len() as f64 + 300.0;
        let lanes = DispatchPolicy::Lanes(hlfet(&dag, 1));
        let [stealing, global, weighted, deadline, _] = DYNAMIC;
        let sequential = DispatchPolicy::Sequential;
        for policy in [sequential, stealing, global, weighted, deadline, lanes] {
            assert_eq!(cycle(&dag, &moves, 1, &policy), sum, "{policy:?}");
        }
        // The lock is taken twice a task.
        let locked = MoveCosts {
            lock: 20.0,
            ..moves
        };
        let result = simulate(&dag, &locked, 1, &DispatchPolicy::Mutex);
        assert_eq!(result.takes, 2 * dag.len() as u64);
        // The last release comes after the last task.
        assert_eq!(result.cycle_ns, sum + 20.0 * (result.takes - 1) as f64);
    }
}

#[test]
fn a_line_gains_nothing_from_any_number_of_cores() {
    for cores in [2, 16, 128] {
        for policy in &DYNAMIC {
            let took = cycle(&line(50), &FREE, cores, policy);
            assert_eq!(took, 50_000.0, "{policy:?}");
        }
        let lanes = DispatchPolicy::Lanes(hlfet(&line(50), cores));
        assert_eq!(cycle(&line(50), &FREE, cores, &lanes), 50_000.0);
    }
}

#[test]
fn a_rake_on_many_cores_takes_as_long_as_its_longest_tooth() {
    for (cores, should) in [(2, 64_000.0), (16, 8_000.0), (128, 1_000.0)] {
        let rake = rake(128);
        let lanes = DispatchPolicy::Lanes(hlfet(&rake, cores));
        let [stealing, global, _, deadline, _] = DYNAMIC;
        for policy in [stealing, global, deadline, lanes] {
            let took = cycle(&rake, &FREE, cores, &policy);
            assert_eq!(took, should, "{policy:?} on {cores}");
        }
    }
}

#[test]
fn nothing_is_shorter_than_the_bound_or_runs_a_task_twice() {
    let edges: Vec<(u32, u32)> = (1..60).map(|i| (i * 7 % i, i)).collect();
    let costs: Vec<u64> = (0..60).map(|i| 100 + i * 37 % 900).collect();
    let dag = dag(&costs, &edges);
    for cores in [1, 2, 3, 8, 64] {
        let bound = critical_path(&dag).max(dag.total_cost().0.div_ceil(cores)) as f64;
        for policy in &DYNAMIC {
            let result = simulate(&dag, &FREE, cores as usize, policy);
            let longest = dag.total_cost().0 as f64 * 2.0;
            let is_between = (bound - 1.0..=longest).contains(&result.cycle_ns);
            assert!(
                is_between && result.busy <= 1.0 + 1e-9,
                "{policy:?} {result:?}"
            );
        }
    }
}

#[test]
fn data_from_another_core_costs_its_transfer() {
    // Two sources on two cores, and one that needs both: it begins a transfer later.
    let dag = dag(&[1000, 1000, 500], &[(0, 2), (1, 2)]);
    let moves = MoveCosts {
        link: Link {
            base: Nanos(100),
            per_kib: Nanos(50),
        },
        ..FREE
    };
    let lanes = DispatchPolicy::Lanes(hlfet(&dag, 2));
    // The second core begins a transfer late, and the third task has 1 KiB to fetch from it.
    let took = cycle(&dag, &moves, 2, &lanes);
    assert_eq!(took, 100.0 + 1000.0 + 150.0 + 500.0);
}

#[test]
fn waking_costs_the_waker_for_each_and_the_sleepers_begin_later() {
    let moves = MoveCosts {
        wake: (1000.0, 4000.0),
        ..FREE
    };
    let rake = rake(4);
    // Two cores: the first begins after 1 µs, the other after 5, when the first has run four.
    assert_eq!(cycle(&rake, &moves, 2, &DispatchPolicy::Global), 5000.0);
    assert_eq!(cycle(&rake, &FREE, 2, &DispatchPolicy::Global), 2000.0);
}

#[test]
fn one_core_at_a_time_uses_a_shared_queue() {
    // Every take after another core's costs 1 µs on the one line: 64 tasks on 64 cores come one after another.
    let moves = MoveCosts {
        claim: 1000.0,
        ..FREE
    };
    let rake = rake(64);
    let result = simulate(&rake, &moves, 64, &DispatchPolicy::Global);
    assert!(result.cycle_ns >= 63_000.0, "{result:?}");
    // With two workers a batch is half of all.
    let loose = dag(&[1000; 64], &[]);
    let result = simulate(&loose, &moves, 2, &DispatchPolicy::Weighted);
    assert!(result.takes <= 4, "{result:?}");
    assert!(result.cycle_ns < 36_000.0, "{result:?}");
}

#[test]
fn the_most_urgent_goes_first_under_deadline_and_the_oldest_under_global() {
    // Three sources on one core and a long task after the last: only a second core that gets it at once is in time.
    let dag = dag(&[1000, 1000, 1000, 5000], &[(2, 3)]);
    assert_eq!(cycle(&dag, &FREE, 2, &DispatchPolicy::Deadline), 6000.0);
    assert_eq!(cycle(&dag, &FREE, 2, &DispatchPolicy::Global), 7000.0);
}

#[test]
fn idle_workers_of_a_locked_queue_poll_it() {
    let dag = dag(&[10_000, 1000, 1000], &[(0, 1), (0, 2)]);
    let moves = MoveCosts { lock: 20.0, ..FREE };
    let result = simulate(&dag, &moves, 2, &DispatchPolicy::Mutex);
    // Useful workers: 12 µs over a path of 11 is two; the second polls for 10 µs.
    assert!(result.takes > 20, "{result:?}");
}
