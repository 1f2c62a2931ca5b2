//! Trace records to times of nodes and to late nodes.
//!
//! Every worker has a ring of its own, so the records of a cycle arrive in several parts:
//!
//! ```text
//! pass 1    ring 0  |c1 c1 c1 end|   ring 1  |c1 c1|          the end of cycle 1 was read
//! pass 2    ring 0  |c2 c2|          ring 1  |c1 c2|          the rest of cycle 1: it is evaluated after this pass
//! ```
//!
//! A cycle is evaluated when its end was read and *every* ring has been read once more after that. By then all its records
//! are there, or were dropped.
//!
//! A full ring drops the newest records, also within a cycle. The step after the gap then seems to have taken as long as
//! everything that is missing. So while records are being dropped, a cycle must have every step that was due; otherwise it
//! is not evaluated and no node is blamed.

use crate::cycle_trace::{CycleTrace, Outcome};
use crate::open_cycle::{OpenCycle, SliceKind, Span};
use crate::step_times::{PlanTimes, RunningMedian};
use crate::{StepNames, TraceStats};
use plan::TraceRecord;
use std::collections::BTreeMap;
use units::Nanos;

/// Upper bound on open cycles, for traces in which no end ever comes.
const MAX_OPEN: usize = 4096;

/// Evaluates trace records. Feed it the records of all rings in turn, and call [`end_pass`](Self::end_pass) after each pass.
pub struct Tracer {
    nanos: Box<dyn Fn(u64) -> Nanos + Send>,
    deadline: Option<Nanos>,
    /// Plans, by the first cycle of each.
    plans: Vec<(u32, PlanTimes)>,
    open: BTreeMap<u32, OpenCycle>,
    /// The last cycle that was evaluated.
    evaluated: Option<u32>,
    end_pass: u64,
    dropped: u64,
    /// A cycle that ends up to this pass may lack records.
    doubtful_until: u64,
    usual_cycle: RunningMedian,
    stats: TraceStats,
    /// Stamp of the first record: the begin of the trace.
    zero: Option<u64>,
    load: WorkerLoad,
    slowest: Option<CycleTrace>,
    /// Duration of the longest cycle, those with dropped records included.
    longest: Nanos,
}

/// Load of workers, over cycles without dropped records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerLoad {
    /// Number of cycles.
    pub cycles: u64,
    /// For each worker, its time in steps, parts of steps and deferred pieces.
    pub busy: Vec<Nanos>,
}

/// Observer of finished cycles.
type Observer<'a> = Option<&'a mut dyn FnMut(&CycleTrace)>;

impl Tracer {
    /// A tracer for a plan with `steps` and a deadline of `deadline` (none offline); `nanos` converts a difference of stamps.
    pub fn new(
        steps: StepNames,
        deadline: Option<Nanos>,
        nanos: impl Fn(u64) -> Nanos + Send + 'static,
    ) -> Self {
        Self {
            nanos: Box::new(nanos),
            deadline,
            plans: vec![(0, PlanTimes::new(steps))],
            open: BTreeMap::new(),
            evaluated: None,
            end_pass: 0,
            dropped: 0,
            doubtful_until: 0,
            usual_cycle: RunningMedian::default(),
            stats: TraceStats::default(),
            zero: None,
            load: WorkerLoad::default(),
            slowest: None,
            longest: Nanos(0),
        }
    }

    /// Another plan is executed from cycle `from` on.
    pub fn swap(&mut self, from: u32, steps: StepNames) {
        self.plans.push((from, PlanTimes::new(steps)));
    }

    /// Marks cycle `cycle` as missed, as the engine reported.
    pub fn mark_missed(&mut self, cycle: u32) {
        if let Some(cycle) = self.cycle(cycle) {
            cycle.is_reported_missed = true;
        }
    }

    /// Adds a record. Those of one worker must be in order.
    pub fn feed(&mut self, record: TraceRecord) {
        let pass = self.end_pass;
        self.zero.get_or_insert(record.stamp);
        if let Some(cycle) = self.cycle(record.cycle) {
            cycle.add(record, pass);
        }
    }

    /// Ends a pass over all rings; `dropped` is the number of records that all of them have dropped so far.
    pub fn end_pass(&mut self, dropped: u64) {
        self.end_pass_with(dropped, None);
    }

    /// As [`end_pass`](Self::end_pass); passes every cycle that is finished now to `observer`, in order.
    pub fn end_pass_with(&mut self, dropped: u64, mut observer: Observer<'_>) {
        if dropped > self.dropped {
            self.dropped = dropped;
            // Records dropped since the last pass belong to an open cycle, or to one whose end the next pass reads.
            self.doubtful_until = self.end_pass + 1;
        }
        let pass = self.end_pass;
        let is_over = |cycle: &OpenCycle| cycle.ended_in.is_some_and(|ended| ended < pass);
        while let Some((number, cycle)) = self.open.pop_first() {
            // A cycle whose end was dropped is finished when one after it is.
            if !is_over(&cycle) && !self.open.values().any(is_over) && self.open.len() < MAX_OPEN {
                self.open.insert(number, cycle);
                break;
            }
            // Reborrowed, so that the observer can be used for the next cycle.
            self.evaluate(
                number,
                cycle,
                observer.as_mut().map(|observer| &mut **observer as _),
            );
        }
        self.end_pass += 1;
    }

    /// The statistics, with all cycles that are still open.
    pub fn finish(mut self) -> TraceStats {
        while let Some((number, cycle)) = self.open.pop_first() {
            self.evaluate(number, cycle, None);
        }
        self.stats()
    }

    /// The statistics so far.
    pub fn stats(&self) -> TraceStats {
        let mut stats = self.stats.clone();
        stats.dropped = self.dropped;
        self.plans.iter().for_each(|(_, plan)| stats.add_plan(plan));
        stats
    }

    /// Load of the workers so far.
    pub fn load(&self) -> &WorkerLoad {
        &self.load
    }

    /// The slowest cycle so far that lacks no records; it may have been abandoned. [`longest`](Self::longest) is greater if a
    /// slower cycle lacks some.
    pub fn slowest(&self) -> Option<&CycleTrace> {
        self.slowest.as_ref()
    }

    /// Duration of the longest cycle so far, whether or not its records were dropped.
    pub fn longest(&self) -> Nanos {
        self.longest
    }

    /// Missed cycles so far by late node, most first, at most `max` nodes.
    pub fn late_nodes(&self, max: usize) -> Vec<(String, u64)> {
        let mut stats = self.stats.misses_by_node.clone();
        for (_, plan) in &self.plans {
            let late = plan.times.iter().enumerate().filter(|(_, t)| t.late > 0);
            for (step, times) in late {
                let name = plan.steps.name(step).unwrap_or_default();
                *stats.entry(name.to_owned()).or_default() += times.late;
            }
        }
        let mut worst: Vec<(String, u64)> = stats.into_iter().collect();
        worst.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        worst.truncate(max);
        worst
    }

    /// The open cycle `number`; none if it was evaluated. Numbers wrap.
    fn cycle(&mut self, number: u32) -> Option<&mut OpenCycle> {
        let is_evaluated = self
            .evaluated
            .is_some_and(|evaluated| evaluated.wrapping_sub(number) < u32::MAX / 2);
        (!is_evaluated).then(|| self.open.entry(number).or_default())
    }

    /// Evaluates a finished cycle.
    fn evaluate(&mut self, number: u32, cycle: OpenCycle, observer: Observer<'_>) {
        self.evaluated = Some(number);
        self.drop_plans_before(number);
        let is_incomplete = self.is_incomplete(number, &cycle);
        let time = cycle.ticks().map(&self.nanos);
        let is_late =
            matches!((time, self.deadline), (Some(time), Some(deadline)) if time > deadline);
        let outcome = match cycle.is_abandoned {
            true => Outcome::Abandoned,
            false if is_late || cycle.is_reported_missed => Outcome::Missed,
            false => Outcome::InTime,
        };
        let blamed = match is_incomplete {
            true => None,
            false => self.blame(number, &cycle, outcome),
        };
        self.stats.add_cycle(&cycle, time);
        self.stats.incomplete += u64::from(is_incomplete && outcome != Outcome::Abandoned);
        self.stats.missed += u64::from(outcome == Outcome::Missed);
        self.stats.misses_of_no_node += u64::from(outcome == Outcome::Missed && blamed.is_none());
        if !is_incomplete {
            self.load.add(&cycle, &self.nanos);
        }
        self.publish((number, &cycle), (outcome, blamed, is_incomplete), observer);
    }

    /// Returns true if records of the cycle may have been dropped.
    fn is_incomplete(&self, number: u32, cycle: &OpenCycle) -> bool {
        let steps = &self.plans[0].1.steps;
        let is_doubtful = cycle
            .ended_in
            .is_none_or(|ended| ended <= self.doubtful_until)
            && self.dropped > 0;
        // An abandoned cycle never has all its steps.
        is_doubtful && (cycle.is_abandoned || !cycle.has_all(steps.due(number), steps.len()))
    }

    /// Adds the times of a cycle without gaps. Returns the step that was late, or did not return.
    fn blame(&mut self, number: u32, cycle: &OpenCycle, outcome: Outcome) -> Option<usize> {
        let plan = &mut self.plans[0].1;
        if outcome == Outcome::Abandoned {
            let stuck = cycle.first_missing(plan.steps.due(number))?;
            plan.times[stuck].stuck += 1;
            return Some(stuck);
        }
        let time = (self.nanos)(cycle.ticks()?);
        let min_excess_ns = min_excess_ns(time.0, self.usual_cycle.get_or(time.0), self.deadline);
        let late = plan.add_cycle((number, cycle), &self.nanos, min_excess_ns);
        self.usual_cycle.add(time.0);
        let late = late.filter(|_| outcome == Outcome::Missed)?;
        plan.times[late].late += 1;
        Some(late)
    }

    /// Passes a cycle to the observer, and keeps it if it is the slowest.
    fn publish(
        &mut self,
        (number, cycle): (u32, &OpenCycle),
        (outcome, blamed, is_incomplete): (Outcome, Option<usize>, bool),
        observer: Observer<'_>,
    ) {
        let (Some(begin), Some(end)) = (cycle.begin, cycle.end) else {
            return;
        };
        let took = (self.nanos)(end.saturating_sub(begin));
        let slowest = self.slowest.as_ref().map_or(Nanos(0), CycleTrace::duration);
        self.longest = self.longest.max(took);
        let is_slowest = !is_incomplete && took > slowest;
        if !is_slowest && observer.is_none() {
            return;
        }
        let zero = self.zero.unwrap_or(begin);
        let time = |stamp: u64| (self.nanos)(stamp.saturating_sub(zero));
        let trace = CycleTrace {
            number,
            begin: time(begin),
            end: time(end),
            deadline: self
                .deadline
                .map(|d| Nanos(time(begin).0.saturating_add(d.0))),
            outcome,
            blamed,
            wakes: cycle.wakes,
            takes: cycle.takes,
            is_incomplete,
            slices: Vec::with_capacity(cycle.spans.len()),
            worker_events: Vec::with_capacity(cycle.worker_events.len()),
            steps: self.plans[0].1.steps.clone(),
        };
        let trace = trace.with_slices(cycle, time);
        if let Some(observer) = observer {
            observer(&trace);
        }
        if is_slowest {
            self.slowest = Some(trace);
        }
    }

    /// Adds and drops plans that were replaced before cycle `number`; the first one left is its plan.
    fn drop_plans_before(&mut self, number: u32) {
        let has_begun = |from: u32| number.wrapping_sub(from) < u32::MAX / 2;
        while self.plans.get(1).is_some_and(|(from, _)| has_begun(*from)) {
            let (_, plan) = self.plans.remove(0);
            self.stats.add_plan(&plan);
        }
    }
}

impl WorkerLoad {
    /// Adds a cycle.
    fn add(&mut self, cycle: &OpenCycle, nanos: &dyn Fn(u64) -> Nanos) {
        self.cycles += 1;
        let ran = |span: &&Span| !matches!(span.kind, SliceKind::Wait | SliceKind::Start);
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

/// Least excess over its usual time for which a step is blamed for a late cycle: the slack of a usual cycle, since that
/// excess alone makes it late; or half of the cycle's excess over its usual time or its deadline, if that is less.
fn min_excess_ns(time_ns: u64, usual_ns: u64, deadline: Option<Nanos>) -> u64 {
    let deadline_ns = deadline.map_or(u64::MAX, |deadline| deadline.0);
    let half = time_ns.saturating_sub(usual_ns.min(deadline_ns)) / 2;
    match deadline_ns.checked_sub(usual_ns) {
        Some(slack) if slack > 0 => half.min(slack),
        _ => half,
    }
}

#[cfg(test)]
mod tests;
