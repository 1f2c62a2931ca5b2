//! Traces with known late nodes.

use super::*;
use crate::fixtures::record;
use plan::TraceEvent;
use units::SplitMix64;

/// Pseudo-random numbers, the same for the same seed.
struct Seed(SplitMix64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0.bits()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

const STEPS: u32 = 20;
const WORKERS: u16 = 2;

/// Cycles of 20 steps on two workers, each step 1 to 3 µs by noise around its own cost; every 10th cycle one step
/// takes 200 µs longer. Rings hold `room` records and are read every `every` cycles.
fn play(cycles: u32, room: usize, every: u32, seed: u64) -> (TraceStats, BTreeMap<String, u64>) {
    let mut seed = Seed(SplitMix64(seed));
    let names = (0..STEPS).map(|i| format!("n{i}"));
    let mut tracer = Tracer::new(
        StepNames::from_names(names),
        Some(Nanos(100_000)),
        |ticks| Nanos(ticks / 2),
    );
    let mut rings: Vec<Vec<TraceRecord>> = vec![Vec::new(); usize::from(WORKERS)];
    let mut truth = BTreeMap::new();
    let (mut now, mut dropped) = (1000, 0);
    for cycle in 0..cycles {
        let victim = (cycle % 10 == 9).then(|| seed.below(u64::from(STEPS)) as u32);
        if let Some(victim) = victim {
            *truth.entry(format!("n{victim}")).or_default() += 1;
        }
        for (worker, record) in records(cycle, victim, &mut now, &mut seed) {
            let ring = &mut rings[worker];
            if ring.len() < room {
                ring.push(record)
            } else {
                dropped += 1
            }
        }
        // The reader comes at any time, in the midst of a cycle's records too.
        if cycle % every == every - 1 {
            for ring in &mut rings {
                let leave = seed.below(3) as usize;
                let read = ring.len().saturating_sub(leave);
                ring.drain(..read).for_each(|record| tracer.feed(record));
            }
            tracer.end_pass(dropped);
        }
    }
    let rest = rings.into_iter().flatten();
    rest.for_each(|record| tracer.feed(record));
    tracer.end_pass(dropped);
    (tracer.finish(), truth)
}

fn records(
    cycle: u32,
    victim: Option<u32>,
    now: &mut u64,
    seed: &mut Seed,
) -> Vec<(usize, TraceRecord)> {
    let mut all = Vec::new();
    let mut note = |worker: u16, stamp, mark, index| {
        let record = record(cycle, (worker, stamp, mark, index));
        all.push((usize::from(worker), record));
    };
    let begin = *now;
    note(0, begin, TraceEvent::CycleBegin, 1);
    let mut clocks = [begin + 10, begin + 2000 + seed.below(2000)];
    note(0, clocks[0], TraceEvent::Enter, 0);
    note(1, clocks[1], TraceEvent::Enter, 0);
    for step in 0..STEPS {
        let worker = if clocks[0] <= clocks[1] { 0 } else { 1 };
        if seed.below(4) == 0 {
            note(worker, clocks[usize::from(worker)], TraceEvent::Wait, 0);
            clocks[usize::from(worker)] += seed.below(3000);
            note(worker, clocks[usize::from(worker)], TraceEvent::Resume, 0);
        }
        let extra = if victim == Some(step) { 400_000 } else { 0 };
        clocks[usize::from(worker)] += 2000 + seed.below(4000) + u64::from(step) * 100 + extra;
        note(worker, clocks[usize::from(worker)], TraceEvent::Step, step);
    }
    let end = clocks[0].max(clocks[1]) + 50;
    note(1, clocks[1] + 5, TraceEvent::Leave, 0);
    note(0, end - 5, TraceEvent::Leave, 0);
    note(0, end, TraceEvent::CycleEnd, 3);
    *now = end + 100_000;
    all
}

/// Number of cycles blamed on the right node.
fn right(found: &TraceStats, truth: &BTreeMap<String, u64>) -> u64 {
    let both = found
        .misses_by_node
        .iter()
        .map(|(name, n)| (*n).min(truth.get(name).copied().unwrap_or(0)));
    both.sum()
}

#[test]
fn a_thousand_overruns_are_all_counted_and_the_right_node_is_named() {
    let (found, truth) = play(10_000, usize::MAX, 7, 1);
    assert_eq!(
        (found.cycles, found.missed, found.incomplete),
        (10_000, 1000, 0)
    );
    assert_eq!((found.acquisitions, found.wakes), (30_000, 10_000));
    assert!(right(&found, &truth) >= 990, "{found:?}");
    assert!((found.node_ns["n0"].mean - 2000.0).abs() < 3000.0);
    assert_eq!(found.node_ns["n3"].count, 10_000);
}

#[test]
fn a_hole_in_the_records_blames_nobody_wrongly() {
    let (found, truth) = play(10_000, 80, 7, 2);
    let blamed: u64 = found.misses_by_node.values().sum();
    assert!(found.dropped > 1000 && found.incomplete > 100, "{found:?}");
    assert!(
        blamed > 100 && right(&found, &truth) * 100 >= blamed * 99,
        "{found:?}"
    );
    assert_eq!(found.missed, blamed + found.misses_of_no_node);
    // Nothing of a hole is in the times either: no step takes more than its noise and what was injected.
    assert!(found.node_ns.values().all(|node| node.max < 206_000));
}

#[test]
fn too_much_work_in_all_is_nobodys_fault() {
    let mut tracer = Tracer::new(StepNames::from_names(["a", "b"]), Some(Nanos(100)), Nanos);
    for cycle in 0..50 {
        let begin = u64::from(cycle) * 10_000;
        let mut note = |at, mark, index| {
            tracer.feed(record(cycle, (0, begin + at, mark, index)));
        };
        note(0, TraceEvent::CycleBegin, 0);
        note(500, TraceEvent::Step, 0);
        note(1000, TraceEvent::Step, 1);
        note(1000, TraceEvent::CycleEnd, 0);
        tracer.end_pass(0);
    }
    let found = tracer.finish();
    assert_eq!(found.missed, 50);
    assert!(found.misses_of_no_node >= 48, "{found:?}");
}

#[test]
fn cycle_numbers_wrap_and_plans_change_between_two_cycles() {
    let mut tracer = Tracer::new(StepNames::from_names(["old"]), Some(Nanos(100)), Nanos);
    tracer.swap(2, StepNames::from_names(["new", "old"]));
    for n in 0..6u32 {
        let cycle = n.wrapping_sub(3);
        let step = u32::from(n >= 5);
        let begin = u64::from(n) * 1000;
        for (at, mark, index) in [
            (0, TraceEvent::CycleBegin, 0),
            (10 + u64::from(n == 5) * 500, TraceEvent::Step, step),
        ] {
            tracer.feed(record(cycle, (0, begin + at, mark, index)));
        }
        let end = begin + 600 * u64::from(n == 5) + 10;
        tracer.feed(record(cycle, (0, end, TraceEvent::CycleEnd, 0)));
        tracer.end_pass(0);
        tracer.end_pass(0);
    }
    let found = tracer.finish();
    assert_eq!((found.cycles, found.missed), (6, 1));
    assert_eq!(found.node_ns["old"].count, 6);
    assert_eq!(
        found.misses_by_node,
        BTreeMap::from([("old".to_string(), 1)])
    );
}

#[test]
fn records_that_make_no_sense_do_no_harm() {
    let mut seed = Seed(SplitMix64(5));
    let mut tracer = Tracer::new(StepNames::from_names(["a", "b"]), Some(Nanos(1000)), Nanos);
    let marks = [
        TraceEvent::Step,
        TraceEvent::Enter,
        TraceEvent::CycleBegin,
        TraceEvent::CycleEnd,
        TraceEvent::CycleAborted,
        TraceEvent::Wait,
        TraceEvent::DeferredPiece,
    ];
    for _ in 0..20_000 {
        let (stamp, cycle, index) = (seed.next(), seed.next() as u32, seed.below(5) as u32);
        let (worker, mark) = (seed.below(4) as u16, marks[seed.below(7) as usize]);
        tracer.feed(record(cycle, (worker, stamp, mark, index)));
        if seed.below(100) == 0 {
            tracer.end_pass(seed.below(50));
        }
    }
    assert!(tracer.open.len() <= 2 * MAX_OPEN);
    tracer.finish();
}

/// One cycle of three steps on two workers, of which worker 1 does not return from step 1.
fn stuck(cycle: u32) -> Vec<TraceRecord> {
    let begin = u64::from(cycle) * 10_000;
    let records = [
        (0, 0, TraceEvent::CycleBegin, 1),
        (0, 10, TraceEvent::Step, 0),
        (0, 20, TraceEvent::Wait, 0),
        (1, 15, TraceEvent::Enter, 0),
        (0, 5000, TraceEvent::CycleAborted, 0),
        (0, 5010, TraceEvent::CycleEnd, 0),
    ];
    let later = |(worker, after, mark, index)| record(cycle, (worker, begin + after, mark, index));
    records.map(later).to_vec()
}

#[test]
fn a_cycle_that_is_given_up_names_the_node_that_did_not_return() {
    let mut tracer = Tracer::new(
        StepNames::from_names(["first", "stuck", "last"]),
        Some(Nanos(100)),
        Nanos,
    );
    stuck(0).into_iter().for_each(|record| tracer.feed(record));
    let found = tracer.finish();
    assert_eq!((found.abandoned, found.missed), (1, 0));
    let named = BTreeMap::from([("stuck".to_string(), 1)]);
    assert_eq!(found.abandoned_by_node, named);
}

#[test]
fn an_abandoned_cycle_can_be_the_slowest_and_a_longer_one_without_records_is_known() {
    let steps = StepNames::from_names(["first", "stuck", "last"]);
    let mut tracer = Tracer::new(steps, Some(Nanos(100)), Nanos);
    stuck(0).into_iter().for_each(|record| tracer.feed(record));
    tracer.end_pass(0);
    tracer.end_pass(0);
    let slowest = tracer.slowest().expect("it lacks no records");
    assert_eq!(slowest.outcome, Outcome::Abandoned);
    assert_eq!(tracer.longest(), slowest.duration());
    let picture = draw::gantt(&slowest.gantt("a test")).svg();
    assert!(picture.contains("abandoned") && picture.contains("`stuck` did not return"));
    // A longer one, of which only begin and end found room.
    let longer = [TraceEvent::CycleBegin, TraceEvent::CycleEnd].map(|event| TraceRecord {
        event,
        cycle: 1,
        stamp: if event == TraceEvent::CycleBegin {
            10_000
        } else {
            90_000
        },
        ..stuck(1)[0]
    });
    longer.into_iter().for_each(|record| tracer.feed(record));
    tracer.end_pass(7);
    tracer.end_pass(7);
    assert_eq!(tracer.slowest().map(|cycle| cycle.number), Some(0));
    assert_eq!(tracer.longest(), Nanos(80_000));
}

#[test]
fn the_slowest_cycle_is_kept_whole_and_the_work_of_each_worker_summed() {
    let steps = StepNames::from_names((0..STEPS).map(|i| format!("n{i}")));
    let mut tracer = Tracer::new(steps, Some(Nanos(100_000)), |ticks| Nanos(ticks / 2));
    let (mut seed, mut now) = (Seed(SplitMix64(3)), 1000);
    let mut busy = 0;
    for cycle in 0..50 {
        let victim = (cycle == 30).then_some(7);
        for (_, record) in records(cycle, victim, &mut now, &mut seed) {
            tracer.feed(record);
        }
        tracer.end_pass_with(
            0,
            Some(&mut |trace| {
                let steps = |s: &&crate::Slice| matches!(s.kind, SliceKind::Step(_));
                let ran = trace.slices.iter().filter(steps);
                busy += ran.map(|s| s.to.0 - s.from.0).sum::<u64>();
            }),
        );
    }
    let slowest = tracer.slowest().unwrap();
    assert_eq!((slowest.number, slowest.outcome), (30, Outcome::Missed));
    assert_eq!(slowest.blamed_name(), Some("n7"));
    let ran = slowest.slices.iter();
    let ran = ran.filter(|s| matches!(s.kind, SliceKind::Step(_)));
    assert_eq!(ran.count(), STEPS as usize);
    let load = tracer.load();
    assert_eq!((load.cycles, load.busy.len()), (49, 2));
    let sum: u64 = load.busy.iter().map(|b| b.0).sum();
    // Rounded slice by slice.
    assert!(sum.abs_diff(busy) <= 50 * u64::from(STEPS), "{sum} {busy}");
    assert_eq!(tracer.late_nodes(3), [("n7".to_string(), 1)]);
}
