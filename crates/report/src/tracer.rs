//! Trace records to what each node took, and to the node that was late.
//!
//! Every worker has a ring of its own, so records of one cycle come in pieces. A cycle is judged once its end was seen
//! and *every* ring has been read once more after that: whatever belongs to it is there by then, or was dropped.
//!
//! A full ring drops the newest records, in the midst of a cycle too, and the step after the hole then seems to have
//! taken as long as all that is missing. So while drops are being counted a cycle must show every step that was due,
//! or nothing is learned from it and nobody is blamed.

use crate::cycle::Cycle;
use crate::{Histogram, NodeTimes, Steps};
use plan::TraceRecord;
use std::collections::BTreeMap;
use units::Nanos;

/// How many cycles may be open: a bound on memory where no end ever comes.
const OPEN: usize = 4096;

/// Reads trace records. Feed it all rings in turn, and tell it when a pass over them is over.
pub struct Tracer {
    nanos: Box<dyn Fn(u64) -> Nanos + Send>,
    deadline: Option<Nanos>,
    /// Plans, by the cycle that first follows them.
    plans: Vec<(u32, Played)>,
    open: BTreeMap<u32, Cycle>,
    /// Cycles before this one have been judged.
    judged: Option<u32>,
    pass: u64,
    dropped: u64,
    /// Up to which pass a cycle that ends may have a hole.
    doubtful_until: u64,
    usual_cycle: Usual,
    found: Findings,
}

/// One plan's steps and what they took.
#[derive(Debug)]
struct Played {
    steps: Steps,
    times: Vec<Times>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    count: u64,
    sum_ns: u64,
    max_ns: u64,
    usual: Usual,
    late: u64,
}

/// What a trace has shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Cycles whose begin and end were seen.
    pub cycles: u64,
    /// How long they took.
    pub cycle_times: Histogram,
    /// Those of them that ended after the deadline, or were said to.
    pub missed: u64,
    /// Cycles that were given up.
    pub abandoned: u64,
    /// Missed cycles by the node that was late.
    pub misses_by_node: BTreeMap<String, u64>,
    /// Missed cycles that no one node explains, or whose records have a hole.
    pub misses_of_no_node: u64,
    /// What each node took.
    pub node_ns: BTreeMap<String, NodeTimes>,
    /// Takes from queues that workers share, in all cycles.
    pub acquisitions: u64,
    /// Workers that had to be woken, in all cycles.
    pub wakes: u64,
    /// Cycles of which nothing was learned, because records were dropped.
    pub holed: u64,
    /// Records that found no room.
    pub dropped: u64,
}

impl Tracer {
    /// For a plan with `steps`, cycles that should end within `deadline` (none offline), and stamps of which `nanos`
    /// says how long a span of them is.
    pub fn new(
        steps: Steps,
        deadline: Option<Nanos>,
        nanos: impl Fn(u64) -> Nanos + Send + 'static,
    ) -> Self {
        Self {
            nanos: Box::new(nanos),
            deadline,
            plans: vec![(0, Played::new(steps))],
            open: BTreeMap::new(),
            judged: None,
            pass: 0,
            dropped: 0,
            doubtful_until: 0,
            usual_cycle: Usual::default(),
            found: Findings::default(),
        }
    }

    /// From cycle `from` on another plan is followed.
    pub fn swap(&mut self, from: u32, steps: Steps) {
        self.plans.push((from, Played::new(steps)));
    }

    /// Somebody who knows says that cycle `cycle` ended too late.
    pub fn missed(&mut self, cycle: u32) {
        if let Some(cycle) = self.cycle(cycle) {
            cycle.is_told_missed = true;
        }
    }

    /// One record. Those of one worker come in their order.
    pub fn feed(&mut self, record: TraceRecord) {
        let pass = self.pass;
        if let Some(cycle) = self.cycle(record.cycle) {
            cycle.add(record, pass);
        }
    }

    /// Every ring has been read once; `dropped` is how many records all of them have lost so far.
    pub fn pass(&mut self, dropped: u64) {
        if dropped > self.dropped {
            self.dropped = dropped;
            // What was lost since the pass before belongs to a cycle that is open, or whose end the next pass shows.
            self.doubtful_until = self.pass + 1;
        }
        let pass = self.pass;
        let is_over = |cycle: &Cycle| cycle.ended_in.is_some_and(|ended| ended < pass);
        while let Some((number, cycle)) = self.open.pop_first() {
            // A cycle without an end, because that was dropped, is over when one after it is.
            if !is_over(&cycle) && !self.open.values().any(is_over) && self.open.len() < OPEN {
                self.open.insert(number, cycle);
                break;
            }
            self.judge(number, cycle);
        }
        self.pass += 1;
    }

    /// What was found, all that is still open included.
    pub fn finish(mut self) -> Findings {
        while let Some((number, cycle)) = self.open.pop_first() {
            self.judge(number, cycle);
        }
        self.findings()
    }

    /// What was found so far.
    pub fn findings(&self) -> Findings {
        let mut found = self.found.clone();
        found.dropped = self.dropped;
        self.plans.iter().for_each(|(_, played)| found.add(played));
        found
    }

    /// The open cycle `number`; none where it has been judged. Numbers wrap.
    fn cycle(&mut self, number: u32) -> Option<&mut Cycle> {
        let is_judged = self
            .judged
            .is_some_and(|judged| judged.wrapping_sub(number) < u32::MAX / 2);
        (!is_judged).then(|| self.open.entry(number).or_default())
    }

    fn judge(&mut self, number: u32, cycle: Cycle) {
        self.judged = Some(number);
        self.forget_plans_before(number);
        let played = &mut self.plans[0].1;
        let steps = played.steps.len();
        let is_doubtful = cycle
            .ended_in
            .is_none_or(|ended| ended <= self.doubtful_until)
            && self.dropped > 0;
        let is_whole =
            !cycle.is_abandoned && (!is_doubtful || cycle.has_all(played.steps.due(number), steps));
        let time = cycle.ticks().map(&self.nanos);
        let is_late =
            matches!((time, self.deadline), (Some(time), Some(deadline)) if time > deadline);
        let is_missed = !cycle.is_abandoned && (is_late || cycle.is_told_missed);
        let mut late = None;
        if let (true, Some(time)) = (is_whole, time) {
            let over = time.0.saturating_sub(
                self.usual_cycle
                    .or(time.0)
                    .min(self.deadline.map_or(u64::MAX, |d| d.0)),
            );
            late = played
                .learn(&cycle, &self.nanos, over)
                .filter(|_| is_missed);
            self.usual_cycle.add(time.0);
        }
        if let Some(step) = late {
            played.times[step].late += 1;
        }
        self.found.count(&cycle, time);
        self.found.holed += u64::from(!is_whole && !cycle.is_abandoned);
        self.found.missed += u64::from(is_missed);
        self.found.misses_of_no_node += u64::from(is_missed && late.is_none());
    }

    /// Plans that were swapped out before cycle `number` are counted and dropped; the first left is the one it follows.
    fn forget_plans_before(&mut self, number: u32) {
        let has_begun = |from: u32| number.wrapping_sub(from) < u32::MAX / 2;
        while self.plans.get(1).is_some_and(|(from, _)| has_begun(*from)) {
            let (_, played) = self.plans.remove(0);
            self.found.add(&played);
        }
    }
}

impl Played {
    fn new(steps: Steps) -> Self {
        let times = vec![Times::default(); steps.len()];
        Self { steps, times }
    }

    /// Counts every step of a cycle. The one that most exceeded its usual time, if it explains at least half of `over`,
    /// by which the cycle exceeded its own usual time or its deadline, whichever is less.
    fn learn(&mut self, cycle: &Cycle, nanos: &dyn Fn(u64) -> Nanos, over: u64) -> Option<usize> {
        let mut worst = (0, None);
        for (step, ticks) in &cycle.steps {
            let (step, Some(ticks)) = (*step as usize, ticks) else {
                continue;
            };
            let Some(times) = self.times.get_mut(step) else {
                continue;
            };
            let time = nanos(*ticks).0;
            let excess = time.saturating_sub(times.usual.or(0));
            if excess > worst.0 && excess >= over / 2 {
                worst = (excess, Some(step));
            }
            times.add(time);
        }
        worst.1
    }
}

impl Times {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
        self.usual.add(ns);
    }
}

impl Findings {
    /// Adds what one plan's steps took. A node's several steps of one cycle are one block.
    fn add(&mut self, played: &Played) {
        let mut nodes = BTreeMap::<&str, NodeTimes>::new();
        for (step, times) in played.times.iter().enumerate() {
            let name = played.steps.name(step);
            if times.late > 0 {
                *self.misses_by_node.entry(name.into()).or_default() += times.late;
            }
            if times.count > 0 {
                let node = nodes.entry(name).or_default();
                node.count = node.count.max(times.count);
                node.mean += times.sum_ns as f64 / times.count as f64;
                node.typical += times.usual.or(0);
                node.max = node.max.max(times.max_ns);
            }
        }
        for (name, times) in nodes {
            let before = self.node_ns.entry(name.into()).or_default();
            *before = before.with(times);
        }
    }

    fn count(&mut self, cycle: &Cycle, time: Option<Nanos>) {
        self.abandoned += u64::from(cycle.is_abandoned);
        self.acquisitions += u64::from(cycle.takes);
        self.wakes += u64::from(cycle.wakes);
        if let Some(time) = time {
            self.cycles += 1;
            self.cycle_times.record(time);
        }
    }
}

/// A running median: each value pulls it by a 32nd of itself, however far off that value is.
#[derive(Clone, Copy, Debug, Default)]
struct Usual(Option<u64>);

impl Usual {
    fn or(self, first: u64) -> u64 {
        self.0.unwrap_or(first)
    }

    fn add(&mut self, value: u64) {
        let Some(usual) = &mut self.0 else {
            self.0 = Some(value);
            return;
        };
        let pull = *usual / 32 + 1;
        *usual = value.clamp(usual.saturating_sub(pull), *usual + pull);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Mark;

    /// A seeded generator: splitmix64.
    struct Seed(u64);

    impl Seed {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn below(&mut self, n: u64) -> u64 {
            self.next() % n
        }
    }

    const STEPS: u32 = 20;
    const WORKERS: u16 = 2;

    /// Cycles of 20 steps on two workers, each step 1 to 3 µs by noise around its own cost; every 10th cycle one step
    /// takes 200 µs longer. Rings hold `room` records and are read every `every` cycles.
    fn play(cycles: u32, room: usize, every: u32, seed: u64) -> (Findings, BTreeMap<String, u64>) {
        let mut seed = Seed(seed);
        let names = (0..STEPS).map(|i| format!("n{i}"));
        let mut tracer = Tracer::new(Steps::named(names), Some(Nanos(100_000)), |ticks| {
            Nanos(ticks / 2)
        });
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
                tracer.pass(dropped);
            }
        }
        rings
            .iter_mut()
            .flat_map(|ring| ring.drain(..))
            .for_each(|record| tracer.feed(record));
        tracer.pass(dropped);
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
            let record = TraceRecord {
                stamp,
                cycle,
                index,
                worker,
                mark,
            };
            all.push((usize::from(worker), record));
        };
        let begin = *now;
        note(0, begin, Mark::Begin, 1);
        let mut clocks = [begin + 10, begin + 2000 + seed.below(2000)];
        note(0, clocks[0], Mark::Enter, 0);
        note(1, clocks[1], Mark::Enter, 0);
        for step in 0..STEPS {
            let worker = if clocks[0] <= clocks[1] { 0 } else { 1 };
            if seed.below(4) == 0 {
                note(worker, clocks[usize::from(worker)], Mark::Wait, 0);
                clocks[usize::from(worker)] += seed.below(3000);
                note(worker, clocks[usize::from(worker)], Mark::Resume, 0);
            }
            let extra = if victim == Some(step) { 400_000 } else { 0 };
            clocks[usize::from(worker)] += 2000 + seed.below(4000) + u64::from(step) * 100 + extra;
            note(worker, clocks[usize::from(worker)], Mark::Step, step);
        }
        let end = clocks[0].max(clocks[1]) + 50;
        note(1, clocks[1] + 5, Mark::Leave, 0);
        note(0, end - 5, Mark::Leave, 0);
        note(0, end, Mark::End, 3);
        *now = end + 100_000;
        all
    }

    /// How many of the blamed were rightly blamed.
    fn right(found: &Findings, truth: &BTreeMap<String, u64>) -> u64 {
        let both = found
            .misses_by_node
            .iter()
            .map(|(name, n)| (*n).min(truth.get(name).copied().unwrap_or(0)));
        both.sum()
    }

    #[test]
    fn a_thousand_overruns_are_all_counted_and_the_right_node_is_named() {
        let (found, truth) = play(10_000, usize::MAX, 7, 1);
        assert_eq!((found.cycles, found.missed, found.holed), (10_000, 1000, 0));
        assert_eq!((found.acquisitions, found.wakes), (30_000, 10_000));
        assert!(right(&found, &truth) >= 990, "{found:?}");
        assert!((found.node_ns["n0"].mean - 2000.0).abs() < 3000.0);
        assert_eq!(found.node_ns["n3"].count, 10_000);
    }

    #[test]
    fn a_hole_in_the_records_blames_nobody_wrongly() {
        let (found, truth) = play(10_000, 80, 7, 2);
        let blamed: u64 = found.misses_by_node.values().sum();
        assert!(found.dropped > 1000 && found.holed > 100, "{found:?}");
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
        let mut tracer = Tracer::new(Steps::named(["a", "b"]), Some(Nanos(100)), Nanos);
        for cycle in 0..50 {
            let begin = u64::from(cycle) * 10_000;
            let mut note = |at, mark, index| {
                tracer.feed(TraceRecord {
                    stamp: begin + at,
                    cycle,
                    index,
                    worker: 0,
                    mark,
                });
            };
            note(0, Mark::Begin, 0);
            note(500, Mark::Step, 0);
            note(1000, Mark::Step, 1);
            note(1000, Mark::End, 0);
            tracer.pass(0);
        }
        let found = tracer.finish();
        assert_eq!(found.missed, 50);
        assert!(found.misses_of_no_node >= 48, "{found:?}");
    }

    #[test]
    fn cycle_numbers_wrap_and_plans_change_between_two_cycles() {
        let mut tracer = Tracer::new(Steps::named(["old"]), Some(Nanos(100)), Nanos);
        tracer.swap(2, Steps::named(["new", "old"]));
        for n in 0..6u32 {
            let cycle = n.wrapping_sub(3);
            let step = u32::from(n >= 5);
            let begin = u64::from(n) * 1000;
            for (at, mark, index) in [
                (0, Mark::Begin, 0),
                (10 + u64::from(n == 5) * 500, Mark::Step, step),
            ] {
                tracer.feed(TraceRecord {
                    stamp: begin + at,
                    cycle,
                    index,
                    worker: 0,
                    mark,
                });
            }
            tracer.feed(TraceRecord {
                stamp: begin + 600 * u64::from(n == 5) + 10,
                cycle,
                index: 0,
                worker: 0,
                mark: Mark::End,
            });
            tracer.pass(0);
            tracer.pass(0);
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
        let mut seed = Seed(5);
        let mut tracer = Tracer::new(Steps::named(["a", "b"]), Some(Nanos(1000)), Nanos);
        let marks = [
            Mark::Step,
            Mark::Enter,
            Mark::Begin,
            Mark::End,
            Mark::Abandon,
            Mark::Wait,
            Mark::Piece,
        ];
        for _ in 0..20_000 {
            tracer.feed(TraceRecord {
                stamp: seed.next(),
                cycle: seed.next() as u32,
                index: seed.below(5) as u32,
                worker: seed.below(4) as u16,
                mark: marks[seed.below(7) as usize],
            });
            if seed.below(100) == 0 {
                tracer.pass(seed.below(50));
            }
        }
        assert!(tracer.open.len() <= 2 * OPEN);
        tracer.finish();
    }
}
