//! Trace records to what each node took, and to the node that was late.
//!
//! Every worker has a ring of its own, so records of one cycle come in pieces. A cycle is judged once its end was seen
//! and *every* ring has been read once more after that: whatever belongs to it is there by then, or was dropped.
//!
//! A full ring drops the newest records, in the midst of a cycle too, and the step after the hole then seems to have
//! taken as long as all that is missing. So while drops are being counted a cycle must show every step that was due,
//! or nothing is learned from it and nobody is blamed.

use crate::cycle::Cycle;
use crate::played::{Played, Usual};
use crate::{Findings, Steps};
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
            let enough = enough(time.0, self.usual_cycle.or(time.0), self.deadline);
            late = played
                .learn((number, &cycle), &self.nanos, enough)
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
