//! The candidates take turns until the time is over.

use super::ChooseOptions;
use super::candidates::{Candidate, candidates};
use super::choice::{ChoiceReason, SchedulerChoice, SchedulerTrial};
use super::judge::{Readings, best, is_out};
use crate::measure::{DryRun, MeasureOptions, NodeCosts, measure_machine, measure_nodes};
use crate::{EngineError, EngineOptions, Scheduler};
use graph::Graph;
use processor::Registry;
use report::{CoreTimings, MachineCosts};
use rt::stamp::{self, TickScale};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::Nanos;
use workers::{AudioThread, DmaLatency, Priority};

/// Cycles that do not count: memory is touched for the first time in them.
const WARM_UP: usize = 4;
/// How many cycles of a run count, at least and at most.
const CYCLES: (usize, usize) = (8, 48);
/// How many turns each candidate should get.
const TURNS: u32 = 12;
/// With fewer nothing is decided.
const LEAST_TURNS: u32 = 3;
/// Live, the time between two cycles: long enough for workers to fall asleep.
const APART: Duration = Duration::from_micros(100);
/// Offline, no more than this part of what could be gained at most is spent on finding out.
const STAKE: u32 = 4;
/// Shorter than this nothing is tried.
const LEAST: Duration = Duration::from_millis(10);
/// How long the machine is measured where nobody has.
const MACHINE: Duration = Duration::from_millis(60);
/// At real-time priority, one part in so many of the time that was played is left to others.
const PAUSE: u32 = 6;
/// What waking costs at least where nobody has measured, and at most: a busy machine makes it look dearer than it is
/// when the sound plays.
const WAKE_NS: (f64, f64) = (500.0, 1000.0);

/// What was found.
pub(super) struct Found {
    pub(super) choice: SchedulerChoice,
    /// What had to be measured for it.
    pub(super) facts: Option<CoreTimings>,
    pub(super) costs: Option<NodeCosts>,
}

impl Found {
    pub(super) fn only(choice: SchedulerChoice) -> Self {
        Self {
            choice,
            facts: None,
            costs: None,
        }
    }
}

/// A graph and who is tried on it.
pub(super) struct Contest {
    graph: Graph,
    registry: Arc<Registry>,
    wished: EngineOptions,
    /// What it will be played at, and so are the candidates; what comes before them, where a node may turn out never to
    /// return, is not.
    priority: Priority,
    limit: Duration,
    blocks: Option<u64>,
    begun: Instant,
    scale: TickScale,
}

impl Contest {
    pub(super) fn new(
        graph: &Graph,
        registry: &Arc<Registry>,
        options: &ChooseOptions,
        machine: &MachineCosts,
    ) -> Self {
        let mut wished = options.engine.clone();
        wished.apply_measurements(machine, &options.patch, graph);
        let priority = std::mem::replace(&mut wished.priority, Priority::Ordinary);
        Self {
            priority,
            graph: graph.clone(),
            registry: registry.clone(),
            wished,
            limit: options.time_limit,
            blocks: options.blocks,
            begun: Instant::now(),
            scale: TickScale::calibrated(),
        }
    }

    /// Holds it.
    pub(super) fn hold(mut self) -> Result<Found, EngineError> {
        let _plays = AudioThread::enter();
        let is_live = self.wished.is_live();
        let _held = (is_live && self.wished.prevent_cpu_sleep).then(DmaLatency::acquire);
        // Where that is refused it is measured all the same. Threads inherit a priority: whoever starts us may have
        // one.
        let _ = workers::set_priority(Priority::Ordinary);
        let _ = workers::pin(workers::cores()[0]);
        let one = self.trial()?;
        if let Some(why) = self.is_vain(one) {
            return Ok(Found::only(SchedulerChoice::sequential(why)));
        }
        let facts = self.learn_machine();
        let costs = self.learn_nodes()?;
        self.wished.priority = self.priority;
        Ok(Found {
            choice: self.choice(one)?,
            facts,
            costs,
        })
    }

    /// What a cycle takes on one worker: the least of a few.
    fn trial(&mut self) -> Result<Nanos, EngineError> {
        let mut readings = Vec::new();
        let mut run = self.rehearse(Candidate::SEQUENTIAL)?;
        self.blocks = self.blocks.or_else(|| run.blocks(&self.graph));
        let begun = Instant::now();
        while readings.len() < WARM_UP || (readings.len() < 32 && begun.elapsed() < self.limit / 20)
        {
            readings.push(self.cycle(&mut run));
        }
        Ok(readings.into_iter().min().unwrap_or_default())
    }

    /// Why nothing needs to be tried, if a cycle on one worker takes `one`. Shortens the time where there is little to
    /// gain.
    fn is_vain(&mut self, one: Nanos) -> Option<ChoiceReason> {
        if self.wished.use_all_workers {
            return None;
        }
        let share = 1.0 - 1.0 / self.wished.workers as f64;
        let gain_ns = one.0 as f64 * share;
        if self.wished.is_live() {
            let wake = self.wished.core_timings.wake_ns.unwrap_or(WAKE_NS.0);
            return (gain_ns <= wake.clamp(WAKE_NS.0, WAKE_NS.1))
                .then_some(ChoiceReason::CycleTooShort);
        }
        if gain_ns <= WAKE_NS.0 {
            return Some(ChoiceReason::CycleTooShort);
        }
        if let Some(blocks) = self.blocks {
            let all = Duration::from_secs_f64((gain_ns * blocks as f64 / 1e9).min(1e6));
            self.limit = self.limit.min(all / STAKE);
        }
        (self.limit < LEAST).then_some(ChoiceReason::RunTooShort)
    }

    fn learn_machine(&mut self) -> Option<CoreTimings> {
        if !self.wished.core_timings.links.is_empty() || self.wished.transfer_time.is_some() {
            return None;
        }
        let facts = measure_machine(MACHINE.min(self.limit / 4));
        self.wished.core_timings = facts.clone();
        Some(facts)
    }

    /// Static schedules need to know what nodes cost.
    fn learn_nodes(&mut self) -> Result<Option<NodeCosts>, EngineError> {
        let known = &self.wished.costs.by_node;
        let unknown = |(id, _): &(graph::NodeId, &graph::Node)| !known.contains_key(id);
        if !self.graph.nodes().any(|node| unknown(&node)) {
            return Ok(None);
        }
        let options = MeasureOptions {
            engine: self.wished.clone(),
            limit: self.limit / 6,
            repeats: None,
        };
        let go_on = &mut |_| ControlFlow::Continue(());
        let costs = measure_nodes(&self.graph, self.registry.clone(), &options, go_on)?;
        self.wished.costs = costs.typical();
        Ok(Some(costs))
    }

    fn choice(&self, one: Nanos) -> Result<SchedulerChoice, EngineError> {
        let all = candidates(&self.wished);
        let Some(cycles) = self.cycles(one, all.len()) else {
            let workers = self.wished.workers;
            return Ok(SchedulerChoice::of(
                Scheduler::Stealing,
                workers,
                ChoiceReason::CycleTooLong,
            ));
        };
        let mut still: Vec<_> = all.iter().map(|c| (*c, Readings::new(cycles))).collect();
        let mut turns = 0;
        while turns < LEAST_TURNS || self.begun.elapsed() < self.limit {
            for (candidate, readings) in &mut still {
                self.turn(*candidate, readings, cycles)?;
            }
            turns += 1;
            let least = still
                .iter()
                .map(|(_, r)| r.worst())
                .min()
                .unwrap_or_default();
            if turns >= LEAST_TURNS {
                still.retain(|(c, r)| *c == Candidate::SEQUENTIAL || !is_out(r, least));
            }
        }
        Ok(self.judge(&still))
    }

    fn judge(&self, all: &[(Candidate, Readings)]) -> SchedulerChoice {
        let tried = |(candidate, readings): &(Candidate, Readings)| SchedulerTrial {
            scheduler: candidate.scheduler,
            workers: candidate.workers,
            worst: readings.worst(),
            mean: readings.mean(),
        };
        let tried: Vec<SchedulerTrial> = all.iter().map(tried).collect();
        let Some(best) = best(&tried, self.wished.is_live()) else {
            return super::blind(&self.wished, ChoiceReason::Panicked);
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

    /// How many cycles a run may have; `None` where not even the least number of turns would fit into four times the
    /// limit.
    fn cycles(&self, one: Nanos, candidates: usize) -> Option<usize> {
        let cycle = Duration::from_nanos(one.0) + self.apart();
        let all = cycle.as_nanos().max(1) * candidates as u128;
        let fit = |time: Duration, turns: u32| time.as_nanos() / u128::from(turns) / all;
        let least = (CYCLES.0 + WARM_UP) as u128;
        if fit(4 * self.limit, LEAST_TURNS) < least {
            return None;
        }
        let wished = usize::try_from(fit(self.limit, TURNS)).unwrap_or(CYCLES.1);
        Some(wished.saturating_sub(WARM_UP).clamp(CYCLES.0, CYCLES.1))
    }

    fn apart(&self) -> Duration {
        match self.wished.is_live() {
            true => APART,
            false => Duration::ZERO,
        }
    }

    /// One run of one candidate.
    fn turn(
        &self,
        candidate: Candidate,
        readings: &mut Readings,
        cycles: usize,
    ) -> Result<(), EngineError> {
        let mut run = self.rehearse(candidate)?;
        let raised = Raised::to(self.wished.priority);
        for number in 0..WARM_UP + cycles {
            let time = self.cycle(&mut run);
            if let Some(cycle) = number.checked_sub(WARM_UP) {
                readings.add(cycle, time);
            }
        }
        raised.rest();
        Ok(())
    }

    fn rehearse(&self, candidate: Candidate) -> Result<DryRun, EngineError> {
        let options = candidate.options(&self.wished);
        DryRun::new(&self.graph, self.registry.clone(), &options)
    }

    /// One cycle; before it, live, some time passes in which workers fall asleep.
    fn cycle(&self, run: &mut DryRun) -> Nanos {
        if self.wished.is_live() {
            let until = stamp::now() + self.scale.ticks(Nanos(APART.as_nanos() as u64));
            while stamp::now() < until {
                std::hint::spin_loop();
            }
        }
        self.scale.nanos(run.cycle())
    }
}

/// This thread, while it plays at a priority that was asked for; where that is refused, it plays all the same.
struct Raised {
    is_real_time: bool,
    since: Instant,
}

impl Raised {
    fn to(priority: Priority) -> Self {
        Self {
            is_real_time: priority != Priority::Ordinary && workers::set_priority(priority).is_ok(),
            since: Instant::now(),
        }
    }

    /// Gives the priority back, and a share of the time: who works without a pause is stopped by the system for long.
    fn rest(self) {
        let took = self.since.elapsed();
        let was_real_time = self.is_real_time;
        drop(self);
        if was_real_time {
            std::thread::sleep(took / PAUSE);
        }
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if self.is_real_time {
            let _ = workers::set_priority(Priority::Ordinary);
        }
    }
}
