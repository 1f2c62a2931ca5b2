//! [`Trials`]: runs the candidates in rounds until the time is over.

use super::candidates::{Candidate, candidates};
use super::choice::{ChoiceReason, SchedulerChoice, SchedulerTrial};
use super::compare::{CycleReadings, best, is_hopeless};
use super::options::ChooseOptions;
use crate::measure::{DryRun, MeasureOptions, NodeCosts, measure_machine, measure_nodes};
use crate::{EngineError, EngineOptions, Scheduler};
use costs::{CoreTimings, MachineCosts};
use graph::Graph;
use processor::Registry;
use rt::stamp::{self, TickScale};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::Nanos;
use workers::{AudioThread, DmaLatency, Priority};

/// Cycles that are not counted: memory is touched for the first time in them.
const WARM_UP: usize = 4;
/// Smallest and largest number of cycles that count in a run.
const CYCLE_COUNT: (usize, usize) = (8, 48);
/// Number of rounds that should fit into the time.
const ROUNDS: u32 = 12;
/// Smallest number of rounds on which a decision rests.
const MIN_ROUNDS: u32 = 3;
/// Live: time between two cycles, long enough for workers to fall asleep.
const CYCLE_GAP: Duration = Duration::from_micros(100);
/// Offline: trials take at most this part (1/4) of the time that they can gain.
const MAX_SHARE: u32 = 4;
/// Time below which nothing is tried.
const MIN_LIMIT: Duration = Duration::from_millis(10);
/// Time for measuring the machine where its costs are not known.
const MACHINE_LIMIT: Duration = Duration::from_millis(60);
/// At real-time priority: part (1/6) of the time of a run that is left to other threads after it.
const REST_SHARE: u32 = 6;
/// Smallest and largest cost of a wake that is believed, in ns. The smallest is taken where nothing was measured. A
/// busy machine makes a wake look more expensive than it is while sound plays.
const WAKE_NS: (f64, f64) = (500.0, 1000.0);

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
        }
    }

    /// Runs the trials and chooses.
    pub(super) fn run(mut self) -> Result<TrialsResult, EngineError> {
        let _plays = AudioThread::enter();
        let is_live = self.requested.is_live();
        let _held = (is_live && self.requested.prevent_cpu_sleep).then(DmaLatency::acquire);
        // If that is refused, the trials run all the same. Threads inherit a priority, and the caller may have one.
        let _ = workers::set_priority(Priority::Ordinary);
        let _ = workers::pin(workers::cores()[0]);
        let one = self.trial()?;
        if let Some(reason) = self.skip_reason(one) {
            return Ok(TrialsResult::only(SchedulerChoice::sequential(reason)));
        }
        let facts = self.measure_machine_if_unknown();
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
        let mut readings = Vec::new();
        let mut run = self.dry_run(Candidate::SEQUENTIAL)?;
        self.blocks = self.blocks.or_else(|| run.blocks(&self.graph));
        let start = Instant::now();
        while readings.len() < WARM_UP || (readings.len() < 32 && start.elapsed() < self.limit / 20)
        {
            readings.push(self.cycle(&mut run));
        }
        Ok(readings.into_iter().min().unwrap_or_default())
    }

    /// Reason to try nothing, if a cycle on one worker takes `one`. Shortens the time where there is little to gain.
    fn skip_reason(&mut self, one: Nanos) -> Option<ChoiceReason> {
        if self.requested.use_all_workers {
            return None;
        }
        let share = 1.0 - 1.0 / self.requested.workers as f64;
        let gain_ns = one.0 as f64 * share;
        if self.requested.is_live() {
            let wake = self.requested.core_timings.wake_ns.unwrap_or(WAKE_NS.0);
            return (gain_ns <= wake.clamp(WAKE_NS.0, WAKE_NS.1))
                .then_some(ChoiceReason::CycleTooShort);
        }
        if gain_ns <= WAKE_NS.0 {
            return Some(ChoiceReason::CycleTooShort);
        }
        if let Some(blocks) = self.blocks {
            let all = Duration::from_secs_f64((gain_ns * blocks as f64 / 1e9).min(1e6));
            self.limit = self.limit.min(all / MAX_SHARE);
        }
        (self.limit < MIN_LIMIT).then_some(ChoiceReason::RunTooShort)
    }

    fn measure_machine_if_unknown(&mut self) -> Option<CoreTimings> {
        if !self.requested.core_timings.links.is_empty() || self.requested.transfer_time.is_some() {
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
        let mut remaining: Vec<_> = all
            .iter()
            .map(|c| (*c, CycleReadings::new(cycles)))
            .collect();
        let mut rounds = 0;
        while rounds < MIN_ROUNDS || self.start.elapsed() < self.limit {
            for (candidate, readings) in &mut remaining {
                self.run_candidate(*candidate, readings, cycles)?;
            }
            rounds += 1;
            let min = remaining
                .iter()
                .map(|(_, r)| r.worst())
                .min()
                .unwrap_or_default();
            if rounds >= MIN_ROUNDS {
                remaining.retain(|(c, r)| *c == Candidate::SEQUENTIAL || !is_hopeless(r, min));
            }
        }
        Ok(self.compare(&remaining))
    }

    fn compare(&self, all: &[(Candidate, CycleReadings)]) -> SchedulerChoice {
        let tried = |(candidate, readings): &(Candidate, CycleReadings)| SchedulerTrial {
            scheduler: candidate.scheduler,
            workers: candidate.workers,
            worst: readings.worst(),
            mean: readings.mean(),
        };
        let tried: Vec<SchedulerTrial> = all.iter().map(tried).collect();
        let Some(best) = best(&tried, self.requested.is_live()) else {
            return SchedulerChoice::untried(&self.requested, ChoiceReason::Panicked);
        };
        let is_it = |c: &Candidate| (c.scheduler, c.workers) == (best.scheduler, best.workers);
        let ahead = all
            .iter()
            .find(|(c, _)| is_it(c))
            .and_then(|(c, _)| c.ahead);
        SchedulerChoice {
            latency_blocks: ahead,
            times: Some(best),
            sequential: tried.iter().find(|t| t.workers == 1).copied(),
            tried,
            ..SchedulerChoice::of(best.scheduler, best.workers, ChoiceReason::Measured)
        }
    }

    /// Number of cycles of a run; `None` if not even the smallest number of rounds fits into four times the limit.
    fn cycles(&self, one: Nanos, candidates: usize) -> Option<usize> {
        let cycle = Duration::from_nanos(one.0) + self.cycle_gap();
        let all = cycle.as_nanos().max(1) * candidates as u128;
        let fit = |time: Duration, rounds: u32| time.as_nanos() / u128::from(rounds) / all;
        let min = (CYCLE_COUNT.0 + WARM_UP) as u128;
        if fit(4 * self.limit, MIN_ROUNDS) < min {
            return None;
        }
        let requested = usize::try_from(fit(self.limit, ROUNDS)).unwrap_or(CYCLE_COUNT.1);
        Some(
            requested
                .saturating_sub(WARM_UP)
                .clamp(CYCLE_COUNT.0, CYCLE_COUNT.1),
        )
    }

    fn cycle_gap(&self) -> Duration {
        match self.requested.is_live() {
            true => CYCLE_GAP,
            false => Duration::ZERO,
        }
    }

    /// Runs one candidate once.
    fn run_candidate(
        &self,
        candidate: Candidate,
        readings: &mut CycleReadings,
        cycles: usize,
    ) -> Result<(), EngineError> {
        let mut run = self.dry_run(candidate)?;
        let raised = PriorityGuard::to(self.requested.priority);
        for number in 0..WARM_UP + cycles {
            let time = self.cycle(&mut run);
            if let Some(cycle) = number.checked_sub(WARM_UP) {
                readings.add(cycle, time);
            }
        }
        raised.rest();
        Ok(())
    }

    fn dry_run(&self, candidate: Candidate) -> Result<DryRun, EngineError> {
        let options = candidate.options(&self.requested);
        DryRun::new(&self.graph, self.registry.clone(), &options)
    }

    /// Runs one cycle. Live, some time passes before it, in which workers fall asleep.
    fn cycle(&self, run: &mut DryRun) -> Nanos {
        if self.requested.is_live() {
            let until = stamp::now() + self.scale.ticks(Nanos(CYCLE_GAP.as_nanos() as u64));
            while stamp::now() < until {
                std::hint::spin_loop();
            }
        }
        self.scale.nanos(run.cycle())
    }
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
