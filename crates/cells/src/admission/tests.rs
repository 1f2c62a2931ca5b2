//! Tests of admission: what it accepts is compared with all that could be tried.

use super::*;
use crate::policy::{Server, TimeWindow};

fn demand(total: u64, cores: &[usize]) -> CellDemand {
    CellDemand {
        cores: cores.to_vec(),
        // Only the load is under test.
        workers: usize::MAX,
        precedence: 0,
        ..CellDemand::of_rest(ComputedCosts {
            nodes: vec![Nanos(1).into(); total as usize],
            work: Vec::new(),
        })
    }
}

fn machine(cores: usize, period: u64, reserve_percent: u8) -> CoreCapacity {
    CoreCapacity {
        cores: (0..cores).collect(),
        period: Nanos(period),
        reserve_percent,
    }
}

/// Hall's condition, over every group of demands.
fn fits(demands: &[CellDemand], capacity: &CoreCapacity) -> bool {
    let parts = demands.iter().map(|it| (it.cores.clone(), it.total.0));
    parts_fit(&parts.collect::<Vec<_>>(), capacity)
}

/// The same of parts: cores, or none for all, and time.
fn parts_fit(parts: &[(Vec<usize>, u64)], capacity: &CoreCapacity) -> bool {
    (0..1_u32 << parts.len()).all(|group| {
        let is_in = |at: &usize| group >> at & 1 == 1;
        let members: Vec<_> = (0..parts.len()).filter(is_in).collect();
        let needed: u64 = members.iter().map(|at| parts[*at].1).sum();
        let may_use = |core: &&usize| {
            members.iter().any(|at| {
                let cores = &parts[*at].0;
                cores.is_empty() || cores.contains(core)
            })
        };
        let usable = capacity.cores.iter().filter(may_use).count() as u64;
        needed <= usable * capacity.usable(100).0
    })
}

#[test]
fn exactly_the_sets_below_the_bound_are_accepted() {
    let mut state = 5_u64;
    let mut random = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut accepted = 0;
    for _ in 0..3000 {
        let capacity = machine(1 + random(4) as usize, 20, 0);
        let count = 1 + random(6);
        let demands: Vec<_> = (0..count)
            .map(|_| {
                let mask = random(1 << capacity.cores.len());
                let cores = capacity.cores.iter().copied();
                let cores: Vec<_> = cores.filter(|core| mask >> core & 1 == 1).collect();
                demand(random(24), &cores)
            })
            .collect();
        let refused = admit(&demands, &capacity);
        assert_eq!(refused.is_empty(), fits(&demands, &capacity), "{demands:?}");
        accepted += usize::from(refused.is_empty());
        // Those that stay fit, and each refused one fits as soon as its excess is gone.
        let mut kept = demands.clone();
        refused
            .iter()
            .for_each(|(at, _)| kept[*at].total = Nanos(0));
        assert!(fits(&kept, &capacity), "{demands:?}");
        for (at, why) in &refused {
            let before = |other: &usize| other < at;
            let mut smaller = kept.clone();
            (0..smaller.len())
                .filter(|it| !before(it))
                .for_each(|it| smaller[it].total = Nanos(0));
            smaller[*at].total = Nanos(demands[*at].total.0 - why.excess().0);
            assert!(fits(&smaller, &capacity), "{demands:?} {why:?}");
            smaller[*at].total.0 += 1;
            assert!(!fits(&smaller, &capacity), "{demands:?} {why:?}");
        }
    }
    assert!((500..2500).contains(&accepted), "{accepted}");
}

/// The demand and the windows of a table in units of 20 us, which a server needs at least.
fn random_demand(random: &mut impl FnMut(u64) -> u64, cores: usize) -> CellDemand {
    const UNIT: u64 = 20_000;
    let mask = 1 + random((1 << cores) - 1);
    let named: Vec<_> = (0..cores).filter(|core| mask >> core & 1 == 1).collect();
    let policy = match random(4) {
        0 => {
            let period = [5, 10, 20][random(3) as usize];
            let length = 1 + random(period / 2);
            let offset = random(period - length + 1);
            let at = |units: u64| Nanos(units * UNIT);
            Policy::TimeTriggered(
                Windows::new(vec![TimeWindow {
                    period: at(period),
                    offset: at(offset),
                    length: at(length),
                }])
                .unwrap(),
            )
        }
        1 => {
            let period = 2 + random(8);
            let budget = 1 + random(period);
            let server = Server::new(Nanos(budget * UNIT), Nanos(period * UNIT));
            Policy::EventTriggered(server.unwrap())
        }
        _ => Policy::BestEffort,
    };
    let total = Nanos(random(10) * UNIT);
    CellDemand {
        total,
        usual: None,
        longest: total,
        work: Vec::new(),
        cores: named,
        workers: 1,
        precedence: 0,
        budget_percent: [50, 100][random(2) as usize],
        policy,
    }
}

/// The bound, moment by moment: each block alone in time, no windows that meet, and Hall's condition.
fn fits_by_force(demands: &[CellDemand], capacity: &CoreCapacity) -> bool {
    const UNIT: usize = 20_000;
    let block = capacity.period.0 as usize / UNIT;
    let is_open = |windows: &Windows, at: usize| {
        let (at, it) = (at as u64 * UNIT as u64, windows.table()[0]);
        (it.offset.0..it.offset.0 + it.length.0).contains(&(at % it.period.0))
    };
    let open = |windows: &Windows, from: usize, len: usize| {
        (from..from + len)
            .filter(|at| is_open(windows, *at))
            .count()
    };
    let mut parts = Vec::new();
    for demand in demands {
        let (budget, work) = (
            block * usize::from(demand.budget_percent) / 100,
            demand.total.0 as usize / UNIT,
        );
        match &demand.policy {
            Policy::TimeTriggered(windows) => {
                if (0..20).any(|from| open(windows, from, budget) < work) {
                    return false;
                }
                let most = (0..20)
                    .map(|from| open(windows, from, block))
                    .max()
                    .unwrap();
                let most = (most * UNIT) as u64;
                parts.extend(demand.cores.iter().map(|core| (vec![*core], most)));
            }
            Policy::EventTriggered(server) => {
                let (mut left, mut periods) = (demand.total.0, 0);
                while left > 0 {
                    left = left.saturating_sub(server.budget.0);
                    periods += 1;
                }
                if periods * server.period.0 > (budget * UNIT) as u64 {
                    return false;
                }
                let share = server.budget.0 as f64 / server.period.0 as f64;
                let share = (share * capacity.period.0 as f64 - 1e-3).ceil() as u64;
                parts.push((demand.cores.clone(), share));
            }
            _ if work > budget => return false,
            _ => parts.push((demand.cores.clone(), demand.total.0)),
        }
    }
    let pairs = demands.iter().enumerate();
    let meet = pairs.flat_map(|(at, a)| demands[..at].iter().map(move |b| (a, b)));
    let meet = meet.filter(|(a, b)| a.cores.iter().any(|core| b.cores.contains(core)));
    let mut meet = meet.filter_map(|(a, b)| Some((a.windows()?, b.windows()?)));
    let is_both = |(a, b): (&Windows, &Windows)| (0..20).any(|at| is_open(a, at) && is_open(b, at));
    !meet.any(is_both) && parts_fit(&parts, capacity)
}

#[test]
fn exactly_the_sets_below_the_bound_are_accepted_under_every_policy() {
    let mut state = 17_u64;
    let mut random = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let (mut accepted, mut kinds) = (0, [0; 3]);
    for _ in 0..4000 {
        let cores = 1 + random(3) as usize;
        let capacity = machine(cores, 20 * 20_000, 0);
        let count = 1 + random(4);
        let demands: Vec<_> = (0..count)
            .map(|_| random_demand(&mut random, cores))
            .collect();
        let refused = admit(&demands, &capacity);
        assert_eq!(
            refused.is_empty(),
            fits_by_force(&demands, &capacity),
            "{demands:?} {refused:?}"
        );
        accepted += usize::from(refused.is_empty());
        for (_, why) in &refused {
            assert!(why.excess() > Nanos(0), "{why:?}");
            kinds[match why {
                Misfit::TooSlow { .. } => 0,
                Misfit::Overload { .. } => 1,
                Misfit::WindowsMeet { .. } => 2,
                Misfit::WorkTooSlow { .. } => unreachable!("there is no work"),
            }] += 1;
        }
        // Those that stay fit.
        let is_kept = |at: &usize| refused.iter().all(|(other, _)| other != at);
        let kept = (0..demands.len())
            .filter(is_kept)
            .map(|at| demands[at].clone());
        assert!(
            fits_by_force(&kept.collect::<Vec<_>>(), &capacity),
            "{demands:?}"
        );
    }
    assert!((400..3600).contains(&accepted), "{accepted}");
    assert!(kinds.iter().all(|count| *count > 50), "{kinds:?}");
}

#[test]
fn the_lowest_precedence_yields_and_the_excess_is_named() {
    let mut demands = vec![demand(60, &[1]), demand(50, &[1]), demand(90, &[0])];
    demands[1].precedence = 3;
    let refused = admit(&demands, &machine(2, 100, 0));
    let why = Misfit::Overload {
        needed: Nanos(60),
        excess: Nanos(10),
        cores: vec![1],
        others: vec![1],
    };
    assert_eq!(refused, [(0, why)]);
}

#[test]
fn the_reserve_stays_free_on_every_core() {
    let demands = [demand(90, &[0]), demand(91, &[1])];
    assert!(admit(&demands, &machine(2, 100, 9)).is_empty());
    let refused = admit(&demands, &machine(2, 100, 10));
    assert_eq!((refused[0].0, refused[0].1.excess()), (1, Nanos(1)));
    assert_eq!(admit(&demands, &machine(2, 100, 100)).len(), 2);
}

#[test]
fn a_node_longer_than_the_budget_is_refused_on_any_number_of_cores() {
    let mut slow = demand(60, &[]);
    slow.longest = Nanos(60);
    assert!(admit(std::slice::from_ref(&slow), &machine(4, 100, 0)).is_empty());
    slow.budget_percent = 200;
    assert!(admit(std::slice::from_ref(&slow), &machine(4, 40, 0)).is_empty());
    slow.budget_percent = 50;
    let refused = admit(&[slow], &machine(4, 100, 0));
    let (needed, budget) = (Nanos(60), Nanos(50));
    assert_eq!(refused, [(0, Misfit::TooSlow { needed, budget })]);
}

/// A cell of so many workers that does work alone: worst cost of a request and blocks until it is due.
fn worker(work: &[(u64, u32)], workers: usize, policy: Policy) -> CellDemand {
    let work = work.iter().map(|(worst, blocks)| JobCost {
        worst: Nanos(*worst),
        usual: Nanos(*worst),
        blocks: *blocks,
    });
    CellDemand {
        work: work.collect(),
        workers,
        policy,
        cores: (0..workers).collect(),
        ..demand(0, &[])
    }
}

#[test]
fn deferred_work_has_as_many_blocks_as_there_are_until_it_is_due() {
    let best = || Policy::BestEffort;
    let refused = |demand: CellDemand| admit(&[demand], &machine(2, 100, 10)).pop();
    // More than a block each, and the two together less than what is left of ten.
    assert_eq!(refused(worker(&[(450, 10), (450, 10)], 1, best())), None);
    let why = |needed, budget, blocks| Misfit::WorkTooSlow {
        needed: Nanos(needed),
        budget: Nanos(budget),
        blocks,
    };
    let one = refused(worker(&[(450, 10), (451, 10)], 1, best()));
    assert_eq!(one, Some((0, why(901, 900, 10))));
    assert_eq!(refused(worker(&[(450, 10), (451, 10)], 2, best())), None);
    // A job is done by one worker, and the requests of a short one come again until a long one is due.
    let long = refused(worker(&[(901, 10)], 2, best()));
    assert_eq!(long, Some((0, why(901, 900, 10))));
    assert_eq!(refused(worker(&[(50, 1), (400, 10)], 1, best())), None);
    let again = refused(worker(&[(50, 1), (401, 10)], 1, best()));
    assert_eq!(again, Some((0, why(901, 900, 10))));
    // The blocks that it plays meanwhile.
    let plays = |total| CellDemand {
        total: Nanos(total),
        longest: Nanos(total),
        ..worker(&[(300, 10)], 1, best())
    };
    assert_eq!(refused(plays(60)), None);
    assert_eq!(refused(plays(61)), Some((0, why(910, 900, 10))));
}

#[test]
fn deferred_work_is_done_in_the_windows_and_by_the_budget_of_its_cell() {
    const UNIT: u64 = 1000;
    let capacity = machine(1, 100 * UNIT, 0);
    let window = |length| {
        let window = TimeWindow {
            period: Nanos(400 * UNIT),
            offset: Nanos(0),
            length: Nanos(length * UNIT),
        };
        Policy::TimeTriggered(Windows::new(vec![window]).unwrap())
    };
    // A block without a window is none without time: ten blocks have two windows at least.
    let fits = |policy| admit(&[worker(&[(200 * UNIT, 10)], 1, policy)], &capacity).is_empty();
    assert!(fits(window(100)) && !fits(window(99)));
    let server = |budget| {
        Policy::EventTriggered(Server::new(Nanos(budget * UNIT), Nanos(500 * UNIT)).unwrap())
    };
    assert!(fits(server(100)) && !fits(server(99)));
}

#[test]
fn deferred_work_loads_the_cores_where_it_is_done_and_no_others() {
    let node = |worst, work: &[(u64, u32)]| NodeCost {
        work: Some(worker(work, 1, Policy::BestEffort).work),
        ..NodeCost::from(Nanos(worst))
    };
    let tracker = node(5, &[(600, 10), (20, 1)]);
    let (mut here, mut away, mut there) =
        <(ComputedCosts, ComputedCosts, ComputedCosts)>::default();
    here.add_node(tracker.clone(), false);
    away.add_node(tracker.clone(), true);
    there.add_work(tracker);
    assert_eq!(here.per_block(), Nanos(5 + 60 + 20));
    // What is due in the next block may stay with the node.
    assert_eq!(away.per_block(), Nanos(5 + 20));
    assert_eq!(there.per_block(), Nanos(60 + 20));
    // A cost that is stated has no parts.
    let mut whole = ComputedCosts::default();
    whole.add_work(Nanos(7).into());
    assert_eq!(whole.per_block(), Nanos(7));
    let cell = CellDemand {
        cores: vec![0],
        ..CellDemand::of_rest(there)
    };
    let other = |total| demand(total, &[0]);
    assert!(admit(&[cell.clone(), other(20)], &machine(1, 100, 0)).is_empty());
    let refused = admit(&[cell, other(21)], &machine(1, 100, 0));
    assert_eq!(refused[0].1.excess(), Nanos(1));
}
