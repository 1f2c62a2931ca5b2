//! [`Trials`]: screens all candidates, and compares the best of them with the sequential executor.
//!
//! | step | cycles | result |
//! |---|---|---|
//! | one worker alone | a few at once | reasons to try nothing |
//! | machine, nodes | – | what static schedules must know; the cost of a wake now, after a sleep of a period |
//! | each candidate | some at its pace | the one with the best times |
//! | [`PairedTrial`] | turns of each, at their pace | the candidate, if it wins by more than a wake costs and by a quarter; else the sequential executor |

use super::candidates::{Candidate, candidates};
use super::choice::{ChoiceReason, SchedulerChoice, SchedulerTrial};
use super::compare::{CycleTimes, is_better, rank};
use super::options::ChooseOptions;
use super::pace::Pacer;
use super::paired_trial::{PairedTrial, WARM_UP};
use crate::measure::{
    DryRun, MeasureOptions, NodeCosts, measure_machine, measure_nodes, wake_after,
};
use crate::{EngineError, EngineOptions, Scheduler};
use costs::{CoreTimings, MachineCosts};
use graph::Graph;
use processor::Registry;
use rt::stamp::TickScale;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::Nanos;
use workers::{AudioThread, DmaLatency, Priority};

/// At real-time priority: part (1/6) of the time of a run that is left to other threads after it.
const REST_SHARE: u32 = 6;
/// Smallest and largest number of cycles of a screening.
const CYCLES: (u128, u128) = (6, 48);
/// Part of the time (1/3) for the screening of all candidates.
const SCREENING_SHARE: u32 = 3;
/// A candidate whose times are beyond those of the sequential executor by this part (1/4) is left out of the paired trial.
const HOPELESS_SHARE: u64 = 4;
/// Offline: trials take at most this part (1/4) of the time that they can gain.
const MAX_SHARE: u32 = 4;
/// Time below which nothing is tried.
const MIN_LIMIT: Duration = Duration::from_millis(10);
/// Time for measuring the machine.
const MACHINE_LIMIT: Duration = Duration::from_millis(60);
/// A gain below this, in ns, is below the cost of any wake.
const MIN_WAKE_NS: f64 = 500.0;
/// Part of a period (4/5) in which deferred work is done, as in the audio callback.
const DEFERRED_SHARE: (u64, u64) = (4, 5);

/// Result of the trials.
pub(super) struct TrialsResult {
    pub(super) choice: SchedulerChoice,
    /// Measured on the way, since it was not known.
    pub(super) facts: Option<CoreTimings>,
    pub(super) costs: Option<NodeCosts>,
}

impl TrialsResult {
    pub(super) fn only(choice: SchedulerChoice) -> Self {
        Self {
            choice,
            facts: None,
            costs: None,
        }
    }
}

/// A graph and the options under which candidates are tried.
pub(super) struct Trials {
    graph: Graph,
    registry: Arc<Registry>,
    requested: EngineOptions,
    /// Priority of the later playback and of the candidates' runs. The first trial, in which a node may turn out not to
    /// return, runs at ordinary priority.
    priority: Priority,
    limit: Duration,
    blocks: Option<u64>,
    start: Instant,
    scale: TickScale,
    /// Live: what a wake costs after a period of sleep. A candidate must gain more.
    wake: Nanos,
}

impl Trials {
    pub(super) fn new(
        graph: &Graph,
        registry: &Arc<Registry>,
        options: &ChooseOptions,
        machine: &MachineCosts,
    ) -> Self {
        let mut requested = options.engine.clone();
        requested.apply_measurements(machine, &options.patch, graph, registry.catalogue());
        let priority = std::mem::replace(&mut requested.priority, Priority::Ordinary);
        Self {
            priority,
            graph: graph.clone(),
            registry: registry.clone(),
            requested,
            limit: options.time_limit,
            blocks: options.blocks,
            start: Instant::now(),
            scale: TickScale::calibrated(),
            wake: Nanos(0),
        }
    }

    /// Runs the trials and chooses.
    pub(super) fn run(mut self) -> Result<TrialsResult, EngineError> {
        let _plays = AudioThread::enter();
        let is_live = self.requested.is_live();
        let _held = (is_live && self.requested.prevent_cpu_sleep).then(DmaLatency::acquire);
        // Threads inherit both, and the caller may have them. The callback of a driver has no core of its own.
        let _ = workers::set_priority(Priority::Ordinary);
        let _ = workers::unpin();
        let one = self.trial()?;
        if let Some(reason) = self.skip_reason(one) {
            return Ok(TrialsResult::only(SchedulerChoice::sequential(reason)));
        }
        let facts = self.measure_machine();
        let costs = self.measure_nodes_if_unknown()?;
        self.requested.priority = self.priority;
        Ok(TrialsResult {
            choice: self.choice(one)?,
            facts,
            costs,
        })
    }

    /// Time of a cycle on one worker: the shortest of a few.
    fn trial(&mut self) -> Result<Nanos, EngineError> {
        let mut run = self.dry_run(Candidate::SEQUENTIAL)?;
        self.blocks = self.blocks.or_else(|| run.blocks(&self.graph));
        let start = Instant::now();
        let mut min = Nanos(u64::MAX);
        for number in 0..32 {
            if number >= WARM_UP && start.elapsed() > self.limit / 20 {
                break;
            }
            min = min.min(self.scale.nanos(run.cycle()));
        }
        Ok(min)
    }

    /// Reason to try nothing, if a cycle on one worker takes `one`. Shortens the time where there is little to gain.
    fn skip_reason(&mut self, one: Nanos) -> Option<ChoiceReason> {
        if self.requested.use_all_workers {
            return None;
        }
        let share = 1.0 - 1.0 / self.requested.workers as f64;
        let gain_ns = one.0 as f64 * share;
        if gain_ns <= MIN_WAKE_NS {
            return Some(ChoiceReason::CycleTooShort);
        }
        if self.requested.is_live() {
            let period = Duration::from_nanos(self.pacer().period().0);
            let wake = wake_after(period, self.scale).unwrap_or(MIN_WAKE_NS);
            self.wake = Nanos(wake as u64);
            return (gain_ns <= wake).then_some(ChoiceReason::CycleTooShort);
        }
        if let Some(blocks) = self.blocks {
            let all = Duration::from_secs_f64((gain_ns * blocks as f64 / 1e9).min(1e6));
            self.limit = self.limit.min(all / MAX_SHARE);
        }
        (self.limit < MIN_LIMIT).then_some(ChoiceReason::RunTooShort)
    }

    /// Measures the machine as it is now: what is kept may be of another state of it.
    fn measure_machine(&mut self) -> Option<CoreTimings> {
        if self.requested.transfer_time.is_some() {
            return None;
        }
        let facts = measure_machine(MACHINE_LIMIT.min(self.limit / 4));
        self.requested.core_timings = facts.clone();
        Some(facts)
    }

    /// Measures what nodes cost, which static schedules must know.
    fn measure_nodes_if_unknown(&mut self) -> Result<Option<NodeCosts>, EngineError> {
        let known = &self.requested.costs.by_node;
        let unknown = |(id, _): &(graph::NodeId, &graph::Node)| !known.contains_key(id);
        if !self.graph.nodes().any(|node| unknown(&node)) {
            return Ok(None);
        }
        let options = MeasureOptions {
            engine: self.requested.clone(),
            limit: self.limit / 6,
            repeats: None,
        };
        let go_on = &mut |_| ControlFlow::Continue(());
        let costs = measure_nodes(&self.graph, self.registry.clone(), &options, go_on)?;
        self.requested.costs = costs.typical();
        Ok(Some(costs))
    }

    fn choice(&self, one: Nanos) -> Result<SchedulerChoice, EngineError> {
        let all = candidates(&self.requested);
        let Some(cycles) = self.cycles(one, all.len()) else {
            let workers = self.requested.workers;
            return Ok(SchedulerChoice::of(
                Scheduler::Stealing,
                workers,
                ChoiceReason::CycleTooLong,
            ));
        };
        let tried = self.screen(&all, cycles)?;
        let is_live = self.requested.is_live();
        let sequential = tried.iter().find(|(c, _)| *c == Candidate::SEQUENTIAL);
        let others = tried.iter().filter(|(c, _)| *c != Candidate::SEQUENTIAL);
        let best = others.min_by_key(|(_, trial)| rank(trial, is_live));
        let trials = tried.iter().map(|(_, trial)| *trial).collect();
        let choice = |chosen: &(Candidate, SchedulerTrial), sequential| SchedulerChoice {
            latency_blocks: chosen.0.ahead,
            times: Some(chosen.1),
            sequential,
            tried: trials,
            ..SchedulerChoice::of(chosen.0.scheduler, chosen.0.workers, ChoiceReason::Measured)
        };
        match (sequential, best) {
            (None, Some(best)) => Ok(choice(best, None)),
            (Some(alone), Some(best)) if !is_hopeless(&best.1, &alone.1, is_live) => {
                let (alone, times) = self.paired_trial(best.0)?;
                let wins = self.wins(best.0, (&alone, &times));
                let alone = (Candidate::SEQUENTIAL, Candidate::SEQUENTIAL.trial(&alone));
                let best = (best.0, best.0.trial(&times));
                Ok(choice(if wins { &best } else { &alone }, Some(alone.1)))
            }
            (Some(alone), _) => Ok(choice(alone, Some(alone.1))),
            (None, None) => Ok(SchedulerChoice::untried(
                &self.requested,
                ChoiceReason::Panicked,
            )),
        }
    }

    /// Times of each candidate in a few cycles, at their pace.
    fn screen(
        &self,
        all: &[Candidate],
        cycles: u64,
    ) -> Result<Vec<(Candidate, SchedulerTrial)>, EngineError> {
        let mut tried = Vec::with_capacity(all.len());
        for candidate in all {
            // Making the runs may take longer than the runs.
            if tried.len() > 1 && self.start.elapsed() > self.limit {
                break;
            }
            let mut run = self.dry_run(*candidate)?;
            let raised = PriorityGuard::to(self.requested.priority);
            let mut pacer = self.requested.is_live().then(|| self.pacer());
            let mut times = CycleTimes::default();
            for number in 0..WARM_UP + cycles {
                if let Some(pacer) = &mut pacer {
                    pacer.wait();
                }
                let time = self.scale.nanos(run.cycle());
                if number >= WARM_UP {
                    times.add(time);
                }
            }
            raised.rest();
            tried.push((*candidate, candidate.trial(&times)));
        }
        Ok(tried)
    }

    /// Times of the sequential executor and of `best`, beside each other.
    fn paired_trial(&self, best: Candidate) -> Result<(CycleTimes, CycleTimes), EngineError> {
        let runs = (self.dry_run(Candidate::SEQUENTIAL)?, self.dry_run(best)?);
        let pacer = self.requested.is_live().then(|| self.pacer());
        let left = self.limit.saturating_sub(self.start.elapsed());
        let raised = PriorityGuard::to(self.requested.priority);
        let trial = PairedTrial::new(runs.0, runs.1, self.scale, pacer);
        let times = trial.play(left.max(self.limit / SCREENING_SHARE));
        raised.rest();
        Ok(times)
    }

    /// Returns true if `best` was better in both halves of the paired trial: a disturbance of one half decides nothing.
    fn wins(&self, best: Candidate, (alone, times): (&CycleTimes, &CycleTimes)) -> bool {
        let halves = alone.halves().into_iter().zip(times.halves());
        let mut trials =
            halves.map(|(alone, times)| (Candidate::SEQUENTIAL.trial(&alone), best.trial(&times)));
        let is_live = self.requested.is_live();
        trials.all(|(alone, best)| is_better(&best, &alone, self.wake, is_live))
    }

    fn pacer(&self) -> Pacer {
        Pacer::new(self.requested.period())
    }

    /// Number of cycles with which each candidate is screened; `None` if even the smallest number takes more than four
    /// times the limit.
    fn cycles(&self, one: Nanos, candidates: usize) -> Option<u64> {
        let cycle = match self.requested.is_live() {
            true => one.max(self.pacer().period()),
            false => one,
        };
        let all = u128::from(cycle.0.max(1)) * candidates as u128;
        let fit = |time: Duration| time.as_nanos() / all;
        let (min, max) = CYCLES;
        let is_too_long = fit(4 * self.limit) < min + u128::from(WARM_UP);
        (!is_too_long).then(|| fit(self.limit / SCREENING_SHARE).clamp(min, max) as u64)
    }

    fn dry_run(&self, candidate: Candidate) -> Result<DryRun, EngineError> {
        let options = candidate.options(&self.requested);
        let mut run = DryRun::new(&self.graph, self.registry.clone(), &options)?;
        if self.requested.is_live() {
            let (part, of) = DEFERRED_SHARE;
            let time = Nanos(self.requested.period().0 / of * part);
            run.limit_deferred_work(self.scale.ticks(time));
        }
        Ok(run)
    }
}

/// Returns true if a candidate is so far behind the sequential executor that a paired trial would be a waste of time.
fn is_hopeless(best: &SchedulerTrial, sequential: &SchedulerTrial, is_live: bool) -> bool {
    let alone = rank(sequential, is_live);
    rank(best, is_live) > alone.saturating_add(alone / HOPELESS_SHARE)
}

/// A guard: this thread at a requested priority. If that is refused, it runs all the same.
struct PriorityGuard {
    is_real_time: bool,
    since: Instant,
}

impl PriorityGuard {
    fn to(priority: Priority) -> Self {
        Self {
            is_real_time: priority != Priority::Ordinary && workers::set_priority(priority).is_ok(),
            since: Instant::now(),
        }
    }

    /// Restores the priority and sleeps for a share of the time: the system stops a real-time thread that never sleeps.
    fn rest(self) {
        let elapsed = self.since.elapsed();
        let was_real_time = self.is_real_time;
        drop(self);
        if was_real_time {
            std::thread::sleep(elapsed / REST_SHARE);
        }
    }
}

impl Drop for PriorityGuard {
    fn drop(&mut self) {
        if self.is_real_time {
            let _ = workers::set_priority(Priority::Ordinary);
        }
    }
}
