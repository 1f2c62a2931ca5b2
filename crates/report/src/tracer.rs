//! Trace records to what each node took, and to the node that was late.
//!
//! Every worker has a ring of its own, so records of one cycle come in pieces. A cycle is judged once its end was seen
//! and *every* ring has been read once more after that: whatever belongs to it is there by then, or was dropped.
//!
//! A full ring drops the newest records, in the midst of a cycle too, and the step after the hole then seems to have
//! taken as long as all that is missing. So while drops are being counted a cycle must show every step that was due,
//! or nothing is learned from it and nobody is blamed.

use crate::course::{CycleTrace, Outcome};
use crate::cycle::{Cycle, SliceKind, Span};
use crate::played::{Played, Usual};
use crate::{StepNames, TraceStats};
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
    end_pass: u64,
    dropped: u64,
    /// Up to which pass a cycle that ends may have a hole.
    doubtful_until: u64,
    usual_cycle: Usual,
    found: TraceStats,
    /// The stamp of the first record: the trace's begin.
    zero: Option<u64>,
    load: WorkerLoad,
    slowest: Option<CycleTrace>,
}

/// How busy workers were, in cycles of which all is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerLoad {
    /// How many cycles.
    pub cycles: u64,
    /// For each worker, how long it ran steps, parts of steps and deferred pieces in them.
    pub busy: Vec<Nanos>,
}

/// What is done with each cycle that is over.
type Tell<'a> = Option<&'a mut dyn FnMut(&CycleTrace)>;

impl Tracer {
    /// For a plan with `steps`, cycles that should end within `deadline` (none offline), and stamps of which `nanos`
    /// says how long a span of them is.
    pub fn new(
        steps: StepNames,
        deadline: Option<Nanos>,
        nanos: impl Fn(u64) -> Nanos + Send + 'static,
    ) -> Self {
        Self {
            nanos: Box::new(nanos),
            deadline,
            plans: vec![(0, Played::new(steps))],
            open: BTreeMap::new(),
            judged: None,
            end_pass: 0,
            dropped: 0,
            doubtful_until: 0,
            usual_cycle: Usual::default(),
            found: TraceStats::default(),
            zero: None,
            load: WorkerLoad::default(),
            slowest: None,
        }
    }

    /// From cycle `from` on another plan is followed.
    pub fn swap(&mut self, from: u32, steps: StepNames) {
        self.plans.push((from, Played::new(steps)));
    }

    /// Somebody who knows says that cycle `cycle` ended too late.
    pub fn mark_missed(&mut self, cycle: u32) {
        if let Some(cycle) = self.cycle(cycle) {
            cycle.is_told_missed = true;
        }
    }

    /// One record. Those of one worker come in their order.
    pub fn feed(&mut self, record: TraceRecord) {
        let pass = self.end_pass;
        self.zero.get_or_insert(record.stamp);
        if let Some(cycle) = self.cycle(record.cycle) {
            cycle.add(record, pass);
        }
    }

    /// Every ring has been read once; `dropped` is how many records all of them have lost so far.
    pub fn end_pass(&mut self, dropped: u64) {
        self.end_pass_with(dropped, None);
    }

    /// As [`pass`](Self::pass); every cycle that is over now is shown to `tell`, in their order.
    pub fn end_pass_with(&mut self, dropped: u64, mut tell: Tell<'_>) {
        if dropped > self.dropped {
            self.dropped = dropped;
            // What was lost since the pass before belongs to a cycle that is open, or whose end the next pass shows.
            self.doubtful_until = self.end_pass + 1;
        }
        let pass = self.end_pass;
        let is_over = |cycle: &Cycle| cycle.ended_in.is_some_and(|ended| ended < pass);
        while let Some((number, cycle)) = self.open.pop_first() {
            // A cycle without an end, because that was dropped, is over when one after it is.
            if !is_over(&cycle) && !self.open.values().any(is_over) && self.open.len() < OPEN {
                self.open.insert(number, cycle);
                break;
            }
            // Written out: what is lent on must not live as long as the loan.
            self.judge(number, cycle, tell.as_mut().map(|tell| &mut **tell as _));
        }
        self.end_pass += 1;
    }

    /// What was found, all that is still open included.
    pub fn finish(mut self) -> TraceStats {
        while let Some((number, cycle)) = self.open.pop_first() {
            self.judge(number, cycle, None);
        }
        self.findings()
    }

    /// What was found so far.
    pub fn findings(&self) -> TraceStats {
        let mut found = self.found.clone();
        found.dropped = self.dropped;
        self.plans.iter().for_each(|(_, played)| found.add(played));
        found
    }

    /// How busy workers were so far.
    pub fn load(&self) -> &WorkerLoad {
        &self.load
    }

    /// The slowest cycle so far that was not given up, and of which all is known.
    pub fn slowest(&self) -> Option<&CycleTrace> {
        self.slowest.as_ref()
    }

    /// Missed cycles so far by the node that was late, the worst first, `most` at most.
    pub fn late_nodes(&self, most: usize) -> Vec<(String, u64)> {
        let mut found = self.found.misses_by_node.clone();
        for (_, played) in &self.plans {
            let late = played.times.iter().enumerate().filter(|(_, t)| t.late > 0);
            for (step, times) in late {
                let name = played.steps.name(step).unwrap_or_default();
                *found.entry(name.to_owned()).or_default() += times.late;
            }
        }
        let mut worst: Vec<(String, u64)> = found.into_iter().collect();
        worst.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        worst.truncate(most);
        worst
    }

    /// The open cycle `number`; none where it has been judged. Numbers wrap.
    fn cycle(&mut self, number: u32) -> Option<&mut Cycle> {
        let is_judged = self
            .judged
            .is_some_and(|judged| judged.wrapping_sub(number) < u32::MAX / 2);
        (!is_judged).then(|| self.open.entry(number).or_default())
    }

    fn judge(&mut self, number: u32, cycle: Cycle, tell: Tell<'_>) {
        self.judged = Some(number);
        self.forget_plans_before(number);
        let is_holed = self.is_holed(number, &cycle);
        let time = cycle.ticks().map(&self.nanos);
        let is_late =
            matches!((time, self.deadline), (Some(time), Some(deadline)) if time > deadline);
        let fate = match cycle.is_abandoned {
            true => Outcome::Abandoned,
            false if is_late || cycle.is_told_missed => Outcome::Missed,
            false => Outcome::InTime,
        };
        let blamed = match is_holed {
            true => None,
            false => self.blame(number, &cycle, fate),
        };
        self.found.count(&cycle, time);
        self.found.incomplete += u64::from(is_holed && fate != Outcome::Abandoned);
        self.found.missed += u64::from(fate == Outcome::Missed);
        self.found.misses_of_no_node += u64::from(fate == Outcome::Missed && blamed.is_none());
        if !is_holed {
            self.load.add(&cycle, &self.nanos);
        }
        self.show((number, &cycle), (fate, blamed, is_holed), tell);
    }

    /// Whether something of the cycle may have been dropped.
    fn is_holed(&self, number: u32, cycle: &Cycle) -> bool {
        let steps = &self.plans[0].1.steps;
        let is_doubtful = cycle
            .ended_in
            .is_none_or(|ended| ended <= self.doubtful_until)
            && self.dropped > 0;
        // A cycle that was given up never has all.
        is_doubtful && (cycle.is_abandoned || !cycle.has_all(steps.due(number), steps.len()))
    }

    /// Learns from a cycle without holes; which step was late, or did not return.
    fn blame(&mut self, number: u32, cycle: &Cycle, fate: Outcome) -> Option<usize> {
        let played = &mut self.plans[0].1;
        if fate == Outcome::Abandoned {
            let stuck = cycle.first_missing(played.steps.due(number))?;
            played.times[stuck].stuck += 1;
            return Some(stuck);
        }
        let time = (self.nanos)(cycle.ticks()?);
        let enough = enough(time.0, self.usual_cycle.or(time.0), self.deadline);
        let late = played.learn((number, cycle), &self.nanos, enough);
        self.usual_cycle.add(time.0);
        let late = late.filter(|_| fate == Outcome::Missed)?;
        played.times[late].late += 1;
        Some(late)
    }

    /// Shows a cycle to whoever wants to see it, and keeps it if it is the slowest.
    fn show(
        &mut self,
        (number, cycle): (u32, &Cycle),
        (fate, blamed, is_holed): (Outcome, Option<usize>, bool),
        tell: Tell<'_>,
    ) {
        let (Some(begin), Some(end)) = (cycle.begin, cycle.end) else {
            return;
        };
        let took = (self.nanos)(end.saturating_sub(begin));
        let slowest = self.slowest.as_ref().map_or(Nanos(0), CycleTrace::duration);
        let is_slowest = !is_holed && fate != Outcome::Abandoned && took > slowest;
        if !is_slowest && tell.is_none() {
            return;
        }
        let zero = self.zero.unwrap_or(begin);
        let time = |stamp: u64| (self.nanos)(stamp.saturating_sub(zero));
        let course = CycleTrace {
            number,
            begin: time(begin),
            end: time(end),
            deadline: self
                .deadline
                .map(|d| Nanos(time(begin).0.saturating_add(d.0))),
            outcome: fate,
            blamed,
            wakes: cycle.wakes,
            takes: cycle.takes,
            is_incomplete: is_holed,
            slices: Vec::with_capacity(cycle.spans.len()),
            visits: Vec::with_capacity(cycle.visits.len()),
            steps: self.plans[0].1.steps.clone(),
        };
        let course = course.with(cycle, time);
        if let Some(tell) = tell {
            tell(&course);
        }
        if is_slowest {
            self.slowest = Some(course);
        }
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

impl WorkerLoad {
    fn add(&mut self, cycle: &Cycle, nanos: &dyn Fn(u64) -> Nanos) {
        self.cycles += 1;
        let ran = |span: &&Span| !matches!(span.did, SliceKind::Wait | SliceKind::Start);
        for span in cycle.spans.iter().filter(ran) {
            let worker = usize::from(span.worker);
            if worker >= self.busy.len() {
                self.busy.resize(worker + 1, Nanos(0));
            }
            let ticks = span.ticks().unwrap_or(0);
            self.busy[worker].0 = self.busy[worker].0.saturating_add(nanos(ticks).0);
        }
    }
}

/// By how much a step must exceed its usual time to be the one that made a cycle late: by so much that the cycle would
/// have been late by that alone; or by half of what the cycle exceeded its own usual time by, or its deadline, whichever
/// is less.
fn enough(time_ns: u64, usual_ns: u64, deadline: Option<Nanos>) -> u64 {
    let deadline_ns = deadline.map_or(u64::MAX, |deadline| deadline.0);
    let half = time_ns.saturating_sub(usual_ns.min(deadline_ns)) / 2;
    match deadline_ns.checked_sub(usual_ns) {
        Some(slack) if slack > 0 => half.min(slack),
        _ => half,
    }
}

#[cfg(test)]
mod tests;
